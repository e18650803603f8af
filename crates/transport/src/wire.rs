//! Messages between sender and receiver. The driver decides how to carry them (in memory or as bytes).

use crate::ranges::Range;
use congestion::Message;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use units::{Span, Time};

/// Frame that a packet belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameMark {
    /// Frame number, from 1; 0: the packet belongs to no frame.
    pub number: u32,
    /// Bytes of the whole frame.
    pub bytes: u32,
    /// True if the frame can be decoded without earlier frames.
    pub key: bool,
    /// Capture time (sender's clock).
    pub captured_at: Time,
    /// Total duration of the source's planned pauses before the frame.
    pub paused: Span,
}

/// Header of one data packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Data {
    /// Packet number: one per transmission, never reused.
    pub number: u64,
    /// Stream offset of the first payload byte (unreliable schemes: total payload sent before).
    pub offset: u64,
    /// Payload bytes; 0 for the handshake packet. In a filler packet: the bytes that it counts for, although it has no
    /// payload.
    pub payload_bytes: u32,
    /// Bytes of the whole IP datagram.
    pub datagram_bytes: u32,
    /// Departure (sender's clock).
    pub sent_at: Time,
    /// Lowest packet number whose acknowledgement is still useful: the receiver may forget earlier packets.
    pub least_unacked: u64,
    /// True if the payload was sent before.
    pub retransmission: bool,
    /// True if the packet carries no application data: a probe or a heartbeat of the scheme.
    pub filler: bool,
    /// Frame of a live source that the payload belongs to.
    pub frame: FrameMark,
    /// Message from the scheme's sender-side half to its receiver-side half.
    pub message: Message,
}

impl Data {
    /// Returns the payload bytes of the application.
    pub const fn application_bytes(&self) -> u32 {
        if self.filler { 0 } else { self.payload_bytes }
    }
}

/// Packets seen with each ECN codepoint since the start of the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounts {
    /// ECT(0).
    pub ect0: u64,
    /// ECT(1).
    pub ect1: u64,
    /// Congestion experienced.
    pub ce: u64,
}

impl EcnCounts {
    /// Returns the packets that arrived ECN-capable.
    pub const fn total(self) -> u64 {
        self.ect0 + self.ect1 + self.ce
    }
}

/// A packet that arrived since the previous ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Packet number.
    pub number: u64,
    /// Arrival (receiver's clock).
    pub at: Time,
    /// True if the packet arrived marked with CE.
    pub ce: bool,
}

/// Packets that arrived. The usual number needs no heap memory.
pub(crate) type Arrivals = SmallVec<[Arrival; 2]>;

/// Maximum number of arrivals that one ACK lists; further ones only appear in its ranges.
pub(crate) const MAX_ARRIVALS: usize = 1024;

/// Share of every packet in an ACK that the ACK acknowledges: the share after `index` shares of `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Shares acknowledged before.
    pub index: u32,
    /// Shares in all.
    pub count: u32,
}

impl Part {
    /// Returns the bytes of a packet of `bytes` that are acknowledged by now. A part beyond the last counts as the
    /// last.
    pub fn acknowledged(self, bytes: u32) -> u32 {
        if self.index + 1 >= self.count {
            return bytes;
        }
        (u64::from(bytes) * u64::from(self.index + 1) / u64::from(self.count)) as u32
    }
}

/// One acknowledgement. Reused by the drivers: the vectors keep their capacity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AckFrame {
    /// Number of this ACK: a gap tells the sender that one was lost and that `ranges` matter.
    pub number: u64,
    /// Largest packet number received.
    pub largest: u64,
    /// Time that the newest packet waited for this ACK.
    pub delay: Span,
    /// Packets received, newest range first, at most as many as configured.
    pub ranges: SmallVec<[Range; 1]>,
    /// Packets that arrived since the previous ACK, with their receive times.
    pub arrivals: Arrivals,
    /// Part of the listed packets that the ACK acknowledges; `None`: all of them.
    pub part: Option<Part>,
    /// ECN codepoints seen.
    pub ecn: EcnCounts,
    /// Next stream byte expected in order.
    pub next_offset: u64,
    /// Message from the receiver-side half of the scheme.
    pub feedback: Vec<u8>,
    /// Bytes without content added to the ACK.
    pub padding_bytes: u32,
}

impl AckFrame {
    /// Empties the frame, keeping its memory.
    pub fn clear(&mut self) {
        self.ranges.clear();
        self.arrivals.clear();
        self.feedback.clear();
        self.padding_bytes = 0;
        self.part = None;
    }

    /// Returns true if this later ACK contains everything in `older`. Feedback of a scheme and parts of packets appear
    /// in one ACK only. An ACK has at most `most_ranges`; one with fewer lists all that arrived, down to the packets
    /// that the sender has settled.
    pub fn supersedes(&self, older: &Self, most_ranges: usize) -> bool {
        let is_pure = older.feedback.is_empty() && older.part.is_none() && self.part.is_none();
        let lowest = self.ranges.last().map_or(0, |range| range.start);
        let settled = if self.ranges.len() < most_ranges { lowest } else { 0 };
        let is_known = |range: &Range| {
            let holds = |own: &Range| own.start <= range.start.max(settled) && range.end <= own.end;
            range.end <= settled || self.ranges.iter().any(holds)
        };
        is_pure
            && self.number > older.number
            && self.next_offset >= older.next_offset
            && (self.next_offset > older.next_offset || self.largest > older.largest)
            && older.ranges.iter().all(is_known)
    }

    /// Copies `other`, keeping the allocated memory.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.ranges.clone_from(&other.ranges);
        self.arrivals.clone_from(&other.arrivals);
        self.feedback.clone_from(&other.feedback);
        let Self { number, largest, delay, part, ecn, next_offset, padding_bytes, .. } = *other;
        (self.number, self.largest, self.delay, self.part) = (number, largest, delay, part);
        (self.ecn, self.next_offset, self.padding_bytes) = (ecn, next_offset, padding_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(number: u64, next_offset: u64, ranges: &[(u64, u64)]) -> AckFrame {
        let largest = ranges[0].1 - 1;
        let ranges = ranges.iter().map(|&(start, end)| Range { start, end }).collect();
        AckFrame { number, largest, ranges, next_offset, ..AckFrame::default() }
    }

    #[test]
    fn a_later_ack_supersedes_what_it_says_too() {
        let older = ack(3, 2000, &[(0, 2)]);
        assert!(ack(4, 4000, &[(0, 4)]).supersedes(&older, 4));
        assert!(!ack(2, 4000, &[(0, 4)]).supersedes(&older, 4), "it was sent before");
        assert!(ack(4, 2000, &[(4, 5), (0, 2)]).supersedes(&older, 4), "a duplicate reports more");
        assert!(!ack(4, 2000, &[(0, 2)]).supersedes(&older, 4), "a duplicate reports the same");
        let hole = ack(3, 2000, &[(7, 8), (0, 2)]);
        assert!(!ack(4, 4000, &[(8, 9), (0, 4)]).supersedes(&hole, 4), "packet 7 is missing");
        assert!(ack(4, 4000, &[(6, 9), (0, 4)]).supersedes(&hole, 4));
    }

    #[test]
    fn what_is_not_listed_is_settled_unless_the_list_is_full() {
        let older = ack(3, 2000, &[(0, 3)]);
        let (one, two) = (ack(4, 4000, &[(2, 5)]), ack(4, 4000, &[(9, 10), (4, 5)]));
        assert!(one.supersedes(&older, 2) && two.supersedes(&older, 3));
        assert!(!one.supersedes(&older, 1) && !two.supersedes(&older, 2));
    }

    #[test]
    fn what_is_said_once_is_not_superseded() {
        let newer = ack(4, 4000, &[(0, 4)]);
        let older = ack(3, 2000, &[(0, 2)]);
        assert!(!newer.supersedes(&AckFrame { feedback: vec![1], ..older.clone() }, 4));
        assert!(!newer.supersedes(&AckFrame { part: Some(Part { index: 0, count: 2 }), ..older }, 4));
    }
}
