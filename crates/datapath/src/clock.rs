//! The real clock of a run: nanoseconds of `CLOCK_MONOTONIC` since its start.

use nix::time::{ClockId, clock_gettime};
use units::Time;

/// Zero is the start of the run; before it the clock stands at zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    epoch_ns: u64,
}

impl Clock {
    /// A clock that starts at `epoch_ns` of `CLOCK_MONOTONIC`.
    pub(crate) const fn starting_at(epoch_ns: u64) -> Self {
        Self { epoch_ns }
    }

    /// A clock that starts now.
    #[cfg(test)]
    pub(crate) fn start() -> Self {
        Self::starting_at(monotonic_ns())
    }

    /// Time since the start.
    #[inline]
    pub(crate) fn now(self) -> Time {
        Time::from_ns(monotonic_ns().saturating_sub(self.epoch_ns))
    }

    /// The time of this clock at `monotonic_ns` of `CLOCK_MONOTONIC`; `None` before its start.
    pub(crate) fn time_of(self, monotonic_ns: u64) -> Option<Time> {
        monotonic_ns.checked_sub(self.epoch_ns).map(Time::from_ns)
    }

    /// `time` of this clock as `CLOCK_MONOTONIC` nanoseconds, for absolute timers.
    pub(crate) const fn monotonic_ns_of(self, time: Time) -> u64 {
        self.epoch_ns.saturating_add(time.as_ns())
    }
}

/// `CLOCK_MONOTONIC`, ns.
#[inline]
pub(crate) fn monotonic_ns() -> u64 {
    // The clock exists on every Linux; the call cannot fail with a valid identifier.
    clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}
