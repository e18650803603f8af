//! Packet and time threshold (RFC 9002 6.1, RFC 8985 6.2). A packet is lost if enough later packets were acknowledged,
//! or if it was sent long enough before one of them.

use super::reordering::Rack;
use crate::config::{Config, Reordering};
use crate::flight::{AckSummary, Flight};
use crate::packets::{Fate, SentPacket};
use crate::recovery::Onset;
use crate::rtt::RttEstimator;
use std::ops::Range;
use units::{Span, Time};

/// Smallest time threshold (RFC 9002 6.1.2).
const GRANULARITY: Span = Span::from_ms(1);
/// Time beyond the reordering window at which RACK's timer expires: an ACK that arrives meanwhile decides instead
/// (Linux v6.12, `include/net/tcp.h`, `TCP_TIMEOUT_MIN_US`).
const TIMER_SLACK: Span = Span::from_ms(2);

#[derive(Debug)]
pub(super) struct Thresholds {
    packets: u64,
    /// Multiple of the RTT; 0: no packet is lost by time alone.
    time: f64,
    /// Time at which the time threshold makes the next packet lost; with RACK: time at which every late packet is lost.
    next_timer: Time,
    adaptation: Adaptation,
}

/// Adaptation of the thresholds to packets that arrive late.
#[derive(Clone, Copy, Debug)]
enum Adaptation {
    None,
    /// Growing packet threshold.
    Distance,
    /// Time alone, with RACK's window.
    Rack(Rack),
}

impl Thresholds {
    pub(super) fn new(config: &Config) -> Self {
        let adaptation = match config.reordering {
            Reordering::Rack if config.time_threshold > 0.0 => {
                Adaptation::Rack(Rack::new(config.time_threshold))
            }
            Reordering::Distance => Adaptation::Distance,
            Reordering::Fixed | Reordering::Rack => Adaptation::None,
        };
        let (packets, time) = (config.packet_threshold, config.time_threshold);
        Self { packets, time, next_timer: Time::NEVER, adaptation }
    }

    pub(super) const fn next_timer(&self) -> Time {
        self.next_timer
    }

    pub(super) const fn on_timeout(&mut self) {
        self.next_timer = Time::NEVER;
    }

    /// Adapts the thresholds to an ACK of something new; the next packet has `next_number`.
    #[inline]
    pub(super) fn on_acknowledged(&mut self, flight: &Flight, acknowledged: &AckSummary, next_number: u64) {
        match &mut self.adaptation {
            Adaptation::Rack(rack) => rack.on_acknowledged(acknowledged, next_number),
            Adaptation::Distance if acknowledged.spurious > 0 => self.raise(flight),
            Adaptation::None | Adaptation::Distance => {}
        }
    }

    /// Raises the packet threshold after lost packets arrived: the new threshold would not have declared them lost
    /// (google/quiche@f001eed, `quiche/quic/core/congestion_control/general_loss_algorithm.cc`).
    #[cold]
    fn raise(&mut self, flight: &Flight) {
        let late = flight.acked().iter().filter(|packet| packet.was_lost);
        let largest = flight.largest_acked().unwrap_or(0);
        for packet in late {
            self.packets = self.packets.max((largest + 1).saturating_sub(packet.number));
        }
    }

    /// Handles the end of a recovery.
    pub(super) const fn on_recovered(&mut self) {
        if let Adaptation::Rack(rack) = &mut self.adaptation {
            rack.on_recovered();
        }
    }

    /// Returns true if reordering was seen and the packet threshold does not count any longer.
    pub(super) const fn has_seen_reordering(&self) -> bool {
        matches!(&self.adaptation, Adaptation::Rack(rack) if rack.has_seen_reordering())
    }

    /// Declares packets lost. `is_recovering`: true during an episode, or during the recovery from a timeout.
    #[inline]
    pub(super) fn detect(
        &mut self,
        now: Time,
        flight: &mut Flight,
        rtt: &RttEstimator,
        is_recovering: bool,
    ) -> Onset {
        self.next_timer = Time::NEVER;
        let first = flight.first_in_flight();
        if let Some(largest) = flight.largest_acked().filter(|largest| first < *largest) {
            self.mark(now, flight, rtt, first..largest, is_recovering);
        }
        Onset::IfSentSince
    }

    /// Marks the lost packets among `numbers`, which are below the largest acknowledged number.
    fn mark(
        &mut self,
        now: Time,
        flight: &mut Flight,
        rtt: &RttEstimator,
        numbers: Range<u64>,
        is_recovering: bool,
    ) {
        let (earliest, largest) = (numbers.start, numbers.end);
        let (packets, wait) = match &self.adaptation {
            Adaptation::Rack(rack) => {
                let is_certain =
                    !rack.has_seen_reordering() && (is_recovering || self.has_enough_above(flight, &numbers));
                (if is_certain { 1 } else { u64::MAX }, rtt.latest() + rack.window(rtt))
            }
            Adaptation::None | Adaptation::Distance => {
                let wait = rtt.latest().max(rtt.smoothed()).mul_f64(self.time).max(GRANULARITY);
                (self.packets, wait)
            }
        };
        for number in numbers {
            let Some(packet) = flight.get(number) else { break };
            if !may_be_lost(packet) {
                continue;
            }
            let due = if self.time > 0.0 { packet.sent_at + wait } else { Time::NEVER };
            if largest - number < packets && due > now {
                // Later packets were sent later and are nearer to the largest number, so none of them is lost either.
                self.next_timer = match self.adaptation {
                    Adaptation::Rack(_) => latest_departure(flight, earliest..largest) + wait + TIMER_SLACK,
                    Adaptation::None | Adaptation::Distance => due,
                };
                break;
            }
            flight.lose(number);
        }
    }

    /// Returns true if the threshold number of packets were acknowledged above the first missing packet.
    fn has_enough_above(&self, flight: &Flight, numbers: &Range<u64>) -> bool {
        let above = (numbers.start + 1..=numbers.end).filter_map(|number| flight.get(number));
        let acked = above.filter(|packet| packet.fate == Fate::Acked);
        acked.take(self.packets as usize).count() as u64 == self.packets
    }
}

/// Returns true if nothing of `packet` has arrived. The rest of a packet that is acknowledged in parts comes with the
/// next ACKs.
fn may_be_lost(packet: &SentPacket) -> bool {
    packet.fate == Fate::InFlight && packet.acked_bytes == 0
}

/// Returns the departure of the last packet in `numbers` that may be lost: RACK's timer waits for the longest (RFC 8985
/// 6.2 step 5).
fn latest_departure(flight: &Flight, numbers: Range<u64>) -> Time {
    let mut waiting =
        numbers.rev().filter_map(|number| flight.get(number)).filter(|packet| may_be_lost(packet));
    waiting.next().map_or(Time::NEVER, |packet| packet.sent_at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    /// Returns ten packets, sent every millisecond from 0 on, over an RTT of 100 ms. The packets `arrived` arrive at
    /// 100 ms.
    fn after(arrived: &[u64]) -> (Flight, RttEstimator) {
        let (mut flight, mut rtt) = (Flight::of_test(&Config::tcp()), RttEstimator::new(&Config::tcp()));
        rtt.on_ack(at(100), at(0), Span::ZERO);
        flight.acknowledged_for_test(0, arrived, 0);
        (flight, rtt)
    }

    fn fixed(packet_threshold: u64, time_threshold: f64) -> Thresholds {
        let reordering = Reordering::Fixed;
        Thresholds::new(&Config { packet_threshold, time_threshold, reordering, ..Config::tcp() })
    }

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    fn lost(flight: &Flight) -> Vec<u64> {
        flight.lost().iter().map(|packet| packet.number).collect()
    }

    #[test]
    fn three_later_packets_make_a_loss_and_time_makes_the_next() {
        let (mut flight, rtt) = after(&[1, 4]);
        let mut thresholds = fixed(3, 1.25);
        assert_eq!(thresholds.detect(at(100), &mut flight, &rtt, false), Onset::IfSentSince);
        assert_eq!(lost(&flight), [0]);
        // Packet 2 was sent at 2 ms: it is lost 5/4 of the RTT later, and packet 3 one millisecond after it.
        assert_eq!(thresholds.next_timer(), at(127));
        thresholds.detect(at(127), &mut flight, &rtt, false);
        assert_eq!((lost(&flight), thresholds.next_timer()), (vec![0, 2], at(128)));
        thresholds.on_timeout();
        assert_eq!(thresholds.next_timer(), Time::NEVER);
    }

    #[test]
    fn without_a_time_threshold_only_later_packets_count() {
        let (mut flight, rtt) = after(&[2]);
        let mut thresholds = fixed(3, 0.0);
        thresholds.detect(at(10_000), &mut flight, &rtt, false);
        assert_eq!((lost(&flight), thresholds.next_timer()), (vec![], Time::NEVER));
    }

    #[test]
    fn nothing_is_lost_above_the_largest_that_arrived() {
        let (mut flight, rtt) = after(&[0, 1, 2]);
        let mut thresholds = fixed(1, 1.0);
        thresholds.detect(at(10_000), &mut flight, &rtt, false);
        assert_eq!((lost(&flight), thresholds.next_timer()), (vec![], Time::NEVER));
    }

    /// Returns the packets that a detection 100 ms after the first departure declares lost, after an ACK with
    /// `acknowledged`.
    fn lost_by(
        reordering: Reordering,
        arrived: &[u64],
        acknowledged: &AckSummary,
        is_recovering: bool,
    ) -> Vec<u64> {
        let (mut flight, rtt) = after(arrived);
        let mut thresholds = Thresholds::new(&Config { reordering, ..Config::tcp() });
        thresholds.on_acknowledged(&flight, acknowledged, 10);
        thresholds.detect(at(100), &mut flight, &rtt, is_recovering);
        lost(&flight)
    }

    #[test]
    fn three_packets_above_a_hole_make_all_holes_lost_until_reordering_is_seen() {
        let (none, late) =
            (AckSummary::default(), AckSummary { is_reordered: true, ..AckSummary::default() });
        let lost = |arrived, acknowledged| lost_by(Reordering::Rack, arrived, acknowledged, false);
        assert_eq!(lost(&[2, 5, 7], &none), [0, 1, 3, 4, 6]);
        assert_eq!(lost(&[2, 7], &none), [] as [u64; 0], "two are not enough, however far they are");
        assert_eq!(lost(&[2, 5, 7], &late), [] as [u64; 0]);
        assert_eq!(
            lost_by(Reordering::Fixed, &[2, 7], &none, false),
            [0, 1, 3, 4],
            "RFC 9002 counts numbers"
        );
    }

    #[test]
    fn during_a_recovery_one_later_packet_is_enough_until_reordering_is_seen() {
        let late = AckSummary { is_reordered: true, ..AckSummary::default() };
        assert_eq!(lost_by(Reordering::Rack, &[2], &AckSummary::default(), true), [0, 1]);
        assert_eq!(lost_by(Reordering::Rack, &[2], &late, true), [] as [u64; 0]);
    }

    #[test]
    fn after_reordering_a_packet_is_lost_a_quarter_of_the_smallest_rtt_later() {
        let (mut flight, rtt) = after(&[5]);
        let mut thresholds = Thresholds::new(&Config::tcp());
        thresholds.on_acknowledged(&flight, &AckSummary { is_reordered: true, ..AckSummary::default() }, 10);
        thresholds.detect(at(124), &mut flight, &rtt, false);
        assert_eq!(lost(&flight), [] as [u64; 0]);
        thresholds.detect(at(126), &mut flight, &rtt, false);
        assert_eq!(lost(&flight), [0, 1]);
    }

    /// If the timer expired at the next loss, it would declare most packets lost between two ACKs. A window that counts
    /// ACKs would then let each packet leave again at once, into a full queue.
    #[test]
    fn the_timer_of_rack_waits_for_the_last_packet_that_may_be_lost() {
        let (mut flight, rtt) = after(&[2, 5]);
        let mut thresholds = Thresholds::new(&Config::tcp());
        let late = AckSummary { is_reordered: true, ..AckSummary::default() };
        thresholds.on_acknowledged(&flight, &late, 10);
        thresholds.detect(at(101), &mut flight, &rtt, false);
        // Packet 4 left at 4 ms; RTT and window are 125 ms together.
        assert_eq!((lost(&flight), thresholds.next_timer()), (vec![], at(131)));
        thresholds.detect(at(126), &mut flight, &rtt, false);
        assert_eq!((lost(&flight), thresholds.next_timer()), (vec![0, 1], at(131)));
        thresholds.detect(at(131), &mut flight, &rtt, false);
        assert_eq!((lost(&flight), thresholds.next_timer()), (vec![0, 1, 3, 4], Time::NEVER));
    }

    #[test]
    fn the_packet_threshold_can_grow_to_the_distance_of_a_late_packet() {
        let (mut flight, rtt) = after(&[7]);
        let mut thresholds = Thresholds::new(&Config { reordering: Reordering::Distance, ..Config::tcp() });
        thresholds.detect(at(100), &mut flight, &rtt, false);
        assert_eq!(lost(&flight), [0, 1, 2, 3, 4]);
        let acknowledged = flight.acknowledged_for_test(1, &[1], 0);
        thresholds.on_acknowledged(&flight, &acknowledged, 10);
        let (mut flight, _) = after(&[7]);
        thresholds.detect(at(100), &mut flight, &rtt, false);
        assert_eq!(lost(&flight), [0], "seven above are enough, six are not");
    }
}
