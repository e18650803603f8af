//! Receiving side of a flow: arrivals, and the times of ACKs.

use crate::config::{Config, ms};
use crate::feedback::Feedback;
use crate::frames::{DecodedFrame, FrameAssembler};
use crate::ranges::RangeSet;
use crate::wire::{AckFrame, Arrival, Arrivals, Data, EcnCounts, MAX_ARRIVALS};
use congestion::{Arrived, ReceiverHalf};
use units::{Span, Time};

/// Number of remembered packets below those that the sender still waits for: duplicates of them may arrive.
const REMEMBERED_PACKETS: u64 = 1 << 14;

/// Counters of the receiving side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// Data packets received, duplicates included.
    pub packets: u64,
    /// Packets whose number was seen before.
    pub duplicates: u64,
    /// Payload bytes that were new.
    pub new_bytes: u64,
    /// ACKs sent.
    pub acks: u64,
}

/// Receiver of one flow.
#[derive(Debug)]
pub struct Receiver {
    ack_every: u32,
    ack_delay: Span,
    /// Tick of the delayed-ACK timer; zero: no ticks.
    ack_tick: Span,
    ack_on_gap: bool,
    ack_on_ce: bool,
    /// Number of next packets that are acknowledged one by one.
    quick_acks: u32,
    ack_ranges: usize,
    /// Stream bytes, from the first missing one on, that an ACK can acknowledge; `u64::MAX`: all.
    reach_bytes: u64,
    reliable: bool,
    packets: RangeSet,
    /// Packet number below which acknowledgements are not useful any more.
    least_unacked: u64,
    stream: RangeSet,
    /// Next stream byte in order.
    next_offset: u64,
    largest: Option<u64>,
    arrivals: Arrivals,
    /// Arrivals of packets beyond the first hole, kept if an ACK cannot acknowledge everything that has arrived.
    withheld: Vec<(Data, Arrival)>,
    unacked: u32,
    first_unacked_at: Time,
    last_arrival_at: Time,
    ack_due: Time,
    next_ack: u64,
    ecn: EcnCounts,
    half: Option<Box<dyn ReceiverHalf>>,
    frames: FrameAssembler,
    /// Misbehavior, if any.
    feedback: Option<Box<Feedback>>,
    stats: ReceiverStats,
}

impl Receiver {
    /// Returns a receiver with the ACK policy of `config`; `half` is the receiver-side half of the scheme, if it has
    /// one.
    pub fn new(config: &Config, half: Option<Box<dyn ReceiverHalf>>) -> Self {
        Self {
            ack_every: config.ack_every,
            ack_delay: config.ack_delay(),
            ack_tick: ms(config.ack_tick_ms),
            ack_on_gap: config.ack_on_gap,
            ack_on_ce: config.ack_on_ce,
            quick_acks: config.quick_acks,
            ack_ranges: config.ack_ranges,
            reach_bytes: match config.sack_packets {
                _ if !config.sack => 0,
                0 => u64::MAX,
                packets => (u64::from(packets) + 1) * u64::from(config.payload_bytes),
            },
            reliable: config.reliable,
            packets: RangeSet::default(),
            least_unacked: 0,
            stream: RangeSet::default(),
            next_offset: 0,
            largest: None,
            arrivals: Arrivals::new(),
            withheld: Vec::new(),
            unacked: 0,
            first_unacked_at: Time::ZERO,
            last_arrival_at: Time::ZERO,
            ack_due: Time::NEVER,
            next_ack: 0,
            ecn: EcnCounts::default(),
            half,
            frames: FrameAssembler::default(),
            feedback: Feedback::of(&config.receiver, 0).map(Box::new),
            stats: ReceiverStats::default(),
        }
    }

    /// Sets the seed for random choices of a misbehaving receiver.
    #[must_use]
    pub fn with_seed(self, config: &Config, seed: u64) -> Self {
        Self { feedback: Feedback::of(&config.receiver, seed).map(Box::new), ..self }
    }

    /// Handles a data packet; `ecn` counts its codepoint. Returns the payload bytes that were new.
    pub fn on_data(&mut self, now: Time, data: &Data, ecn: EcnCounts) -> u32 {
        self.stats.packets += 1;
        if let Some(feedback) = &mut self.feedback {
            feedback.on_packet(now);
        }
        self.ecn.ect0 += ecn.ect0;
        self.ecn.ect1 += ecn.ect1;
        self.ecn.ce += ecn.ce;
        self.least_unacked = self.least_unacked.max(data.least_unacked);
        self.packets.remove_below(self.least_unacked.saturating_sub(REMEMBERED_PACKETS));
        let is_new = self.packets.insert(data.number, data.number + 1) == 1;
        let expected = self.largest.map_or(0, |largest| largest + 1);
        self.largest = Some(self.largest.map_or(data.number, |largest| largest.max(data.number)));
        if !is_new {
            self.stats.duplicates += 1;
            if self.ack_on_gap {
                self.ack_due = now;
            }
            return 0;
        }
        let had_hole = self.has_hole();
        let new_bytes = if data.filler { 0 } else { self.take_payload(data) };
        if data.frame.number > 0 {
            self.frames.on_packet(now, data.frame, new_bytes);
        }
        if let Some(half) = &mut self.half {
            half.on_packet(&Arrived {
                now,
                number: data.number,
                sent_at: data.sent_at,
                bytes: data.payload_bytes,
                datagram_bytes: data.datagram_bytes,
                message: data.message,
                ce: ecn.ce > 0,
            });
        }
        self.note_arrival(data, Arrival { number: data.number, at: now, ce: ecn.ce > 0 });
        // A packet that fills a hole, including the last hole, is acknowledged at once (RFC 5681 4.2).
        let has_hole = had_hole || self.has_hole();
        let in_order = data.number == expected && self.withheld.is_empty() && !has_hole;
        let opening = data.payload_bytes == 0 && !data.filler;
        let is_quick = !opening && self.quick_acks > 0;
        self.quick_acks -= u32::from(is_quick);
        let is_early = (!in_order && self.ack_on_gap) || (ecn.ce > 0 && self.ack_on_ce);
        if is_early || opening || is_quick || self.unacked >= self.ack_every {
            self.ack_due = now;
        } else {
            self.ack_due = self.ack_due.min(self.delayed_ack_at());
        }
        new_bytes
    }

    /// Returns the latest time for the ACK of packets that wait since `first_unacked_at`.
    fn delayed_ack_at(&self) -> Time {
        if self.ack_tick.is_zero() {
            return self.first_unacked_at + self.ack_delay;
        }
        let tick = self.ack_tick.as_ns();
        let ticks = self.first_unacked_at.as_ns() / tick + self.ack_delay.as_ns().div_ceil(tick) + 1;
        Time::from_ns(ticks * tick)
    }

    /// Returns true if reliable data are missing below data that arrived: TCP then acknowledges at once.
    fn has_hole(&self) -> bool {
        self.reliable && self.stream.count() > 1
    }

    fn take_payload(&mut self, data: &Data) -> u32 {
        let new_bytes = if self.reliable {
            let end = data.offset + u64::from(data.payload_bytes);
            let new_bytes = self.stream.insert(data.offset, end) as u32;
            if let Some(first) = self.stream.first().filter(|first| first.start == 0) {
                self.next_offset = first.end;
            }
            new_bytes
        } else if data.retransmission {
            // A probe may repeat data that arrived. Without retransmissions no record shows which data arrived.
            0
        } else {
            data.payload_bytes
        };
        self.stats.new_bytes += u64::from(new_bytes);
        new_bytes
    }

    fn note_arrival(&mut self, data: &Data, arrival: Arrival) {
        let now = arrival.at;
        if self.unacked == 0 {
            self.first_unacked_at = now;
        }
        self.last_arrival_at = now;
        self.unacked += 1;
        if self.tells_all() {
            if self.arrivals.len() < MAX_ARRIVALS {
                self.arrivals.push(arrival);
            }
            return;
        }
        self.withheld.push((*data, arrival));
        let next_offset = self.next_offset;
        let arrivals = &mut self.arrivals;
        self.withheld.retain(|(data, arrival)| {
            let complete = data.offset + u64::from(data.payload_bytes) <= next_offset;
            if complete {
                arrivals.push(*arrival);
            }
            !complete
        });
    }

    /// Returns true if an ACK can acknowledge everything that has arrived.
    const fn tells_all(&self) -> bool {
        self.reach_bytes == u64::MAX
    }

    /// Lists again the arrivals beyond the first hole and within reach, as a mask in every ACK does.
    fn list_reachable(&mut self) {
        let reach = self.next_offset + self.reach_bytes;
        let is_reachable =
            |(data, _): &&(Data, Arrival)| data.offset + u64::from(data.payload_bytes) <= reach;
        let reachable = self.withheld.iter().filter(is_reachable);
        self.arrivals.extend(reachable.map(|(_, arrival)| *arrival));
    }

    /// Returns the time at which [`Receiver::poll_ack`] must be called if no packet arrives earlier.
    pub fn next_timer(&self) -> Time {
        if self.largest.is_none() {
            // Nothing to acknowledge yet, regardless of the half's timer.
            return Time::NEVER;
        }
        let due = self.feedback.as_ref().map_or(self.ack_due, |it| self.ack_due.min(it.next_timer()));
        self.half.as_ref().map_or(due, |half| due.min(half.next_timer()))
    }

    /// Fills `frame` and returns true if an ACK is due at `now`.
    pub fn poll_ack(&mut self, now: Time, frame: &mut AckFrame) -> bool {
        let (true, Some(largest)) = (self.next_timer() <= now, self.largest) else { return false };
        if self.feedback.as_mut().is_some_and(|feedback| feedback.next_part(frame)) {
            self.number(frame);
            return true;
        }
        frame.clear();
        frame.largest = largest;
        frame.delay = if self.unacked == 0 { Span::ZERO } else { now - self.last_arrival_at };
        if !self.tells_all() {
            self.list_reachable();
        }
        core::mem::swap(&mut frame.arrivals, &mut self.arrivals);
        if self.tells_all() {
            for range in self.packets.descending_from(self.least_unacked).take(self.ack_ranges) {
                frame.ranges.push(range);
            }
        }
        frame.ecn = self.ecn;
        frame.next_offset = self.next_offset;
        if let Some(half) = &mut self.half {
            half.write_feedback(now, &mut frame.feedback);
            frame.padding_bytes = half.padding_bytes();
        }
        self.unacked = 0;
        self.ack_due = Time::NEVER;
        if let Some(feedback) = &mut self.feedback {
            if feedback.is_withheld(now) {
                // A withheld ACK has a number too, so that the sender can detect its absence.
                self.next_ack += 1;
                return false;
            }
            let highest_offset = self.stream.last().map_or(self.next_offset, |last| last.end);
            feedback.falsify(now, frame, highest_offset);
        }
        self.number(frame);
        true
    }

    /// Numbers an ACK that leaves.
    const fn number(&mut self, frame: &mut AckFrame) {
        frame.number = self.next_ack;
        self.next_ack += 1;
        self.stats.acks += 1;
    }

    /// Returns the next decoded frame of a live source that was not taken yet.
    pub fn take_frame(&mut self) -> Option<DecodedFrame> {
        self.frames.take()
    }

    /// Returns the stream bytes that have arrived in order, which an application could read. Unreliable schemes have no
    /// order.
    pub const fn in_order_bytes(&self) -> u64 {
        self.next_offset
    }

    /// Returns the counters so far.
    pub const fn stats(&self) -> &ReceiverStats {
        &self.stats
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranges::Range;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    fn data(number: u64, offset: u64) -> Data {
        Data { number, offset, payload_bytes: 1000, datagram_bytes: 1052, ..Data::default() }
    }

    fn receiver(change: impl FnOnce(&mut Config)) -> Receiver {
        let mut config = Config::tcp();
        change(&mut config);
        Receiver::new(&config, None)
    }

    #[test]
    fn every_second_packet_is_acknowledged_at_once_and_a_single_one_after_the_delay() {
        let (mut receiver, mut frame) = (receiver(|_| {}), AckFrame::default());
        receiver.on_data(at(0), &data(0, 0), EcnCounts::default());
        assert!(!receiver.poll_ack(at(0), &mut frame));
        receiver.on_data(at(1), &data(1, 1000), EcnCounts::default());
        assert!(receiver.poll_ack(at(1), &mut frame));
        assert_eq!((frame.arrivals.len(), frame.next_offset, frame.delay), (2, 2000, Span::ZERO));
        receiver.on_data(at(2), &data(2, 2000), EcnCounts::default());
        assert_eq!(receiver.next_timer(), at(42));
        assert!(receiver.poll_ack(at(42), &mut frame));
        assert_eq!((frame.delay, receiver.next_timer()), (Span::from_ms(40), Time::NEVER));
    }

    #[test]
    fn a_timer_that_counts_in_ticks_goes_off_one_after_the_delay() {
        for (arrives_ms, due_ms) in [(0, 44), (3, 44), (4, 48), (47, 88)] {
            let mut receiver = receiver(|config| config.ack_tick_ms = 4.0);
            receiver.on_data(at(arrives_ms), &data(0, 0), EcnCounts::default());
            assert_eq!(receiver.next_timer(), at(due_ms), "arrives at {arrives_ms} ms");
        }
    }

    #[test]
    fn the_first_packets_are_acknowledged_one_by_one_if_asked_for() {
        let (mut receiver, mut frame) = (receiver(|config| config.quick_acks = 2), AckFrame::default());
        let acked: Vec<bool> = (0..6)
            .map(|number| {
                receiver.on_data(at(number), &data(number, 1000 * number), EcnCounts::default());
                receiver.poll_ack(at(number), &mut frame)
            })
            .collect();
        assert_eq!(acked, [true, true, false, true, false, true]);
    }

    #[test]
    fn quic_acknowledges_a_mark_at_once_and_tcp_waits_for_a_second_packet() {
        let mark = EcnCounts { ce: 1, ..EcnCounts::default() };
        let is_acked = |config: &Config, ecn| {
            let (mut receiver, mut frame) = (Receiver::new(config, None), AckFrame::default());
            receiver.on_data(at(0), &data(0, 0), ecn);
            receiver.poll_ack(at(0), &mut frame)
        };
        assert!(is_acked(&Config::quic(), mark));
        assert!(!is_acked(&Config::quic(), EcnCounts { ect0: 1, ..EcnCounts::default() }));
        assert!(!is_acked(&Config::tcp(), mark));
    }

    #[test]
    fn a_gap_is_reported_at_once_until_it_is_filled() {
        let (mut receiver, mut frame) = (receiver(|_| {}), AckFrame::default());
        receiver.on_data(at(0), &data(0, 0), EcnCounts::default());
        receiver.on_data(at(1), &data(2, 2000), EcnCounts::default());
        assert!(receiver.poll_ack(at(1), &mut frame));
        assert_eq!(frame.ranges[..], [Range { start: 2, end: 3 }, Range { start: 0, end: 1 }]);
        // In packet order again, but stream data are still missing: acknowledged at once.
        receiver.on_data(at(2), &data(3, 3000), EcnCounts::default());
        assert!(receiver.poll_ack(at(2), &mut frame));
        assert_eq!(frame.next_offset, 1000);
        assert_eq!(receiver.on_data(at(3), &data(4, 1000), EcnCounts::default()), 1000);
        assert_eq!(receiver.next_offset, 4000);
    }

    #[test]
    fn without_selective_acks_only_what_is_complete_is_acknowledged() {
        let mut receiver = receiver(|config| (config.sack, config.ack_every) = (false, 1));
        let mut frame = AckFrame::default();
        for (number, offset) in [(0, 0), (2, 2000), (3, 3000)] {
            receiver.on_data(at(number), &data(number, offset), EcnCounts::default());
            assert!(receiver.poll_ack(at(number), &mut frame));
        }
        assert!(frame.arrivals.is_empty() && frame.ranges.is_empty());
        receiver.on_data(at(9), &data(4, 1000), EcnCounts::default());
        assert!(receiver.poll_ack(at(9), &mut frame));
        let numbers: Vec<u64> = frame.arrivals.iter().map(|arrival| arrival.number).collect();
        assert_eq!((numbers, frame.next_offset), (vec![2, 3, 4], 4000));
    }

    #[test]
    fn duplicates_and_resent_payload_are_not_goodput() {
        let mut receiver = receiver(|_| {});
        assert_eq!(receiver.on_data(at(0), &data(0, 0), EcnCounts::default()), 1000);
        assert_eq!(receiver.on_data(at(1), &data(0, 0), EcnCounts::default()), 0);
        assert_eq!(receiver.on_data(at(2), &data(1, 0), EcnCounts::default()), 0);
        assert_eq!((receiver.stats().duplicates, receiver.stats().new_bytes), (1, 1000));
    }

    #[test]
    fn a_late_copy_of_a_settled_packet_is_a_duplicate() {
        let mut receiver = receiver(|config| config.reliable = false);
        receiver.on_data(at(0), &data(0, 0), EcnCounts::default());
        let settled = Data { least_unacked: 100, ..data(100, 1000) };
        receiver.on_data(at(1), &settled, EcnCounts::default());
        assert_eq!(receiver.on_data(at(2), &data(0, 0), EcnCounts::default()), 0);
        let mut frame = AckFrame::default();
        assert!(receiver.poll_ack(at(2), &mut frame));
        assert_eq!(
            frame.ranges[..],
            [Range { start: 100, end: 101 }],
            "what is settled is not acknowledged again"
        );
    }

    #[test]
    fn a_probe_over_an_unreliable_transport_is_not_goodput_twice() {
        let mut receiver = receiver(|config| config.reliable = false);
        assert_eq!(receiver.on_data(at(0), &data(0, 0), EcnCounts::default()), 1000);
        let probe = Data { retransmission: true, ..data(1, 0) };
        assert_eq!(receiver.on_data(at(1), &probe, EcnCounts::default()), 0);
        assert_eq!(receiver.stats().new_bytes, 1000);
    }

    #[derive(Debug)]
    struct Ticker(Time, u8);
    impl ReceiverHalf for Ticker {
        fn on_packet(&mut self, _event: &Arrived) {
            self.1 += 1;
        }
        fn next_timer(&self) -> Time {
            self.0
        }
        fn write_feedback(&mut self, now: Time, feedback: &mut Vec<u8>) {
            self.0 = now + Span::from_ms(20);
            feedback.push(self.1);
        }
    }

    #[test]
    fn a_receiver_half_waits_for_the_first_packet() {
        let mut receiver = Receiver::new(&Config::datagram(), Some(Box::new(Ticker(at(20), 0))));
        assert_eq!(receiver.next_timer(), Time::NEVER);
        assert!(!receiver.poll_ack(at(30), &mut AckFrame::default()));
    }

    #[test]
    fn a_receiver_half_reports_on_its_own_timer() {
        let config = Config { ack_every: 1_000_000, ack_delay_ms: 10_000.0, ..Config::datagram() };
        let mut receiver = Receiver::new(&config, Some(Box::new(Ticker(at(20), 0))));
        let mut frame = AckFrame::default();
        receiver.on_data(at(1), &data(0, 0), EcnCounts::default());
        receiver.on_data(at(2), &data(1, 1000), EcnCounts::default());
        assert_eq!(receiver.next_timer(), at(20));
        assert!(receiver.poll_ack(at(20), &mut frame));
        assert_eq!((frame.feedback.as_slice(), receiver.next_timer()), ([2].as_slice(), at(40)));
    }
}
