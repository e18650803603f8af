//! A link driven by a trace of delivery opportunities, as in Mahimahi's `mm-link` (reference `emulation` 1.5).
//!
//! Opportunities up to and including an instant are over for packets that arrive at it. An idle link plans nothing:
//! the opportunities it missed are counted arithmetically when a packet arrives.
//!
//! Mode `mahimahi`: an opportunity serves 1504 bytes, every packet costs its size and 4 (the queue's byte limit
//! counts them too), times are whole ms. Sizes reported and counted are without the 4, an opportunity's too: 1500.
//! Mode `precise` (default): `opportunity_bytes`, no header, times in ns.

mod spec;
mod timeline;

pub use spec::{EvenSpec, PoissonTraceSpec, TraceMode, TraceSpec};
pub use timeline::parse_trace;

use crate::element::{Element, Streams};
use crate::opportunities::Server;
use crate::stats::Buffer;
use crate::{LinkStats, Packet, Tap};
use timeline::Timeline;
use units::Time;

/// A trace link.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    server: Server,
    timeline: Timeline,
    /// The first opportunity not yet over.
    next: Time,
    /// When the next step is due.
    due: Time,
}

impl Trace {
    pub(crate) fn build(spec: &TraceSpec, name: String, streams: &Streams<'_>) -> Result<Self, String> {
        let timeline = spec.timeline(&mut streams.element())?;
        let buffer = Buffer::build(&spec.queue, name, streams.queue())?
            .with_in_service(spec.count_in_service, &spec.queue);
        let (opportunity_bytes, header_bytes) = spec.opportunity();
        let next = timeline.next();
        // The first opportunity is planned in any case: only then is it known whether idle ones are of interest.
        Ok(Self { server: Server::new(buffer, opportunity_bytes, header_bytes), timeline, next, due: next })
    }

    #[inline]
    fn plan<T: Tap>(&mut self, now: Time, tap: &T) {
        self.due = if self.server.is_serving() {
            now
        } else if self.server.is_idle() && !tap.wants_opportunities() {
            Time::NEVER
        } else {
            self.next
        };
    }

    fn skip(&mut self, now: Time) {
        if self.next <= now {
            self.timeline.skip_past(now);
            self.next = self.timeline.next();
        }
    }
}

impl Element for Trace {
    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) -> Option<Packet> {
        if self.due == Time::NEVER {
            self.skip(now);
        }
        self.server.arrive(now, packet, tap);
        if self.due == Time::NEVER {
            self.plan(now, tap);
        }
        None
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.due
    }

    #[inline]
    fn step<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        if !self.server.is_serving() {
            self.server.begin(now, tap);
            self.timeline.advance();
            self.next = self.timeline.next();
        }
        let packet = self.server.serve(now, tap);
        self.plan(now, tap);
        packet
    }

    fn packets(&self) -> u64 {
        self.server.packets()
    }

    fn set_queue(&mut self, name: &str, value: f64) -> Result<(), String> {
        self.server.buffer.set(name, value)
    }

    fn stats(&self) -> Option<&LinkStats> {
        Some(&self.server.buffer.meter.stats)
    }

    fn watch_from(&mut self, at: Time) {
        self.server.buffer.meter.watch_from(at);
    }

    fn finish(&mut self, now: Time) {
        let bytes = self.server.net_bytes();
        let meter = &mut self.server.buffer.meter;
        meter.integrate(now);
        meter.stats.capacity_bits = u128::from(self.timeline.count_until(now)) * u128::from(bytes) * 8;
    }
}

#[cfg(test)]
mod tests;
