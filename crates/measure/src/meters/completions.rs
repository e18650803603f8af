//! Completion times of finite transfers, overall and by size.

use crate::inputs::FlowInfo;
use crate::statistics::{mean, nearest_rank};
use std::collections::BTreeMap;
use units::Time;

/// Finite transfers, and the completion times of the completed ones, s.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FiniteTransfers {
    /// Common size of the transfers, bytes; 0 for transfers of all sizes.
    pub(crate) bytes: u64,
    pub(crate) flows: u64,
    /// Completion times, s; ascending when all are collected.
    times_s: Vec<f64>,
}

impl FiniteTransfers {
    pub(crate) fn completed(&self) -> u64 {
        self.times_s.len() as u64
    }

    pub(crate) fn incomplete(&self) -> u64 {
        self.flows - self.completed()
    }

    pub(crate) fn mean_s(&self) -> Option<f64> {
        mean(&self.times_s)
    }

    pub(crate) fn percentile_s(&self, percent: f64) -> Option<f64> {
        nearest_rank(&self.times_s, percent)
    }
}

/// Collects transfers from the flows of a finished run.
#[derive(Debug, Default)]
pub(crate) struct Completions {
    by_size: BTreeMap<u64, FiniteTransfers>,
}

impl Completions {
    /// Adds a flow and the time at which the last byte of its transfer was acknowledged. Flows without an end are left
    /// out.
    pub(crate) fn flow(&mut self, info: &FlowInfo, completed: Option<Time>) {
        let Some(bytes) = info.facts.total_bytes else { return };
        let transfers = self.by_size.entry(bytes).or_default();
        transfers.bytes = bytes;
        transfers.flows += 1;
        transfers.times_s.extend(completed.map(|at| (at - info.start).as_secs_f64()));
    }

    /// Returns all transfers together, and the transfers of each size.
    pub(crate) fn finish(self) -> (FiniteTransfers, Vec<FiniteTransfers>) {
        let (mut all, mut by_size) = (FiniteTransfers::default(), Vec::with_capacity(self.by_size.len()));
        for mut transfers in self.by_size.into_values() {
            all.flows += transfers.flows;
            all.times_s.extend_from_slice(&transfers.times_s);
            transfers.times_s.sort_by(f64::total_cmp);
            by_size.push(transfers);
        }
        all.times_s.sort_by(f64::total_cmp);
        (all, by_size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::FlowFacts;
    use units::Span;

    #[test]
    fn transfers_are_counted_by_size_and_together() {
        let mut completions = Completions::default();
        let mut add = |bytes: Option<u64>, seconds: Option<u64>| {
            let facts = FlowFacts { total_bytes: bytes, ..FlowFacts::default() };
            let start = Time::ZERO + Span::from_secs(5);
            let info = FlowInfo { start, facts, ..FlowInfo::default() };
            completions.flow(&info, seconds.map(|seconds| start + Span::from_secs(seconds)));
        };
        (1..=21).for_each(|seconds| add(Some(10_000), Some(seconds)));
        add(Some(1_000_000), Some(100));
        add(Some(1_000_000), None);
        add(None, None);
        let (all, by_size) = completions.finish();
        // (1 + ... + 21) = 231; indices 10, 19 and round(19.8) = 20 of 21.
        let small = &by_size[0];
        assert_eq!((small.bytes, small.flows, small.completed()), (10_000, 21, 21));
        assert_eq!((small.mean_s(), small.percentile_s(50.0)), (Some(11.0), Some(11.0)));
        assert_eq!((small.percentile_s(95.0), small.percentile_s(99.0)), (Some(20.0), Some(21.0)));
        let large = &by_size[1];
        assert_eq!((large.flows, large.completed(), large.percentile_s(50.0)), (2, 1, Some(100.0)));
        // 331 / 22; index round(10.5) = 10 and round(20.79) = 21 of 22.
        assert_eq!((all.mean_s(), all.percentile_s(50.0)), (Some(331.0 / 22.0), Some(11.0)));
        assert_eq!((all.percentile_s(99.0), all.incomplete()), (Some(100.0), 1));
    }

    #[test]
    fn without_finite_transfers_there_is_nothing() {
        assert_eq!(Completions::default().finish(), (FiniteTransfers::default(), Vec::new()));
    }
}
