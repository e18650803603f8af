//! Transfers per interval at both ends, as iperf reports them.

use super::bound::{Error, check_rows};
use super::flow_table::FlowTable;
use crate::inputs::FlowInfo;
use record::{Event, Record};
use serde::Serialize;
use std::collections::BTreeMap;
use units::{Span, Time};

/// Default interval of iperf.
const DEFAULT_INTERVAL: Span = Span::from_secs(1);
/// Bytes of iperf's `KByte`.
const KBYTE: f64 = 1_024.0;
/// Divisor of the interval: packets this soon after the end of their flow have no interval of their own, because real
/// packets end with stragglers.
const STRAGGLERS: u64 = 100;

/// End of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum View {
    /// The sender: payload in the interval in which it entered the path.
    Client,
    /// The receiver: payload in the interval in which it arrived for the first time.
    Server,
}

/// Data that one flow, or all flows, transferred in one interval or over the whole time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TransferRow {
    /// End at which the data were counted.
    pub view: View,
    /// Number of the flow; `None` in rows that sum over all flows.
    pub flow: Option<u32>,
    /// True if the row covers the whole time of the flow instead of one interval.
    pub total: bool,
    /// Start, s since the start of the run.
    pub start_s: f64,
    /// End, s.
    pub end_s: f64,
    /// Bytes.
    pub bytes: u64,
    /// Bytes in units of 1,024.
    pub kbytes: f64,
    /// Rate, 1,024 bytes per s.
    pub kbytes_per_s: f64,
}

/// Rows of a run in the order in which iperf prints them: by view, then by interval, totals last.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Transfers {
    /// Length of an interval, s. The first and last interval of a flow are shorter if the flow starts or ends within.
    pub interval_s: f64,
    /// True if the bytes are payload. A log without payload gives the bytes of whole packets instead.
    pub payload: bool,
    /// Rows, with sums if there are several flows.
    pub rows: Vec<TransferRow>,
}

/// Counts the bytes that flows transfer per interval of the run's clock.
///
/// A packet log tells how many bytes of a packet were new to the receiver, but not which ones. So both views count a
/// byte once, by the copy that got through. The server counts it when that copy arrived, the client when that copy
/// entered the path. Copies that were dropped or already received count nowhere. At the end the client is ahead by the
/// payload in flight. If a log does not tell drops, a packet is in flight if it was sent no longer ago than the longest
/// delay of its flow.
#[derive(Clone, Debug)]
pub struct IntervalMeter {
    interval_ns: u64,
    duration: Span,
    last_ns: u64,
    drops_seen: bool,
    payload_seen: bool,
    table: FlowTable,
    flows: Vec<FlowIntervals>,
}

#[derive(Clone, Debug)]
struct FlowIntervals {
    info: FlowInfo,
    first_ns: Option<u64>,
    longest_delay_ns: u64,
    client: EndIntervals,
    server: EndIntervals,
    /// Packets sent that were neither delivered nor dropped so far: sending time, ns, and payload.
    under_way: BTreeMap<u64, (u64, u32)>,
}

#[derive(Clone, Debug, Default)]
struct EndIntervals {
    last_ns: u64,
    bins: Vec<Bin>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    payload: u64,
    packets: u64,
}

impl FlowIntervals {
    const fn end_intervals(&self, view: View) -> &EndIntervals {
        match view {
            View::Client => &self.client,
            View::Server => &self.server,
        }
    }
}

impl EndIntervals {
    #[inline]
    fn add(&mut self, interval_ns: u64, time_ns: u64, payload: u32, packet: u32) {
        if payload == 0 && packet == 0 {
            return;
        }
        let index = (time_ns / interval_ns) as usize;
        if self.bins.len() <= index {
            self.bins.resize(index + 1, Bin::default());
        }
        self.bins[index].payload += u64::from(payload);
        self.bins[index].packets += u64::from(packet);
        if payload > 0 {
            self.last_ns = self.last_ns.max(time_ns);
        }
    }
}

/// Time in which a flow has intervals at one end, ns.
#[derive(Clone, Copy)]
struct Extent {
    start_ns: u64,
    end_ns: u64,
}

/// Bytes per interval from `start_ns` to `end_ns`; intervals are counted from the start of the run.
struct Column {
    start_ns: u64,
    end_ns: u64,
    bytes: Vec<u64>,
}

impl IntervalMeter {
    /// Returns a meter with intervals of length `interval` (1 s if zero) in a run of length `duration` (zero: to the
    /// last record). `flows` contains the starts and stops; flows of unknown start begin with their first packet.
    pub fn new(interval: Span, duration: Span, flows: Vec<FlowInfo>) -> Self {
        let interval = if interval.is_zero() { DEFAULT_INTERVAL } else { interval };
        let mut meter = Self {
            interval_ns: interval.as_ns(),
            duration,
            last_ns: 0,
            drops_seen: false,
            payload_seen: false,
            table: FlowTable::default(),
            flows: Vec::with_capacity(flows.len()),
        };
        for info in flows {
            if meter.table.get(info.flow).is_none() {
                meter.insert(info);
            }
        }
        meter
    }

    /// Counts the next record. Records come in time order.
    #[inline]
    pub fn record(&mut self, record: &Record) {
        if !matches!(record.event, Event::Send | Event::Drop | Event::Deliver) {
            return;
        }
        let interval_ns = self.interval_ns;
        self.last_ns = self.last_ns.max(record.time_ns);
        self.drops_seen |= record.event == Event::Drop;
        self.payload_seen |= record.data_bytes > 0;
        let flow = self.flow(record.flow);
        let first_ns = flow.first_ns.get_or_insert(record.time_ns);
        *first_ns = (*first_ns).min(record.time_ns);
        match record.event {
            Event::Send if record.data_bytes > 0 => {
                flow.under_way.insert(record.seq, (record.time_ns, record.data_bytes));
            }
            Event::Deliver => {
                let delay_ns = record.one_way_delay_ns.max(0).unsigned_abs();
                let sent_ns = record.time_ns.saturating_sub(delay_ns);
                flow.longest_delay_ns = flow.longest_delay_ns.max(delay_ns);
                flow.under_way.remove(&record.seq);
                flow.client.add(interval_ns, sent_ns, record.data_bytes, record.size_bytes);
                flow.server.add(interval_ns, record.time_ns, record.data_bytes, record.size_bytes);
            }
            Event::Drop => {
                flow.under_way.remove(&record.seq);
            }
            _ => {}
        }
    }

    /// Returns the rows.
    ///
    /// # Errors
    /// One line: the run has more intervals than there can be rows. The planned length and the flows are inputs that
    /// the log does not limit.
    pub fn finish(mut self) -> Result<Transfers, Error> {
        self.count_under_way();
        self.flows.sort_by_key(|flow| flow.info.flow);
        let mut rows = Vec::new();
        for view in [View::Client, View::Server] {
            let with_extent = |flow| Some((flow, self.extent(flow, view)?));
            let extents: Vec<(&FlowIntervals, Extent)> = self.flows.iter().filter_map(with_extent).collect();
            let end_ns = extents.iter().map(|(_, extent)| extent.end_ns).max().unwrap_or(0);
            check_rows(extents.len(), self.interval_ns, end_ns)?;
            let column = |(flow, extent): (&FlowIntervals, Extent)| {
                (Some(flow.info.flow), self.column(flow.end_intervals(view), extent))
            };
            let columns = extents.into_iter().map(column).collect();
            self.view_rows(view, columns, &mut rows);
        }
        Ok(Transfers {
            interval_s: Span::from_ns(self.interval_ns).as_secs_f64(),
            payload: self.payload_seen,
            rows,
        })
    }

    fn count_under_way(&mut self) {
        for flow in &mut self.flows {
            let limit_ns = if self.drops_seen { u64::MAX } else { flow.longest_delay_ns };
            for (sent_ns, payload) in core::mem::take(&mut flow.under_way).into_values() {
                if self.last_ns.saturating_sub(sent_ns) <= limit_ns {
                    flow.client.add(self.interval_ns, sent_ns, payload, 0);
                }
            }
        }
    }

    /// Returns the time in which one flow has intervals at one end; `None` if the flow had no time.
    fn extent(&self, flow: &FlowIntervals, view: View) -> Option<Extent> {
        let tally = flow.end_intervals(view);
        let start_ns = if flow.info.start.is_finite() { flow.info.start.as_ns() } else { flow.first_ns? };
        let run_ns = if self.duration.is_zero() { self.last_ns } else { self.duration.as_ns() };
        let planned_ns = flow.info.stop.as_ns().min(run_ns);
        let late = tally.last_ns.saturating_sub(planned_ns) > self.interval_ns / STRAGGLERS;
        let end_ns = if late { tally.last_ns } else { planned_ns };
        (start_ns < end_ns).then_some(Extent { start_ns, end_ns })
    }

    /// Returns the intervals of one flow at one end.
    fn column(&self, counted: &EndIntervals, Extent { start_ns, end_ns }: Extent) -> Column {
        let first = (start_ns / self.interval_ns) as usize;
        let last = ((end_ns - 1) / self.interval_ns) as usize;
        let mut bytes = vec![0; last + 1];
        for (index, bin) in counted.bins.iter().enumerate() {
            // Stragglers belong to the interval that ends with the flow.
            bytes[index.clamp(first, last)] += if self.payload_seen { bin.payload } else { bin.packets };
        }
        Column { start_ns, end_ns, bytes }
    }

    fn view_rows(&self, view: View, mut columns: Vec<(Option<u32>, Column)>, rows: &mut Vec<TransferRow>) {
        if columns.len() > 1 {
            let mut sum = Column { start_ns: u64::MAX, end_ns: 0, bytes: Vec::new() };
            for (_, column) in &columns {
                sum.start_ns = sum.start_ns.min(column.start_ns);
                sum.end_ns = sum.end_ns.max(column.end_ns);
                sum.bytes.resize(sum.bytes.len().max(column.bytes.len()), 0);
                sum.bytes.iter_mut().zip(&column.bytes).for_each(|(sum, bytes)| *sum += bytes);
            }
            columns.push((None, sum));
        }
        let intervals = columns.iter().map(|(_, column)| column.bytes.len()).max().unwrap_or(0);
        for index in 0..intervals {
            for (flow, column) in &columns {
                let from_ns = column.start_ns.max(index as u64 * self.interval_ns);
                let to_ns = column.end_ns.min((index as u64 + 1) * self.interval_ns);
                if from_ns < to_ns {
                    rows.push(row(view, *flow, false, (from_ns, to_ns), column.bytes[index]));
                }
            }
        }
        rows.extend(columns.iter().map(|(flow, column)| {
            row(view, *flow, true, (column.start_ns, column.end_ns), column.bytes.iter().sum())
        }));
    }

    #[inline]
    fn flow(&mut self, flow: u32) -> &mut FlowIntervals {
        let position = self.table.get(flow).unwrap_or_else(|| {
            self.insert(FlowInfo { flow, start: Time::NEVER, stop: Time::NEVER, ..FlowInfo::default() })
        });
        &mut self.flows[position]
    }

    #[cold]
    fn insert(&mut self, info: FlowInfo) -> usize {
        self.table.insert(info.flow, self.flows.len());
        self.flows.push(FlowIntervals {
            info,
            first_ns: None,
            longest_delay_ns: 0,
            client: EndIntervals::default(),
            server: EndIntervals::default(),
            under_way: BTreeMap::new(),
        });
        self.flows.len() - 1
    }
}

fn row(view: View, flow: Option<u32>, total: bool, (from_ns, to_ns): (u64, u64), bytes: u64) -> TransferRow {
    let kbytes = bytes as f64 / KBYTE;
    TransferRow {
        view,
        flow,
        total,
        start_s: Time::from_ns(from_ns).as_secs_f64(),
        end_s: Time::from_ns(to_ns).as_secs_f64(),
        bytes,
        kbytes,
        kbytes_per_s: kbytes / Span::from_ns(to_ns - from_ns).as_secs_f64(),
    }
}

#[cfg(test)]
mod tests;
