//! Return direction of flows, in the Pantheon convention.

use crate::meters::tally::{Clock, PANTHEON_PERCENT, Tally, round_to_us};
use crate::statistics::DelayHistogram;
use record::Record;

/// Packets of one flow's return direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct AckDirection {
    pub(crate) sent: Tally,
    pub(crate) delivered: Tally,
    delay: DelayHistogram,
}

impl AckDirection {
    #[inline]
    pub(crate) fn deliver(&mut self, record: &Record) {
        self.delivered.add(record.time_ns, record.size_bytes);
        self.delay.record(round_to_us(record.one_way_delay_ns));
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.sent.merge(&other.sent);
        self.delivered.merge(&other.delivered);
        self.delay.merge(&other.delay);
    }

    /// Sets the first delivery of all flows, by the order of the records.
    pub(crate) fn begin(&mut self, first_ns: Option<u64>) {
        self.delivered.begin(first_ns);
    }

    /// Returns the counters at the end of a run with times of `clock`.
    pub(crate) fn known(&mut self, clock: Clock) -> KnownAcks<'_> {
        let delay_p95_us = self.delay.percentile_us(PANTHEON_PERCENT);
        KnownAcks { direction: self, clock, delay_p95_us }
    }
}

/// Return direction at the end of a run.
#[derive(Debug)]
pub(crate) struct KnownAcks<'a> {
    pub(crate) direction: &'a AckDirection,
    clock: Clock,
    pub(crate) delay_p95_us: Option<i64>,
}

impl KnownAcks<'_> {
    pub(crate) fn throughput_mbps(&self) -> f64 {
        self.direction.delivered.mean_mbps(self.clock)
    }
}
