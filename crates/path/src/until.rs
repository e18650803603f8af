//! Interruption of long work by its caller.

use thiserror::Error;

/// Error of work that its caller has ended.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("interrupted")]
pub struct Interruption;

/// Callback after each step of the work; a scheduled change costs about one step. An error ends the work.
pub type Until<'a> = &'a mut dyn FnMut(u64) -> Result<(), Interruption>;

/// Never interrupts the work.
#[expect(clippy::unnecessary_wraps, reason = "it is an `Until`")]
pub(crate) fn to_the_end(_steps: u64) -> Result<(), Interruption> {
    Ok(())
}
