//! Long work over what somebody has written, which somebody may want to end.

/// Told after steps of the work, one of which is about what a scheduled change costs: what it says ends the work.
pub type Until<'a> = &'a mut dyn FnMut(u64) -> Result<(), String>;

/// Nobody wants that.
#[expect(clippy::unnecessary_wraps, reason = "it is an `Until`")]
pub(crate) fn to_the_end(_steps: u64) -> Result<(), String> {
    Ok(())
}
