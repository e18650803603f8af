//! Points in time and durations, in integer nanoseconds.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use serde::{Deserialize, Serialize};

/// Nanoseconds in one second.
const NS_PER_S: f64 = 1e9;

/// Rounds to the nearest whole number, at least zero; cheaper than `f64::round`, which is a library call.
fn nearest(value: f64) -> u64 {
    (value + 0.5) as u64
}

/// Point in time: nanoseconds since the start of the run.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(transparent)]
pub struct Time(u64);

/// Duration: nanoseconds, never negative.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span(u64);

impl Time {
    /// Start of the run.
    pub const ZERO: Self = Self(0);
    /// Time after all others, which means "no event planned".
    pub const NEVER: Self = Self(u64::MAX);

    /// Returns the time `ns` nanoseconds after the start of the run.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// Returns the time `seconds` after the start of the run, rounded to the nearest nanosecond; negative values become
    /// zero.
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self(nearest(seconds * NS_PER_S))
    }

    /// Returns the nanoseconds since the start of the run.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Returns the seconds since the start of the run.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NS_PER_S
    }

    /// Returns true for a real point in time (not [`Time::NEVER`]).
    pub const fn is_finite(self) -> bool {
        self.0 != u64::MAX
    }

    /// Returns the duration since `earlier`; zero if `earlier` is in fact later.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// Empty duration.
    pub const ZERO: Self = Self(0);
    /// Longest duration.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// Returns `us` microseconds.
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000)
    }

    /// Returns `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }

    /// Returns `s` seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(s * 1_000_000_000)
    }

    /// Returns `seconds`, rounded to the nearest nanosecond; negative values become zero.
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self(nearest(seconds * NS_PER_S))
    }

    /// Returns the nanoseconds.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Returns the seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NS_PER_S
    }

    /// Returns the milliseconds.
    pub fn as_ms_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Returns true if the span is empty.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Returns this span times `factor`, rounded to the nearest nanosecond; negative factors give zero.
    pub fn mul_f64(self, factor: f64) -> Self {
        Self(nearest(self.0 as f64 * factor))
    }

    /// Returns `self - other`, or zero.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add<Span> for Time {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub<Span> for Time {
    type Output = Self;
    fn sub(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl Sub for Time {
    type Output = Span;
    fn sub(self, earlier: Self) -> Span {
        self.since(earlier)
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

impl SubAssign for Span {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<u64> for Span {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Span {
    type Output = Self;
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_finite() { write!(f, "{:.9}s", self.as_secs_f64()) } else { f.write_str("never") }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6}ms", self.as_ms_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_never_go_negative() {
        assert_eq!(Time::from_ns(5) - Time::from_ns(9), Span::ZERO);
        assert_eq!(Span::from_ns(5) - Span::from_ns(9), Span::ZERO);
    }

    #[test]
    fn never_stays_never_when_time_is_added() {
        assert_eq!(Time::NEVER + Span::from_secs(1), Time::NEVER);
    }

    #[test]
    fn seconds_convert_to_the_nearest_nanosecond() {
        assert_eq!(Span::from_secs_f64(0.0012).as_ns(), 1_200_000);
        assert_eq!(Time::from_secs_f64(-1.0), Time::ZERO);
    }
}
