//! Numbers in the units of the source.

use units::{Span, Time};

/// Returns a span of `ms` milliseconds.
pub(super) const fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

/// Returns a span in seconds.
pub(super) fn secs(span: Span) -> f64 {
    span.as_secs_f64()
}

/// Returns `later - earlier` in ms; negative if `later` is in fact earlier.
pub(super) fn signed_ms(later: Time, earlier: Time) -> f64 {
    (later.as_ns() as i64).wrapping_sub(earlier.as_ns() as i64) as f64 / 1e6
}

/// Returns a rate of bytes and ms, bit/s.
pub(super) fn rate_of(bytes: f64, ms: f64) -> f64 {
    bytes * 8e3 / ms
}
