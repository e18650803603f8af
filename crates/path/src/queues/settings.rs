//! Checks of queue settings.

use crate::element_settings as element;
use strict_input::Refusal;
use units::Span;

/// Returns the error for `name = value`; `allowed` describes the allowed values.
pub(super) fn refuse(name: &str, value: f64, allowed: &str) -> Refusal {
    element::refuse(name, value, format!("allowed is {allowed}"))
}

/// Returns the error for a setting that does not exist or cannot change during a run.
pub(super) fn unknown(name: &str, allowed: &str) -> Refusal {
    element::unknown(name, &[allowed])
}

/// Checks that a duration in ms is above zero; returns the span.
pub(super) fn milliseconds(name: &str, value: f64) -> Result<Span, Refusal> {
    element::milliseconds_above_zero(name, value).map(|()| Span::from_secs_f64(value / 1e3))
}

/// Checks a duration in ms, which may be zero; returns the span.
pub(super) fn milliseconds_or_zero(name: &str, value: f64) -> Result<Span, Refusal> {
    element::milliseconds(name, value).map(|()| Span::from_secs_f64(value / 1e3))
}

/// Checks that the value is a whole number from 1 to 2^53; returns it.
pub(super) fn whole(name: &str, value: f64) -> Result<u64, Refusal> {
    if value >= 1.0 && value <= (1u64 << 53) as f64 && value.fract() == 0.0 {
        return Ok(value as u64);
    }
    Err(refuse(name, value, "a whole number, at least 1"))
}

/// Checks that the value is above 0 and at most 1; returns it.
pub(super) fn fraction(name: &str, value: f64) -> Result<f64, Refusal> {
    if value > 0.0 && value <= 1.0 {
        return Ok(value);
    }
    Err(refuse(name, value, "a number above 0, at most 1"))
}
