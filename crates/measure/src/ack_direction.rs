//! The return direction of flows, in the Pantheon convention.

use crate::histogram::DelayHistogram;
use crate::stats::AckLinkStats;
use crate::tally::{Clock, Tally, byte_loss, round_to_us, us_to_ms};
use record::Record;

/// Packets of one flow's return direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct AckDirection {
    pub(crate) sent: Tally,
    delivered: Tally,
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

    /// The first delivery of all flows, by the order of the records.
    pub(crate) fn begin(&mut self, first_ns: Option<u64>) {
        self.delivered.begin(first_ns);
    }

    /// `None` if nothing was ever sent or delivered.
    pub(crate) fn stats(&mut self, clock: Clock) -> Option<AckLinkStats> {
        (self.sent.packets + self.delivered.packets > 0).then(|| AckLinkStats {
            throughput_mbps: self.delivered.mean_mbps(clock),
            delay_p95_ms: self.delay.percentile_us(95.0).map(us_to_ms),
            loss_rate: byte_loss(&self.sent, &self.delivered),
        })
    }
}
