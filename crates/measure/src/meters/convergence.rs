//! Delta-fair convergence: the time from which the flows' shares stay near fair.

use super::flow::FlowMeter;
use units::Span;

/// Length of time over which shares are computed: the sawtooth of one round trip is not unfair.
pub(crate) const CONVERGENCE_WINDOW: Span = Span::from_secs(1);
/// Default distance from the fair share.
const DEFAULT_DELTA: f64 = 0.2;

/// Follows the shares of all flows over the latest [`CONVERGENCE_WINDOW`], at the end of each sample interval in which
/// all are active.
#[derive(Clone, Debug)]
pub(crate) struct Convergence {
    delta: f64,
    /// Number of sample intervals in a window.
    intervals: usize,
    /// Bytes per interval of the window and flow; the current interval is number `filled % intervals`.
    bytes: Vec<u64>,
    /// Bytes per flow over the window.
    sums: Vec<u64>,
    filled: usize,
    /// End of the first window from which on all shares were fair.
    converged_ns: Option<u64>,
}

impl Convergence {
    /// Returns a meter that allows shares `delta` away from fair (0.2 if zero).
    pub(crate) fn new(delta: f64, sample_interval: Span) -> Self {
        let intervals = CONVERGENCE_WINDOW.as_ns().div_ceil(sample_interval.as_ns().max(1)).max(1) as usize;
        let delta = if delta > 0.0 { delta } else { DEFAULT_DELTA };
        Self { delta, intervals, bytes: Vec::new(), sums: Vec::new(), filled: 0, converged_ns: None }
    }

    /// Returns the distance from the fair share, as a fraction of the share.
    pub(crate) const fn delta(&self) -> f64 {
        self.delta
    }

    /// Handles the end at `now_ns` of a sample interval in which all `flows` were active.
    pub(crate) fn advance(&mut self, now_ns: u64, flows: &[FlowMeter]) {
        let n = flows.len();
        if n < 2 {
            return;
        }
        if self.sums.len() != n {
            (self.bytes, self.sums, self.filled) = (vec![0; n * self.intervals], vec![0; n], 0);
        }
        let slot = self.filled % self.intervals;
        let oldest = self.bytes[slot * n..].iter_mut();
        for ((sum, oldest), flow) in self.sums.iter_mut().zip(oldest).zip(flows) {
            let bytes = flow.samples.stream_bytes;
            *sum += bytes;
            *sum -= core::mem::replace(oldest, bytes);
        }
        self.filled += 1;
        if self.filled < self.intervals {
            return;
        }
        let total: u64 = self.sums.iter().sum();
        let is_fair = |&sum: &u64| {
            let relative = (sum * n as u64) as f64 / total as f64;
            (relative - 1.0).abs() <= self.delta
        };
        if total == 0 || !self.sums.iter().all(is_fair) {
            self.converged_ns = None;
        } else if self.converged_ns.is_none() {
            self.converged_ns = Some(now_ns);
        }
    }

    /// Returns the time from the start of the last flow to the end of the first window from which on all shares were
    /// fair.
    pub(crate) fn time(&self, flows: &[FlowMeter]) -> Option<Span> {
        let last_start_ns = flows.iter().map(|flow| flow.info.start.as_ns()).max()?;
        self.converged_ns.map(|at_ns| Span::from_ns(at_ns.saturating_sub(last_start_ns)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::FlowInfo;

    const INTERVAL: Span = Span::from_ms(500);

    /// Returns the convergence time, ms, of two flows that start at 0 and deliver these bytes per 500 ms.
    fn time_ms(delta: f64, shares: &[(u64, u64)]) -> Option<f64> {
        let mut flows: Vec<_> =
            (1..=2).map(|flow| FlowMeter::new(FlowInfo { flow, ..FlowInfo::default() }, 0)).collect();
        let mut convergence = Convergence::new(delta, INTERVAL);
        for (index, &(one, other)) in shares.iter().enumerate() {
            (flows[0].samples.stream_bytes, flows[1].samples.stream_bytes) = (one, other);
            convergence.advance((index as u64 + 1) * INTERVAL.as_ns(), &flows);
        }
        convergence.time(&flows).map(Span::as_ms_f64)
    }

    #[test]
    fn shares_are_those_of_a_second() {
        // Windows: (150, 50) is 1.5 and 0.5 of the fair share; (110, 90) is 1.1 and 0.9; then (100, 100).
        let shares = [(90, 10), (60, 40), (50, 50), (50, 50)];
        assert_eq!(time_ms(0.0, &shares), Some(1_500.0));
        assert_eq!(time_ms(0.05, &shares), Some(2_000.0));
        assert_eq!(time_ms(0.5, &shares), Some(1_000.0));
    }

    #[test]
    fn shares_that_part_again_have_not_converged() {
        assert_eq!(time_ms(0.2, &[(50, 50), (50, 50), (90, 10)]), None);
        assert_eq!(time_ms(0.2, &[(50, 50), (50, 50), (90, 10), (50, 50), (50, 50)]), Some(2_500.0));
        assert_eq!(time_ms(0.2, &[(50, 50), (50, 50), (0, 0), (0, 0)]), None);
        assert_eq!(time_ms(0.2, &[(50, 50)]), None);
    }
}
