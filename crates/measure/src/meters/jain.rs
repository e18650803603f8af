//! Jain's index in time windows, with two rules for the flows that count in a window.
//!
//! The published fairness studies of Copa count the flows that were *seen* in a window
//! (`venkatarun95/CopaEvaluation@a7492d9, pcap-tpt-graph.py`; `nadinelyab/Copa_Reproduction@72499f0,
//! jain_full_experiment.py`). A flow that gets nothing is not counted, so starvation is hidden. The other rule counts
//! the flows that are *scheduled* to be active.

use super::flow_table::FlowTable;
use crate::statistics::{jain_index_of, median, nearest_rank};
use record::{Event, Record};
use serde::{Deserialize, Serialize};
use units::{Span, Time};

/// Default window, as in both published analyses; their texts say a millisecond.
pub(crate) const DEFAULT_WINDOW: Span = Span::from_ms(100);

/// Rule for the flows that count in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActiveRule {
    /// Flows with a delivery in the window. The first window begins with the first delivery, each further one with the
    /// first delivery after the end of the previous window. A window whose number of flows differs from that of the
    /// previous window has no index. The last window is never closed and has none either.
    SeenInBucket,
    /// Flows whose planned time covers the whole window, with or without a delivery. Windows begin at multiples of
    /// their length; a window without any delivery has no index.
    ScheduledActive,
}

/// Sums the delivered bytes of each flow on the path, in time windows.
#[derive(Clone, Debug)]
pub(crate) struct JainWindows {
    window_ns: u64,
    rule: ActiveRule,
    flows: Vec<PlannedFlow>,
    start_ns: u64,
    /// End of the current window, ns, exclusive.
    end_ns: u64,
    /// Number of flows seen in the previous window.
    seen_before: Option<usize>,
    series: Vec<(u64, f64)>,
}

/// Flow that is planned from `from_ns` to `to_ns`.
#[derive(Clone, Copy, Debug)]
struct PlannedFlow {
    from_ns: u64,
    to_ns: u64,
    bytes: u64,
}

impl JainWindows {
    /// Returns windows of length `window`; 100 ms if zero.
    pub(crate) fn new(window: Span, rule: ActiveRule) -> Self {
        let window = if window.is_zero() { DEFAULT_WINDOW } else { window };
        Self {
            window_ns: window.as_ns(),
            rule,
            flows: Vec::new(),
            start_ns: 0,
            end_ns: if rule == ActiveRule::SeenInBucket { 0 } else { window.as_ns() },
            seen_before: None,
            series: Vec::new(),
        }
    }

    /// Adds a flow that is planned from `from` to `to`; its index is the next number from 0.
    pub(crate) fn plan(&mut self, from: Time, to: Time) {
        self.flows.push(PlannedFlow { from_ns: from.as_ns(), to_ns: to.as_ns(), bytes: 0 });
    }

    /// Ends flow number `index`, which is complete.
    pub(crate) fn stop(&mut self, index: usize, at_ns: u64) {
        let flow = &mut self.flows[index];
        flow.to_ns = flow.to_ns.min(at_ns);
    }

    /// Counts bytes of flow number `index` that arrive. Deliveries come in time order.
    #[inline]
    pub(crate) fn deliver(&mut self, index: usize, time_ns: u64, bytes: u32) {
        if time_ns >= self.end_ns {
            self.close(time_ns);
        }
        self.flows[index].bytes += u64::from(bytes);
    }

    /// Closes the window that ends at `now_ns` or before, and opens the window of `now_ns`.
    #[cold]
    #[inline(never)]
    fn close(&mut self, now_ns: u64) {
        match self.rule {
            ActiveRule::SeenInBucket => {
                let shares = || self.flows.iter().map(|flow| flow.bytes).filter(|&bytes| bytes > 0);
                let count = shares().count();
                if self.seen_before == Some(count)
                    && let Some(index) = jain_index_of(shares().map(|bytes| bytes as f64))
                {
                    self.series.push((now_ns, index));
                }
                // no window precedes the first one
                self.seen_before = (self.end_ns > 0).then_some(count);
                self.start_ns = now_ns;
            }
            ActiveRule::ScheduledActive => {
                let active = self.flows.iter().filter(|flow| flow.covers(self.start_ns, self.end_ns));
                if let Some(index) = jain_index_of(active.map(|flow| flow.bytes as f64)) {
                    self.series.push((self.end_ns, index));
                }
                self.start_ns = now_ns / self.window_ns * self.window_ns;
            }
        }
        self.end_ns = self.start_ns.saturating_add(self.window_ns);
        self.flows.iter_mut().for_each(|flow| flow.bytes = 0);
    }

    /// Returns the indices up to the end of the run.
    pub(crate) fn finish(mut self, end_ns: u64) -> JainSeries {
        if self.rule == ActiveRule::ScheduledActive && self.end_ns <= end_ns {
            self.close(end_ns);
        }
        JainSeries {
            window_s: Span::from_ns(self.window_ns).as_secs_f64(),
            rule: self.rule,
            time_s: self.series.iter().map(|&(end_ns, _)| Time::from_ns(end_ns).as_secs_f64()).collect(),
            index: self.series.into_iter().map(|(_, index)| index).collect(),
        }
    }
}

impl PlannedFlow {
    const fn covers(&self, start_ns: u64, end_ns: u64) -> bool {
        self.from_ns <= start_ns && end_ns <= self.to_ns
    }
}

/// Jain's index over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JainSeries {
    /// Length of a window, s.
    pub window_s: f64,
    /// Rule for the flows that count in a window.
    pub rule: ActiveRule,
    /// Ends of the windows that have an index, s since the start of the run.
    pub time_s: Vec<f64>,
    /// Indices of these windows, 1/n to 1 for n flows.
    pub index: Vec<f64>,
}

impl JainSeries {
    /// Returns the median of the indices; `None` without any.
    pub fn median(&self) -> Option<f64> {
        median(&self.index)
    }

    /// Returns the 5th percentile of the indices, by nearest rank: the unfairness of the worst twentieth of the time.
    pub fn p05(&self) -> Option<f64> {
        nearest_rank(&self.index, 5.0)
    }
}

/// Computes the [`JainSeries`] of a packet log.
#[derive(Clone, Debug)]
pub struct JainMeter {
    table: FlowTable,
    count: usize,
    windows: JainWindows,
    last_ns: u64,
}

impl JainMeter {
    /// Returns a meter for flows with these numbers, starts and stops, in windows of length `window` (100 ms if zero).
    /// A flow without an entry is active from its first delivery on.
    pub fn new(window: Span, rule: ActiveRule, flows: &[(u32, Time, Time)]) -> Self {
        let windows = JainWindows::new(window, rule);
        let mut meter = Self { table: FlowTable::default(), count: 0, windows, last_ns: 0 };
        for &(flow, from, to) in flows.iter().filter(|(_, from, _)| from.is_finite()) {
            meter.add(flow, from, to);
        }
        meter
    }

    fn add(&mut self, flow: u32, from: Time, to: Time) -> usize {
        self.table.get(flow).unwrap_or_else(|| {
            self.table.insert(flow, self.count);
            self.windows.plan(from, to);
            self.count += 1;
            self.count - 1
        })
    }

    /// Counts the next record. Records come in time order.
    #[inline]
    pub fn record(&mut self, record: &Record) {
        self.last_ns = self.last_ns.max(record.time_ns);
        if record.event == Event::Deliver {
            let index = self.add(record.flow, Time::from_ns(record.time_ns), Time::NEVER);
            self.windows.deliver(index, record.time_ns, record.size_bytes);
        }
    }

    /// Returns the series of a run with the planned length `duration` (zero if unknown: until the last record).
    pub fn finish(self, duration: Span) -> JainSeries {
        self.windows.finish(self.last_ns.max(duration.as_ns()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn series(
        rule: ActiveRule,
        plans: &[(u64, u64)],
        deliveries: &[(u64, usize, u32)],
        end_ms: u64,
    ) -> JainSeries {
        let mut windows = JainWindows::new(Span::ZERO, rule);
        for &(from, to) in plans {
            windows.plan(Time::from_ns(from * MS), Time::from_ns(to * MS));
        }
        for &(ms, flow, bytes) in deliveries {
            windows.deliver(flow, ms * MS, bytes);
        }
        windows.finish(end_ms * MS)
    }

    const DELIVERIES: &[(u64, usize, u32)] = &[
        (30, 0, 500),
        // the first window is 30 to 130 ms; 131 closes it
        (129, 0, 500),
        (131, 0, 300),
        (200, 1, 100),
        // from 131 to 231 ms there are two flows, in the window before one: no index
        (240, 0, 300),
        (300, 1, 100),
        // two flows again: (300, 100) is 400^2 / (2 x 100,000) = 0.8, when 345 closes it
        (345, 0, 900),
        // one flow: no index. The window from 450 on stays open.
        (450, 0, 900),
    ];

    #[test]
    fn windows_begin_with_deliveries_and_flows_are_those_seen() {
        let result = series(ActiveRule::SeenInBucket, &[(0, 500), (0, 500)], DELIVERIES, 500);
        assert_eq!((result.time_s, result.index), (vec![0.345], vec![0.8]));
    }

    #[test]
    fn a_flow_that_gets_nothing_counts_where_it_is_scheduled() {
        let result = series(ActiveRule::ScheduledActive, &[(0, 500), (100, 450)], DELIVERIES, 500);
        // 0-100: one flow. 100-200: (800, 0). 200-300: (300, 100). 300-400: (900, 100), 1e6 / (2 x 820,000). 400-500:
        // the second flow stops within, so only the first counts.
        assert_eq!(result.time_s, [0.1, 0.2, 0.3, 0.4, 0.5]);
        let expected = [1.0, 0.5, 0.8, 1e6 / (2.0 * 820_000.0), 1.0];
        assert!(result.index.iter().zip(expected).all(|(index, wanted)| (index - wanted).abs() < 1e-12));
        assert_eq!((result.median(), result.p05()), (Some(0.8), Some(0.5)));
    }

    #[test]
    fn silence_costs_no_time_and_has_no_index() {
        for rule in [ActiveRule::SeenInBucket, ActiveRule::ScheduledActive] {
            let year_ms = 365 * 86_400_000;
            let result =
                series(rule, &[(0, 2 * year_ms)], &[(0, 0, 1), (150, 0, 1), (year_ms, 0, 1)], year_ms);
            assert_eq!(result.index, if rule == ActiveRule::SeenInBucket { vec![1.0] } else { vec![1.0; 2] });
        }
    }

    #[test]
    fn nothing_delivered_has_no_median() {
        let result = series(ActiveRule::ScheduledActive, &[(0, 500)], &[], 500);
        assert_eq!((result.median(), result.p05()), (None, None));
    }
}
