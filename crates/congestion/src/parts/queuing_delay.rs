//! Queueing delay of the LEDBAT family: the latest delays less the minimum of the last minutes.

use super::{BaseDelay, WindowedMin};
use crate::Parameters;
use units::Time;

/// Minimum of the last few delays (the current delay) less the base delay (RFC 6817 2.4.2). A single delay may be late
/// for other reasons, so several count. Their minimum counts because nothing makes a packet early.
///
/// Delays are one-way with the unknown clock offset, which cancels; or round trips.
#[derive(Debug)]
pub(crate) struct QueuingDelay {
    base: BaseDelay,
    /// Latest delays, ns, by sample number.
    current: WindowedMin<i64>,
    samples: u64,
}

impl QueuingDelay {
    /// Returns the state with the parameters `base_history` (minutes) and `current_filter` (samples).
    pub(crate) fn new(parameters: &Parameters) -> Self {
        Self {
            base: BaseDelay::new(parameters.integer("base_history") as usize),
            current: WindowedMin::new(parameters.integer("current_filter") as u64 - 1),
            samples: 0,
        }
    }

    /// Adds a delay sample.
    pub(crate) fn add(&mut self, now: Time, delay_ns: i64) {
        self.base.add(now, delay_ns);
        self.samples += 1;
        self.current.push(self.samples, delay_ns);
    }

    /// Returns the queueing delay, ns; 0 before the first sample.
    pub(crate) fn ns(&self) -> f64 {
        let (Some(current), Some(base)) = (self.current.get(), self.base.get()) else { return 0.0 };
        // The base may be forgotten later than the current delay, but the queueing delay must not be negative.
        current.saturating_sub(base).max(0) as f64
    }

    /// Returns the base delay, ns; `None` before the first sample.
    pub(crate) fn base_ns(&self) -> Option<i64> {
        self.base.get()
    }
}
