//! Final counters of a run.

use crate::Error;
use measure::{LinkCounters, RunMeter, RunStats, SenderCounters};

/// Final counters of a run, which the driver returns in addition to the observer's events.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Counters of all links. The data direction comes first, and the bottleneck at the very start.
    pub links: Vec<LinkCounters>,
    /// Counters of the senders that count, in flow order.
    pub senders: Vec<SenderCounters>,
    /// Number of events that the driver processed.
    pub events: u64,
}

impl Totals {
    /// Returns the statistics of the run, with the observations of `meter`.
    ///
    /// # Errors
    /// Returns an error if the metrics contradict each other.
    pub fn stats(&self, meter: RunMeter) -> Result<RunStats, Error> {
        let stats = meter.finish(&self.links, &self.senders);
        match &stats.contradiction {
            Some(why) => Err(Error::Contradiction(why.clone())),
            None => Ok(stats),
        }
    }
}
