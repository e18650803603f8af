//! Reordering window of RACK: adapts loss detection to packets that arrive late.

use crate::flight::AckSummary;
use crate::rtt::RttEstimator;
use units::Span;

/// Number of recoveries without a duplicate after which the window returns to its initial size (RFC 8985 6.2 step 4).
const PERSISTENCE: u32 = 16;
/// Largest multiple of the window (Linux v6.12, `net/ipv4/tcp_recovery.c`, `tcp_rack_update_reo_wnd`).
const MOST: u32 = 255;

/// The reordering window of RACK (RFC 8985 6.2 step 4).
#[derive(Clone, Copy, Debug)]
pub(super) struct Rack {
    /// Window as a share of the smallest RTT.
    share: f64,
    /// True if a packet has arrived after a packet that was sent later.
    has_seen: bool,
    multiplier: u32,
    /// Recoveries until `multiplier` is 1 again.
    persist: u32,
    /// First packet number of the next round. `multiplier` rises at most once per round.
    round_end: u64,
}

impl Rack {
    /// Returns a window of the part of `time_threshold` beyond 1; the threshold is a multiple of the RTT.
    pub(super) fn new(time_threshold: f64) -> Self {
        let share = (time_threshold - 1.0).max(0.0);
        Self { share, has_seen: false, multiplier: 1, persist: 0, round_end: 0 }
    }

    /// Returns true if reordering was seen: then only time decides, not the arrival of later packets.
    pub(super) const fn has_seen_reordering(&self) -> bool {
        self.has_seen
    }

    /// Handles an ACK of something new; the next packet has `next_number`. A lost packet that has arrived stands for
    /// the duplicate that TCP's receiver reports (RFC 2883): its payload was sent twice.
    #[inline]
    pub(super) fn on_acknowledged(&mut self, acknowledged: &AckSummary, next_number: u64) {
        self.has_seen |= acknowledged.is_reordered;
        if acknowledged.spurious > 0 {
            self.has_seen = true;
            let is_next_round = acknowledged.newest.is_some_and(|newest| newest.number >= self.round_end);
            if is_next_round || self.persist == 0 {
                self.multiplier = (self.multiplier + 1).min(MOST);
                self.persist = PERSISTENCE;
                self.round_end = next_number;
            }
        }
    }

    /// Handles the end of a recovery.
    pub(super) const fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiplier = 1;
        }
    }

    /// Returns the time beyond the latest RTT after which a packet is lost.
    pub(super) fn window(&self, rtt: &RttEstimator) -> Span {
        rtt.min().mul_f64(self.share * f64::from(self.multiplier)).min(rtt.smoothed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::flight::Departure;
    use units::Time;

    fn rtt_of_100_ms() -> RttEstimator {
        let mut rtt = RttEstimator::new(&Config::tcp());
        rtt.on_ack(Time::from_ns(100_000_000), Time::ZERO, Span::ZERO);
        rtt
    }

    fn late(number: u64) -> AckSummary {
        let newest = Some(Departure { number, at: Time::ZERO });
        AckSummary { spurious: 1, newest, ..AckSummary::default() }
    }

    #[test]
    fn a_duplicate_widens_the_window_once_a_round_up_to_the_smoothed_rtt() {
        let (mut rack, rtt) = (Rack::new(1.25), rtt_of_100_ms());
        assert_eq!(rack.window(&rtt), Span::from_ms(25));
        rack.on_acknowledged(&late(5), 20);
        rack.on_acknowledged(&late(7), 25);
        assert_eq!((rack.window(&rtt), rack.has_seen_reordering()), (Span::from_ms(50), true));
        for number in [20, 40, 60, 80] {
            rack.on_acknowledged(&late(number), number + 20);
        }
        assert_eq!(rack.window(&rtt), Span::from_ms(100), "not above the smoothed RTT");
    }

    #[test]
    fn sixteen_recoveries_without_a_duplicate_make_the_window_small_again() {
        let (mut rack, rtt) = (Rack::new(1.25), rtt_of_100_ms());
        rack.on_acknowledged(&late(5), 20);
        (0..15).for_each(|_| rack.on_recovered());
        assert_eq!(rack.window(&rtt), Span::from_ms(50));
        rack.on_recovered();
        assert_eq!((rack.window(&rtt), rack.has_seen_reordering()), (Span::from_ms(25), true));
    }

    #[test]
    fn a_packet_that_was_neither_lost_nor_sent_again_shows_reordering_alone() {
        let (mut rack, rtt) = (Rack::new(1.25), rtt_of_100_ms());
        rack.on_acknowledged(&AckSummary { is_reordered: true, ..AckSummary::default() }, 20);
        assert_eq!((rack.window(&rtt), rack.has_seen_reordering()), (Span::from_ms(25), true));
    }
}
