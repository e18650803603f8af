//! Packets in flight, and the sender's verdict on each packet: acknowledged or lost.

use crate::config::Config;
use crate::packets::{Fate, SentPacket, SentPackets};
use crate::rate::Newest;
use crate::wire::{AckFrame, Arrival, MAX_ARRIVALS, Part};
use congestion::AckedPacket;
use units::Time;

/// Verdict of the sender on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The packet arrived.
    Acked,
    /// The packet counts as lost. It may still be acknowledged: a spurious loss.
    Lost,
    /// The packet does not count as lost any more and is in flight.
    Restored,
}

/// Latest verdict of the sender on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Packet number.
    pub number: u64,
    /// Payload bytes of the packet.
    pub payload_bytes: u32,
    /// Verdict.
    pub finding: Finding,
}

/// Packet number with the departure time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Departure {
    pub(crate) number: u64,
    pub(crate) at: Time,
}

/// Sum of the packets that one ACK newly acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckSummary {
    /// Bytes newly acknowledged, parts of packets included.
    pub(crate) bytes: u64,
    /// Payload bytes of the packets that are acknowledged completely now.
    pub(crate) delivered_bytes: u64,
    /// Bytes of `delivered_bytes` that are no filler.
    pub(crate) application_bytes: u64,
    /// Packets among them that had been declared lost.
    pub(crate) spurious: u64,
    /// Newest of these packets, acknowledged completely or in part; `None`: nothing is newly acknowledged.
    pub(crate) newest: Option<Departure>,
    /// True if no later packet was acknowledged before.
    pub(crate) is_largest: bool,
    /// True if a packet that was sent once and not declared lost arrived after a packet that was sent later (RFC 8985
    /// 6.2 step 3).
    pub(crate) is_reordered: bool,
    /// Number of the newest packet that is acknowledged completely now.
    pub(crate) newest_whole: Option<u64>,
}

/// Packets sent, bytes in flight, and the verdicts of the latest event.
#[derive(Debug)]
pub(crate) struct Flight {
    packets: SentPackets,
    bytes: u64,
    largest_acked: Option<u64>,
    /// Number of the next ACK if no ACK is lost.
    next_ack: u64,
    /// True if the completion of the stream acknowledges all packets below.
    cumulative: bool,
    acked: Vec<AckedPacket>,
    lost: Vec<AckedPacket>,
    verdicts: Vec<Verdict>,
    packets_lost: u64,
    spurious_losses: u64,
}

impl Flight {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            packets: SentPackets::default(),
            bytes: 0,
            largest_acked: None,
            next_ack: 0,
            cumulative: !config.sack || config.loss_detection.is_cumulative(),
            acked: Vec::with_capacity(8),
            lost: Vec::new(),
            verdicts: Vec::with_capacity(8),
            packets_lost: 0,
            spurious_losses: 0,
        }
    }

    /// Returns the bytes in flight.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the number of the next packet.
    pub(crate) fn next_number(&self) -> u64 {
        self.packets.next_number()
    }

    /// Returns the lowest number still remembered.
    pub(crate) const fn base(&self) -> u64 {
        self.packets.base()
    }

    pub(crate) fn get(&self, number: u64) -> Option<&SentPacket> {
        self.packets.get(number)
    }

    /// Returns the lowest number in flight, or the next number if nothing is in flight.
    pub(crate) const fn first_in_flight(&self) -> u64 {
        self.packets.first_in_flight()
    }

    /// Returns the highest number in flight, if anything is in flight.
    pub(crate) fn last_in_flight(&self) -> Option<u64> {
        let in_flight = |number: &u64| self.get(*number).is_some_and(|packet| packet.fate == Fate::InFlight);
        (self.base()..self.next_number()).rev().find(in_flight)
    }

    /// Returns the largest number acknowledged so far.
    pub(crate) const fn largest_acked(&self) -> Option<u64> {
        self.largest_acked
    }

    /// Returns true if a packet is in flight that left before an acknowledged packet.
    pub(crate) fn has_hole(&self) -> bool {
        self.largest_acked.is_some_and(|largest| self.first_in_flight() < largest)
    }

    /// Returns the packets newly acknowledged by the latest ACK, in ascending order.
    pub(crate) fn acked(&self) -> &[AckedPacket] {
        &self.acked
    }

    /// Returns the packets declared lost since [`Flight::begin_losses`].
    pub(crate) fn lost(&self) -> &[AckedPacket] {
        &self.lost
    }

    /// Returns the verdicts since [`Flight::begin_event`], in order.
    pub(crate) fn verdicts(&self) -> &[Verdict] {
        &self.verdicts
    }

    /// Returns the packets declared lost so far.
    pub(crate) const fn packets_lost(&self) -> u64 {
        self.packets_lost
    }

    /// Returns the packets declared lost so far that were delivered after all.
    pub(crate) const fn spurious_losses(&self) -> u64 {
        self.spurious_losses
    }

    /// Adds a packet that leaves; its number is [`Flight::next_number`].
    pub(crate) fn send(&mut self, packet: SentPacket) {
        self.bytes += u64::from(packet.payload_bytes);
        self.packets.push(packet);
    }

    /// Forgets settled packets: acknowledged packets, and lost packets sent before `lost_before`. Lost packets are
    /// remembered for a while longer.
    pub(crate) fn forget(&mut self, now: Time, lost_before: Time) {
        self.packets.forget(now, lost_before);
    }

    /// Puts packet `number`, which was not lost, in flight again; returns true if it had been declared lost.
    pub(crate) fn restore(&mut self, number: u64) -> bool {
        let is_kept = number >= self.base();
        let Some(packet) = self.packets.get_mut(number).filter(|packet| is_kept && packet.fate == Fate::Lost)
        else {
            return false;
        };
        packet.fate = Fate::InFlight;
        let payload_bytes = u32::from(packet.payload_bytes);
        self.bytes += u64::from(packet.outstanding_bytes());
        self.verdicts.push(Verdict { number, payload_bytes, finding: Finding::Restored });
        self.packets.on_restored(number);
        self.spurious_losses += 1;
        true
    }

    /// Begins an ACK or timer event: clears the verdicts of earlier events.
    pub(crate) fn begin_event(&mut self) {
        self.verdicts.clear();
    }

    /// Begins a loss detection: clears the list of lost packets.
    pub(crate) fn begin_losses(&mut self) {
        self.lost.clear();
    }

    /// Determines the packets that an ACK newly acknowledges.
    pub(crate) fn collect(&mut self, frame: &AckFrame) -> AckSummary {
        self.acked.clear();
        let mut sum = AckSummary::default();
        for arrival in &frame.arrivals {
            self.acknowledge(arrival, frame.part, &mut sum);
        }
        let has_gap = frame.number != self.next_ack;
        self.next_ack = self.next_ack.max(frame.number + 1);
        let at = frame.arrivals.last().map_or(Time::ZERO, |arrival| arrival.at);
        if has_gap || frame.arrivals.len() >= MAX_ARRIVALS || frame.arrivals.is_empty() {
            // An earlier ACK was lost, or this ACK lists no more arrivals: the other packets are in the ranges, without
            // exact receive times.
            for range in &frame.ranges {
                for number in range.start.max(self.base())..range.end.min(self.next_number()) {
                    self.acknowledge(&Arrival { number, at, ce: false }, None, &mut sum);
                }
            }
        }
        self.packets.pass_settled();
        // This includes a packet that never arrived, if a probe with its payload arrived.
        if self.cumulative && (has_gap || self.is_first_complete(frame.next_offset)) {
            self.acknowledge_below(frame.next_offset, at, &mut sum);
        }
        if self.acked.windows(2).any(|pair| pair[0].number > pair[1].number) {
            self.acked.sort_unstable_by_key(|packet| packet.number);
        }
        if frame.part.is_some() {
            // After a lost ACK the ranges acknowledge the rest of a packet of which a part was listed.
            self.acked.dedup_by(|later, packet| {
                let is_same = later.number == packet.number;
                packet.bytes += if is_same { later.bytes } else { 0 };
                is_same
            });
        }
        sum.newest = self.acked.last().map(|packet| Departure { number: packet.number, at: packet.sent_at });
        let newest = sum.newest.map(|packet| packet.number);
        sum.is_largest = newest > self.largest_acked;
        sum.is_reordered = self.is_reordered();
        self.largest_acked = self.largest_acked.max(newest);
        sum
    }

    /// Returns the values that a rate sample needs of the newest packet that an ACK acknowledges completely.
    pub(crate) fn newest(&self, acknowledged: &AckSummary) -> Option<Newest> {
        self.packets.get(acknowledged.newest_whole?).map(SentPacket::newest)
    }

    /// Returns true if the latest ACK acknowledges a packet below the largest acknowledged by earlier ACKs that was
    /// sent once and was not declared lost.
    #[inline]
    fn is_reordered(&self) -> bool {
        let Some(largest) = self.largest_acked else { return false };
        let below = self.acked.iter().take_while(|packet| packet.number < largest);
        below.into_iter().any(|packet| !packet.retransmission && !packet.was_lost && packet.bytes > 0)
    }

    fn is_first_complete(&self, next_offset: u64) -> bool {
        let first = self.packets.first_in_flight();
        self.packets.get(first).is_some_and(|packet| packet.end() <= next_offset)
    }

    /// Marks every packet in flight as delivered if its payload lies below `next_offset`. (The payload of a lost packet
    /// may have arrived with its retransmission.)
    fn acknowledge_below(&mut self, next_offset: u64, at: Time, sum: &mut AckSummary) {
        for number in self.base()..self.next_number() {
            let is_complete =
                |packet: &SentPacket| packet.fate == Fate::InFlight && packet.end() <= next_offset;
            if self.packets.get(number).is_some_and(is_complete) {
                self.acknowledge(&Arrival { number, at, ce: false }, None, sum);
            }
        }
        self.packets.pass_settled();
    }

    /// Marks one packet, or a part of it, as delivered. A packet that was never sent cannot be acknowledged.
    #[inline]
    fn acknowledge(&mut self, arrival: &Arrival, part: Option<Part>, sum: &mut AckSummary) {
        let number = arrival.number;
        let Some(packet) = self.packets.get_mut(number).filter(|packet| packet.fate != Fate::Acked) else {
            return;
        };
        let mut acked = seen_by_controllers(number, packet, arrival);
        let payload_bytes = u32::from(packet.payload_bytes);
        let arrived_bytes = part.map_or(payload_bytes, |part| part.acknowledged(payload_bytes));
        if arrived_bytes < payload_bytes {
            let before = u32::from(packet.acked_bytes);
            if packet.fate == Fate::InFlight && arrived_bytes > before {
                acked.bytes = arrived_bytes - before;
                packet.acked_bytes = arrived_bytes as u16;
                self.bytes -= u64::from(acked.bytes);
                sum.bytes += u64::from(acked.bytes);
                self.acked.push(acked);
            }
            return;
        }
        packet.fate = Fate::Acked;
        sum.bytes += u64::from(acked.bytes);
        sum.delivered_bytes += u64::from(payload_bytes);
        sum.application_bytes += if packet.filler { 0 } else { u64::from(payload_bytes) };
        sum.newest_whole = sum.newest_whole.max(Some(number));
        self.acked.push(acked);
        self.verdicts.push(Verdict { number, payload_bytes: acked.bytes, finding: Finding::Acked });
        if acked.was_lost {
            sum.spurious += 1;
            self.spurious_losses += 1;
        } else {
            self.bytes -= u64::from(acked.bytes);
        }
    }

    /// Removes packet `number` from the flight, because its payload arrived in another packet.
    pub(crate) fn retire(&mut self, number: u64) {
        if let Some(packet) = self.packets.get_mut(number).filter(|packet| packet.fate == Fate::InFlight) {
            packet.fate = Fate::Acked;
            self.bytes -= u64::from(packet.outstanding_bytes());
            self.packets.pass_settled();
        }
    }

    /// Retires all packets before `number`.
    pub(crate) fn retire_below(&mut self, number: u64) {
        (self.base()..number).for_each(|earlier| self.retire(earlier));
    }

    /// Declares one packet lost; returns true if it was in flight.
    pub(crate) fn lose(&mut self, number: u64) -> bool {
        let Some(packet) = self.packets.get_mut(number).filter(|packet| packet.fate == Fate::InFlight) else {
            return false;
        };
        packet.fate = Fate::Lost;
        let payload_bytes = u32::from(packet.payload_bytes);
        let mut lost = seen_by_controllers(number, packet, &Arrival::default());
        lost.was_lost = true;
        self.packets.pass_settled();
        self.bytes -= u64::from(lost.bytes);
        self.packets_lost += 1;
        self.lost.push(lost);
        self.verdicts.push(Verdict { number, payload_bytes, finding: Finding::Lost });
        true
    }
}

/// Returns a sent packet as controllers see it.
fn seen_by_controllers(number: u64, packet: &SentPacket, arrival: &Arrival) -> AckedPacket {
    AckedPacket {
        number,
        bytes: packet.outstanding_bytes(),
        sent_at: packet.sent_at,
        received_at: arrival.at,
        lost_at_send_bytes: packet.snapshot.lost_bytes,
        in_flight_at_send_bytes: packet.snapshot.in_flight_bytes,
        retransmission: packet.retransmission,
        was_lost: packet.fate == Fate::Lost,
        ce: arrival.ce,
    }
}

#[cfg(test)]
impl Flight {
    /// Returns ten packets of 1000 bytes, sent every millisecond.
    pub(crate) fn of_test(config: &Config) -> Self {
        let mut flight = Self::new(config);
        (0..10).for_each(|number| flight.send(SentPacket::of_test(number * 1000, number)));
        flight
    }

    /// Collects ACK `number`: the packets `arrived` have arrived, and the stream is complete up to packet `complete`.
    pub(crate) fn acknowledged_for_test(
        &mut self,
        number: u64,
        arrived: &[u64],
        complete: u64,
    ) -> AckSummary {
        let arrival = |&number: &u64| Arrival { number, at: Time::from_ns(number), ce: false };
        let arrivals = arrived.iter().map(arrival).collect();
        self.collect(&AckFrame { number, arrivals, next_offset: complete * 1000, ..AckFrame::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranges::Range;

    fn numbers(packets: &[AckedPacket]) -> Vec<u64> {
        packets.iter().map(|packet| packet.number).collect()
    }

    #[test]
    fn packets_are_acknowledged_once_and_in_ascending_order() {
        let mut flight = Flight::of_test(&Config::tcp());
        let sum = flight.acknowledged_for_test(0, &[2, 0, 2, 77], 1);
        assert_eq!((sum.bytes, sum.delivered_bytes, flight.bytes()), (2000, 2000, 8000));
        assert_eq!((numbers(flight.acked()), flight.largest_acked()), (vec![0, 2], Some(2)));
        assert_eq!((sum.newest.map(|packet| packet.number), sum.is_largest), (Some(2), true));
        assert_eq!((flight.first_in_flight(), flight.has_hole()), (1, true));
        let again = flight.acknowledged_for_test(1, &[2], 1);
        assert!(again.newest.is_none() && flight.acked().is_empty());
    }

    #[test]
    fn what_a_missing_ack_said_comes_from_the_ranges() {
        let mut flight = Flight::of_test(&Config::tcp());
        let ranges = [Range { start: 4, end: 6 }, Range { start: 0, end: 3 }].into_iter().collect();
        let arrivals = [Arrival { number: 5, at: Time::from_ns(9), ce: false }].into_iter().collect();
        let frame = AckFrame { number: 0, ranges, arrivals, ..AckFrame::default() };
        flight.collect(&frame);
        assert_eq!(numbers(flight.acked()), [5], "no ACK is missing");
        flight.collect(&AckFrame { number: 2, ..frame });
        assert_eq!(numbers(flight.acked()), [0, 1, 2, 4]);
    }

    #[test]
    fn without_selective_acks_the_completed_stream_is_acknowledged() {
        let mut flight = Flight::of_test(&Config { sack: false, ..Config::tcp() });
        flight.lose(1);
        flight.acknowledged_for_test(0, &[], 3);
        // The payload of packet 1 has arrived in another packet.
        assert_eq!((numbers(flight.acked()), flight.bytes()), (vec![0, 2], 7000));
        let mut flight = Flight::of_test(&Config::tcp());
        flight.acknowledged_for_test(0, &[], 3);
        assert!(flight.acked().is_empty(), "packets count, not the stream");
    }

    #[test]
    fn a_lost_packet_that_arrives_is_a_spurious_loss_and_no_longer_in_flight() {
        let mut flight = Flight::of_test(&Config::tcp());
        flight.begin_event();
        flight.begin_losses();
        assert!(flight.lose(3) && !flight.lose(3) && !flight.lose(99));
        assert_eq!((numbers(flight.lost()), flight.bytes(), flight.packets_lost()), (vec![3], 9000, 1));
        let sum = flight.acknowledged_for_test(0, &[3], 0);
        assert_eq!((sum.spurious, sum.bytes, sum.delivered_bytes), (1, 1000, 1000));
        assert_eq!((flight.bytes(), flight.spurious_losses()), (9000, 1));
        let verdict = |finding| Verdict { number: 3, payload_bytes: 1000, finding };
        assert_eq!(flight.verdicts(), [verdict(Finding::Lost), verdict(Finding::Acked)]);
    }

    #[test]
    fn a_packet_acknowledged_in_parts_is_delivered_with_the_last() {
        let mut flight = Flight::of_test(&Config::tcp());
        let mut part = |index, number| {
            let arrivals = [Arrival::default()].into_iter().collect();
            let part = Some(Part { index, count: 4 });
            let sum = flight.collect(&AckFrame { number, arrivals, part, ..AckFrame::default() });
            (sum.bytes, sum.delivered_bytes, flight.bytes())
        };
        assert_eq!(part(1, 0), (500, 0, 9500));
        assert_eq!(part(0, 1), (0, 0, 9500), "an earlier part comes late");
        assert_eq!(part(3, 2), (500, 1000, 9000));
    }

    #[test]
    fn a_retired_packet_leaves_the_flight_with_what_was_not_acknowledged_of_it() {
        let mut flight = Flight::of_test(&Config::tcp());
        let arrivals = [Arrival::default()].into_iter().collect();
        flight.collect(&AckFrame {
            arrivals,
            part: Some(Part { index: 0, count: 4 }),
            ..AckFrame::default()
        });
        flight.retire(0);
        assert_eq!((flight.bytes(), flight.first_in_flight()), (9000, 1));
    }
}
