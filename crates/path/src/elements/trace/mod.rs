//! Link driven by a trace of delivery opportunities, as in Mahimahi's `mm-link` (`src/frontend/link_queue.cc` of
//! ravinet/mahimahi@ae477d4).
//!
//! Mode `mahimahi`: an opportunity serves 1504 bytes, every packet costs its size and 4 bytes (the queue's byte limit
//! counts them too), times are whole ms. Reported sizes exclude the 4 bytes, so an opportunity has 1500.
//! Mode `precise` (default): `opportunity_bytes`, no header, times in ns.

mod spec;
mod timeline;

pub use spec::{EvenSpec, PoissonTraceSpec, TraceMode, TraceSpec};
pub use timeline::parse_trace;

use crate::buffer::Buffer;
use crate::element::{ElementTable, Streams};
use crate::opportunity_link::{Opportunities, OpportunityLink};
use strict_input::Refusal;
use timeline::Timeline;
use units::{Rate, Time};

/// A trace link.
pub(crate) type Trace = OpportunityLink<Timeline>;

impl ElementTable for TraceSpec {
    type Element = Trace;

    fn build(&self, name: String, streams: &Streams<'_>) -> Result<Trace, Refusal> {
        let timeline = self.timeline(&mut streams.element())?;
        let buffer = Buffer::build(&self.queue, name, streams.queue())?
            .with_in_service(self.count_in_service, &self.queue);
        let (opportunity_bytes, header_bytes) = self.opportunity();
        Ok(OpportunityLink::new(buffer, opportunity_bytes, header_bytes, timeline))
    }
}

impl Opportunities for Timeline {
    type Table = TraceSpec;

    #[inline]
    fn next(&self) -> Time {
        self.next()
    }

    #[inline]
    fn advance(&mut self) {
        self.advance();
    }

    fn skip_past(&mut self, now: Time) {
        self.skip_past(now);
    }

    fn count_until(&self, now: Time) -> u64 {
        self.count_until(now)
    }

    /// Ignores changes: nothing of a trace can change.
    fn change(&mut self, _now: Time, _table: &TraceSpec) {}

    fn service(table: &TraceSpec) -> (u32, Rate) {
        (table.opportunity().0, Rate::ZERO)
    }
}

#[cfg(test)]
mod tests;
