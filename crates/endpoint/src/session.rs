//! Clock, end and stop flag of a run for its threads.

use crate::board::Board;
use crate::clock::Clock;
use std::sync::atomic::{AtomicBool, Ordering};
use units::Time;

/// Run in one of its threads: clock, end, and stop flag.
#[derive(Clone, Copy, Debug)]
pub struct Session<'a> {
    /// Clock whose zero is the start of the run.
    pub clock: Clock,
    /// Time at which the thread ends.
    pub end: Time,
    /// True if the thread must end at once.
    pub stop: &'a AtomicBool,
    /// Board that shows the thread's flow during the run.
    pub board: Option<&'a Board>,
}

impl Session<'_> {
    /// Returns true if the run was stopped.
    #[inline]
    pub fn is_stopped(self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Returns true if the thread has nothing more to do at `now`.
    #[inline]
    pub fn is_over(self, now: Time) -> bool {
        now >= self.end || self.is_stopped()
    }
}
