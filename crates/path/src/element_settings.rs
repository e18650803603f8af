//! Checks and assignments of element settings.

use std::borrow::Cow;
use strict_input::Refusal;
use units::Rate;

/// Maximum rate of a setting, Mbit/s: keeps rate times time within the integers used.
pub(crate) const HIGHEST_MBPS: f64 = 1e6;
/// Maximum time of a setting, ms: one hour.
const LONGEST_MS: f64 = 3_600_000.0;
/// Maximum depth of a token bucket, bytes.
const DEEPEST_BYTES: u64 = 1_000_000_000;

/// Returns the bytes of a full packet, the default of settings in bytes.
pub(crate) fn full_packet<N: From<u16>>() -> N {
    N::from(1500)
}

/// Field that a number can be assigned to.
pub(crate) trait Numeric: Sized {
    /// Converts `value` to the field's type, or returns the allowed values.
    fn of(value: f64) -> Result<Self, &'static str>;
}

impl Numeric for f64 {
    fn of(value: f64) -> Result<Self, &'static str> {
        Ok(value)
    }
}

impl Numeric for u64 {
    fn of(value: f64) -> Result<Self, &'static str> {
        let is_whole = value >= 0.0 && value <= (1u64 << 53) as f64 && value.fract() == 0.0;
        if is_whole { Ok(value as Self) } else { Err("must be a whole number, at least 0") }
    }
}

impl Numeric for u32 {
    fn of(value: f64) -> Result<Self, &'static str> {
        Self::try_from(u64::of(value)?).map_err(|_| "must be below 4294967296")
    }
}

impl<N: Numeric> Numeric for Option<N> {
    fn of(value: f64) -> Result<Self, &'static str> {
        N::of(value).map(Some)
    }
}

pub(crate) fn assign<N: Numeric>(name: &str, field: &mut N, value: f64) -> Result<(), Refusal> {
    *field = N::of(value).map_err(|allowed| refuse(name, value, allowed))?;
    Ok(())
}

/// Returns the error for a setting that does not exist or cannot change during a run.
pub(crate) fn unknown(name: &str, allowed: &[&str]) -> Refusal {
    Refusal::new(format!("{name} cannot be changed; allowed: {}", allowed.join(", ")))
}

/// Returns the error for `name = value`.
pub(crate) fn refuse(
    name: &str,
    value: impl core::fmt::Display,
    allowed: impl Into<Cow<'static, str>>,
) -> Refusal {
    Refusal::of_value(name, value, allowed)
}

fn within(name: &str, value: f64, highest: f64) -> Result<(), Refusal> {
    if value <= highest { Ok(()) } else { Err(refuse(name, value, format!("must be at most {highest}"))) }
}

/// Checks that the number is above 0 and at most `highest`.
pub(crate) fn above_zero(name: &str, value: f64, highest: f64) -> Result<(), Refusal> {
    if value.is_nan() || value <= 0.0 {
        return Err(refuse(name, value, "must be above 0"));
    }
    within(name, value, highest)
}

/// Checks that the number is from 0 to `highest`.
pub(crate) fn not_negative(name: &str, value: f64, highest: f64) -> Result<(), Refusal> {
    if value.is_nan() || value < 0.0 {
        return Err(refuse(name, value, "must not be negative"));
    }
    within(name, value, highest)
}

/// Checks that the rate is at least 1 bit/s.
pub(crate) fn rate(name: &str, mbps: f64) -> Result<(), Refusal> {
    above_zero(name, mbps, HIGHEST_MBPS)?;
    if Rate::from_mbps(mbps) == Rate::ZERO {
        return Err(refuse(name, mbps, "must be at least 0.000001 (1 bit/s)"));
    }
    Ok(())
}

/// Checks a duration; zero is allowed.
pub(crate) fn milliseconds(name: &str, ms: f64) -> Result<(), Refusal> {
    not_negative(name, ms, LONGEST_MS)
}

/// Checks that the duration is at least 1 ns.
pub(crate) fn milliseconds_above_zero(name: &str, ms: f64) -> Result<(), Refusal> {
    above_zero(name, ms, LONGEST_MS)?;
    if ms < 1e-6 { Err(refuse(name, ms, "must be at least 0.000001 (1 ns)")) } else { Ok(()) }
}

/// Checks a probability.
pub(crate) fn probability(name: &str, value: f64) -> Result<(), Refusal> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(refuse(name, value, "must be from 0 to 1")) }
}

/// Checks the depth of a token bucket.
pub(crate) fn burst(name: &str, bytes: u64) -> Result<(), Refusal> {
    if (1..=DEEPEST_BYTES).contains(&bytes) {
        return Ok(());
    }
    Err(refuse(name, bytes, format!("must be from 1 to {DEEPEST_BYTES}")))
}

/// Checks the bytes of one packet or opportunity.
pub(crate) fn packet_bytes(name: &str, bytes: u32) -> Result<(), Refusal> {
    if (1..=1_000_000).contains(&bytes) {
        return Ok(());
    }
    Err(refuse(name, bytes, "must be from 1 to 1000000"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outside_their_range_are_refused_in_one_line() {
        assert_eq!(rate("rate_mbps", 0.0).unwrap_err().to_string(), "rate_mbps = 0: must be above 0");
        assert_eq!(rate("rate_mbps", f64::NAN).unwrap_err().to_string(), "rate_mbps = NaN: must be above 0");
        assert_eq!(
            rate("rate_mbps", f64::INFINITY).unwrap_err().to_string(),
            "rate_mbps = inf: must be at most 1000000"
        );
        assert!(rate("rate_mbps", 1e-7).unwrap_err().to_string().contains("0.000001"));
        assert_eq!(
            milliseconds("delay_ms", -1.0).unwrap_err().to_string(),
            "delay_ms = -1: must not be negative"
        );
        assert!(milliseconds("delay_ms", f64::NAN).is_err() && milliseconds("delay_ms", 3.7e6).is_err());
        assert_eq!(
            probability("probability", 1.5).unwrap_err().to_string(),
            "probability = 1.5: must be from 0 to 1"
        );
        assert!(probability("probability", f64::NAN).is_err());
        assert!(burst("burst_bytes", 0).is_err() && packet_bytes("opportunity_bytes", 0).is_err());
    }

    #[test]
    fn whole_fields_take_whole_numbers_only() {
        let mut field = 3u32;
        assert!(assign("packets", &mut field, 7.0).is_ok());
        assert_eq!(field, 7);
        assert!(
            assign("packets", &mut field, 7.5)
                .unwrap_err()
                .to_string()
                .contains("packets = 7.5: must be a whole number")
        );
        assert!(assign("packets", &mut field, -1.0).is_err() && assign("packets", &mut field, 5e9).is_err());
        let mut optional = None::<u64>;
        assert!(assign("packets", &mut optional, 9.0).is_ok());
        assert_eq!(optional, Some(9));
    }
}
