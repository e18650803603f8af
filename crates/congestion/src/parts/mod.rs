//! Building blocks that several controllers share: one concept per file.

mod window;
mod windowed;

pub(crate) use window::Window;
#[allow(unused_imports, reason = "each controller imports the filter it needs")]
pub(crate) use windowed::{WindowedMax, WindowedMin};
