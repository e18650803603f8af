//! Link that is served at delivery opportunities: from a trace, or from a random process.
//!
//! Opportunities do not depend on the traffic, so one seed gives every scheme the same opportunities. A packet cannot
//! use an opportunity at the instant of its arrival or earlier. An idle link plans nothing: when the next packet
//! arrives, it skips the opportunities that it missed.

use crate::buffer::Buffer;
use crate::element::Element;
use crate::link_counters::LinkTally;
use crate::server::Server;
use crate::{Packet, Tap};
use strict_input::Refusal;
use units::{Rate, Time};

/// Times of a link's opportunities.
pub(crate) trait Opportunities {
    /// Table of the link.
    type Table;
    /// Returns the next opportunity; [`Time::NEVER`] after the last.
    fn next(&self) -> Time;
    /// Advances to the opportunity after [`Self::next`].
    fn advance(&mut self);
    /// Advances to the first opportunity after `now`.
    fn skip_past(&mut self, now: Time) {
        while self.next() <= now {
            self.advance();
        }
    }
    /// Returns the number of opportunities from the start of the run to `now`; all due opportunities must have been
    /// passed.
    fn count_until(&self, now: Time) -> u64;
    /// Applies the numeric settings of `table`.
    fn change(&mut self, now: Time, table: &Self::Table);
    /// Returns the bytes of an opportunity and the mean rate of `table`.
    fn service(table: &Self::Table) -> (u32, Rate);
}

/// Link served at the opportunities of `O`.
#[derive(Clone, Debug)]
pub(crate) struct OpportunityLink<O> {
    server: Server,
    opportunities: O,
    /// Time of the next step.
    due: Time,
    /// Number and bytes of the opportunities before the last change of their size.
    before: (u64, u64),
}

impl<O: Opportunities> OpportunityLink<O> {
    /// Returns a link whose opportunities serve `opportunity_bytes`; every packet costs its size and `header_bytes`.
    pub(crate) fn new(buffer: Buffer, opportunity_bytes: u32, header_bytes: u32, opportunities: O) -> Self {
        let server = Server::new(buffer, opportunity_bytes, header_bytes);
        // The first opportunity is always planned: its step shows whether reports of idle opportunities are wanted.
        let due = opportunities.next();
        Self { server, opportunities, due, before: (0, 0) }
    }

    #[inline]
    fn plan<T: Tap>(&mut self, now: Time, tap: &T) {
        self.due = if self.server.is_serving() {
            now
        } else if self.server.is_idle() && !tap.wants_opportunities() {
            Time::NEVER
        } else {
            self.opportunities.next()
        };
    }

    /// Skips the opportunities up to and including `now`, unless they are planned.
    #[inline]
    fn skip(&mut self, now: Time) {
        if self.due == Time::NEVER && self.opportunities.next() <= now {
            self.opportunities.skip_past(now);
        }
    }

    /// Returns the number of opportunities so far and the bytes that they could have served.
    fn offered(&self, now: Time) -> (u64, u64) {
        let count = self.opportunities.count_until(now);
        (count, self.before.1 + (count - self.before.0) * u64::from(self.server.net_bytes()))
    }
}

impl<O: Opportunities> Element for OpportunityLink<O> {
    type Table = O::Table;

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
            self.opportunities.advance();
        }
        let packet = self.server.serve(now, tap);
        self.plan(now, tap);
        packet
    }

    fn packets(&self) -> u64 {
        self.server.packets()
    }

    fn change(&mut self, now: Time, table: &O::Table) {
        self.skip(now);
        self.before = self.offered(now);
        let (bytes, rate) = O::service(table);
        self.server.opportunity_bytes = bytes;
        self.server.buffer.set_rate(rate);
        self.opportunities.change(now, table);
        if self.due.is_finite() && !self.server.is_serving() {
            self.due = self.opportunities.next();
        }
    }

    fn set_queue(&mut self, name: &str, value: f64) -> Result<(), Refusal> {
        self.server.buffer.set(name, value)
    }

    fn tally(&self) -> Option<&LinkTally> {
        Some(&self.server.buffer.gauge.tally)
    }

    fn watch_from(&mut self, at: Time) {
        self.server.buffer.gauge.watch_from(at);
    }

    fn settle(&mut self, now: Time) {
        self.skip(now);
        let (_, bytes) = self.offered(now);
        let gauge = &mut self.server.buffer.gauge;
        gauge.integrate(now);
        gauge.tally.capacity_bits = u128::from(bytes) * 8;
    }
}

/// Random process of opportunities, drawn one by one.
pub(crate) trait Process {
    /// Table of the link.
    type Table;
    /// Returns the opportunity after the one at `time`, which is the one returned last ([`Time::ZERO`] at first).
    fn after(&mut self, time: Time) -> Time;
    /// Applies the numeric settings of `table`. The next opportunity was planned for `next`; returns its new time.
    fn change(&mut self, now: Time, next: Time, table: &Self::Table) -> Time;
    /// Returns the bytes of an opportunity and the mean rate of `table`.
    fn service(table: &Self::Table) -> (u32, Rate);
}

/// Opportunities of a random process.
#[derive(Clone, Debug)]
pub(crate) struct RandomOpportunities<P> {
    process: P,
    next: Time,
    /// Number of passed opportunities.
    passed_opportunities: u64,
}

impl<P: Process> RandomOpportunities<P> {
    pub(crate) fn new(mut process: P) -> Self {
        let next = process.after(Time::ZERO);
        Self { process, next, passed_opportunities: 0 }
    }
}

impl<P: Process> Opportunities for RandomOpportunities<P> {
    type Table = P::Table;

    #[inline]
    fn next(&self) -> Time {
        self.next
    }

    #[inline]
    fn advance(&mut self) {
        self.next = self.process.after(self.next);
        self.passed_opportunities += 1;
    }

    fn count_until(&self, _now: Time) -> u64 {
        self.passed_opportunities
    }

    fn change(&mut self, now: Time, table: &P::Table) {
        self.next = self.process.change(now, self.next, table);
    }

    fn service(table: &P::Table) -> (u32, Rate) {
        P::service(table)
    }
}
