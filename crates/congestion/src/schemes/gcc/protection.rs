//! Cost of retransmissions. The encoder must leave room for them; otherwise the losses that it causes never end
//! (libwebrtc M150, `modules/video_coding/fec_controller_default.cc`).

use units::{Span, Time};

/// Length of a bucket. `BUCKETS` of them form the measured time.
const BUCKET: Span = Span::from_ms(100);
const BUCKETS: usize = 10;
/// Maximum fraction that is reserved.
const MAX_SHARE: f64 = 0.5;

/// Retransmitted fraction of the sent bytes, over the latest second.
#[derive(Debug)]
pub(super) struct Protection {
    /// Bytes sent, and retransmitted bytes among them.
    buckets: [(f64, f64); BUCKETS],
    /// Present bucket, and its end.
    index: usize,
    until: Time,
}

impl Protection {
    pub(super) fn new(now: Time) -> Self {
        Self { buckets: [(0.0, 0.0); BUCKETS], index: 0, until: now + BUCKET }
    }

    /// Counts a sent packet; `bytes` of its IP datagram.
    pub(super) fn on_sent(&mut self, now: Time, bytes: f64, retransmission: bool) {
        self.advance(now);
        let bucket = &mut self.buckets[self.index];
        bucket.0 += bytes;
        bucket.1 += if retransmission { bytes } else { 0.0 };
    }

    /// Advances the time.
    pub(super) fn advance(&mut self, now: Time) {
        for _ in 0..BUCKETS {
            if now < self.until {
                return;
            }
            self.index = (self.index + 1) % BUCKETS;
            self.buckets[self.index] = (0.0, 0.0);
            self.until += BUCKET;
        }
        // All buckets are empty now, after a silence of any length.
        self.until = self.until.max(now + BUCKET);
    }

    /// Returns the retransmitted fraction.
    pub(super) fn share(&self) -> f64 {
        let (sent, again) =
            self.buckets.iter().fold((0.0, 0.0), |sum, bucket| (sum.0 + bucket.0, sum.1 + bucket.1));
        if sent > 0.0 { (again / sent).min(MAX_SHARE) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    #[test]
    fn the_share_is_that_of_the_latest_second_and_at_most_a_half() {
        let mut protection = Protection::new(at(0));
        assert_eq!(protection.share(), 0.0);
        protection.on_sent(at(0), 600.0, true);
        assert_eq!(protection.share(), 0.5);
        protection.on_sent(at(500), 2400.0, false);
        assert_eq!(protection.share(), 0.2);
        protection.advance(at(999));
        assert_eq!(protection.share(), 0.2);
        protection.advance(at(1000));
        assert_eq!(protection.share(), 0.0);
        protection.on_sent(at(60_000), 1000.0, true);
        protection.on_sent(at(60_050), 3000.0, false);
        assert_eq!(protection.share(), 0.25);
    }
}
