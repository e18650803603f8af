//! Segmentation offload: a host hands its network card many segments at once, and these leave as one burst.
//!
//! A burst holds the bytes that leave in `burst_ms` at the pacing rate, from two segments to `burst_bytes`. If the
//! window has room for less than a burst, the sender waits for the next ACK, unless that ACK is far away (Linux v5.15,
//! `net/ipv4/tcp_output.c`, `tcp_tso_autosize` and `tcp_tso_should_defer`).

use crate::config::Config;
use units::{Rate, Span, Time};

/// Pacing rate that Linux assumes for a flow that does not pace, in windows per smoothed RTT
/// (`net.ipv4.tcp_pacing_ca_ratio`, 120 %).
const UNPACED_GAIN: f64 = 1.2;
/// Minimum number of segments of a burst (`net.ipv4.tcp_min_tso_segs`).
const FEWEST: u64 = 2;
/// Divisor of the window that gives the bytes that do not wait for more (`net.ipv4.tcp_tso_win_divisor`).
const WINDOW_DIVISOR: u64 = 3;
/// Time since the last departure after which nothing waits.
const PAUSE: Span = Span::from_ms(1);

/// Bursts of one flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bursts {
    /// Length of a burst at the pacing rate; zero: packets leave one by one.
    length: Span,
    most: u64,
    segment: u64,
    /// Remaining bytes of the current burst.
    left: u64,
    /// Time of the latest departure.
    sent_at: Time,
}

/// Conditions that a burst depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    /// Pacing rate, if the flow paces.
    pub(crate) pacing: Option<Rate>,
    pub(crate) window_bytes: u64,
    pub(crate) in_flight_bytes: u64,
    pub(crate) srtt: Option<Span>,
    /// Departure of the oldest packet in flight.
    pub(crate) oldest_sent_at: Option<Time>,
    /// True if the burst may wait: new data outside of loss episodes.
    pub(crate) may_wait: bool,
}

impl Bursts {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            length: Span::from_secs_f64(config.burst_ms / 1e3),
            most: config.burst_bytes,
            segment: u64::from(config.payload_bytes),
            left: 0,
            sent_at: Time::ZERO,
        }
    }

    /// Returns true if packets leave one by one.
    pub(crate) const fn is_off(&self) -> bool {
        self.length.is_zero()
    }

    /// Returns true if the burst that began at `now` continues: then nothing else delays the next packet.
    pub(crate) fn goes_on(&self, now: Time) -> bool {
        self.left > 0 && self.sent_at == now
    }

    /// Returns true if a burst begins now.
    pub(crate) fn begins(&mut self, now: Time, offer: &Offer) -> bool {
        let size = self.size(offer);
        let room = offer.window_bytes.saturating_sub(offer.in_flight_bytes);
        let is_ack_far = match (offer.oldest_sent_at, offer.srtt) {
            (Some(oldest), Some(srtt)) => now - oldest < srtt / 2,
            _ => true,
        };
        let waits = offer.may_wait
            && offer.in_flight_bytes > 0
            && room < size
            && room < offer.window_bytes / WINDOW_DIVISOR
            && now - self.sent_at <= PAUSE
            && !is_ack_far;
        if !waits {
            self.left = size;
        }
        !waits
    }

    /// Counts a packet of `bytes` that left.
    pub(crate) fn sent(&mut self, now: Time, bytes: u32) {
        self.left = self.left.saturating_sub(u64::from(bytes));
        self.sent_at = now;
    }

    /// Returns the bytes of a burst, a whole number of segments.
    fn size(&self, offer: &Offer) -> u64 {
        let by_window = || Some(Rate::from_bytes_per(offer.window_bytes, offer.srtt?).mul_f64(UNPACED_GAIN));
        let fits = offer.pacing.or_else(by_window).map_or(self.most, |rate| rate.bytes_in(self.length));
        (fits.min(self.most) / self.segment).max(FEWEST) * self.segment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_ns(1_000_000_000);

    fn bursts() -> Bursts {
        let mut bursts = Bursts::new(&Config { payload_bytes: 1000, ..Config::linux_offload() });
        bursts.sent(NOW, 1000);
        bursts
    }

    /// Conditions of a window of 100 kB in 40 ms that is full except for `room`; the oldest packet left 30 ms ago.
    fn offer(room: u64) -> Offer {
        Offer {
            pacing: None,
            window_bytes: 100_000,
            in_flight_bytes: 100_000 - room,
            srtt: Some(Span::from_ms(40)),
            oldest_sent_at: Some(NOW - Span::from_ms(30)),
            may_wait: true,
        }
    }

    #[test]
    fn a_burst_is_what_leaves_in_a_millisecond_in_whole_segments() {
        // 1.2 * 100 kB in 40 ms are 3 kB in 1 ms.
        assert_eq!(bursts().size(&offer(0)), 3000);
        let paced = |mbps| bursts().size(&Offer { pacing: Some(Rate::from_mbps(mbps)), ..offer(0) });
        assert_eq!((paced(100.0), paced(1.0), paced(10_000.0)), (12_000, 2000, 65_000));
        assert_eq!(bursts().size(&Offer { srtt: None, ..offer(0) }), 65_000);
    }

    #[test]
    fn less_than_a_burst_waits_for_the_next_ack_unless_that_is_far_away() {
        assert!(!bursts().begins(NOW, &offer(2000)));
        assert!(bursts().begins(NOW, &offer(3000)));
        let cases: [fn(Offer) -> Offer; 4] = [
            |offer| Offer { may_wait: false, ..offer },
            |offer| Offer { in_flight_bytes: 0, ..offer },
            |offer| Offer { oldest_sent_at: Some(NOW - Span::from_ms(19)), ..offer },
            |offer| Offer {
                window_bytes: 6000,
                in_flight_bytes: 4000,
                srtt: Some(Span::from_ms(1)),
                ..offer
            },
        ];
        assert!(cases.iter().all(|change| bursts().begins(NOW, &change(offer(2000)))));
        assert!(bursts().begins(NOW + Span::from_us(1001), &offer(2000)));
    }

    #[test]
    fn a_burst_that_has_begun_goes_on_in_the_same_instant_until_it_is_whole() {
        let mut bursts = bursts();
        assert!(!bursts.goes_on(NOW));
        assert!(bursts.begins(NOW, &offer(5000)));
        for _ in 0..3 {
            assert!(bursts.goes_on(NOW) && !bursts.goes_on(NOW + Span::from_ns(1)));
            bursts.sent(NOW, 1000);
        }
        assert!(!bursts.goes_on(NOW));
    }
}
