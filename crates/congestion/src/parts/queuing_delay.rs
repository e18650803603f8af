//! Queueing delay as the LEDBAT family sees it: how far the latest delays are above the smallest of the last minutes.

use super::{BaseDelay, WindowedMin};
use crate::Parameters;
use units::Time;

/// The smallest of the last few delays (the current delay) above the base delay (RFC 6817 2.4.2). A few, because a single
/// one may be late for reasons of its own; their smallest, because nothing makes a packet early.
///
/// Delays are one-way, with the clocks' unknown offset in them, which cancels; or round trips.
#[derive(Debug)]
pub(crate) struct QueuingDelay {
    base: BaseDelay,
    /// ns, by sample number.
    current: WindowedMin<i64>,
    samples: u64,
}

impl QueuingDelay {
    /// With the parameters `base_history` (minutes) and `current_filter` (samples).
    pub(crate) fn new(parameters: &Parameters) -> Self {
        Self {
            base: BaseDelay::new(parameters.integer("base_history") as usize),
            current: WindowedMin::new(parameters.integer("current_filter") as u64 - 1),
            samples: 0,
        }
    }

    /// Takes a delay of so many ns.
    pub(crate) fn add(&mut self, now: Time, delay_ns: i64) {
        self.base.add(now, delay_ns);
        self.samples += 1;
        self.current.push(self.samples, delay_ns);
    }

    /// The queueing delay, ns; 0 before the first sample.
    pub(crate) fn ns(&self) -> f64 {
        let (Some(current), Some(base)) = (self.current.get(), self.base.get()) else { return 0.0 };
        // The base may have been forgotten later than the current delay: never negative.
        current.saturating_sub(base).max(0) as f64
    }

    /// The base delay, ns; `None` before the first sample.
    pub(crate) fn base_ns(&self) -> Option<i64> {
        self.base.get()
    }
}
