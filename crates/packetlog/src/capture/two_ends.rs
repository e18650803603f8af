//! Matching of packets in the captures of both ends of a connection, with their delays.

use super::one_end::{Arrived, MOST_REMEMBERED, Sent, Unwrap, split};
use super::segment::{Kind, Segment, Tcp};
use record::{Event, Record};
use std::collections::{BTreeMap, VecDeque};

/// Maximum time in flight, ns. Older packets are lost.
const LONGEST_NS: u64 = 10_000_000_000;

/// Maximum number of transmissions since a remembered packet, as a multiple of the remembered packets.
const PASSED: usize = 8;

/// Maximum number of copies of a packet that are compared with an arrival.
const MOST_COPIES: usize = 1024;

/// Identity of a packet that both ends see unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    Datagram(u64),
    Tcp {
        numbers: (u32, u32),
        stamps: Option<(u32, u32)>,
        flags: (bool, bool),
        window: u16,
        sack: Option<(u32, u32)>,
        payload_bytes: u32,
    },
}

impl Identity {
    fn of(segment: &Segment) -> Option<Self> {
        Some(match segment.kind {
            Kind::Udp(udp) => Self::Datagram(udp.identity?),
            Kind::Tcp(tcp) => Self::Tcp {
                numbers: (tcp.seq, tcp.ack.unwrap_or(0)),
                stamps: tcp.timestamps,
                flags: (tcp.syn, tcp.fin),
                window: tcp.window,
                sack: tcp.sacks[0],
                payload_bytes: segment.payload_bytes,
            },
        })
    }
}

/// Packets that passed the first end of a direction but not the second.
#[derive(Debug)]
struct UnderWay<K> {
    by_key: BTreeMap<K, VecDeque<Sent>>,
    order: VecDeque<(u64, K)>,
    /// Number of packets, and its maximum.
    count: usize,
    most: usize,
}

impl<K: Copy + Ord> UnderWay<K> {
    fn new(most: usize) -> Self {
        Self { by_key: BTreeMap::new(), order: VecDeque::new(), count: 0, most }
    }

    fn push(&mut self, key: K, sent: Sent) {
        self.by_key.entry(key).or_default().push_back(sent);
        self.order.push_back((sent.at_ns, key));
        self.count += 1;
        while let Some(&(at_ns, key)) = self.order.front()
            && (at_ns + LONGEST_NS < sent.at_ns
                || self.count > self.most
                || self.order.len() > PASSED * self.most)
        {
            self.order.pop_front();
            if let Some(queue) = self.by_key.get_mut(&key) {
                while queue.front().is_some_and(|old| old.at_ns <= at_ns) {
                    queue.pop_front();
                    self.count -= 1;
                }
                if queue.is_empty() {
                    self.by_key.remove(&key);
                }
            }
        }
    }

    fn take(&mut self, key: &K, fits: impl Fn(&Sent) -> bool) -> Option<Sent> {
        let queue = self.by_key.get_mut(key)?;
        let back = queue.iter().rev().take(MOST_COPIES).position(fits)?;
        let found = queue.remove(queue.len() - 1 - back);
        self.count -= usize::from(found.is_some());
        if queue.is_empty() {
            self.by_key.remove(key);
        }
        found
    }
}

/// Maximum pieces of a segment. A segment of 512 KiB (BIG TCP) in packets of 536 bytes (RFC 9293 3.7.1) has 979.
const MOST_COVERED: usize = 1024;

/// Flow between two captures.
#[derive(Debug)]
pub(super) struct Matcher {
    flow: u32,
    full: Option<u32>,
    sequence: [Unwrap; 2],
    arrived: Arrived,
    /// TCP payload by its beginning. Offloads make segments of other lengths at either end.
    pieces: UnderWay<u64>,
    /// Other packets of the data direction, and all packets of the other direction.
    whole: [UnderWay<Identity>; 2],
    numbers: [u64; 2],
    highest: u64,
    pub(super) retransmissions: u64,
    /// Number of data packets matched at the other end.
    pub(super) arrivals: u64,
    /// Number of packets that arrived without a matching transmission, or that have no identity.
    pub(super) unmatched: u64,
}

/// Events of sending and delivery in the data direction and the other direction.
const SENT: [Event; 2] = [Event::Send, Event::AckSend];
const DELIVERED: [Event; 2] = [Event::Deliver, Event::AckDeliver];

impl Matcher {
    /// Creates the matcher of one of `flows` flows.
    pub(super) fn new(flow: u32, full: Option<u32>, flows: usize) -> Self {
        let most = MOST_REMEMBERED / flows.max(1);
        Self {
            flow,
            full,
            sequence: Default::default(),
            arrived: Arrived::default(),
            pieces: UnderWay::new(most),
            whole: [0, 1].map(|_| UnderWay::new(most)),
            numbers: [0; 2],
            highest: 0,
            retransmissions: 0,
            arrivals: 0,
            unmatched: 0,
        }
    }

    /// Handles a packet at its sender. `way` is 0 in the data direction.
    pub(super) fn sent(&mut self, way: usize, at_ns: u64, segment: &Segment, tell: &mut impl FnMut(Record)) {
        if way == 0
            && let Kind::Tcp(tcp) = segment.kind
            && segment.payload_bytes > 0
        {
            self.sent_payload(at_ns, segment, &tcp, tell);
            return;
        }
        if let Kind::Tcp(tcp) = segment.kind
            && way == 1
        {
            self.arrived.acknowledged(&tcp);
        }
        let (size_bytes, data_bytes) = (segment.size_bytes, if way == 0 { segment.payload_bytes } else { 0 });
        let number = self.number(way);
        let sent = Sent { at_ns, number, begin: 0, size_bytes, data_bytes, stamp: None };
        tell(sent.record(self.flow, SENT[way], at_ns));
        if let Some(identity) = Identity::of(segment) {
            self.whole[way].push(identity, sent);
        } else {
            self.unmatched += 1;
        }
    }

    fn sent_payload(&mut self, at_ns: u64, segment: &Segment, tcp: &Tcp, tell: &mut impl FnMut(Record)) {
        let begin = self.sequence[0].at(tcp.seq) + u64::from(tcp.syn);
        let end = begin + u64::from(segment.payload_bytes);
        let header_bytes = segment.size_bytes - segment.payload_bytes;
        for (from, to) in split(begin, end, self.full) {
            let (number, data_bytes) = (self.number(0), (to - from) as u32);
            let stamp = tcp.timestamps.map(|(value, _)| value);
            let size_bytes = header_bytes + data_bytes;
            let sent = Sent { at_ns, number, begin: from, size_bytes, data_bytes, stamp };
            self.retransmissions += u64::from(from < self.highest);
            self.highest = self.highest.max(to);
            tell(sent.record(self.flow, Event::Send, at_ns));
            self.pieces.push(from, sent);
        }
    }

    /// Handles a packet at its receiver.
    pub(super) fn received(
        &mut self,
        way: usize,
        at_ns: u64,
        segment: &Segment,
        tell: &mut impl FnMut(Record),
    ) {
        if way == 0
            && let Kind::Tcp(tcp) = segment.kind
            && segment.payload_bytes > 0
        {
            self.received_payload(at_ns, segment, &tcp, tell);
            return;
        }
        let found = Identity::of(segment).and_then(|identity| self.whole[way].take(&identity, |_| true));
        match found {
            Some(sent) => self.tell_arrival(way, at_ns, &sent, sent.data_bytes, segment.ce, tell),
            None => self.unmatched += 1,
        }
    }

    fn received_payload(&mut self, at_ns: u64, segment: &Segment, tcp: &Tcp, tell: &mut impl FnMut(Record)) {
        let near = self.sequence[0];
        let begin = self.sequence[1].beside(near).at(tcp.seq) + u64::from(tcp.syn);
        let end = begin + u64::from(segment.payload_bytes);
        let stamp = tcp.timestamps.map(|(value, _)| value);
        let mut new_bytes = self.arrived.new_bytes(tcp, segment.payload_bytes);
        let covered: Vec<u64> =
            self.pieces.by_key.range(begin..end).map(|(&from, _)| from).take(MOST_COVERED).collect();
        let mut is_known = false;
        for from in covered {
            let fits = |sent: &Sent| sent.stamp.is_none() || stamp.is_none() || sent.stamp == stamp;
            let Some(sent) = self.pieces.take(&from, fits) else { continue };
            is_known = true;
            let new = new_bytes.min(sent.data_bytes);
            new_bytes -= new;
            self.tell_arrival(0, at_ns, &sent, new, segment.ce, tell);
        }
        self.unmatched += u64::from(!is_known);
    }

    fn tell_arrival(
        &mut self,
        way: usize,
        at_ns: u64,
        sent: &Sent,
        new_bytes: u32,
        ce: bool,
        tell: &mut impl FnMut(Record),
    ) {
        self.arrivals += u64::from(way == 0);
        if ce {
            let event = [Event::Mark, Event::AckMark][way];
            tell(Record { data_bytes: 0, ..sent.record(self.flow, event, at_ns) });
        }
        let one_way_delay_ns = at_ns as i64 - sent.at_ns as i64;
        let delivered = sent.record(self.flow, DELIVERED[way], at_ns);
        tell(Record { data_bytes: new_bytes, one_way_delay_ns, ..delivered });
    }

    /// Returns the payload that the receiver acknowledged but its capture lacks, bytes.
    pub(super) fn missing_bytes(&self) -> u64 {
        self.arrived.missing_bytes()
    }

    /// Returns the payload of a full segment if segments of this direction are split.
    pub(super) fn full(&self, way: usize) -> Option<u32> {
        self.full.filter(|_| way == 0)
    }

    /// Returns the number of the flow.
    pub(super) fn flow(&self) -> u32 {
        self.flow
    }

    fn number(&mut self, way: usize) -> u64 {
        self.numbers[way] += 1;
        self.numbers[way] - 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::segment::End;
    use super::*;

    #[test]
    fn a_segment_is_looked_for_among_so_many_pieces_and_no_more() {
        let end = |port| End { address: [10, 0, 0, 1].into(), port };
        let segment = |seq, payload_bytes| Segment {
            time_ns: 0,
            from: end(1),
            to: end(2),
            size_bytes: payload_bytes + 40,
            payload_bytes,
            ce: false,
            identification: 0,
            hops: 64,
            kind: Kind::Tcp(Tcp { seq, ..Tcp::default() }),
        };
        let mut matcher = Matcher::new(1, None, 1);
        for seq in 0..3 * MOST_COVERED as u32 {
            matcher.sent(0, 1, &segment(seq, 1), &mut |_| ());
        }
        matcher.received(0, 2, &segment(0, 3 * MOST_COVERED as u32), &mut |_| ());
        assert_eq!(matcher.arrivals, MOST_COVERED as u64);
    }

    #[test]
    fn what_never_arrives_takes_no_memory_without_end() {
        const MOST: usize = 8;
        let sent =
            |number| Sent { at_ns: number, number, begin: 0, size_bytes: 100, data_bytes: 100, stamp: None };
        let mut way = UnderWay::new(MOST);
        for number in 0..1_000 {
            way.push(number % 100, sent(number));
            assert!(way.count <= MOST);
            assert_eq!(way.count, way.by_key.values().map(VecDeque::len).sum::<usize>());
        }
        // The newest packets are kept, and the oldest are forgotten.
        assert_eq!(way.take(&99, |_| true).map(|sent| sent.number), Some(999));
        assert!(way.take(&90, |_| true).is_none());
        for number in 1_000..2_000 {
            way.push(number, sent(number));
            assert!(way.take(&number, |_| true).is_some(), "it arrives at once");
        }
        assert!(way.order.len() <= PASSED * MOST + 1);
    }
}
