//! A link whose delivery opportunities are drawn as time passes; Poisson and cellular links are such.
//!
//! The opportunities do not depend on the traffic: the same seed gives every scheme the same ones. Those of idle times
//! are drawn when the next packet arrives.

use crate::element::Element;
use crate::opportunities::Server;
use crate::{LinkStats, Packet, Tap};
use units::{Rate, Time};

/// When the opportunities are.
pub(crate) trait Process {
    /// The opportunity after the one at `time`, which is the one returned last ([`Time::ZERO`] at first).
    fn after(&mut self, time: Time) -> Time;
}

/// A link served at the opportunities of `P`.
#[derive(Clone, Debug)]
pub(crate) struct Drawn<P> {
    server: Server,
    process: P,
    /// The first opportunity not yet over.
    next: Time,
    /// When the next step is due.
    due: Time,
    /// Bytes of the opportunities that are over.
    offered_bytes: u64,
}

impl<P: Process> Drawn<P> {
    pub(crate) fn new(server: Server, mut process: P) -> Self {
        let next = process.after(Time::ZERO);
        // Planned in any case: only then is it known whether idle opportunities are of interest.
        Self { server, process, next, due: next, offered_bytes: 0 }
    }

    /// Gives opportunities a new size and the queue a new mean rate; `retime` changes the process and says when, of
    /// what it has drawn already, the next opportunity now is.
    pub(crate) fn change(
        &mut self,
        now: Time,
        opportunity_bytes: u32,
        rate: Rate,
        retime: impl FnOnce(&mut P, Time) -> Time,
    ) {
        self.skip(now);
        self.server.opportunity_bytes = opportunity_bytes;
        self.server.buffer.set_rate(rate);
        self.next = retime(&mut self.process, self.next);
        if self.due.is_finite() && !self.server.is_serving() {
            self.due = self.next;
        }
    }

    #[inline]
    fn pass_next(&mut self) {
        self.offered_bytes += u64::from(self.server.opportunity_bytes);
        self.next = self.process.after(self.next);
    }

    /// Lets the opportunities up to and including `now` pass unused, unless they are planned.
    fn skip(&mut self, now: Time) {
        if self.due == Time::NEVER {
            while self.next <= now {
                self.pass_next();
            }
        }
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
}

impl<P: Process> Element for Drawn<P> {
    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) -> Option<Packet> {
        self.skip(now);
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
            self.pass_next();
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
        self.skip(now);
        let meter = &mut self.server.buffer.meter;
        meter.integrate(now);
        meter.stats.capacity_bits = u128::from(self.offered_bytes) * 8;
    }
}
