//! Long work over what somebody has written, which somebody may want to end.

use thiserror::Error;

/// The work was ended by who was told of its steps.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("interrupted")]
pub struct Interrupted;

/// Told after steps of the work, one of which is about what a scheduled change costs: an error ends the work.
pub type Until<'a> = &'a mut dyn FnMut(u64) -> Result<(), Interrupted>;

/// Nobody wants that.
#[expect(clippy::unnecessary_wraps, reason = "it is an `Until`")]
pub(crate) fn to_the_end(_steps: u64) -> Result<(), Interrupted> {
    Ok(())
}
