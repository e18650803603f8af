//! Loss detection without selective acknowledgement: duplicate ACKs (RFC 5681 3.2), and partial ACKs within an episode
//! (RFC 6582 3.2).

use crate::flight::Flight;
use crate::recovery::{Episode, Onset};

#[derive(Debug)]
pub(super) struct Duplicates {
    threshold: u64,
    payload_bytes: u32,
    /// Duplicate ACKs in a row.
    count: u64,
}

impl Duplicates {
    pub(super) const fn new(threshold: u64, payload_bytes: u32) -> Self {
        Self { threshold, payload_bytes, count: 0 }
    }

    /// Counts a duplicate ACK; returns true if it reaches the threshold of a loss.
    pub(super) const fn on_duplicate(&mut self) -> bool {
        self.count += 1;
        self.count == self.threshold
    }

    pub(super) const fn forget(&mut self) {
        self.count = 0;
    }

    /// Returns the bytes that duplicate ACKs stand for: a full packet has arrived for each.
    pub(super) const fn departed_bytes(&self) -> u64 {
        self.count * self.payload_bytes as u64
    }

    /// Declares the first outstanding packet lost after enough duplicates, and after an ACK within an episode that does
    /// not end it.
    pub(super) fn detect(&self, flight: &mut Flight, episode: &Episode) -> Onset {
        if self.count >= self.threshold || episode.is_active() {
            let first = flight.first_in_flight();
            flight.lose(first);
        }
        Onset::IfSentSince
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn lost(flight: &Flight) -> Vec<u64> {
        flight.lost().iter().map(|packet| packet.number).collect()
    }

    #[test]
    fn the_third_duplicate_makes_the_first_outstanding_packet_lost() {
        let mut flight = Flight::of_test(&Config { sack: false, ..Config::tcp() });
        let (mut duplicates, episode) = (Duplicates::new(3, 1448), Episode::new(true));
        assert!(!duplicates.on_duplicate() && !duplicates.on_duplicate());
        duplicates.detect(&mut flight, &episode);
        assert_eq!((lost(&flight), duplicates.departed_bytes()), (vec![], 2 * 1448));
        assert!(duplicates.on_duplicate());
        duplicates.detect(&mut flight, &episode);
        assert_eq!(lost(&flight), [0]);
        assert!(!duplicates.on_duplicate(), "a fourth changes nothing");
    }

    #[test]
    fn within_an_episode_each_new_ack_makes_a_loss() {
        let mut flight = Flight::of_test(&Config { sack: false, ..Config::tcp() });
        let (duplicates, mut episode) = (Duplicates::new(3, 1448), Episode::new(true));
        episode.begin(10, 10_000);
        duplicates.detect(&mut flight, &episode);
        duplicates.detect(&mut flight, &episode);
        assert_eq!(lost(&flight), [0, 1]);
    }
}
