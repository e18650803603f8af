//! Packets that a capture shows more than once, since each interface that they pass has shown them.

use super::segment::Segment;
use std::collections::{HashMap, VecDeque};

/// Packets of which it is remembered where they were seen.
const REMEMBERED: usize = 1 << 16;

/// Tells the copies of a packet from a packet that was sent again.
///
/// An interface shows a packet once each time that it is sent: one that another interface shows is a copy, and one that
/// the same interface shows once more was sent again. A datagram of IPv4 that was sent again has another number, so one
/// with the same number is a copy: a port mirror shows what comes in and what goes out (RFC 6864; a number of 0 says
/// nothing).
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// Interfaces that have shown a packet since it was sent, by what tells it from others.
    shown: HashMap<u64, Vec<u64>>,
    order: VecDeque<u64>,
}

impl Copies {
    /// Takes in a packet that an interface shows. Return whether another interface has shown it before.
    pub(super) fn is_copy(&mut self, segment: &Segment, interface: u64) -> bool {
        let is_numbered = segment.identification != 0;
        segment.identity().is_some_and(|identity| self.was_shown(identity, interface, is_numbered))
    }

    fn was_shown(&mut self, identity: u64, interface: u64, is_numbered: bool) -> bool {
        let Some(interfaces) = self.shown.get_mut(&identity) else {
            self.shown.insert(identity, vec![interface]);
            self.order.push_back(identity);
            if self.order.len() > REMEMBERED
                && let Some(oldest) = self.order.pop_front()
            {
                self.shown.remove(&oldest);
            }
            return false;
        };
        let is_sent_again = interfaces.contains(&interface) && !is_numbered;
        if is_sent_again {
            interfaces.clear();
        }
        if !interfaces.contains(&interface) {
            interfaces.push(interface);
        }
        !is_sent_again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_shows_a_packet_once_each_time_that_it_is_sent() {
        let mut copies = Copies::default();
        // sent, through three interfaces
        assert_eq!([1, 2, 3].map(|interface| copies.was_shown(7, interface, false)), [false, true, true]);
        // sent again, and lost behind the first interface; sent once more
        assert_eq!([1, 1, 2].map(|interface| copies.was_shown(7, interface, false)), [false, false, true]);
        assert!(!copies.was_shown(8, 2, false), "another packet");
    }

    #[test]
    fn a_datagram_with_the_same_number_on_one_interface_is_the_copy_of_a_mirror() {
        let mut copies = Copies::default();
        assert_eq!([1, 1, 1].map(|interface| copies.was_shown(7, interface, true)), [false, true, true]);
        assert_eq!([1, 1].map(|interface| copies.was_shown(8, interface, false)), [false, false]);
    }

    #[test]
    fn what_was_shown_long_ago_is_forgotten() {
        let mut copies = Copies::default();
        for identity in 0..3 * REMEMBERED as u64 {
            assert!(!copies.was_shown(identity, 1, false));
            assert!(copies.shown.len() <= REMEMBERED && copies.order.len() == copies.shown.len());
        }
        assert!(!copies.was_shown(0, 2, false));
        assert!(copies.was_shown(3 * REMEMBERED as u64 - 1, 2, false));
    }
}
