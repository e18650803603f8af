//! The real clock of a run, nanoseconds of `CLOCK_MONOTONIC` since its start, and how far clocks are apart.

use crate::distortion;
use nix::time::{ClockId, clock_gettime};
use std::time::Duration;
use units::{Span, Time};

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

    /// Returns how long it is until the clock starts; until then it shows 0.
    pub(crate) fn until_start(self) -> Duration {
        Duration::from_nanos(self.epoch_ns.saturating_sub(monotonic_ns()))
    }

    /// The time of this clock at `monotonic_ns` of [`monotonic_ns`]; `None` before its start.
    pub fn time_of(self, monotonic_ns: u64) -> Option<Time> {
        monotonic_ns.checked_sub(self.epoch_ns).map(Time::from_ns)
    }

    /// `time` of this clock as `CLOCK_MONOTONIC` nanoseconds, for absolute timers.
    pub fn monotonic_ns_of(self, time: Time) -> u64 {
        let shown = self.epoch_ns.saturating_add(time.as_ns());
        distortion::of_process().map_or(shown, |distortion| distortion.true_of(shown))
    }

    /// The time of this clock at which the kernel stamped a packet that it has handed over since.
    pub(crate) fn time_of_stamp(self, stamp: KernelTime, now: Time) -> Time {
        let Some(true_ns) = stamp.realtime_ns.checked_add_signed(-stamp.ahead_ns) else { return now };
        // Not after now, and not long before: the wall clock may have stepped in between.
        self.time_of(shown(true_ns)).filter(|at| *at <= now && now - *at <= LONGEST_WAIT).unwrap_or(now)
    }
}

/// Longest time that a packet waits for its reader before its stamp is taken for wrong.
const LONGEST_WAIT: Span = Span::from_secs(1);

/// When the kernel took in a packet: by the wall clock, which is so far ahead of `CLOCK_MONOTONIC` just then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelTime {
    pub(crate) realtime_ns: u64,
    pub(crate) ahead_ns: i64,
}

/// How far the wall clock is ahead of `CLOCK_MONOTONIC`, ns.
pub fn wall_clock_ahead_ns() -> i64 {
    read(ClockId::CLOCK_REALTIME) as i64 - read(ClockId::CLOCK_MONOTONIC) as i64
}

/// `CLOCK_MONOTONIC` as this process is to see it, ns.
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
    // The clocks exist on every Linux; the call cannot fail with a valid identifier.
    clock_gettime(clock).map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

/// A stretch of time in which a clock goes evenly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// When it begins, ns of the clock since the start of the run.
    pub from_ns: i64,
    /// What is added to its times then, ns.
    pub add_ns: i64,
    /// How much more is added in each nanosecond after it.
    pub rate: f64,
}

/// What to add to the times of a clock to get those of the run's own clock. Nothing for all clocks of one machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Correction {
    /// In order of time; the first one holds before it too. None: the run's own clock.
    stretches: Vec<Stretch>,
}

impl Correction {
    /// The run's own clock.
    pub const NONE: Self = Self { stretches: Vec::new() };

    /// Always the same, ns: positive if the clock is behind the run's own.
    pub fn constant(add_ns: i64) -> Self {
        Self { stretches: vec![Stretch { from_ns: 0, add_ns, rate: 0.0 }] }
    }

    /// Of a clock that goes evenly in each of several stretches, in order of time.
    pub const fn of(stretches: Vec<Stretch>) -> Self {
        Self { stretches }
    }

    /// `time` of the clock in nanoseconds since the start of the run, negative before it.
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

    /// `time` of the clock as a time of the run, which begins with zero.
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
