//! Completion times of finite transfers, over all of them and by size.

use crate::inputs::FlowInfo;
use crate::statistics::mean;
use crate::stats::{Completion, TransferStats};
use std::collections::BTreeMap;
use units::Time;

/// Completion times of the transfers of one size, s.
#[derive(Debug, Default)]
struct OfSize {
    flows: u64,
    times_s: Vec<f64>,
}

/// Collects transfers as flows are finished.
#[derive(Debug, Default)]
pub(crate) struct Completions {
    by_size: BTreeMap<u64, OfSize>,
}

impl Completions {
    /// A flow, and when the last byte of its transfer was acknowledged; flows that do not end by themselves are left out.
    pub(crate) fn flow(&mut self, info: &FlowInfo, completed: Option<Time>) {
        let Some(bytes) = info.facts.total_bytes else { return };
        let transfers = self.by_size.entry(bytes).or_default();
        transfers.flows += 1;
        transfers.times_s.extend(completed.map(|at| (at - info.start).as_secs_f64()));
    }

    pub(crate) fn stats(self) -> TransferStats {
        let (mut flows, mut times_s, mut completions) = (0, Vec::new(), Vec::new());
        for (bytes, OfSize { flows: of_size, times_s: mut of_size_s }) in self.by_size {
            flows += of_size;
            times_s.extend_from_slice(&of_size_s);
            of_size_s.sort_by(f64::total_cmp);
            completions.push(Completion {
                bytes,
                flows: of_size,
                completed: of_size_s.len() as u64,
                mean_s: mean(&of_size_s),
                p50_s: percentile(&of_size_s, 0.50),
                p95_s: percentile(&of_size_s, 0.95),
                p99_s: percentile(&of_size_s, 0.99),
            });
        }
        times_s.sort_by(f64::total_cmp);
        TransferStats {
            fct_mean_s: mean(&times_s),
            fct_p50_s: percentile(&times_s, 0.50),
            fct_p95_s: percentile(&times_s, 0.95),
            fct_p99_s: percentile(&times_s, 0.99),
            fct_incomplete: flows - times_s.len() as u64,
            completions,
        }
    }
}

/// The nearest rank, as of delays: index `fraction (n - 1)`, halves to even.
fn percentile(sorted: &[f64], fraction: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((fraction * last as f64).round_ties_even() as usize).copied()
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
        let stats = completions.stats();
        // (1 + ... + 21) = 231; indices 10, 19 and round(19.8) = 20 of 21.
        let small = &stats.completions[0];
        assert_eq!((small.bytes, small.flows, small.completed), (10_000, 21, 21));
        assert_eq!((small.mean_s, small.p50_s), (Some(11.0), Some(11.0)));
        assert_eq!((small.p95_s, small.p99_s), (Some(20.0), Some(21.0)));
        let large = &stats.completions[1];
        assert_eq!((large.flows, large.completed, large.p50_s), (2, 1, Some(100.0)));
        // 331 / 22; index round(10.5) = 10 and round(20.79) = 21 of 22.
        assert_eq!((stats.fct_mean_s, stats.fct_p50_s), (Some(331.0 / 22.0), Some(11.0)));
        assert_eq!((stats.fct_p99_s, stats.fct_incomplete), (Some(100.0), 1));
    }

    #[test]
    fn without_finite_transfers_there_is_nothing() {
        assert_eq!(Completions::default().stats(), TransferStats::default());
    }
}
