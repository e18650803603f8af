//! Detection of packets that a capture contains several times, once for each interface on their way.

use super::segment::Segment;
use std::collections::HashMap;

/// Minimum number of latest packets whose interfaces are remembered. The maximum is twice this number.
const REMEMBERED: usize = 1 << 15;

/// Maximum time from a packet to its copy by a mirror, ns, unless a router lies between them. This is half of Linux's
/// minimum retransmission timeout (v6.12, include/net/tcp.h, `TCP_RTO_MIN`).
const LONGEST_NS: u64 = 100_000_000;

/// Distinguishes copies of a packet from retransmissions.
///
/// An interface shows a packet once per transmission. Thus a packet on another interface is a copy, and a second packet
/// on the same interface is a retransmission.
///
/// A port mirror shows incoming and outgoing packets, so a copy can appear on the same interface. A retransmitted IPv4
/// datagram has a new identification (RFC 6864; 0 means unknown), thus an equal identification marks a copy. Some
/// senders give all datagrams the same identification. Therefore a copy must also come soon, or with another TTL, which
/// a router has changed.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// Latest packets by identity. All older packets are forgotten together.
    newer: HashMap<u64, Passed>,
    older: HashMap<u64, Passed>,
}

/// State of a packet since its last transmission.
#[derive(Debug)]
struct Passed {
    first: Sight,
    /// First interface that showed the packet, and further interfaces.
    interface: u64,
    others: Vec<u64>,
}

impl Passed {
    fn new(interface: u64, first: Sight) -> Self {
        Self { first, interface, others: Vec::new() }
    }

    fn was_shown_by(&self, interface: u64) -> bool {
        self.interface == interface || self.others.contains(&interface)
    }
}

/// Observation of a packet: its time, and the fields that distinguish a copy from a retransmission.
#[derive(Clone, Copy, Debug)]
struct Sight {
    at_ns: u64,
    identification: u16,
    hops: u8,
}

impl Sight {
    /// Returns true if a mirror shows the packet of `before` again on the same interface.
    fn is_mirrored(self, before: Self) -> bool {
        let is_soon = self.at_ns.abs_diff(before.at_ns) <= LONGEST_NS;
        self.identification != 0 && (is_soon || self.hops != before.hops)
    }
}

impl Copies {
    /// Records a packet and its interface, if the capture has several. Returns true if the packet is a copy.
    pub(super) fn is_copy(&mut self, segment: &Segment, interface: Option<u64>) -> bool {
        let Segment { time_ns: at_ns, identification, hops, .. } = *segment;
        if interface.is_none() && identification == 0 {
            // With a single interface only the identification marks a copy.
            return false;
        }
        let sight = Sight { at_ns, identification, hops };
        segment
            .identity()
            .is_some_and(|identity| self.was_shown(identity, interface.unwrap_or_default(), sight))
    }

    fn was_shown(&mut self, identity: u64, interface: u64, sight: Sight) -> bool {
        let found = self.newer.get_mut(&identity).or_else(|| self.older.get_mut(&identity));
        let Some(passed) = found else {
            if self.newer.len() == REMEMBERED {
                std::mem::swap(&mut self.newer, &mut self.older);
                self.newer.clear();
            }
            self.newer.insert(identity, Passed::new(interface, sight));
            return false;
        };
        let is_known = passed.was_shown_by(interface);
        let is_sent_again = is_known && !sight.is_mirrored(passed.first);
        if is_sent_again {
            *passed = Passed::new(interface, sight);
        } else if !is_known {
            passed.others.push(interface);
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
        // The packet passes three interfaces.
        assert_eq!(
            [1, 2, 3].map(|interface| copies.was_shown(7, interface, unnumbered(0))),
            [false, true, true]
        );
        // The first retransmission is lost after the first interface; the second one follows.
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
            assert!(copies.newer.len() <= REMEMBERED && copies.older.len() <= REMEMBERED);
        }
        assert!(!copies.was_shown(0, 2, unnumbered(0)));
        let last = 3 * REMEMBERED as u64 - 1;
        assert!(copies.was_shown(last, 2, unnumbered(0)));
        assert!(copies.was_shown(last + 1 - REMEMBERED as u64, 2, unnumbered(0)));
    }
}
