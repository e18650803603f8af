//! Packets of a part of a run with their events.

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

/// Maximum packets of a request.
const MAX_PACKETS: u32 = 1 << 20;
/// Time after the window in which events of its packets are read: round trips ...
const ROUND_TRIPS_AFTER: u64 = 4;
/// ... plus a constant, ns, since retransmission timers take this long.
const AFTER_NS: u64 = 1_500_000_000;
/// Time before the window in which packets in flight were sent: round trips plus a constant, ns, since ACKs may be
/// late.
const ROUND_TRIPS_BEFORE: u64 = 2;
const BEFORE_NS: u64 = 100_000_000;
/// Maximum time before the window that is read, ns.
const LONGEST_BEFORE_NS: u64 = 4_000_000_000;
/// Maximum rows read before and after the window.
const MAX_ROWS_AROUND: u64 = 600_000;

/// Data packet with the times of its events, ns; `None` if the log lacks the event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packet {
    pub(crate) flow: u32,
    pub(crate) seq: u64,
    pub(crate) size_bytes: u32,
    /// Payload of the sent packet, bytes.
    pub(crate) data_bytes: Option<u32>,
    /// Payload that was new to the receiver, bytes.
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
    /// Returns the time of the last event that ends the packet, ns, or `None` without such an event.
    fn end_ns(&self) -> Option<u64> {
        [self.deliver_ns, self.drop_ns, self.acked_ns, self.lost_ns].into_iter().flatten().max()
    }

    /// Returns true if no more events of the packet are expected.
    fn is_over(&self, tells_acked: bool) -> bool {
        let is_gone = self.deliver_ns.is_some() || self.drop_ns.is_some();
        // The sender does not learn of a drop at once: a declaration of loss follows.
        let is_judged = self.acked_ns.is_some() || self.lost_ns.is_some();
        is_gone && (is_judged || (!tells_acked && self.drop_ns.is_none()))
    }
}

/// ACK with the times of its events, ns.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_field_names, reason = "each is a time, and says its unit")]
struct Ack {
    send_ns: Option<u64>,
    deliver_ns: Option<u64>,
    drop_ns: Option<u64>,
}

/// Collector of packets from records in the order of a log.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    pub(crate) packets: Vec<Packet>,
    /// Number of packets that expect more events.
    open_count: u64,
    /// Packets by flow and number that expect more events, in the order of sending.
    open: HashMap<(u32, u64), VecDeque<usize>>,
    acks: BTreeMap<(u32, u64), Ack>,
}

/// Returns the time when a delivered packet was sent, ns.
const fn sent_ns(record: &Record) -> Option<u64> {
    record.time_ns.checked_add_signed(record.one_way_delay_ns.saturating_neg())
}

impl Collector {
    /// Returns true if the record's packet or ACK is known.
    fn knows(&self, record: &Record) -> bool {
        let key = (record.flow, record.seq);
        match record.event {
            Event::AckDeliver | Event::AckDrop => self.acks.contains_key(&key),
            _ => self.open.contains_key(&key),
        }
    }

    /// Adds the event of a record.
    pub(crate) fn record(&mut self, record: &Record, tells_acked: bool) {
        let now = Some(record.time_ns);
        match record.event {
            Event::Send => self.send(record),
            Event::AckSend => self.ack(record).send_ns = now,
            Event::AckDeliver => {
                let ack = self.ack(record);
                ack.deliver_ns = ack.deliver_ns.or(now);
                ack.send_ns = ack.send_ns.or(sent_ns(record));
            }
            Event::AckDrop => self.ack(record).drop_ns = now,
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
            // The record is another fragment of the packet.
            let size_bytes = &mut self.packets[latest].size_bytes;
            *size_bytes = size_bytes.saturating_add(record.size_bytes);
            return;
        }
        places.push_back(self.packets.len());
        self.open_count += 1;
        self.packets.push(Packet {
            flow: record.flow,
            seq: record.seq,
            size_bytes: record.size_bytes,
            data_bytes: Some(record.data_bytes),
            send_ns: Some(record.time_ns),
            ..Packet::default()
        });
    }

    /// Adds an event of a data packet.
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
        // The first of several events counts (copies, fragments, queues); for departures from queues, the last.
        if time.is_none() || record.event == Event::Dequeue {
            *time = Some(record.time_ns);
        }
        if !was_over && packet.is_over(tells_acked) {
            self.open_count = self.open_count.saturating_sub(1);
            if let Some(places) =
                self.open.get_mut(&(record.flow, record.seq)).filter(|places| places.len() > 1)
            {
                // A repeated number belongs to a new packet.
                places.retain(|&other| other != place);
            }
        }
    }

    /// Returns the position of the record's packet. Adds an unknown packet.
    fn place(&mut self, record: &Record) -> usize {
        let places = self.open.entry((record.flow, record.seq)).or_default();
        let sent = if record.event == Event::Deliver { sent_ns(record) } else { None };
        let same = sent
            .and_then(|sent| places.iter().copied().find(|&place| self.packets[place].send_ns == Some(sent)));
        // In a log without numbers, only the time of sending identifies a packet.
        let is_numbered = record.seq > 0 || record.event != Event::Deliver;
        if let Some(place) = same.or_else(|| places.front().copied().filter(|_| is_numbered)) {
            return place;
        }
        let place = self.packets.len();
        places.push_back(place);
        self.open_count += 1;
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
    /// Returns the longest round trip around a time, ns: the maximum one-way delays of data and of ACKs.
    pub(crate) fn round_trip_ns(&self, from_ns: u64, to_ns: u64) -> u64 {
        let bins = &self.delay.list;
        let range = self.delay.within(from_ns, to_ns);
        let around = &bins[range.start.saturating_sub(1)..(range.end + 1).min(bins.len())];
        let longest = around.iter().map(|bin| bin.high.max(0.0) as u64).max().unwrap_or(0);
        longest.saturating_add(self.longest_ack_delay_ns)
    }

    /// Returns the approximate number of packets sent in this time.
    fn packets_about(&self, from_ns: u64, to_ns: u64) -> f64 {
        let mean_bytes = self.sent.total() as f64 / self.packets_sent.max(1) as f64;
        self.sent.about(from_ns, to_ns) / mean_bytes.max(1.0)
    }
}

impl<R: Rows + ?Sized> View<'_, R> {
    /// Returns the packets of a flow (0: of all flows) in this time, and the ACKs, as [`Columns`].
    ///
    /// Includes packets that were sent before and still in flight. Above `most` packets there are no rows, and
    /// `too_many` is their number.
    ///
    /// # Errors
    /// Returns an error if an argument is invalid, there is no packet log, or the log cannot be read.
    pub fn packets(&self, from_ns: f64, to_ns: f64, flow: u32, most: u32) -> Result<Vec<u8>, Error> {
        let (from_ns, to_ns) = times(from_ns, to_ns)?;
        if most == 0 || most > MAX_PACKETS {
            let value = most.to_string();
            return Err(Error::InvalidArgument { key: "most", value, allowed: "a number from 1 to 1048576" });
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
                let end_ns = ack.deliver_ns.or(ack.drop_ns);
                ack.send_ns.is_some_and(|sent_ns| sent_ns < to_ns)
                    && end_ns.is_none_or(|end_ns| end_ns >= from_ns)
            })
            .collect();
        Ok(self.table(&collector.packets, &acks, None, (from_ns, to_ns)))
    }

    /// Reads the packets of a window with their events.
    fn collect(&self, from_ns: u64, to_ns: u64, flow: u32, around_ns: u64) -> Result<Collector, Cause> {
        let before_ns = around_ns.saturating_mul(ROUND_TRIPS_BEFORE).saturating_add(BEFORE_NS);
        let mut before_ns = before_ns.min(LONGEST_BEFORE_NS);
        while before_ns > 0
            && self.pyramid.density.about(from_ns.saturating_sub(before_ns), from_ns) > MAX_ROWS_AROUND as f64
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
                // Packets sent after the window are not needed.
                let is_of_window = !is_after
                    || collector.knows(record)
                    || (record.event == Event::Deliver && sent_ns(record).is_some_and(|sent| sent < to_ns));
                if is_of_window && !(is_after && matches!(record.event, Event::Send | Event::AckSend)) {
                    collector.record(record, tells_acked.get(&record.flow).copied().unwrap_or(false));
                }
                let is_done = is_after && (collector.open_count == 0 || rows_after > MAX_ROWS_AROUND);
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
        let resent = packets.iter().map(|packet| match self.is_retransmission(packet) {
            Some(is_retransmission) => u8::from(is_retransmission),
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
            .u8("retransmission", resent)
            .u8("sacked", sacked_flags(packets))
            .u32("ack_flow", acks.iter().map(|((flow, _), _)| *flow))
            .f64("ack_seq", acks.iter().map(|((_, seq), _)| *seq as f64))
            .f64("ack_send_ns", ack_times(|ack| ack.send_ns))
            .f64("ack_deliver_ns", ack_times(|ack| ack.deliver_ns))
            .f64("ack_drop_ns", ack_times(|ack| ack.drop_ns))
            .into_bytes()
    }

    /// Returns true if a packet carries data that was sent before, or `None` if unknown.
    pub(crate) fn is_retransmission(&self, packet: &Packet) -> Option<bool> {
        let flow = self.pyramid.flow(packet.flow)?;
        let total = self.retransmissions.get(&packet.flow).copied();
        let by_total = flow.resends.is_retransmission(packet.seq, total);
        // The receiver already had a part of the data.
        let is_old =
            flow.tells_new && packet.data_bytes.zip(packet.new_bytes).is_some_and(|(data, new)| new < data);
        if is_old { Some(true) } else { by_total }
    }
}

/// Returns for each packet 1 if it was acknowledged while an earlier packet was still unresolved. Packets are in
/// order of sending.
fn sacked_flags(packets: &[Packet]) -> Vec<u8> {
    let mut latest: HashMap<u32, u64> = HashMap::new();
    let mut flags = Vec::with_capacity(packets.len());
    for packet in packets {
        let waited_for = latest.entry(packet.flow).or_default();
        flags.push(u8::from(packet.acked_ns.is_some_and(|acked_ns| *waited_for > acked_ns)));
        let judged_ns = packet.lost_ns.or(packet.acked_ns);
        *waited_for = (*waited_for).max(judged_ns.unwrap_or(0));
    }
    flags
}

/// Returns a time as a number: NaN if absent.
fn number(time_ns: Option<u64>) -> f64 {
    time_ns.map_or(f64::NAN, |time_ns| time_ns as f64)
}
