//! Packets that a capture shows more than once, since each interface that they pass has shown them.

use super::segment::Segment;
use std::collections::{HashMap, VecDeque};

/// Packets of which it is remembered where they were seen.
const REMEMBERED: usize = 1 << 16;

/// How long after a packet its copy by a mirror may come if no router lies between them, ns: half of the shortest time after
/// which Linux sends again (v6.12, include/net/tcp.h, `TCP_RTO_MIN`).
const LONGEST_NS: u64 = 100_000_000;

/// Tells the copies of a packet from a packet that was sent again.
///
/// An interface shows a packet once each time that it is sent: one that another interface shows is a copy, and one that
/// the same interface shows once more was sent again. A datagram of IPv4 that was sent again has another number (RFC 6864;
/// 0 says nothing), so one with the same number is a copy: a port mirror shows what comes in and what goes out. Some
/// senders give all datagrams one number: a copy also comes soon, or with another TTL, as a router has changed it.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// Where packets were shown, by what tells them from others.
    shown: HashMap<u64, Passed>,
    order: VecDeque<u64>,
}

/// A packet since it was sent.
#[derive(Debug)]
struct Passed {
    /// Those that have shown it.
    interfaces: Vec<u64>,
    first: Sight,
}

/// When a packet was seen, and what tells whether it was sent again since then.
#[derive(Clone, Copy, Debug)]
struct Sight {
    at_ns: u64,
    identification: u16,
    hops: u8,
}

impl Sight {
    /// Whether a mirror shows a packet here that the same interface has shown before.
    fn is_mirrored(self, before: Self) -> bool {
        let is_soon = self.at_ns.abs_diff(before.at_ns) <= LONGEST_NS;
        self.identification != 0 && (is_soon || self.hops != before.hops)
    }
}

impl Copies {
    /// Takes in a packet that an interface shows. Return whether it was shown before since it was sent.
    pub(super) fn is_copy(&mut self, segment: &Segment, interface: u64) -> bool {
        let Segment { time_ns: at_ns, identification, hops, .. } = *segment;
        let sight = Sight { at_ns, identification, hops };
        segment.identity().is_some_and(|identity| self.was_shown(identity, interface, sight))
    }

    fn was_shown(&mut self, identity: u64, interface: u64, sight: Sight) -> bool {
        let Some(passed) = self.shown.get_mut(&identity) else {
            self.shown.insert(identity, Passed { interfaces: vec![interface], first: sight });
            self.order.push_back(identity);
            if self.order.len() > REMEMBERED
                && let Some(oldest) = self.order.pop_front()
            {
                self.shown.remove(&oldest);
            }
            return false;
        };
        let is_sent_again = passed.interfaces.contains(&interface) && !sight.is_mirrored(passed.first);
        if is_sent_again {
            *passed = Passed { interfaces: vec![interface], first: sight };
        } else if !passed.interfaces.contains(&interface) {
            passed.interfaces.push(interface);
        }
        !is_sent_again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unnumbered(at_ns: u64) -> Sight {
        Sight { at_ns, identification: 0, hops: 64 }
    }

    #[test]
    fn an_interface_shows_a_packet_once_each_time_that_it_is_sent() {
        let mut copies = Copies::default();
        // sent, through three interfaces
        assert_eq!(
            [1, 2, 3].map(|interface| copies.was_shown(7, interface, unnumbered(0))),
            [false, true, true]
        );
        // sent again, and lost behind the first interface; sent once more
        assert_eq!(
            [1, 1, 2].map(|interface| copies.was_shown(7, interface, unnumbered(1))),
            [false, false, true]
        );
        assert!(!copies.was_shown(8, 2, unnumbered(2)), "another packet");
    }

    #[test]
    fn a_datagram_with_the_same_number_that_comes_soon_or_behind_a_router_is_the_copy_of_a_mirror() {
        let mut copies = Copies::default();
        let mut shown =
            |identity, at_ns, hops| copies.was_shown(identity, 1, Sight { at_ns, identification: 5, hops });
        assert_eq!([0, 1, LONGEST_NS].map(|at_ns| shown(7, at_ns, 64)), [false, true, true]);
        assert_eq!([0, 2 * LONGEST_NS].map(|at_ns| shown(8, at_ns, 64)), [false, false], "sent again");
        assert_eq!([(0, 64), (2 * LONGEST_NS, 63)].map(|(at_ns, hops)| shown(9, at_ns, hops)), [false, true]);
    }

    #[test]
    fn what_was_shown_long_ago_is_forgotten() {
        let mut copies = Copies::default();
        for identity in 0..3 * REMEMBERED as u64 {
            assert!(!copies.was_shown(identity, 1, unnumbered(0)));
            assert!(copies.shown.len() <= REMEMBERED && copies.order.len() == copies.shown.len());
        }
        assert!(!copies.was_shown(0, 2, unnumbered(0)));
        assert!(copies.was_shown(3 * REMEMBERED as u64 - 1, 2, unnumbered(0)));
    }
}
