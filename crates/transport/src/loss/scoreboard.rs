//! Scoreboard of a sender's segments by sequence (RFC 6675, sections 3 and 4) with the flags and rules of ns-3
//! (ns-3.41, `src/internet/model/tcp-tx-buffer.cc`).
//!
//! [`crate::packets`] stores transmissions. Here a segment keeps its state through all its transmissions. A segment
//! marked as lost stays so while its retransmission is in flight. Only a timeout detects a lost retransmission.

use crate::advance::Advance;
use std::collections::VecDeque;

/// State of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Outstanding,
    /// Marked as lost, retransmitted or not.
    Lost,
    /// Arrived; above the cumulative point it is selectively acknowledged.
    Arrived,
}

/// One segment between the cumulative point and the highest byte sent.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// Stream bytes.
    start: u64,
    end: u64,
    /// Packet number of the latest transmission.
    number: u64,
    state: State,
    /// True if the segment was sent again since it was marked as lost.
    retransmitted: bool,
}

/// Segments in order of sequence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    segments: VecDeque<Segment>,
    /// Cumulative point: everything below has arrived.
    una: u64,
    /// Start of the highest selectively acknowledged segment.
    highest: u64,
    /// Sequence number below which no segment starts that is outstanding for the first time.
    marked_to: u64,
    /// Duplicate ACKs in a row.
    duplicates: u64,
    /// News of the current ACK.
    advance: Advance,
}

impl Scoreboard {
    pub(crate) const fn una(&self) -> u64 {
        self.una
    }

    /// Returns the number of duplicate ACKs in a row.
    pub(crate) const fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Resets the count of duplicate ACKs.
    pub(crate) const fn forget_duplicates(&mut self) {
        self.duplicates = 0;
    }

    fn position(&self, start: u64) -> Option<usize> {
        let index = self.segments.partition_point(|segment| segment.start < start);
        self.segments.get(index).is_some_and(|segment| segment.start == start).then_some(index)
    }

    /// Records that the segment from `start` on leaves as packet `number`.
    pub(crate) fn on_sent(&mut self, start: u64, bytes: u32, number: u64) {
        if let Some(index) = self.position(start) {
            let segment = &mut self.segments[index];
            (segment.number, segment.retransmitted) = (number, true);
        } else if start >= self.una {
            let end = start + u64::from(bytes);
            let state = State::Outstanding;
            self.segments.push_back(Segment { start, end, number, state, retransmitted: false });
        }
    }

    /// Records the arrival of the segment from `start` on, with the stream complete up to `complete`; returns the
    /// packet number of the segment's latest transmission. Call [`Scoreboard::advance`] at the end of an ACK.
    pub(crate) fn on_arrived(&mut self, start: u64, complete: u64) -> Option<u64> {
        let index = self.position(start)?;
        let segment = &mut self.segments[index];
        if segment.state == State::Arrived {
            return None;
        }
        segment.state = State::Arrived;
        let bytes = segment.end - segment.start;
        self.advance.arrived_bytes += bytes;
        if segment.end > complete {
            self.advance.sacked_bytes += bytes;
            self.highest = self.highest.max(start);
        } else {
            self.advance.retransmission |= segment.retransmitted;
        }
        Some(segment.number)
    }

    /// Forgets everything below the new cumulative point and returns the news of the ACK.
    pub(crate) fn advance(&mut self, complete: u64) -> Advance {
        let mut advance = std::mem::take(&mut self.advance);
        advance.completed_bytes = complete.saturating_sub(self.una);
        let first = self.segments.front().filter(|segment| segment.end <= complete && !segment.retransmitted);
        advance.timed = first.map(|segment| segment.number);
        while self.segments.front().is_some_and(|segment| segment.end <= complete) {
            self.segments.pop_front();
        }
        self.una = self.una.max(complete);
        if advance.sacked_bytes > 0 {
            self.duplicates += 1;
        } else if advance.completed_bytes > 0 {
            self.duplicates = 0;
        }
        advance
    }

    /// Marks segments as lost if `threshold` segments above them are selectively acknowledged, and passes the packet
    /// numbers to `lose`, in ascending order (RFC 6675 4: `IsLost`).
    pub(crate) fn mark(&mut self, threshold: u64, mut lose: impl FnMut(u64)) {
        let mut index = self.segments.partition_point(|segment| segment.start <= self.highest);
        let mut sacked = 0;
        while index > 0 && sacked < threshold {
            index -= 1;
            sacked += u64::from(self.segments[index].state == State::Arrived);
        }
        if sacked < threshold {
            return;
        }
        let from = self.segments.partition_point(|segment| segment.start < self.marked_to);
        self.marked_to = self.marked_to.max(self.segments[index].start);
        for segment in self.segments.range_mut(from.min(index)..index) {
            if segment.state == State::Outstanding {
                segment.state = State::Lost;
                lose(segment.number);
            }
        }
    }

    /// Returns true if the first segment that has not arrived is marked as lost.
    pub(crate) fn is_head_lost(&self) -> bool {
        self.segments.front().is_some_and(|segment| segment.state == State::Lost)
    }

    /// Returns true if the first segment that has not arrived was sent again.
    pub(crate) fn is_head_retransmitted(&self) -> bool {
        self.segments.front().is_some_and(|segment| segment.retransmitted)
    }

    /// Marks the first segment as lost regardless of its retransmission; returns its latest packet number.
    pub(crate) fn mark_head(&mut self) -> Option<u64> {
        let head = self.segments.front_mut()?;
        (head.state, head.retransmitted) = (State::Lost, false);
        Some(head.number)
    }

    /// Handles a timeout: marks everything that has not arrived as lost.
    pub(crate) fn mark_all(&mut self) {
        for segment in self.segments.iter_mut().filter(|segment| segment.state != State::Arrived) {
            (segment.state, segment.retransmitted) = (State::Lost, false);
        }
        self.marked_to = self.segments.back().map_or(self.marked_to, |segment| segment.end);
        self.duplicates = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns ten segments of 100 bytes, packets 0 to 9.
    fn board() -> Scoreboard {
        let mut board = Scoreboard::default();
        (0..10).for_each(|number| board.on_sent(number * 100, 100, number));
        board
    }

    /// Handles one ACK: the segments `arrived` have arrived, and the stream is complete up to segment `complete`.
    fn ack(board: &mut Scoreboard, arrived: &[u64], complete: u64) -> Advance {
        for segment in arrived {
            board.on_arrived(segment * 100, complete * 100);
        }
        board.advance(complete * 100)
    }

    fn marked(board: &mut Scoreboard) -> Vec<u64> {
        let mut lost = vec![];
        board.mark(3, |number| lost.push(number));
        lost
    }

    #[test]
    fn a_segment_is_lost_when_three_above_it_have_arrived() {
        let mut board = board();
        assert_eq!(ack(&mut board, &[0], 1).timed, Some(0));
        ack(&mut board, &[2], 1);
        ack(&mut board, &[4], 1);
        assert_eq!(marked(&mut board), [] as [u64; 0]);
        assert!(!board.is_head_lost());
        let advance = ack(&mut board, &[6], 1);
        assert_eq!(advance, Advance { arrived_bytes: 100, sacked_bytes: 100, ..Advance::default() });
        assert_eq!((marked(&mut board), board.duplicates), (vec![1], 3));
        assert!(board.is_head_lost());
        // Segment 3 has only two segments above it until 8 arrives.
        ack(&mut board, &[8], 1);
        assert_eq!(marked(&mut board), [3]);
        assert_eq!(marked(&mut board), [] as [u64; 0]);
    }

    #[test]
    fn a_retransmission_is_not_marked_again_and_its_arrival_is_told() {
        let mut board = board();
        ack(&mut board, &[1, 2, 3], 0);
        assert_eq!(marked(&mut board), [0]);
        board.on_sent(0, 100, 10);
        assert!(board.is_head_retransmitted());
        ack(&mut board, &[4, 5, 6], 0);
        assert_eq!(marked(&mut board), [] as [u64; 0]);
        assert_eq!(board.on_arrived(0, 700), Some(10));
        let advance = board.advance(700);
        // Sent twice: no RTT can be taken (Karn).
        assert_eq!((advance.timed, advance.retransmission, advance.completed_bytes), (None, true, 700));
        assert_eq!((advance.arrived_bytes, advance.sacked_bytes, board.duplicates), (100, 0, 0));
        assert_eq!((board.una(), board.is_head_lost()), (700, false));
    }

    #[test]
    fn the_head_can_be_marked_once_more_and_a_timeout_marks_all() {
        let mut board = board();
        ack(&mut board, &[1, 2, 3], 0);
        marked(&mut board);
        board.on_sent(0, 100, 10);
        assert_eq!(board.mark_head(), Some(10));
        assert!(board.is_head_lost() && !board.is_head_retransmitted());
        board.mark_all();
        assert_eq!(board.duplicates, 0);
        ack(&mut board, &[7, 8, 9], 0);
        assert_eq!(marked(&mut board), [] as [u64; 0], "all are marked already");
    }

    #[test]
    fn what_arrives_twice_counts_once() {
        let mut board = board();
        assert_eq!(ack(&mut board, &[5], 0).arrived_bytes, 100);
        assert_eq!(board.on_arrived(500, 0), None);
        assert_eq!(board.advance(0), Advance::default());
        assert_eq!(board.duplicates, 1);
    }
}
