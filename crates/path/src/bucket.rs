//! Token bucket in exact integers, used by shaper, policer and netem.

use units::{Rate, Span, Time};

/// Work of one byte, in 10^-9 bit: a rate (bit/s) times a time (ns) gives this unit.
pub(crate) const BYTE_WORK: u64 = 8_000_000_000;

/// Token bucket. Tokens are 10^-9 bit, so that rate times ns is an integer and nothing is rounded.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    rate: Rate,
    depth: i64,
    tokens: i64,
    at: Time,
}

const fn work(bytes: u64) -> i64 {
    (bytes * BYTE_WORK) as i64
}

impl Bucket {
    /// Returns a full bucket. `burst_bytes` is at most 10^9.
    pub(crate) fn new(rate: Rate, burst_bytes: u64) -> Self {
        Self { rate, depth: work(burst_bytes), tokens: work(burst_bytes), at: Time::ZERO }
    }

    /// Adds the tokens due by `now`.
    #[inline]
    pub(crate) fn update(&mut self, now: Time) {
        let gain = u128::from(self.rate.bps()) * u128::from((now - self.at).as_ns());
        self.at = now;
        let room = self.depth.abs_diff(self.tokens);
        self.tokens = if gain >= u128::from(room) { self.depth } else { self.tokens + gain as i64 };
    }

    /// Returns the level at which a packet of `bytes` may leave: all its bytes, or a full bucket if the packet is
    /// larger.
    #[inline]
    pub(crate) fn need(&self, bytes: u32) -> i64 {
        work(u64::from(bytes)).min(self.depth)
    }

    /// Returns the time at which the level is at least `need`, counted from the last update.
    #[inline]
    pub(crate) fn ready(&self, need: i64) -> Time {
        if self.tokens >= need {
            return self.at;
        }
        self.at + Span::from_ns((need - self.tokens).unsigned_abs().div_ceil(self.rate.bps()))
    }

    #[inline]
    pub(crate) fn has(&self, need: i64) -> bool {
        self.tokens >= need
    }

    /// Takes the tokens of `bytes`, into debt if there are not enough.
    #[inline]
    pub(crate) fn take(&mut self, bytes: u32) {
        self.tokens -= work(u64::from(bytes));
    }

    /// Changes rate and depth; tokens that no longer fit are lost.
    pub(crate) fn change(&mut self, now: Time, rate: Rate, burst_bytes: u64) {
        self.update(now);
        self.rate = rate;
        self.depth = work(burst_bytes);
        self.tokens = self.tokens.min(self.depth);
    }

    pub(crate) fn rate(&self) -> Rate {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_exactly_at_the_rate_up_to_the_depth() {
        // 8 Mbit/s are 1 byte per us.
        let mut bucket = Bucket::new(Rate::from_mbps(8.0), 3000);
        bucket.take(3000);
        assert_eq!(bucket.ready(bucket.need(1500)), Time::ZERO + Span::from_us(1500));
        bucket.update(Time::ZERO + Span::from_us(1499));
        assert!(!bucket.has(bucket.need(1500)));
        bucket.update(Time::ZERO + Span::from_us(1500));
        assert!(bucket.has(bucket.need(1500)));
        bucket.update(Time::ZERO + Span::from_secs(100));
        assert!(bucket.has(bucket.need(3000)) && !bucket.has(work(3001)));
    }

    #[test]
    fn the_time_to_leave_is_the_first_ns_with_enough_tokens() {
        let mut bucket = Bucket::new(Rate::from_mbps(7.0), 1500);
        bucket.take(1500);
        // 12000 bit at 7 Mbit/s are 1714285.7 ns.
        assert_eq!(bucket.ready(bucket.need(1500)), Time::from_ns(1_714_286));
        bucket.update(Time::from_ns(1_714_285));
        assert!(!bucket.has(bucket.need(1500)));
    }

    #[test]
    fn debt_is_paid_back_before_the_level_is_zero_again() {
        let mut bucket = Bucket::new(Rate::from_mbps(8.0), 1000);
        bucket.take(1500);
        assert_eq!(bucket.ready(0), Time::ZERO + Span::from_us(500));
    }

    #[test]
    fn a_packet_larger_than_the_bucket_needs_a_full_one() {
        let bucket = Bucket::new(Rate::from_mbps(8.0), 1000);
        assert!(bucket.has(bucket.need(1500)));
    }
}
