//! Every packet of a part of a run, and what became of it.

use crate::View;
use crate::columns::Columns;
use crate::error::{Cause, Error};
use crate::pyramid::FlowIndex;
use crate::rows::Rows;
use crate::window::times;
use record::{Event, Record};
use serde_json::json;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::ControlFlow;

/// Most packets that can be asked for.
const MOST_PACKETS: u32 = 1 << 20;
/// How long after the window's end something is waited for that shows what became of a packet, in round trips ...
const ROUND_TRIPS_AFTER: u64 = 4;
/// ... and besides, ns: retransmission timers take that long.
const AFTER_NS: u64 = 1_500_000_000;
/// How long before the window packets are looked for that were still open then, in round trips and besides, ns: ACKs may be late.
const ROUND_TRIPS_BEFORE: u64 = 2;
const BEFORE_NS: u64 = 100_000_000;
/// Longest time before the window from which packets are looked for, ns.
const LONGEST_BEFORE_NS: u64 = 4_000_000_000;
/// Most rows that are read before and after the window.
const MOST_ROWS_AROUND: u64 = 600_000;

/// A data packet and what became of it; times are absent where the log does not tell them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packet {
    pub(crate) flow: u32,
    pub(crate) seq: u64,
    pub(crate) size_bytes: u32,
    /// Payload, as it was sent.
    pub(crate) data_bytes: Option<u32>,
    /// Payload that was new to the receiver.
    pub(crate) new_bytes: Option<u32>,
    pub(crate) send_ns: Option<u64>,
    pub(crate) enqueue_ns: Option<u64>,
    pub(crate) dequeue_ns: Option<u64>,
    pub(crate) drop_ns: Option<u64>,
    pub(crate) mark_ns: Option<u64>,
    pub(crate) deliver_ns: Option<u64>,
    pub(crate) acked_ns: Option<u64>,
    pub(crate) lost_ns: Option<u64>,
}

impl Packet {
    /// When the sender stopped waiting for it, or it left the path, whatever was last; `None` while something is open.
    fn end_ns(&self) -> Option<u64> {
        [self.deliver_ns, self.drop_ns, self.acked_ns, self.lost_ns].into_iter().flatten().max()
    }

    /// Whether nothing else is to be learned of it.
    fn is_over(&self, tells_acked: bool) -> bool {
        let is_gone = self.deliver_ns.is_some() || self.drop_ns.is_some();
        // that it was dropped is told to the sender by nobody: a declaration follows
        let is_judged = self.acked_ns.is_some() || self.lost_ns.is_some();
        is_gone && (is_judged || (!tells_acked && self.drop_ns.is_none()))
    }
}

/// An ACK and what became of it: times in ns.
#[derive(Clone, Copy, Debug, Default)]
struct Ack {
    sent: Option<u64>,
    delivered: Option<u64>,
    dropped: Option<u64>,
}

/// Gathers packets from records in the order of a log.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    pub(crate) packets: Vec<Packet>,
    /// How many of them are not over.
    under_way: u64,
    /// The packets of a number of which something is to be learned, in the order in which they were sent.
    open: HashMap<(u32, u64), VecDeque<usize>>,
    acks: BTreeMap<(u32, u64), Ack>,
}

/// When a packet that left the path had entered it.
const fn sent_ns(record: &Record) -> Option<u64> {
    record.time_ns.checked_add_signed(record.one_way_delay_ns.saturating_neg())
}

impl Collector {
    /// Whether the packet or ACK that a record is about is known.
    fn knows(&self, record: &Record) -> bool {
        let key = (record.flow, record.seq);
        match record.event {
            Event::AckDeliver | Event::AckDrop => self.acks.contains_key(&key),
            _ => self.open.contains_key(&key),
        }
    }

    /// Adds what a record says.
    pub(crate) fn record(&mut self, record: &Record, tells_acked: bool) {
        let now = Some(record.time_ns);
        match record.event {
            Event::Send => self.send(record),
            Event::AckSend => self.ack(record).sent = now,
            Event::AckDeliver => {
                let ack = self.ack(record);
                ack.delivered = ack.delivered.or(now);
                ack.sent = ack.sent.or(sent_ns(record));
            }
            Event::AckDrop => self.ack(record).dropped = now,
            Event::Opportunity | Event::AckOpportunity | Event::AckMark => {}
            Event::Restored => {
                let place = self.place(record);
                self.packets[place].lost_ns = None;
            }
            Event::Enqueue
            | Event::Dequeue
            | Event::Drop
            | Event::Mark
            | Event::Deliver
            | Event::Lost
            | Event::Acked => self.fate(record, tells_acked),
        }
    }

    fn ack(&mut self, record: &Record) -> &mut Ack {
        self.acks.entry((record.flow, record.seq)).or_default()
    }

    fn send(&mut self, record: &Record) {
        let places = self.open.entry((record.flow, record.seq)).or_default();
        if let Some(&latest) = places.back()
            && record.seq > 0
            && record.data_bytes == 0
            && self.packets[latest].send_ns == Some(record.time_ns)
        {
            // another fragment
            let size_bytes = &mut self.packets[latest].size_bytes;
            *size_bytes = size_bytes.saturating_add(record.size_bytes);
            return;
        }
        places.push_back(self.packets.len());
        self.under_way += 1;
        self.packets.push(Packet {
            flow: record.flow,
            seq: record.seq,
            size_bytes: record.size_bytes,
            data_bytes: Some(record.data_bytes),
            send_ns: Some(record.time_ns),
            ..Packet::default()
        });
    }

    /// Something happened to a data packet.
    fn fate(&mut self, record: &Record, tells_acked: bool) {
        let place = self.place(record);
        let packet = &mut self.packets[place];
        let was_over = packet.is_over(tells_acked);
        let time = match record.event {
            Event::Enqueue => &mut packet.enqueue_ns,
            Event::Dequeue => &mut packet.dequeue_ns,
            Event::Drop => &mut packet.drop_ns,
            Event::Mark => &mut packet.mark_ns,
            Event::Lost => &mut packet.lost_ns,
            Event::Acked => &mut packet.acked_ns,
            _ => {
                packet.new_bytes.get_or_insert(record.data_bytes);
                &mut packet.deliver_ns
            }
        };
        // the first of several counts: of copies, of fragments, of queues; of queues the last one that it left
        if time.is_none() || record.event == Event::Dequeue {
            *time = Some(record.time_ns);
        }
        if !was_over && packet.is_over(tells_acked) {
            self.under_way = self.under_way.saturating_sub(1);
            if let Some(places) =
                self.open.get_mut(&(record.flow, record.seq)).filter(|places| places.len() > 1)
            {
                // a number that comes again is that of another packet
                places.retain(|&other| other != place);
            }
        }
    }

    /// Where the packet is that something happened to; one of which nothing is known yet is added.
    fn place(&mut self, record: &Record) -> usize {
        let places = self.open.entry((record.flow, record.seq)).or_default();
        let sent = if record.event == Event::Deliver { sent_ns(record) } else { None };
        let same = sent
            .and_then(|sent| places.iter().copied().find(|&place| self.packets[place].send_ns == Some(sent)));
        // where a log has no numbers, only the time of sending tells packets apart
        let is_numbered = record.seq > 0 || record.event != Event::Deliver;
        if let Some(place) = same.or_else(|| places.front().copied().filter(|_| is_numbered)) {
            return place;
        }
        let place = self.packets.len();
        places.push_back(place);
        self.under_way += 1;
        self.packets.push(Packet {
            flow: record.flow,
            seq: record.seq,
            size_bytes: record.size_bytes,
            send_ns: sent,
            ..Packet::default()
        });
        place
    }
}

impl FlowIndex {
    /// The longest one-way delays of the flow, there and back, around a time, ns.
    pub(crate) fn round_trip_ns(&self, from_ns: u64, to_ns: u64) -> u64 {
        let bins = &self.delay.list;
        let range = self.delay.within(from_ns, to_ns);
        let around = &bins[range.start.saturating_sub(1)..(range.end + 1).min(bins.len())];
        let longest = around.iter().map(|bin| bin.high.max(0.0) as u64).max().unwrap_or(0);
        longest.saturating_add(self.longest_ack_delay_ns)
    }

    /// About how many packets were sent in this time.
    fn packets_about(&self, from_ns: u64, to_ns: u64) -> f64 {
        let mean_bytes = self.sent.total() as f64 / self.packets_sent.max(1) as f64;
        self.sent.about(from_ns, to_ns) / mean_bytes.max(1.0)
    }
}

impl<R: Rows + ?Sized> View<'_, R> {
    /// The packets of a flow (0: of all flows) that were sent in this time, or before it and were still under way, and ACKs, as
    /// [`Columns`]. If they are more than `most` there are no rows, and `too_many` says how many there are.
    ///
    /// # Errors
    /// One line: what was asked for cannot be, there is no packet log, or it cannot be read.
    pub fn packets(&self, from_ns: f64, to_ns: f64, flow: u32, most: u32) -> Result<Vec<u8>, Error> {
        let (from_ns, to_ns) = times(from_ns, to_ns)?;
        if most == 0 || most > MOST_PACKETS {
            let value = most.to_string();
            return Err(Error::Asked { key: "most", value, allowed: "a number from 1 to 1048576" });
        }
        if !self.rows.has_records() {
            return Err(Error::NoPackets);
        }
        let flows = || self.pyramid.flows.iter().filter(move |one| flow == 0 || one.number == flow);
        let about: f64 = flows().map(|one| one.packets_about(from_ns, to_ns)).sum();
        if about > f64::from(most) * 1.1 {
            return Ok(self.table(&[], &[], Some(about.round() as u64), (from_ns, to_ns)));
        }
        let around = flows().map(|one| one.round_trip_ns(from_ns, to_ns)).max().unwrap_or(0);
        let mut collector = self.collect(from_ns, to_ns, flow, around)?;
        collector.packets.retain(|packet| {
            let sent = packet.send_ns.is_some_and(|sent_ns| sent_ns < to_ns);
            sent && packet.end_ns().is_none_or(|end_ns| end_ns >= from_ns)
        });
        if collector.packets.len() > most as usize {
            let count = collector.packets.len() as u64;
            return Ok(self.table(&[], &[], Some(count), (from_ns, to_ns)));
        }
        collector.packets.sort_by_key(|packet| (packet.send_ns, packet.flow, packet.seq));
        let acks: Vec<((u32, u64), Ack)> = collector
            .acks
            .into_iter()
            .filter(|(_, ack)| {
                let end_ns = ack.delivered.or(ack.dropped);
                ack.sent.is_some_and(|sent_ns| sent_ns < to_ns)
                    && end_ns.is_none_or(|end_ns| end_ns >= from_ns)
            })
            .collect();
        Ok(self.table(&collector.packets, &acks, None, (from_ns, to_ns)))
    }

    /// Reads the packets of a window, and what became of them.
    fn collect(&self, from_ns: u64, to_ns: u64, flow: u32, around_ns: u64) -> Result<Collector, Cause> {
        let before_ns = around_ns.saturating_mul(ROUND_TRIPS_BEFORE).saturating_add(BEFORE_NS);
        let mut before_ns = before_ns.min(LONGEST_BEFORE_NS);
        while before_ns > 0
            && self.pyramid.density.about(from_ns.saturating_sub(before_ns), from_ns)
                > MOST_ROWS_AROUND as f64
        {
            before_ns /= 2;
        }
        let after_ns = around_ns.saturating_mul(ROUND_TRIPS_AFTER).saturating_add(AFTER_NS);
        let mut collector = Collector::default();
        let mut rows_after = 0_u64;
        let tells_acked: HashMap<u32, bool> =
            self.pyramid.flows.iter().map(|flow| (flow.number, flow.tells_acked)).collect();
        self.rows.records(
            from_ns.saturating_sub(before_ns),
            to_ns.saturating_add(after_ns),
            &mut |record| {
                if flow != 0 && record.flow != flow {
                    return ControlFlow::Continue(());
                }
                let is_after = record.time_ns >= to_ns;
                rows_after += u64::from(is_after);
                // what was sent after the window is of no interest
                let is_of_window = !is_after
                    || collector.knows(record)
                    || (record.event == Event::Deliver && sent_ns(record).is_some_and(|sent| sent < to_ns));
                if is_of_window && !(is_after && matches!(record.event, Event::Send | Event::AckSend)) {
                    collector.record(record, tells_acked.get(&record.flow).copied().unwrap_or(false));
                }
                let is_done = is_after && (collector.under_way == 0 || rows_after > MOST_ROWS_AROUND);
                if is_done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        )?;
        Ok(collector)
    }

    fn table(
        &self,
        packets: &[Packet],
        acks: &[((u32, u64), Ack)],
        too_many: Option<u64>,
        (from_ns, to_ns): (u64, u64),
    ) -> Vec<u8> {
        let meta = json!({
            "t0_ns": from_ns, "t1_ns": to_ns, "too_many": too_many,
            "packets": packets.len(), "acks": acks.len(),
        });
        let times = |of: fn(&Packet) -> Option<u64>| packets.iter().map(move |packet| number(of(packet)));
        let ack_times = |of: fn(&Ack) -> Option<u64>| acks.iter().map(move |(_, ack)| number(of(ack)));
        let again = packets.iter().map(|packet| match self.is_again(packet) {
            Some(is_again) => u8::from(is_again),
            None => 2,
        });
        Columns::new(meta)
            .u32("flow", packets.iter().map(|packet| packet.flow))
            .f64("seq", packets.iter().map(|packet| packet.seq as f64))
            .u32("size_bytes", packets.iter().map(|packet| packet.size_bytes))
            .f64("send_ns", times(|packet| packet.send_ns))
            .f64("enqueue_ns", times(|packet| packet.enqueue_ns))
            .f64("dequeue_ns", times(|packet| packet.dequeue_ns))
            .f64("drop_ns", times(|packet| packet.drop_ns))
            .f64("mark_ns", times(|packet| packet.mark_ns))
            .f64("deliver_ns", times(|packet| packet.deliver_ns))
            .f64("acked_ns", times(|packet| packet.acked_ns))
            .f64("lost_ns", times(|packet| packet.lost_ns))
            .u8("retransmission", again)
            .u8("sacked", sacked(packets))
            .u32("ack_flow", acks.iter().map(|((flow, _), _)| *flow))
            .f64("ack_seq", acks.iter().map(|((_, seq), _)| *seq as f64))
            .f64("ack_send_ns", ack_times(|ack| ack.sent))
            .f64("ack_deliver_ns", ack_times(|ack| ack.delivered))
            .f64("ack_drop_ns", ack_times(|ack| ack.dropped))
            .into_bytes()
    }

    /// Whether a packet carries data that was sent before; `None` where that is not known.
    pub(crate) fn is_again(&self, packet: &Packet) -> Option<bool> {
        let flow = self.pyramid.flow(packet.flow)?;
        let told = self.retransmissions.get(&packet.flow).copied();
        let known = flow.resends.is_again(packet.seq, told);
        // the receiver had some of it
        let is_old =
            flow.tells_new && packet.data_bytes.zip(packet.new_bytes).is_some_and(|(data, new)| new < data);
        if is_old { Some(true) } else { known }
    }
}

/// Whether each packet was acknowledged while one that was sent before it was still waited for. Packets are in order of sending.
fn sacked(packets: &[Packet]) -> Vec<u8> {
    let mut latest: HashMap<u32, u64> = HashMap::new();
    let mut found = Vec::with_capacity(packets.len());
    for packet in packets {
        let waited_for = latest.entry(packet.flow).or_default();
        found.push(u8::from(packet.acked_ns.is_some_and(|acked_ns| *waited_for > acked_ns)));
        let judged = packet.lost_ns.or(packet.acked_ns);
        *waited_for = (*waited_for).max(judged.unwrap_or(0));
    }
    found
}

/// A time that may be absent, as a number.
fn number(time_ns: Option<u64>) -> f64 {
    time_ns.map_or(f64::NAN, |time_ns| time_ns as f64)
}
