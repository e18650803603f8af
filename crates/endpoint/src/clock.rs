//! The real clock of a run, nanoseconds of `CLOCK_MONOTONIC` since its start, and how far clocks are apart.

use nix::time::{ClockId, clock_gettime};
use units::Time;

/// Zero is the start of the run; before it the clock stands at zero.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch_ns: u64,
}

impl Clock {
    /// A clock that starts at `epoch_ns` of `CLOCK_MONOTONIC`.
    pub const fn starting_at(epoch_ns: u64) -> Self {
        Self { epoch_ns }
    }

    /// A clock that starts now.
    pub fn start() -> Self {
        Self::starting_at(monotonic_ns())
    }

    /// Time since the start.
    #[inline]
    pub fn now(self) -> Time {
        Time::from_ns(monotonic_ns().saturating_sub(self.epoch_ns))
    }

    /// The time of this clock at `monotonic_ns` of `CLOCK_MONOTONIC`; `None` before its start.
    pub fn time_of(self, monotonic_ns: u64) -> Option<Time> {
        monotonic_ns.checked_sub(self.epoch_ns).map(Time::from_ns)
    }

    /// `time` of this clock as `CLOCK_MONOTONIC` nanoseconds, for absolute timers.
    pub const fn monotonic_ns_of(self, time: Time) -> u64 {
        self.epoch_ns.saturating_add(time.as_ns())
    }
}

/// `CLOCK_MONOTONIC`, ns.
#[inline]
pub fn monotonic_ns() -> u64 {
    // The clock exists on every Linux; the call cannot fail with a valid identifier.
    clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

/// What to add to the times of a clock to get those of the run's own clock. Zero for all clocks of one machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offset {
    ns: i64,
}

impl Offset {
    /// The run's own clock.
    pub const ZERO: Self = Self::from_ns(0);

    /// Of so many nanoseconds: positive if the clock is behind the run's own.
    pub const fn from_ns(ns: i64) -> Self {
        Self { ns }
    }

    /// `time` of the clock in nanoseconds since the start of the run, negative before it.
    #[inline]
    pub const fn ns_of(self, time: Time) -> i64 {
        (time.as_ns() as i64).saturating_add(self.ns)
    }

    /// `time` of the clock as a time of the run, which begins with zero.
    #[inline]
    pub fn time_of(self, time: Time) -> Time {
        Time::from_ns(self.ns_of(time).max(0) as u64)
    }
}
