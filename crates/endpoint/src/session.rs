//! The time of a run, as one of its threads sees it.

use crate::board::Board;
use crate::clock::Clock;
use std::sync::atomic::{AtomicBool, Ordering};
use units::Time;

/// A run as its threads see it: the clock they go by, when to end, and whether they were told to stop before.
#[derive(Clone, Copy, Debug)]
pub struct Session<'a> {
    /// Its zero is the start of the run.
    pub clock: Clock,
    /// When the thread ends by itself.
    pub end: Time,
    /// Set when it has to end at once.
    pub stop: &'a AtomicBool,
    /// Where the flow of the thread is shown while the run goes on.
    pub board: Option<&'a Board>,
}

impl Session<'_> {
    /// Whether the run was stopped.
    #[inline]
    pub fn is_stopped(self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether there is nothing to do any more at `now`.
    #[inline]
    pub fn is_over(self, now: Time) -> bool {
        now >= self.end || self.is_stopped()
    }
}
