//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation-02, section 3).

use congestion::RateSample;
use units::{Rate, Span, Time};

/// State of the connection copied into every packet when it is sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Snapshot {
    /// Payload bytes delivered on the connection.
    pub delivered_bytes: u64,
    /// Time of the latest delivery.
    pub delivered_at: Time,
    /// Departure of the first packet of the sample.
    pub first_sent_at: Time,
    /// Payload bytes lost on the connection.
    pub lost_bytes: u64,
    /// Payload bytes in flight, this packet included.
    pub in_flight_bytes: u64,
}

/// Counts deliveries and turns them into one sample per ACK.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateSampler {
    delivered_bytes: u64,
    lost_bytes: u64,
    delivered_at: Time,
    first_sent_at: Time,
    /// Delivered count at which the application-limited phase ends; 0 when not limited.
    app_limited_until: u64,
    /// Rate of the latest sample.
    latest: Rate,
}

/// The newest packet of the ACK being processed.
#[derive(Clone, Copy, Debug)]
pub struct Newest {
    /// Departure of the packet.
    pub sent_at: Time,
    /// True if the application limited the sender when the packet left.
    pub app_limited: bool,
    /// State of the connection when the packet left.
    pub snapshot: Snapshot,
}

impl RateSampler {
    /// Returns the snapshot for a packet sent at `now`. `in_flight_bytes` includes the packet; `idle` is true if
    /// nothing else was in flight.
    pub fn on_sent(&mut self, now: Time, in_flight_bytes: u64, idle: bool) -> Snapshot {
        if idle {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        Snapshot {
            delivered_bytes: self.delivered_bytes,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            lost_bytes: self.lost_bytes,
            in_flight_bytes,
        }
    }

    /// Counts `bytes` declared lost.
    pub const fn on_lost(&mut self, bytes: u64) {
        self.lost_bytes += bytes;
    }

    /// Counts `bytes` delivered.
    pub const fn on_delivered(&mut self, now: Time, bytes: u64) {
        self.delivered_bytes += bytes;
        self.delivered_at = now;
    }

    /// Returns the sample of an ACK whose newest packet is `newest`; `None` if the interval is too short to be
    /// plausible.
    pub fn sample(&mut self, now: Time, newest: &Newest, min_rtt: Span) -> Option<RateSample> {
        let snapshot = &newest.snapshot;
        self.first_sent_at = newest.sent_at;
        if self.app_limited_until != 0 && self.delivered_bytes > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let interval = (newest.sent_at - snapshot.first_sent_at).max(now - snapshot.delivered_at);
        if interval.is_zero() || interval < min_rtt {
            return None;
        }
        let delivered_bytes = self.delivered_bytes - snapshot.delivered_bytes;
        self.latest = Rate::from_bytes_per(delivered_bytes, interval);
        Some(RateSample {
            delivered_bytes,
            interval,
            rate: self.latest,
            prior_delivered_bytes: snapshot.delivered_bytes,
            lost_bytes: self.lost_bytes - snapshot.lost_bytes,
            in_flight_at_send_bytes: snapshot.in_flight_bytes,
            app_limited: newest.app_limited,
        })
    }

    /// Marks the flow as application-limited: the application has nothing to send although the window is open.
    pub fn mark_app_limited(&mut self, in_flight_bytes: u64) {
        self.app_limited_until = (self.delivered_bytes + in_flight_bytes).max(1);
    }

    /// Returns true if the application limits the sender.
    pub const fn is_app_limited(&self) -> bool {
        self.app_limited_until != 0
    }

    /// Returns the total bytes delivered.
    pub const fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    /// Returns the rate of the latest sample; zero before the first.
    pub(crate) const fn latest(&self) -> Rate {
        self.latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_is_delivered_bytes_over_the_longer_interval() {
        let mut sampler = RateSampler::default();
        let at = |ms: u64| Time::from_ns(ms * 1_000_000);
        let first = sampler.on_sent(at(0), 1000, true);
        let second = sampler.on_sent(at(1), 2000, false);
        sampler.on_delivered(at(100), 1000);
        let newest = |sent_at, snapshot| Newest { sent_at, app_limited: false, snapshot };
        let sample = sampler.sample(at(100), &newest(at(0), first), Span::from_ms(50));
        assert_eq!(sample.unwrap().rate, Rate::from_bps(80_000)); // 1000 B in 100 ms
        sampler.on_delivered(at(140), 1000);
        let sample = sampler.sample(at(140), &newest(at(1), second), Span::from_ms(50));
        // 2000 B since the snapshot (delivered 0 at 0 ms): send interval 1 ms, ACK interval 140 ms.
        assert_eq!(sample.unwrap().rate, Rate::from_bytes_per(2000, Span::from_ms(140)));
        assert_eq!(sampler.latest(), sample.unwrap().rate);
    }

    #[test]
    fn intervals_shorter_than_the_minimum_rtt_give_no_sample() {
        let mut sampler = RateSampler::default();
        let snapshot = sampler.on_sent(Time::ZERO, 1000, true);
        sampler.on_delivered(Time::from_ns(10), 1000);
        let newest = Newest { sent_at: Time::ZERO, app_limited: false, snapshot };
        assert!(sampler.sample(Time::from_ns(10), &newest, Span::from_ms(1)).is_none());
    }
}
