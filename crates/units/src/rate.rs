//! Data rates in bit/s.

use crate::Span;
use core::fmt;
use serde::{Deserialize, Serialize};

/// Scale of `bytes * 8 / rate` in nanoseconds: bits per byte times nanoseconds per second.
const BYTE_NS: u64 = 8 * 1_000_000_000;

/// Data rate in bit/s; zero means that nothing passes.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Rate(u64);

impl Rate {
    /// Rate at which nothing passes.
    pub const ZERO: Self = Self(0);

    /// Returns a rate of `bps` bit/s.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// Returns a rate of `bps` bit/s, rounded to whole bits; negative or NaN becomes zero, infinity the largest rate.
    pub fn from_bps_f64(bps: f64) -> Self {
        // Adding one half is cheaper than `round`, and conversion saturates.
        Self((bps + 0.5) as u64)
    }

    /// Returns a rate of `mbps` Mbit/s, rounded to whole bit/s.
    pub fn from_mbps(mbps: f64) -> Self {
        Self::from_bps_f64(mbps * 1e6)
    }

    /// Returns the rate that carries `bytes` in `span`; the largest rate if `span` is zero.
    pub fn from_bytes_per(bytes: u64, span: Span) -> Self {
        Self::from_bps_f64(bytes as f64 * 8e9 / span.as_ns() as f64)
    }

    /// Returns the rate in bit/s.
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// Returns the rate in Mbit/s.
    pub fn mbps(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Returns the rate in bytes/s.
    pub fn bytes_per_sec(self) -> f64 {
        self.0 as f64 / 8.0
    }

    /// Returns this rate times `factor`.
    pub fn mul_f64(self, factor: f64) -> Self {
        Self::from_bps_f64(self.0 as f64 * factor)
    }

    /// Returns the time to send `bytes`, rounded down to whole ns; [`Span::MAX`] at rate zero.
    pub fn time_for(self, bytes: u64) -> Span {
        match (bytes.checked_mul(BYTE_NS), self.0) {
            (_, 0) => Span::MAX,
            (Some(scaled), rate) => Span::from_ns(scaled / rate),
            (None, rate) => {
                let ns = u128::from(bytes) * u128::from(BYTE_NS) / u128::from(rate);
                Span::from_ns(u64::try_from(ns).unwrap_or(u64::MAX))
            }
        }
    }

    /// Returns the time to send `bytes`, and the new remainder. The `remainder` of an earlier division is carried over,
    /// so that a busy link neither gains nor loses a nanosecond over any number of packets.
    ///
    /// The remainder is in units of 1/rate ns; start with 0 if the link was idle. The rate must not be zero and `bytes`
    /// at most 2^31.
    pub fn time_for_exact(self, bytes: u32, remainder: u64) -> (Span, u64) {
        let scaled = u64::from(bytes) * BYTE_NS + remainder;
        (Span::from_ns(scaled / self.0), scaled % self.0)
    }

    /// Returns the bytes sent in `span`, rounded down.
    pub fn bytes_in(self, span: Span) -> u64 {
        (u128::from(self.0) * u128::from(span.as_ns()) / u128::from(BYTE_NS)) as u64
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6}Mbit/s", self.mbps())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_packet_takes_one_millisecond_at_12_mbps() {
        assert_eq!(Rate::from_mbps(12.0).time_for(1500), Span::from_ms(1));
    }

    #[test]
    fn carried_remainders_keep_the_rate_exact() {
        let rate = Rate::from_bps(100_420_000);
        let (mut total, mut remainder) = (Span::ZERO, 0);
        for _ in 0..100_420 {
            let (span, rest) = rate.time_for_exact(1500, remainder);
            total += span;
            remainder = rest;
        }
        // 100,420 packets x 12,000 bit at 100.42 Mbit/s are 12 s to the nanosecond.
        assert_eq!(total, Span::from_secs(12));
    }

    #[test]
    fn rate_zero_never_finishes() {
        assert_eq!(Rate::ZERO.time_for(1), Span::MAX);
    }

    #[test]
    fn bytes_and_time_are_inverse() {
        let rate = Rate::from_mbps(46.0);
        assert_eq!(rate.bytes_in(Span::from_ms(20)), 115_000);
        assert_eq!(Rate::from_bytes_per(115_000, Span::from_ms(20)), rate);
    }
}
