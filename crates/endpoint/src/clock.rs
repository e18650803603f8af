//! Real clock of a run, in nanoseconds of `CLOCK_MONOTONIC` since the run's start, and corrections between clocks.

use crate::distortion;
use nix::time::{ClockId, clock_gettime};
use std::time::Duration;
use units::{Span, Time};

/// Clock that starts at zero with the run. It stays at zero before the start.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch_ns: u64,
}

impl Clock {
    /// Creates a clock that starts at `epoch_ns` of `CLOCK_MONOTONIC`.
    pub const fn starting_at(epoch_ns: u64) -> Self {
        Self { epoch_ns }
    }

    /// Creates a clock that starts now.
    pub fn start() -> Self {
        Self::starting_at(monotonic_ns())
    }

    /// Returns the time since the start.
    #[inline]
    pub fn now(self) -> Time {
        Time::from_ns(monotonic_ns().saturating_sub(self.epoch_ns))
    }

    /// Returns the time until the clock starts.
    pub(crate) fn until_start(self) -> Duration {
        Duration::from_nanos(self.epoch_ns.saturating_sub(monotonic_ns()))
    }

    /// Returns this clock's time at `monotonic_ns` of [`monotonic_ns`]; `None` before the start.
    pub fn time_of(self, monotonic_ns: u64) -> Option<Time> {
        monotonic_ns.checked_sub(self.epoch_ns).map(Time::from_ns)
    }

    /// Converts `time` of this clock to `CLOCK_MONOTONIC` nanoseconds, for absolute timers.
    pub fn monotonic_ns_of(self, time: Time) -> u64 {
        let shown = self.epoch_ns.saturating_add(time.as_ns());
        distortion::of_process().map_or(shown, |distortion| distortion.true_of(shown))
    }

    /// Returns this clock's time of the kernel's receive timestamp. `now` is the current time.
    pub(crate) fn time_of_stamp(self, stamp: KernelTime, now: Time) -> Time {
        let Some(true_ns) = stamp.realtime_ns.checked_add_signed(-stamp.ahead_ns) else { return now };
        // The time is at most now and not long before, since the wall clock may have stepped in between.
        self.time_of(shown(true_ns)).filter(|at| *at <= now && now - *at <= LONGEST_WAIT).unwrap_or(now)
    }
}

/// Maximum time that a packet waits for its reader. Older timestamps are considered wrong.
const LONGEST_WAIT: Span = Span::from_secs(1);

/// Kernel receive timestamp by the wall clock, with the wall clock's lead over `CLOCK_MONOTONIC` at that time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelTime {
    pub(crate) realtime_ns: u64,
    pub(crate) ahead_ns: i64,
}

/// Returns the wall clock's lead over `CLOCK_MONOTONIC`, ns.
pub fn wall_clock_ahead_ns() -> i64 {
    read(ClockId::CLOCK_REALTIME) as i64 - read(ClockId::CLOCK_MONOTONIC) as i64
}

/// Returns `CLOCK_MONOTONIC` with this process's distortion, ns.
#[inline]
pub fn monotonic_ns() -> u64 {
    shown(read(ClockId::CLOCK_MONOTONIC))
}

#[inline]
fn shown(true_ns: u64) -> u64 {
    distortion::of_process().map_or(true_ns, |distortion| distortion.shown(true_ns))
}

#[inline]
fn read(clock: ClockId) -> u64 {
    // These clocks exist on every Linux. The call cannot fail with a valid identifier.
    clock_gettime(clock).map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

/// Time range in which a clock has a constant rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// Beginning of the range, ns of the clock since the start of the run.
    pub from_ns: i64,
    /// Correction at the beginning, ns.
    pub add_ns: i64,
    /// Change of the correction per nanosecond.
    pub rate: f64,
}

/// Correction from a clock's times to those of the run's own clock. It is empty for all clocks of one machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Correction {
    /// Ranges in time order. The first one also applies before its beginning. Without ranges the times are unchanged.
    stretches: Vec<Stretch>,
}

impl Correction {
    /// Correction of the run's own clock, which changes nothing.
    pub const NONE: Self = Self { stretches: Vec::new() };

    /// Returns a constant correction, ns: positive if the clock is behind the run's own clock.
    pub fn constant(add_ns: i64) -> Self {
        Self { stretches: vec![Stretch { from_ns: 0, add_ns, rate: 0.0 }] }
    }

    /// Returns the correction of a clock with constant rates in these ranges, which are in time order.
    pub const fn of(stretches: Vec<Stretch>) -> Self {
        Self { stretches }
    }

    /// Converts `time` of the clock to nanoseconds since the start of the run; negative before the start.
    #[inline]
    pub fn ns_of(&self, time: Time) -> i64 {
        let time = time.as_ns() as i64;
        if self.stretches.is_empty() {
            return time;
        }
        let after = self.stretches.partition_point(|stretch| stretch.from_ns <= time);
        let Stretch { from_ns, add_ns, rate } = self.stretches[after.saturating_sub(1)];
        time.saturating_add(add_ns).saturating_add(((time - from_ns) as f64 * rate).round() as i64)
    }

    /// Converts `time` of the clock to a time of the run; at least zero.
    #[inline]
    pub fn time_of(&self, time: Time) -> Time {
        Time::from_ns(self.ns_of(time).max(0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_drifts_and_steps_is_corrected_stretch_by_stretch() {
        let at = |ms: u64| Time::from_ns(ms * 1_000_000);
        let correction = Correction::of(vec![
            Stretch { from_ns: 0, add_ns: -5_000_000, rate: -1e-4 },
            Stretch { from_ns: 10_000_000_000, add_ns: -26_000_000, rate: -1e-4 },
        ]);
        assert_eq!(correction.ns_of(at(0)), -5_000_000);
        assert_eq!(correction.ns_of(at(9_000)), 8_994_100_000);
        assert_eq!(correction.ns_of(at(11_000)), 10_973_900_000);
        assert_eq!((correction.time_of(at(0)), Correction::NONE.time_of(at(3))), (Time::ZERO, at(3)));
        assert_eq!(Correction::constant(7).ns_of(at(1)), 1_000_007);
    }

    #[test]
    fn a_stamp_of_the_kernel_is_a_time_of_the_clock_unless_the_wall_clock_stepped() {
        let clock = Clock::starting_at(read(ClockId::CLOCK_MONOTONIC).saturating_sub(5_000_000_000));
        let (now, ahead_ns) = (Time::from_ns(5_000_000_000), wall_clock_ahead_ns());
        let stamped = |before_ns: i64| {
            let since = clock.epoch_ns as i64 + now.as_ns() as i64 - before_ns;
            clock.time_of_stamp(KernelTime { realtime_ns: (since + ahead_ns) as u64, ahead_ns }, now)
        };
        assert_eq!(now - stamped(300_000), Span::from_us(300));
        assert_eq!((stamped(-1), stamped(2_000_000_000)), (now, now));
    }
}
