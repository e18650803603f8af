//! Assignment of packets to successive connections between the same two endpoints.
//!
//! A SYN with another initial sequence number begins a new connection.

use super::segment::{Connection, Kind, Segment};
use std::collections::HashMap;

/// Current connection between two endpoints.
#[derive(Clone, Copy, Debug)]
struct Current {
    connection: Connection,
    /// Initial sequence number of each direction; `None` before the SYN, or if the capture lacks it.
    initial: [Option<u32>; 2],
}

/// Finds the connection of each packet of a capture. Packets come in time order.
#[derive(Debug, Default)]
pub(super) struct Lifetimes {
    /// Current connections by the first connection between the two endpoints.
    current: HashMap<Connection, Current>,
}

impl Lifetimes {
    /// Returns the connection of the next packet.
    pub(super) fn connection(&mut self, segment: &Segment) -> Connection {
        let first = segment.connection();
        let Kind::Tcp(tcp) = segment.kind else { return first };
        let current = self.current.entry(first).or_insert_with(|| Current {
            connection: first,
            initial: if tcp.opens() { [Some(tcp.seq); 2] } else { [None; 2] },
        });
        if !tcp.opens() {
            return current.connection;
        }
        let initial = &mut current.initial[usize::from(!segment.is_forward())];
        // A retransmitted SYN has the same number.
        if *initial != Some(tcp.seq) {
            let connection = Connection { opened: Some(tcp.seq), ..first };
            *current = Current { connection, initial: [Some(tcp.seq); 2] };
        }
        current.connection
    }
}

#[cfg(test)]
mod tests {
    use super::super::segment::{End, Tcp};
    use super::*;

    fn packet(from: u16, to: u16, tcp: Tcp) -> Segment {
        let end = |port| End { address: [10, 0, 0, 1].into(), port };
        Segment {
            time_ns: 0,
            from: end(from),
            to: end(to),
            size_bytes: 40,
            payload_bytes: 0,
            ce: false,
            identification: 0,
            hops: 64,
            kind: Kind::Tcp(tcp),
        }
    }

    fn set_up(seq: u32) -> Segment {
        packet(1, 2, Tcp { seq, syn: true, ..Tcp::default() })
    }

    #[test]
    fn a_new_initial_number_on_the_same_ports_is_a_new_connection() {
        let mut lifetimes = Lifetimes::default();
        let answer = packet(2, 1, Tcp { seq: 9, syn: true, ack: Some(101), ..Tcp::default() });
        let data = packet(1, 2, Tcp { seq: 101, ack: Some(10), ..Tcp::default() });
        let first = [set_up(100), set_up(100), answer, data].map(|one| lifetimes.connection(&one));
        assert!(first.iter().all(|&one| one == first[0] && one.opened.is_none()), "{first:?}");
        let second = [set_up(50), answer, data, set_up(50)].map(|one| lifetimes.connection(&one));
        assert!(second.iter().all(|&one| one == second[0] && one.opened == Some(50)), "{second:?}");
    }

    #[test]
    fn a_set_up_behind_packets_of_a_connection_whose_beginning_is_missing_is_a_new_one() {
        let mut lifetimes = Lifetimes::default();
        let data = packet(1, 2, Tcp { seq: 7, ack: Some(1), ..Tcp::default() });
        let [before, after] = [data, set_up(70)].map(|one| lifetimes.connection(&one));
        assert_eq!((before.opened, after.opened), (None, Some(70)));
    }
}
