//! What a run has counted when it is over.

use crate::Error;
use measure::{LinkCounters, RunMeter, RunStats, SenderCounters};

/// What a driver hands over at the end of a run, beside what it told its observer.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// All links, those of the data direction first, the bottleneck before all.
    pub links: Vec<LinkCounters>,
    /// The senders that count, in flow order.
    pub senders: Vec<SenderCounters>,
    /// Events that the driver worked through.
    pub events: u64,
}

impl Totals {
    /// The statistics of the run, with what `meter` has seen of it.
    ///
    /// # Errors
    /// One line: how the metrics contradict each other.
    pub fn stats(&self, meter: RunMeter) -> Result<RunStats, Error> {
        let stats = meter.finish(&self.links, &self.senders);
        match &stats.contradiction {
            Some(why) => Err(Error::Contradiction(why.clone())),
            None => Ok(stats),
        }
    }
}
