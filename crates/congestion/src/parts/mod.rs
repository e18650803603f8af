//! Building blocks that several controllers share: one concept per file.

mod base_delay;
mod completed;
pub(crate) mod copa_gcc;
mod counted;
mod departures;
mod echoed;
pub(crate) mod estimator;
mod frame_clock;
mod gradient_step;
mod halves;
mod hystart;
mod monitor;
mod monitor_timed;
mod monitored;
mod pack;
mod quantised;
mod queried;
mod queuing_delay;
mod rounds;
mod undo;
mod window;
mod windowed;

pub(crate) use base_delay::{BaseDelay, MAX_MINUTES};
pub(crate) use completed::Completed;
pub(crate) use counted::Counted;
pub(crate) use departures::Departures;
pub(crate) use echoed::{Echoed, smoothed};
pub(crate) use frame_clock::FrameClock;
pub(crate) use gradient_step::{Boundary, GradientStep, StepRule};
pub(crate) use halves::Halves;
pub(crate) use hystart::SlowStart;
pub(crate) use monitor::{Ended, Monitor, Ring};
pub(crate) use monitor_timed::{Interval, IntervalTerms, MonitorTimed, Round, RttSample};
pub(crate) use monitored::{IntervalScheme, Monitored, WirePacket};
pub(crate) use pack::{Pack, PackHalf, interval_message, kbps};
pub(crate) use quantised::quantised;
#[cfg(test)]
pub(crate) use queried::State;
pub(crate) use queried::{Answer, Queried};
pub(crate) use queuing_delay::QueuingDelay;
pub(crate) use rounds::Rounds;
pub(crate) use undo::Undo;
pub(crate) use window::Window;
pub(crate) use windowed::{WindowedMax, WindowedMin};
