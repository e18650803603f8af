//! Loss detection of libutp (bittorrent/libutp@b3465b9, `utp_internal.cpp`): selective acknowledgement by 16-bit
//! segment numbers. A mark (`fast_resend_seq_nr`) is the lowest number that may be sent again without a timeout.
//!
//! A segment with three later ones acknowledged is sent again at once, regardless of the window. At most four leave per
//! ACK, and each leaves once, because the mark passes it. The mark follows the cumulative point if it is behind that
//! point.
//!
//! The mark starts at 1, but the first segment number is random. If that number is 32768 or more, the mark is *ahead*
//! and stays where it is. Then no segment is near enough above the mark (1024) to be sent again. Such a connection
//! repairs losses by timeouts alone until its numbers have wrapped.

use crate::advance::Advance;
use crate::flight::Flight;
use crate::packets::Fate;
use crate::recovery::Onset;
use std::collections::VecDeque;

/// Maximum distance above the mark at which a segment may be sent again (`OUTGOING_BUFFER_MAX_SIZE`).
const REACH: u16 = 1024;
/// Maximum number of segments that one ACK sends again.
const MOST_AT_ONCE: usize = 4;
/// Initial mark, regardless of the connection's first number.
const FIRST_MARK: u16 = 1;

#[derive(Clone, Copy, Debug)]
struct Segment {
    /// Stream bytes.
    start: u64,
    end: u64,
    /// Packet number of the latest transmission.
    number: u64,
    arrived: bool,
}

#[derive(Debug)]
pub(super) struct Utp {
    threshold: u64,
    /// Segments in order, from the first one that has not arrived.
    segments: VecDeque<Segment>,
    /// Start of the highest segment that has arrived.
    highest: u64,
    /// Number of the first segment in `segments`.
    head: u16,
    /// `fast_resend_seq_nr`.
    mark: u16,
    /// True after a timeout: every ACK repeats the first missing segment until an ACK shows that the mark is elsewhere
    /// (`fast_timeout`).
    is_after_timeout: bool,
    /// Packets whose payload leaves at once, lowest first.
    again: Vec<u64>,
    /// True if the first packet in `again` is the one that the timeout repeats: no sign of a new loss.
    repeats_head: bool,
}

impl Utp {
    /// Returns a rule whose connection has the number `first` for its first packet, which carries no data.
    pub(super) fn new(threshold: u64, first: u16) -> Self {
        Self {
            threshold,
            segments: VecDeque::new(),
            highest: 0,
            head: first.wrapping_add(1),
            mark: FIRST_MARK,
            is_after_timeout: false,
            again: Vec::new(),
            repeats_head: false,
        }
    }

    fn position(&self, start: u64) -> Option<usize> {
        let index = self.segments.partition_point(|segment| segment.start < start);
        self.segments.get(index).is_some_and(|segment| segment.start == start).then_some(index)
    }

    pub(super) fn on_sent(&mut self, start: u64, bytes: u32, number: u64) {
        if let Some(index) = self.position(start) {
            self.segments[index].number = number;
        } else if self.segments.back().is_none_or(|last| last.end <= start) {
            let end = start + u64::from(bytes);
            self.segments.push_back(Segment { start, end, number, arrived: false });
        }
    }

    /// Records arrivals. Any transmission of a segment settles it: the latest transmission leaves the flight too.
    pub(super) fn advance(&mut self, flight: &mut Flight, complete: u64) -> Advance {
        for index in 0..flight.acked().len() {
            let number = flight.acked()[index].number;
            let Some(packet) = flight.get(number).filter(|packet| packet.fate == Fate::Acked) else {
                continue;
            };
            let Some(at) = self.position(packet.offset) else { continue };
            let segment = &mut self.segments[at];
            segment.arrived = true;
            self.highest = self.highest.max(segment.start);
            let latest = segment.number;
            if latest != number {
                flight.retire(latest);
            }
        }
        while self.segments.front().is_some_and(|segment| segment.end <= complete) {
            self.segments.pop_front();
            self.head = self.head.wrapping_add(1);
        }
        // `wrapping_compare_less`: the mark is behind if the distance up to the head is the shorter one.
        let ahead = self.head.wrapping_sub(self.mark);
        if ahead < ahead.wrapping_neg() {
            self.mark = self.head;
        }
        Advance::of_packets(flight, complete)
    }

    /// Finds segments to send again; those in flight are declared lost.
    pub(super) fn detect(&mut self, flight: &mut Flight) -> Onset {
        self.again.clear();
        self.repeat_head();
        let from = self.again.len();
        self.find();
        for number in &self.again[from..] {
            flight.lose(*number);
        }
        // Segments that a timeout had declared lost already halve the window once more.
        let is_known = self.again.len() > from && flight.lost().is_empty();
        if is_known { Onset::Yes } else { Onset::IfSentSince }
    }

    /// Repeats the first missing segment with every ACK after a timeout, while each ACK brings a new first segment.
    fn repeat_head(&mut self) {
        self.repeats_head = false;
        let Some(head) = self.segments.front().filter(|_| self.is_after_timeout) else { return };
        if self.head == self.mark {
            self.mark = self.mark.wrapping_add(1);
            self.again.push(head.number);
            self.repeats_head = true;
        } else {
            self.is_after_timeout = false;
        }
    }

    /// Finds the lowest segments from the mark on that have enough later arrivals.
    fn find(&mut self) {
        if self.segments.front().is_none_or(|head| self.highest < head.start) {
            return;
        }
        let end = self.segments.partition_point(|segment| segment.start <= self.highest);
        let mut later = 0;
        let mut indices = Vec::new();
        for (index, segment) in self.segments.range(..end).enumerate().rev() {
            if segment.arrived {
                later += 1;
            } else if later >= self.threshold && self.number(index).wrapping_sub(self.mark) <= REACH {
                indices.push(index);
            }
        }
        for index in indices.into_iter().rev().take(MOST_AT_ONCE) {
            self.again.push(self.segments[index].number);
            self.mark = self.number(index).wrapping_add(1);
        }
    }

    /// Returns the number of the segment at `index`.
    fn number(&self, index: usize) -> u16 {
        self.head.wrapping_add(index as u16)
    }

    pub(super) const fn on_timeout(&mut self) {
        self.is_after_timeout = true;
    }

    /// Returns packets whose payload leaves at once, lowest first. The packet that a timeout repeats is declared lost
    /// if it is in flight.
    pub(super) fn again(&self, flight: &mut Flight) -> &[u64] {
        if self.repeats_head {
            flight.lose(self.again[0]);
        }
        &self.again
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::packets::SentPacket;

    /// Ten segments of 1000 bytes in packets 0 to 9, of a connection whose first number is `first`.
    struct Script {
        rule: Utp,
        flight: Flight,
        acks: u64,
    }

    impl Script {
        fn new(first: u16) -> Self {
            let mut rule = Utp::new(3, first);
            (0..10).for_each(|number| rule.on_sent(number * 1000, 1000, number));
            Self { rule, flight: Flight::of_test(&Config::tcp()), acks: 0 }
        }

        /// Handles one ACK: the packets `arrived` have arrived, and the stream is complete up to segment `complete`.
        /// Returns the packets that leave at once.
        fn ack(&mut self, arrived: &[u64], complete: u64) -> Vec<u64> {
            self.flight.acknowledged_for_test(self.acks, arrived, complete);
            self.acks += 1;
            self.flight.begin_losses();
            self.rule.advance(&mut self.flight, complete * 1000);
            self.rule.detect(&mut self.flight);
            self.rule.again(&mut self.flight).to_vec()
        }

        fn resend(&mut self, segment: u64, number: u64) {
            self.rule.on_sent(segment * 1000, 1000, number);
            self.flight.send(SentPacket::of_test(segment * 1000, number));
        }
    }

    #[test]
    fn three_later_segments_send_one_again_once_and_at_most_four_with_an_ack() {
        let mut script = Script::new(9158);
        assert_eq!(script.ack(&[6, 7], 0), [] as [u64; 0]);
        assert_eq!(script.ack(&[8], 0), [0, 1, 2, 3]);
        (0..4).for_each(|segment| script.resend(segment, 10 + segment));
        // The retransmission of segment 0 is lost: the mark has passed it.
        assert_eq!(script.ack(&[9], 0), [4, 5]);
        assert_eq!(script.ack(&[11], 0), [] as [u64; 0]);
    }

    #[test]
    fn of_first_numbers_from_32768_on_nothing_is_sent_again_until_they_have_wrapped() {
        let again = |first: u16| Script::new(first).ack(&[1, 2, 3], 0);
        for good in [0, 1, 9158, 32_767] {
            assert_eq!(again(good), [0], "{good}");
        }
        for bad in [32_768, 40_000, u16::MAX] {
            assert_eq!(again(bad), [] as [u64; 0], "{bad}");
        }
        // Segment 4 has the number 1 again, the initial mark.
        let mut script = Script::new(65_532);
        assert_eq!(script.ack(&[0, 1, 2, 5, 6, 7], 3), [4]);
        let mut script = Script::new(65_532);
        assert_eq!(script.ack(&[0, 1, 2, 3, 4, 6, 7, 8], 5), [5]);
    }

    #[test]
    fn after_a_timeout_the_first_missing_segment_leaves_with_every_new_ack_even_if_it_is_under_way() {
        let mut script = Script::new(9158);
        (0..10).for_each(|number| assert!(script.flight.lose(number)));
        script.rule.on_timeout();
        script.resend(0, 10);
        script.resend(1, 11);
        let before = script.flight.bytes();
        assert_eq!(script.ack(&[10], 1), [11]);
        assert_eq!(script.flight.bytes(), before - 2000, "its copy no longer counts");
        // The same ACK arrives again: the mark is beyond the segment, so the repetition ends.
        assert_eq!(script.ack(&[], 1), [] as [u64; 0]);
        script.resend(1, 12);
        assert_eq!(script.ack(&[12], 2), [] as [u64; 0]);
    }

    #[test]
    fn a_segment_is_settled_by_any_of_its_copies() {
        let mut script = Script::new(9158);
        assert_eq!(script.ack(&[1, 2, 3], 0), [0]);
        script.resend(0, 10);
        assert_eq!(script.flight.bytes(), 7000);
        // The first transmission was late, not lost.
        script.ack(&[0], 4);
        assert_eq!(script.flight.bytes(), 6000);
    }
}
