//! Checks of the settings of queues.

use units::Span;

/// Longest time a setting takes, ms: one hour.
const LONGEST_MS: f64 = 3_600_000.0;

/// The error for `name = value` when `allowed` is what may stand there.
pub(super) fn refuse(name: &str, value: f64, allowed: &str) -> String {
    format!("`{name}` = {value}: allowed is {allowed}")
}

/// The error for a setting that does not exist or cannot change during a run.
pub(super) fn unknown(name: &str, allowed: &str) -> String {
    format!("`{name}` cannot be changed; allowed is {allowed}")
}

/// A length of time above zero, in ms.
pub(super) fn milliseconds(name: &str, value: f64) -> Result<Span, String> {
    if value > 0.0 && value <= LONGEST_MS {
        return Ok(Span::from_secs_f64(value / 1e3));
    }
    Err(refuse(name, value, "a number of ms above 0, at most 3600000"))
}

/// A length of time, zero included, in ms.
pub(super) fn milliseconds_or_zero(name: &str, value: f64) -> Result<Span, String> {
    if (0.0..=LONGEST_MS).contains(&value) {
        return Ok(Span::from_secs_f64(value / 1e3));
    }
    Err(refuse(name, value, "a number of ms from 0 to 3600000"))
}

/// A whole number from 1 to 2^53.
pub(super) fn whole(name: &str, value: f64) -> Result<u64, String> {
    if value >= 1.0 && value <= (1u64 << 53) as f64 && value.fract() == 0.0 {
        return Ok(value as u64);
    }
    Err(refuse(name, value, "a whole number, at least 1"))
}

/// A number above 0, at most 1.
pub(super) fn fraction(name: &str, value: f64) -> Result<f64, String> {
    if value > 0.0 && value <= 1.0 {
        return Ok(value);
    }
    Err(refuse(name, value, "a number above 0, at most 1"))
}
