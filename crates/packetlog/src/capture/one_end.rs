//! State of a connection from a capture of one end: the sender's view of TCP, and arrivals at a receiver.

use super::segment::{Segment, Tcp, plain};
use record::{Event, Record};
use std::collections::BTreeMap;

/// Maximum unacknowledged pieces of a flow. Some captures lack the acknowledgments.
const MOST_PIECES: usize = 1 << 20;
/// Maximum pieces or packets in flight of all flows together. Each takes 100 to 200 bytes of memory.
pub(super) const MOST_REMEMBERED: usize = 1 << 22;

/// Entry of a packet log or a table of samples.
#[derive(Clone, Copy, Debug)]
pub(super) enum LogEntry {
    Record(Record),
    /// Field, unit and value.
    Sample(&'static str, &'static str, f64),
}

/// Converts 32-bit numbers that wrap around to 64-bit numbers that do not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unwrap {
    last: Option<u64>,
}

impl Unwrap {
    /// First number, far enough from zero that numbers can go back.
    const ORIGIN: u64 = 1 << 40;

    /// Returns this converter, which starts with the last number of `other` if it has none.
    pub(super) fn beside(&mut self, other: Self) -> &mut Self {
        self.last = self.last.or(other.last);
        self
    }

    pub(super) fn at(&mut self, number: u32) -> u64 {
        let last = self.last.unwrap_or((Self::ORIGIN & !0xFFFF_FFFF) | u64::from(number));
        let step = i64::from(number.wrapping_sub(last as u32) as i32);
        let found = last.saturating_add_signed(step);
        self.last = Some(found.max(last));
        found
    }
}

/// Splits `[from, to)` into segments of `full` bytes, as the sender's offload does.
pub(super) fn split(from: u64, to: u64, full: Option<u32>) -> impl Iterator<Item = (u64, u64)> {
    let full = full.map_or(u64::MAX, |full| u64::from(full.max(1)));
    let mut at = from;
    std::iter::from_fn(move || {
        let begin = at;
        at = begin.saturating_add(full).min(to);
        (begin < to).then_some((begin, at))
    })
}

/// Returns the number of segments that [`split`] makes of this payload.
pub(super) fn pieces(payload_bytes: u32, full: Option<u32>) -> u64 {
    u64::from(payload_bytes.div_ceil(full.map_or(u32::MAX, |full| full.max(1))))
}

/// Transmission of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) at_ns: u64,
    pub(super) number: u64,
    /// Position of the payload in the sequence.
    pub(super) begin: u64,
    pub(super) size_bytes: u32,
    pub(super) data_bytes: u32,
    pub(super) stamp: Option<u32>,
}

impl Sent {
    /// Returns the position behind the payload in the sequence.
    pub(super) fn end(&self) -> u64 {
        self.begin + u64::from(self.data_bytes)
    }

    /// Returns the record of an event of this packet at `time_ns`.
    pub(super) fn record(&self, flow: u32, event: Event, time_ns: u64) -> Record {
        let Self { number, size_bytes, data_bytes, .. } = *self;
        Record { time_ns, flow, event, seq: number, size_bytes, data_bytes, one_way_delay_ns: 0 }
    }
}

/// Transmission that carried a piece, with its reported events.
#[derive(Clone, Copy, Debug)]
struct Carrier {
    sent: Sent,
    is_lost: bool,
    has_arrived: bool,
}

impl Carrier {
    const fn new(sent: Sent) -> Self {
        Self { sent, is_lost: false, has_arrived: false }
    }
}

/// Range of the sequence, and all packets that carried it.
#[derive(Clone, Debug)]
struct Piece {
    end: u64,
    sent: Vec<Carrier>,
}

/// TCP state from a capture of the sender.
#[derive(Debug)]
pub(super) struct SenderView {
    flow: u32,
    /// Payload of a full segment; `None` if unknown.
    full: Option<u32>,
    most_pieces: usize,
    unwrap: Unwrap,
    next: u64,
    pieces: BTreeMap<u64, Piece>,
    /// Skipped ranges, which packets captured out of order may fill.
    holes: BTreeMap<u64, u64>,
    /// Acknowledged pieces that were sent several times. They are kept while duplicates may be reported.
    settled: BTreeMap<u64, Piece>,
    /// Number of remembered packets besides the first one of each piece.
    repeats: usize,
    packets: u64,
    acks: u64,
    in_flight_bytes: u64,
    retransmissions: u64,
    pub(super) acked: u64,
    /// Position up to which everything was acknowledged.
    acked_to: u64,
    /// Latest round-trip time, ns.
    rtt_ns: Option<u64>,
    /// Number of arrived packets that were sent several times and for which the acknowledged copy is unknown.
    pub(super) ambiguous: u64,
    /// Number of ambiguous packets without a round-trip time, since the connection had none before them.
    pub(super) untimed: u64,
}

impl SenderView {
    /// Creates the view of one of `flows` flows. `rtt_ns` is the round-trip time to use before the first sample.
    pub(super) fn new(flow: u32, full: Option<u32>, flows: usize, rtt_ns: Option<u64>) -> Self {
        Self {
            flow,
            full,
            most_pieces: (MOST_REMEMBERED / flows.max(1)).min(MOST_PIECES),
            unwrap: Unwrap::default(),
            next: 0,
            pieces: BTreeMap::new(),
            holes: BTreeMap::new(),
            settled: BTreeMap::new(),
            repeats: 0,
            packets: 0,
            acks: 0,
            in_flight_bytes: 0,
            retransmissions: 0,
            acked: 0,
            acked_to: 0,
            rtt_ns,
            ambiguous: 0,
            untimed: 0,
        }
    }

    /// Handles a sent packet.
    pub(super) fn sent(&mut self, at_ns: u64, segment: &Segment, tcp: &Tcp, tell: &mut impl FnMut(LogEntry)) {
        let begin = self.unwrap.at(tcp.seq) + u64::from(tcp.syn);
        let end = begin + u64::from(segment.payload_bytes);
        if segment.payload_bytes == 0 {
            if tcp.syn {
                // Late data that fills a hole was captured out of order; it is no retransmission.
                self.next = self.next.max(begin);
            }
            return;
        }
        let is_probe = segment.payload_bytes == 1 && begin + 1 == self.next && self.pieces.is_empty();
        if is_probe {
            return;
        }
        let header_bytes = segment.size_bytes - segment.payload_bytes;
        if self.packets == 0 {
            tell(LogEntry::Sample("retransmissions", "packets", 0.0));
        }
        let before = (self.in_flight_bytes, self.retransmissions);
        for (from, to) in split(begin, end, self.full) {
            let data_bytes = (to - from) as u32;
            let sent = Sent {
                at_ns,
                number: self.packets,
                begin: from,
                size_bytes: header_bytes + data_bytes,
                data_bytes,
                stamp: tcp.timestamps.map(|(value, _)| value),
            };
            self.packets += 1;
            let fills = self.fills_hole(from, to);
            if from < self.next && !fills {
                self.retransmissions += 1;
                self.again(at_ns, from, to.min(self.next), sent, tell);
            }
            let new = if fills { from } else { from.max(self.next) };
            if new < to && self.pieces.len() < self.most_pieces {
                self.pieces.insert(new, Piece { end: to, sent: vec![Carrier::new(sent)] });
                self.in_flight_bytes += to - new;
            }
            tell(LogEntry::Record(sent.record(self.flow, Event::Send, at_ns)));
        }
        if self.next < begin && self.next > 0 {
            self.holes.insert(self.next, begin);
            if self.holes.len() > self.most_pieces {
                self.holes.pop_first();
            }
        }
        self.next = self.next.max(end);
        self.tell_state(before, tell);
    }

    /// Returns true if the payload was skipped before. Removes it from the holes.
    fn fills_hole(&mut self, from: u64, to: u64) -> bool {
        let found = self.holes.range(..=from).next_back().map(|(&begin, &end)| (begin, end));
        let Some((begin, end)) = found.filter(|&(_, end)| to <= end) else { return false };
        self.holes.remove(&begin);
        for (left, right) in [(begin, from), (to, end)] {
            if left < right {
                self.holes.insert(left, right);
            }
        }
        true
    }

    /// Handles a retransmission of `[from, to)`. Earlier transmissions count as lost.
    fn again(&mut self, at_ns: u64, from: u64, to: u64, sent: Sent, tell: &mut impl FnMut(LogEntry)) {
        self.cut(from);
        self.cut(to);
        let begins: Vec<u64> = self.pieces.range(from..to).map(|(&begin, _)| begin).collect();
        if begins.is_empty() {
            // The piece had arrived. A duplicate report may confirm this.
            let end = from + u64::from(sent.data_bytes);
            let piece = self.settled.entry(from).or_insert_with(|| Piece { end, sent: Vec::new() });
            piece.sent.push(Carrier::new(sent));
            self.repeats += 1;
            self.forget();
            return;
        }
        for begin in begins {
            let last = self.pieces.get(&begin).and_then(|piece| piece.sent.last()).copied();
            if let Some(last) = last.filter(|last| !last.is_lost) {
                let lost = last.sent.record(self.flow, Event::Lost, at_ns);
                tell(LogEntry::Record(Record { size_bytes: 0, ..lost }));
                self.mark(&last.sent, |carrier| carrier.is_lost = true);
            }
            if (self.repeats < 2 * self.most_pieces || !self.settled.is_empty())
                && let Some(piece) = self.pieces.get_mut(&begin)
            {
                piece.sent.push(Carrier::new(sent));
                self.repeats += 1;
                self.forget();
            }
        }
    }

    /// Splits the piece that contains `at`.
    fn cut(&mut self, at: u64) {
        let found = self.pieces.range_mut(..at).next_back().filter(|(_, piece)| at < piece.end);
        let Some((_, piece)) = found else { return };
        let rest = Piece { end: piece.end, sent: piece.sent.clone() };
        piece.end = at;
        self.repeats += rest.sent.len() - 1;
        self.pieces.insert(at, rest);
    }

    /// Changes the state of a packet in all unacknowledged pieces.
    fn mark(&mut self, sent: &Sent, change: impl Fn(&mut Carrier)) {
        let pieces = self.pieces.range_mut(sent.begin..sent.end());
        let carriers = pieces.flat_map(|(_, piece)| &mut piece.sent);
        carriers.filter(|carrier| carrier.sent.number == sent.number).for_each(change);
    }

    /// Forgets the oldest arrived pieces if too many are remembered.
    fn forget(&mut self) {
        while (self.settled.len() > self.most_pieces || self.repeats > 2 * self.most_pieces)
            && let Some((_, piece)) = self.settled.pop_first()
        {
            self.repeats = self.repeats.saturating_sub(piece.sent.len());
        }
    }

    /// Handles a packet of the other direction.
    pub(super) fn received(
        &mut self,
        at_ns: u64,
        segment: &Segment,
        tcp: &Tcp,
        tell: &mut impl FnMut(LogEntry),
    ) {
        let Some(ack) = tcp.ack else { return };
        if segment.payload_bytes == 0 && !tcp.syn {
            tell(LogEntry::Record(plain(at_ns, self.flow, Event::AckDeliver, self.acks, segment, 0)));
            self.acks += 1;
        }
        if self.packets == 0 {
            return;
        }
        let before = (self.in_flight_bytes, self.retransmissions);
        let near = |number: u32| {
            let step = i64::from(number.wrapping_sub(self.next as u32) as i32);
            self.next.saturating_add_signed(step)
        };
        let echo = tcp.timestamps.map(|(_, echo)| echo);
        let cumulative = near(ack);
        let blocks: Vec<_> =
            tcp.sacks.iter().flatten().map(|&(left, right)| (near(left), near(right))).collect();
        for (index, &(left, right)) in blocks.iter().enumerate() {
            // RFC 2883 4: a first block below the ACK, or within the second block, reports a duplicate.
            let within = blocks.get(1).is_some_and(|&(from, to)| from <= left && right <= to);
            if left >= right {
                continue;
            }
            if index == 0 && (right <= cumulative || within) {
                self.duplicate(at_ns, left, right, tell);
            } else {
                self.acknowledge(at_ns, left, right, echo, tell);
            }
        }
        self.acknowledge(at_ns, 0, cumulative, echo, tell);
        self.acked_to = self.acked_to.max(cumulative);
        self.tell_state(before, tell);
    }

    /// Returns the payload that was acknowledged but not captured, bytes.
    pub(super) fn missing_bytes(&self) -> u64 {
        let below = self.holes.range(..self.acked_to);
        below.map(|(&begin, &end)| end.min(self.acked_to) - begin).sum()
    }

    fn acknowledge(
        &mut self,
        at_ns: u64,
        left: u64,
        right: u64,
        echo: Option<u32>,
        tell: &mut impl FnMut(LogEntry),
    ) {
        let whole: Vec<u64> = self
            .pieces
            .range(left..right)
            .take_while(|(_, piece)| piece.end <= right)
            .map(|(&begin, _)| begin)
            .collect();
        let mut arrivals: Vec<(Sent, u64, bool)> = Vec::new();
        for begin in whole {
            let Some(mut piece) = self.pieces.remove(&begin) else { continue };
            let bytes = piece.end - begin;
            self.in_flight_bytes -= bytes;
            let is_known = piece.sent.len() == 1
                || piece.sent.iter().all(|carrier| carrier.sent.stamp.is_some()) && echo.is_some();
            let arrived = piece.sent.remove(which(&piece.sent, left, right, echo)).sent;
            match arrivals.last_mut() {
                Some((last, sum, _)) if last.number == arrived.number => *sum += bytes,
                _ => arrivals.push((arrived, bytes, is_known)),
            }
            if !piece.sent.is_empty() {
                if let Some(earlier) = self.settled.insert(begin, piece) {
                    self.repeats = self.repeats.saturating_sub(earlier.sent.len());
                }
                self.forget();
            }
        }
        for (arrived, bytes, is_known) in arrivals {
            self.acked += 1;
            self.mark(&arrived, |carrier| carrier.has_arrived = true);
            self.tell_arrival(at_ns, &arrived, bytes as u32, is_known, tell);
        }
    }

    /// Handles a report that the receiver got this payload again.
    fn duplicate(&mut self, at_ns: u64, left: u64, right: u64, tell: &mut impl FnMut(LogEntry)) {
        let found: Vec<u64> = self.settled.range(left..right).map(|(&begin, _)| begin).collect();
        for begin in found {
            let Some(mut piece) = self.settled.remove(&begin) else { continue };
            let Some(arrived) = piece.sent.pop() else { continue };
            self.repeats = self.repeats.saturating_sub(1);
            let is_known = arrived.sent.stamp.is_some();
            self.tell_arrival(at_ns, &arrived.sent, 0, is_known, tell);
            if !piece.sent.is_empty() {
                self.settled.insert(begin, piece);
            }
        }
    }

    /// Reports the arrival of a packet. If the acknowledged copy is unknown, the acknowledgment gives no sample (RFC
    /// 6298 3). The packet then counts with the previous round-trip time.
    fn tell_arrival(
        &mut self,
        at_ns: u64,
        arrived: &Sent,
        new_bytes: u32,
        is_known: bool,
        tell: &mut impl FnMut(LogEntry),
    ) {
        let since_ns = at_ns.saturating_sub(arrived.at_ns);
        self.ambiguous += u64::from(!is_known);
        self.untimed += u64::from(!is_known && self.rtt_ns.is_none());
        let rtt_ns = if is_known { since_ns } else { self.rtt_ns.unwrap_or(since_ns) };
        tell(LogEntry::Record(Record { size_bytes: 0, ..arrived.record(self.flow, Event::Acked, at_ns) }));
        let delivered = arrived.record(self.flow, Event::Deliver, at_ns);
        let one_way_delay_ns = rtt_ns as i64;
        tell(LogEntry::Record(Record { data_bytes: new_bytes, one_way_delay_ns, ..delivered }));
        if is_known {
            self.rtt_ns = Some(rtt_ns);
            tell(LogEntry::Sample("latest_rtt", "ms", rtt_ns as f64 / 1e6));
        }
    }

    fn tell_state(&self, before: (u64, u64), tell: &mut impl FnMut(LogEntry)) {
        if before.0 != self.in_flight_bytes {
            tell(LogEntry::Sample("in_flight", "bytes", self.in_flight_bytes as f64));
        }
        if before.1 != self.retransmissions {
            tell(LogEntry::Sample("retransmissions", "packets", self.retransmissions as f64));
        }
    }
}

/// Returns the index of the packet that an acknowledgment of `[left, right)` confirms. This is the latest covered
/// packet that is no later than its `echo` and has no reported arrival.
fn which(sent: &[Carrier], left: u64, right: u64, echo: Option<u32>) -> usize {
    // An echo older than the retransmission belongs to an earlier transmission.
    let is_echoed = |carrier: &Carrier| {
        let stamp = carrier.sent.stamp.zip(echo);
        stamp.is_none_or(|(stamp, echo)| echo.wrapping_sub(stamp) as i32 >= 0)
    };
    let is_covered = |carrier: &Carrier| left <= carrier.sent.begin && carrier.sent.end() <= right;
    let find = |fits: &dyn Fn(&Carrier) -> bool| sent.iter().rposition(fits);
    find(&|carrier| is_echoed(carrier) && is_covered(carrier) && !carrier.has_arrived)
        .or_else(|| find(&|carrier| is_echoed(carrier) && !carrier.has_arrived))
        .or_else(|| find(&is_echoed))
        .unwrap_or(0)
}

/// Arrived payload of a TCP sequence.
#[derive(Debug, Default)]
pub(super) struct Arrived {
    unwrap: Unwrap,
    /// Beginnings and ends of separate ranges.
    ranges: BTreeMap<u64, u64>,
    /// Position up to which everything was acknowledged.
    acked_to: u64,
}

impl Arrived {
    /// Adds a segment and returns its new payload, bytes.
    pub(super) fn new_bytes(&mut self, tcp: &Tcp, payload_bytes: u32) -> u32 {
        let begin = self.unwrap.at(tcp.seq) + u64::from(tcp.syn);
        self.add(begin, begin + u64::from(payload_bytes))
    }

    /// Handles an acknowledgment of the receiver.
    pub(super) fn acknowledged(&mut self, tcp: &Tcp) {
        if let Some(ack) = tcp.ack.filter(|_| !self.ranges.is_empty()) {
            let mut near = self.unwrap;
            self.acked_to = self.acked_to.max(near.at(ack));
        }
    }

    /// Returns the payload in gaps that was acknowledged but not captured, bytes.
    pub(super) fn missing_bytes(&self) -> u64 {
        let gaps = self.ranges.values().zip(self.ranges.keys().skip(1));
        gaps.map(|(&end, &begin)| begin.min(self.acked_to).saturating_sub(end)).sum()
    }

    fn add(&mut self, begin: u64, end: u64) -> u32 {
        let (mut left, mut right, mut known) = (begin, end, 0);
        let touching: Vec<(u64, u64)> = self
            .ranges
            .range(..=end)
            .rev()
            .take_while(|&(_, &to)| to >= begin)
            .map(|(&a, &b)| (a, b))
            .collect();
        for (from, to) in touching {
            known += to.min(end).saturating_sub(from.max(begin));
            (left, right) = (left.min(from), right.max(to));
            self.ranges.remove(&from);
        }
        self.ranges.insert(left, right);
        if self.ranges.len() > MOST_PIECES {
            self.ranges.pop_first();
        }
        (end - begin - known) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::super::segment::{End, Kind};
    use super::*;

    fn segment(tcp: Tcp, payload_bytes: u32) -> Segment {
        let end = |port| End { address: [10, 0, 0, 1].into(), port };
        let size_bytes = payload_bytes + 40;
        Segment {
            time_ns: 0,
            from: end(1),
            to: end(2),
            size_bytes,
            payload_bytes,
            ce: false,
            identification: 0,
            hops: 64,
            kind: Kind::Tcp(tcp),
        }
    }

    #[test]
    fn what_is_sent_again_without_end_takes_no_memory_without_end() {
        const MOST: usize = 8;
        let mut view = SenderView::new(1, Some(100), MOST_REMEMBERED / MOST, None);
        let (mut sent, mut arrived) = (0, 0);
        for round in 0..100 {
            let tcp = Tcp { seq: 1, ..Tcp::default() };
            view.sent(round, &segment(tcp, 400), &tcp, &mut |told| {
                sent += usize::from(matches!(told, LogEntry::Record(Record { event: Event::Send, .. })));
            });
            let kept = |pieces: &BTreeMap<u64, Piece>| pieces.values().map(|piece| piece.sent.len()).sum();
            let (waiting, settled): (usize, usize) = (kept(&view.pieces), kept(&view.settled));
            assert!(waiting + settled <= 3 * MOST + 1, "{waiting} and {settled} are remembered");
            assert_eq!(view.repeats, waiting - view.pieces.len() + settled);
            if round == 50 {
                let tcp = Tcp { ack: Some(401), ..Tcp::default() };
                view.received(round, &segment(tcp, 0), &tcp, &mut |told| {
                    arrived +=
                        usize::from(matches!(told, LogEntry::Record(Record { event: Event::Deliver, .. })));
                });
            }
        }
        assert_eq!((sent, arrived), (400, 4));
    }
}
