//! Loss detection by sequence: RFC 6675 as ns-3 follows it (ns-3.41, `src/internet/model/tcp-socket-base.cc` and
//! `tcp-tx-buffer.cc`).

use super::scoreboard::Scoreboard;
use crate::advance::Advance;
use crate::flight::Flight;
use crate::packets::Fate;
use crate::recovery::{Episode, Onset};

#[derive(Debug)]
pub(super) struct BySequence {
    /// Number of acknowledged segments above a lost one, and number of duplicate ACKs that begin an episode.
    threshold: u64,
    board: Scoreboard,
}

impl BySequence {
    pub(super) fn new(threshold: u64) -> Self {
        Self { threshold, board: Scoreboard::default() }
    }

    pub(super) fn on_sent(&mut self, offset: u64, payload_bytes: u32, number: u64) {
        self.board.on_sent(offset, payload_bytes, number);
    }

    pub(super) fn advance(&mut self, flight: &mut Flight, complete: u64) -> Advance {
        for index in 0..flight.acked().len() {
            let number = flight.acked()[index].number;
            // A packet acknowledged in parts arrives with its last part.
            let Some(packet) = flight.get(number).filter(|packet| packet.fate == Fate::Acked) else {
                continue;
            };
            let latest = self.board.on_arrived(packet.offset, complete);
            if let Some(latest) = latest.filter(|latest| *latest != number) {
                flight.retire(latest);
            }
        }
        self.board.advance(complete)
    }

    pub(super) const fn forget_duplicates(&mut self) {
        self.board.forget_duplicates();
    }

    /// Marks lost segments and decides whether an episode begins. The third duplicate ACK begins an episode. Any
    /// duplicate ACK begins one while the first missing segment is marked as lost, even if its retransmission is in
    /// flight.
    pub(super) fn detect(&mut self, flight: &mut Flight, episode: &Episode, advance: &Advance) -> Onset {
        let board = &mut self.board;
        if advance.sacked_bytes > 0 {
            board.mark(self.threshold, |number| {
                flight.lose(number);
            });
        }
        let may_begin =
            advance.sacked_bytes > 0 && !episode.is_active() && !episode.is_after_timeout(board.una());
        if !may_begin || (board.duplicates() != self.threshold && !board.is_head_lost()) {
            return Onset::No;
        }
        if !board.is_head_lost()
            && let Some(number) = board.mark_head()
        {
            flight.lose(number);
        }
        Onset::Yes
    }

    /// Declares the first missing segment lost again at the beginning of an episode, so that it leaves (again). If it
    /// was retransmitted before, that retransmission counted in the flight from which the window was reduced.
    pub(super) fn lose_retransmitted_head(&mut self, flight: &mut Flight) -> Option<u64> {
        if !self.board.is_head_retransmitted() {
            return None;
        }
        self.board.mark_head().filter(|number| flight.lose(*number))
    }

    /// Returns true if the first missing segment must leave at once: after a partial ACK (RFC 6582 3.2), if it never
    /// was sent again.
    pub(super) fn wants_head(&self, episode: &Episode, advance: &Advance) -> bool {
        episode.is_active() && advance.completed_bytes > 0 && !self.board.is_head_retransmitted()
    }

    pub(super) fn on_timeout(&mut self) {
        self.board.mark_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    /// Ten segments of 1000 bytes in packets 0 to 9.
    struct Script {
        rule: BySequence,
        flight: Flight,
        episode: Episode,
        acks: u64,
    }

    impl Script {
        fn new() -> Self {
            let mut rule = BySequence::new(3);
            (0..10).for_each(|number| rule.on_sent(number * 1000, 1000, number));
            let flight = Flight::of_test(&Config::ns3_compat());
            Self { rule, flight, episode: Episode::new(true), acks: 0 }
        }

        /// Handles one ACK: the packets `arrived` have arrived, and the stream is complete up to segment `complete`.
        fn ack(&mut self, arrived: &[u64], complete: u64) -> (Advance, Onset) {
            self.flight.acknowledged_for_test(self.acks, arrived, complete);
            self.acks += 1;
            let advance = self.rule.advance(&mut self.flight, complete * 1000);
            (advance, self.rule.detect(&mut self.flight, &self.episode, &advance))
        }

        fn lost(&self) -> Vec<u64> {
            self.flight.lost().iter().map(|packet| packet.number).collect()
        }
    }

    #[test]
    fn the_third_duplicate_ack_begins_an_episode() {
        let mut script = Script::new();
        assert_eq!(script.ack(&[0, 2], 1).1, Onset::No);
        assert_eq!(script.ack(&[3], 1).1, Onset::No);
        assert_eq!((script.lost(), script.ack(&[4], 1).1), (vec![], Onset::Yes));
        assert_eq!(script.lost(), [1]);
        script.episode.begin(10, 10_000);
        assert_eq!(script.ack(&[5], 1).1, Onset::No, "it goes on");
    }

    #[test]
    fn a_retransmission_that_arrives_takes_all_copies_out_of_the_flight() {
        let mut script = Script::new();
        script.ack(&[0, 2, 3, 4], 1);
        script.rule.on_sent(1000, 1000, 10);
        script.flight.send(crate::packets::SentPacket::of_test(1000, 10));
        let (advance, _) = script.ack(&[1], 5);
        // Packet 1 was late. Packet 10, which carries the same segment, is in flight but does not count any longer.
        assert_eq!((advance.arrived_bytes, script.flight.bytes()), (1000, 5000));
    }

    #[test]
    fn a_partial_ack_wants_the_next_missing_segment_unless_it_was_sent_again() {
        let mut script = Script::new();
        script.episode.begin(10, 10_000);
        let (advance, _) = script.ack(&[0, 1], 2);
        assert_eq!(advance.timed, Some(0));
        let advance = Advance { completed_bytes: 2000, ..advance };
        assert!(script.rule.wants_head(&script.episode, &advance));
        script.rule.on_sent(2000, 1000, 10);
        assert!(!script.rule.wants_head(&script.episode, &advance));
    }

    #[test]
    fn a_head_whose_retransmission_is_under_way_is_lost_once_more_with_an_episode() {
        let mut script = Script::new();
        assert_eq!(script.rule.lose_retransmitted_head(&mut script.flight), None);
        script.rule.on_sent(0, 1000, 10);
        script.flight.send(crate::packets::SentPacket::of_test(0, 10));
        assert_eq!(script.rule.lose_retransmitted_head(&mut script.flight), Some(10));
    }
}
