//! Building blocks that several controllers share: one concept per file.

mod window;

pub(crate) use window::Window;
