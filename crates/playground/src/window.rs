//! Series and rare events within a time, as many rows as a picture has columns.

use crate::columns::Columns;
use crate::kept::{Bin, Bins, Kept, Sampled};
use record::{Event, Record};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// More rare events are thinned to one of a kind, of a flow, in a column.
const MOST_EVENTS: usize = 20_000;
/// Rates are of bins; more of them than this in a picture are noise.
const MOST_RATE_BINS: u64 = 240;
/// Shortest bin of rates, ns: a few packets go into it.
const LEAST_RATE_BIN_NS: u64 = 2_000_000;
/// The kinds of rare events, in the order of their codes.
const KINDS: [(Event, &str); 4] =
    [(Event::Drop, "drop"), (Event::Mark, "mark"), (Event::Lost, "lost"), (Event::AckDrop, "ack_drop")];

/// Rows of all series.
#[derive(Default)]
struct Rows {
    time_ns: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    series: Vec<Value>,
    /// How many rows the finished series have.
    done: usize,
}

impl Rows {
    fn push(&mut self, time_ns: f64, low: f64, high: f64) {
        self.time_ns.push(time_ns);
        self.low.push(low);
        self.high.push(high);
    }

    /// The rows since the last call are a series.
    fn end(&mut self, mut what: Value) {
        what["first"] = json!(self.done);
        what["rows"] = json!(self.time_ns.len() - self.done);
        self.done = self.time_ns.len();
        self.series.push(what);
    }
}

impl Kept {
    /// What happened from `from_ns` to `to_ns`, in about `columns` parts. It is `now_ns`.
    pub(crate) fn window(&self, now_ns: u64, from_ns: u64, to_ns: u64, columns: u32) -> Vec<u8> {
        let width_ns = (to_ns.saturating_sub(from_ns) / u64::from(columns.max(1))).max(1);
        let mut rows = Rows::default();
        let finer = self.finer(from_ns, to_ns, width_ns);
        let delays = match &finer {
            Some(bins) => bins.clone(),
            None => self.bins.coarser(from_ns, to_ns, width_ns),
        };
        let rate_ns =
            (to_ns.saturating_sub(from_ns) / MOST_RATE_BINS).max(LEAST_RATE_BIN_NS.min(width_ns * 8));
        let rates = finer.as_ref().unwrap_or(&self.bins).coarser(from_ns, to_ns, rate_ns);
        for flow in 0..self.bins.flows.len() {
            let owner = format!("flow {}", flow + 1);
            for (name, title, of) in [
                ("throughput", "Throughput", (|bin| bin.delivered_bytes) as fn(&Bin) -> u64),
                ("send_rate", "Sending rate", |bin| bin.sent_bytes),
            ] {
                // A flow that has not sent yet has no rate.
                let begun = |bin: &Bin| bin.sent_bytes + bin.delivered_bytes > 0;
                let first = rates.flows[flow].iter().position(begun).unwrap_or(0);
                for (index, bin) in rates.flows[flow].iter().enumerate().skip(first) {
                    let begin_ns = rates.from_ns + index as u64 * rates.width_ns;
                    // The last one is not over yet: too little of it says nothing.
                    let lasted_ns = rates.width_ns.min(now_ns.saturating_sub(begin_ns));
                    if lasted_ns < rates.width_ns / 2 {
                        break;
                    }
                    let mbps = of(bin) as f64 * 8e3 / lasted_ns as f64;
                    rows.push(begin_ns as f64, mbps, mbps);
                }
                rows.end(
                    json!({"owner": owner, "name": name, "title": title, "unit": "Mbit/s", "kind": "bars",
                                "detail": "all", "bin_ns": rates.width_ns}),
                );
            }
            for bin in delays.flows[flow].iter().filter(|bin| bin.has_delays()) {
                rows.push(bin.first_ns as f64, bin.low_ns as f64 / 1e6, bin.high_ns as f64 / 1e6);
            }
            rows.end(json!({"owner": owner, "name": "one_way_delay", "title": "One-way delay", "unit": "ms",
                            "kind": "points", "detail": "thinned"}));
        }
        for one in &self.series {
            one.rows(&mut rows, from_ns, to_ns, columns);
        }
        let mut made = Columns::default();
        made.numbers("time_ns", &rows.time_ns);
        made.numbers("low", &rows.low);
        made.numbers("high", &rows.high);
        let events = self.rare(&mut made, from_ns, to_ns, width_ns);
        made.bytes(&json!({"series": rows.series, "events": events, "whole_until_ns": self.whole_until_ns()}))
    }

    /// Bins of this width from the records themselves, where those that are kept are too coarse.
    fn finer(&self, from_ns: u64, to_ns: u64, width_ns: u64) -> Option<Bins> {
        if width_ns >= self.bins.width_ns || to_ns > self.whole_until_ns() {
            return None;
        }
        let mut bins = Bins::new(from_ns, width_ns, self.bins.flows.len());
        self.records_from(from_ns)
            .take_while(|record| record.time_ns < to_ns)
            .for_each(|record| bins.add(record));
        Some(bins)
    }

    fn rare(&self, made: &mut Columns, from_ns: u64, to_ns: u64, width_ns: u64) -> Value {
        let begin = self.events.partition_point(|record| record.time_ns < from_ns);
        let end = self.events.partition_point(|record| record.time_ns < to_ns);
        let within = &self.events[begin..end];
        let thinned = within.len() > MOST_EVENTS;
        let mut seen = BTreeSet::new();
        let is_shown = |record: &&Record| {
            !thinned
                || seen.insert((record.event, record.flow, record.time_ns.saturating_sub(from_ns) / width_ns))
        };
        let shown: Vec<&Record> = within.iter().filter(is_shown).collect();
        let code = |event| KINDS.iter().position(|(kind, _)| *kind == event).unwrap_or(0) as u8;
        made.numbers("event_time_ns", &shown.iter().map(|record| record.time_ns as f64).collect::<Vec<_>>());
        made.counts("event_flow", &shown.iter().map(|record| record.flow).collect::<Vec<_>>());
        let kinds: Vec<u8> = shown.iter().map(|record| code(record.event)).collect();
        made.codes("event_kind", &kinds, Some(&KINDS.map(|(_, name)| name.to_owned())));
        made.numbers("event_seq", &shown.iter().map(|record| record.seq as f64).collect::<Vec<_>>());
        json!({"thinned": thinned, "total": within.len(), "of_run": self.all_events})
    }
}

impl Sampled {
    /// Adds its samples in a time: the one that holds at its beginning, and of each column the smallest and the largest.
    fn rows(&self, rows: &mut Rows, from_ns: u64, to_ns: u64, columns: u32) {
        let (from, to) = (from_ns as f64, to_ns as f64);
        let begin = self.time_ns.partition_point(|&time| time < from);
        let end = self.time_ns.partition_point(|&time| time <= to);
        if let Some(before) = begin.checked_sub(1) {
            rows.push(from, self.value[before], self.value[before]);
        }
        let count = end - begin;
        let thinned = count > columns as usize;
        let width = (to - from) / f64::from(columns.max(1));
        let mut column = None;
        for index in begin..end {
            let (time, value) = (self.time_ns[index], self.value[index]);
            let own = ((time - from) / width) as u64;
            if thinned && column == Some(own) {
                let last = rows.low.len() - 1;
                rows.low[last] = rows.low[last].min(value);
                rows.high[last] = rows.high[last].max(value);
            } else {
                rows.push(time, value, value);
            }
            column = Some(own);
        }
        let detail = if thinned { "thinned" } else { "all" };
        rows.end(json!({"owner": self.owner, "name": self.field, "title": self.field.replace('_', " "),
                        "unit": self.unit, "kind": "steps", "detail": detail}));
    }
}
