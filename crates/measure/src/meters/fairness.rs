//! Jain's index over the time in which all flows are active.

use super::flow::FlowMeter;
use crate::statistics::jain_index_of;
use units::{Span, Time};

/// Default interval of the index over time, as in Pantheon's plots.
const DEFAULT_BIN: Span = Span::from_ms(500);

/// Follows the flows' shares while all flows are active, in bins from the beginning of that time.
#[derive(Clone, Debug)]
pub(crate) struct Fairness {
    bin_ns: u64,
    /// Start of the common interval, ns.
    from_ns: u64,
    /// End of the common interval, ns, exclusive.
    to_ns: u64,
    /// End from which the interval's length is computed, ns. It equals `to_ns`, except if a transfer's last byte ends
    /// the interval. Then it is the time of that byte, and `to_ns` is 1 ns later, so that the byte counts.
    over_ns: u64,
    /// Start of the current bin; `None` before the common interval.
    bin_start_ns: Option<u64>,
    /// End of the current bin, ns, exclusive.
    pub(crate) bin_end_ns: u64,
    index_sum: f64,
    bins: u64,
}

/// Overall and mean index of Jain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Jain {
    /// Index of the whole common interval.
    pub(crate) overall: Option<f64>,
    /// Mean over the whole bins of the interval in which anything arrived.
    pub(crate) mean: Option<f64>,
}

impl Fairness {
    /// Returns a meter of flows that are all active from `from_ns` until before `to_ns`.
    pub(crate) fn new(bin: Span, from_ns: u64, to_ns: u64) -> Self {
        let bin_ns = if bin.is_zero() { DEFAULT_BIN } else { bin }.as_ns();
        Self {
            bin_ns,
            from_ns,
            to_ns,
            over_ns: to_ns,
            bin_start_ns: None,
            bin_end_ns: from_ns,
            index_sum: 0.0,
            bins: 0,
        }
    }

    /// Restarts because another flow appeared, active from `from_ns` until before `to_ns`.
    pub(crate) fn restart(&mut self, from_ns: u64, to_ns: u64, flows: &mut [FlowMeter]) {
        let over_ns = self.over_ns.min(to_ns);
        *self = Self::new(Span::from_ns(self.bin_ns), self.from_ns.max(from_ns), self.to_ns.min(to_ns));
        self.over_ns = over_ns;
        for flow in flows {
            flow.forget_common();
        }
    }

    /// Returns true if a time is in the common interval, as far as is known by then.
    #[inline]
    pub(crate) fn is_common(&self, time_ns: u64) -> bool {
        self.from_ns <= time_ns && time_ns < self.to_ns
    }

    /// Returns the common interval of a run that ended at `end_ns`; `None` if the flows were never active together.
    pub(crate) fn common(&self, end_ns: u64) -> Option<(Time, Time)> {
        let over_ns = self.over_ns.min(end_ns);
        (self.from_ns < over_ns).then(|| (Time::from_ns(self.from_ns), Time::from_ns(over_ns)))
    }

    /// Ends the common interval at `last_ns`, because a flow turned out to be active only until then.
    #[cold]
    pub(crate) fn end_after(&mut self, last_ns: u64) {
        self.to_ns = self.to_ns.min(last_ns.saturating_add(1));
        self.over_ns = self.over_ns.min(last_ns);
        self.bin_end_ns = self.bin_end_ns.min(self.to_ns);
    }

    /// Closes the bins that end at `now_ns` or before.
    #[cold]
    #[inline(never)]
    pub(crate) fn advance(&mut self, now_ns: u64, flows: &mut [FlowMeter]) {
        self.close(flows);
        let mut start_ns = self.bin_end_ns;
        if let Some(idle_ns) = now_ns.min(self.to_ns).checked_sub(start_ns) {
            // Nothing arrived in the bins since then, so they have no index.
            start_ns += idle_ns / self.bin_ns * self.bin_ns;
        }
        self.bin_start_ns = Some(start_ns);
        self.bin_end_ns = if start_ns >= self.to_ns {
            u64::MAX
        } else {
            start_ns.saturating_add(self.bin_ns).min(self.to_ns)
        };
    }

    /// Returns the indices at the end of the run. An incomplete bin counts only for the overall index.
    pub(crate) fn finish(mut self, end_ns: u64, flows: &mut [FlowMeter]) -> Jain {
        self.to_ns = self.to_ns.min(end_ns.saturating_add(1));
        if self.bin_end_ns <= end_ns {
            self.advance(end_ns, flows);
        }
        if self.bin_start_ns.is_some_and(|start_ns| start_ns < self.to_ns) {
            self.bin_end_ns = self.bin_end_ns.min(self.to_ns);
            self.close(flows);
        }
        Jain {
            overall: jain_index_of(flows.iter().map(|flow| flow.common_bytes as f64)),
            mean: (self.bins > 0).then(|| self.index_sum / self.bins as f64),
        }
    }

    fn close(&mut self, flows: &mut [FlowMeter]) {
        let Some(start_ns) = self.bin_start_ns.filter(|&start_ns| start_ns < self.to_ns) else {
            for flow in flows {
                flow.bin_bytes = 0;
            }
            return;
        };
        if self.bin_end_ns - start_ns == self.bin_ns
            && let Some(index) = jain_index_of(flows.iter().map(|flow| flow.bin_bytes as f64))
        {
            self.index_sum += index;
            self.bins += 1;
        }
        for flow in flows {
            flow.common_bytes += core::mem::take(&mut flow.bin_bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::FlowInfo;

    const MS: u64 = 1_000_000;

    fn flows(n: u32) -> Vec<FlowMeter> {
        let info = |flow| FlowInfo { flow, stop: Time::NEVER, ..FlowInfo::default() };
        (1..=n).map(|flow| FlowMeter::new(info(flow), 0)).collect()
    }

    fn deliver(fairness: &mut Fairness, flows: &mut [FlowMeter], time_ns: u64, flow: usize, bytes: u64) {
        if time_ns >= fairness.bin_end_ns {
            fairness.advance(time_ns, flows);
        }
        flows[flow].bin_bytes += bytes;
    }

    #[test]
    fn each_whole_bin_has_its_index_and_the_whole_has_another() {
        let (mut flows, mut fairness) = (flows(2), Fairness::new(Span::from_ms(500), 1_000 * MS, 2_300 * MS));
        deliver(&mut fairness, &mut flows, 999 * MS, 0, 77_777);
        deliver(&mut fairness, &mut flows, 1_000 * MS, 0, 300);
        deliver(&mut fairness, &mut flows, 1_499 * MS, 1, 100);
        deliver(&mut fairness, &mut flows, 1_500 * MS, 1, 200);
        deliver(&mut fairness, &mut flows, 2_100 * MS, 1, 100);
        deliver(&mut fairness, &mut flows, 2_300 * MS, 1, 99_999);
        let jain = fairness.finish(3_000 * MS, &mut flows);
        // Bins: (300, 100): 400^2 / (2 x 100,000) = 0.8; (0, 200): 0.5; (0, 100) is incomplete. Mean 0.65.
        assert_eq!(jain.mean, Some(0.65));
        // Whole: (300, 400): 490,000 / (2 x 250,000) = 0.98.
        assert_eq!(jain.overall, Some(0.98));
    }

    #[test]
    fn long_silence_costs_no_time_and_has_no_index() {
        let (mut flows, mut fairness) = (flows(2), Fairness::new(Span::from_ns(1), 0, u64::MAX));
        deliver(&mut fairness, &mut flows, 0, 0, 10);
        deliver(&mut fairness, &mut flows, u64::MAX / 2, 1, 10);
        let jain = fairness.finish(u64::MAX / 2, &mut flows);
        assert_eq!(jain, Jain { overall: Some(1.0), mean: Some(0.5) });
    }

    #[test]
    fn flows_that_are_never_active_together_have_no_index() {
        let (mut flows, mut fairness) = (flows(2), Fairness::new(DEFAULT_BIN, 2_000 * MS, 1_000 * MS));
        deliver(&mut fairness, &mut flows, 500 * MS, 0, 10);
        deliver(&mut fairness, &mut flows, 2_500 * MS, 1, 10);
        assert_eq!(fairness.finish(3_000 * MS, &mut flows), Jain::default());
    }

    #[test]
    fn the_common_time_ends_when_the_first_transfer_is_complete() {
        let (mut flows, mut fairness) = (flows(2), Fairness::new(DEFAULT_BIN, 0, 3_000 * MS));
        for (ms, flow, bytes) in [(100, 0, 10), (400, 1, 10), (600, 0, 30), (600, 1, 10)] {
            deliver(&mut fairness, &mut flows, ms * MS, flow, bytes);
        }
        fairness.end_after(600 * MS);
        for ms in [601, 1_100, 2_900] {
            deliver(&mut fairness, &mut flows, ms * MS, 0, 1_000);
        }
        // Overall (40, 20): 3,600 / (2 x 2,000); the second bin was cut off.
        assert_eq!(fairness.finish(3_000 * MS, &mut flows), Jain { overall: Some(0.9), mean: Some(1.0) });
    }

    #[test]
    fn a_transfer_that_is_complete_before_another_flow_starts_has_no_common_time() {
        let (mut flows, mut fairness) = (flows(2), Fairness::new(DEFAULT_BIN, 1_000 * MS, 3_000 * MS));
        deliver(&mut fairness, &mut flows, 500 * MS, 0, 10);
        fairness.end_after(500 * MS);
        for ms in [700, 1_200, 2_900] {
            deliver(&mut fairness, &mut flows, ms * MS, 1, 1_000);
        }
        assert_eq!(fairness.finish(3_000 * MS, &mut flows), Jain::default());
    }

    #[test]
    fn the_last_bin_counts_when_the_run_ends_with_it() {
        let (mut flows, mut fairness) = (flows(1), Fairness::new(DEFAULT_BIN, 0, 1_000 * MS));
        deliver(&mut fairness, &mut flows, 600 * MS, 0, 10);
        assert_eq!(fairness.finish(1_000 * MS, &mut flows), Jain { overall: Some(1.0), mean: Some(1.0) });
    }
}
