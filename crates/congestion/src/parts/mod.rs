//! Building blocks that several controllers share: one concept per file.

mod base_delay;
mod gradient_step;
mod hystart;
mod rounds;
mod window;
mod windowed;

pub(crate) use base_delay::{BaseDelay, MAX_MINUTES};
pub(crate) use gradient_step::{Boundary, GradientStep, StepRule};
pub(crate) use hystart::SlowStart;
pub(crate) use rounds::Rounds;
pub(crate) use window::Window;
pub(crate) use windowed::{WindowedMax, WindowedMin};
