//! The return direction of flows, in the Pantheon convention.

use crate::definitions::{AckLinkStats, LogTells, Need};
use crate::histogram::DelayHistogram;
use crate::tally::{Clock, Tally, round_to_us};
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

    /// What its numbers are made of; `None` if nothing was ever sent or delivered.
    fn known(&mut self, clock: Clock) -> Option<KnownAcks> {
        (self.sent.packets + self.delivered.packets > 0).then(|| KnownAcks {
            throughput_mbps: self.delivered.mean_mbps(clock),
            delay_p95_us: self.delay.percentile_us(95.0),
            sent: self.sent.clone(),
            delivered: self.delivered.clone(),
        })
    }

    /// Its numbers; of a log that one end wrote, only where there is a rate.
    pub(crate) fn stats(&mut self, clock: Clock, log: LogTells) -> Option<AckLinkStats> {
        let is_seen_by_both = log.tells(&[Need::DelayDifferences]);
        self.known(clock)
            .filter(|acks| is_seen_by_both || acks.throughput_mbps > 0.0)
            .map(|acks| AckLinkStats::of(&acks, log))
    }
}

/// What is known of a return direction at the end.
#[derive(Debug)]
pub(crate) struct KnownAcks {
    pub(crate) throughput_mbps: f64,
    pub(crate) delay_p95_us: Option<i64>,
    pub(crate) sent: Tally,
    pub(crate) delivered: Tally,
}
