//! A link that knows when a packet leaves as soon as it arrives, and the constant and random delays behind it.
//!
//! What a droptail or infinite queue has accepted is never dropped, and leaves in order. At a constant rate the time when
//! each packet goes into the device, onto the wire and out of the delay behind the link is then fixed on arrival. So a packet is
//! written once, and has one event: its departure. What happens in between is counted when the next packet arrives,
//! or when somebody asks for the counters. A random delay that keeps the order is drawn when a packet is the next to leave:
//! the draws are in the order of the packets, as they would be behind the link.
//!
//! The times, drops and counters are those of [`crate::link`], [`crate::delay`] and [`crate::jitter`]; only the reports of
//! packets that leave the queue are missing. A test compares them.

use crate::elements::jitter::Jitter;
use crate::link_counters::{Gauge, LinkTally};
use crate::{Packet, PacketEvent, Tap};
use std::collections::VecDeque;
use units::{Rate, Span, Time};

/// Highest rate with a device queue: every packet takes more than the 1 ns by which the device asks for the next.
const FASTEST_WITH_DEVICE: Rate = Rate::from_bps(4_000_000_000);

/// What the link was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) rate: Rate,
    /// Packets in the device's own queue, below the queue discipline.
    pub(crate) device_packets: usize,
    /// Most packets in the queue.
    pub(crate) most_packets: u64,
    /// Most bytes in the queue.
    pub(crate) most_bytes: u64,
}

/// A packet on its way.
#[derive(Clone, Debug)]
struct Passage {
    /// When it is out of link and constant delay.
    leaves: Time,
    /// When it leaves the queue.
    dequeued: Time,
    packet: Packet,
}

/// Waiting packets or those that have left the queue; their bytes, and what their waiting times add up from.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    packets: u64,
    bytes: u64,
    /// Of those in the queue: the sum of the times they arrived at. Of the others: of their waiting times, ns.
    ns: u128,
    /// The same, times their bytes.
    byte_ns: u128,
}

impl Sum {
    #[inline]
    fn add(&mut self, bytes: u32, ns: u64) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
        self.ns += u128::from(ns);
        self.byte_ns += u128::from(bytes) * u128::from(ns);
    }

    #[inline]
    fn remove(&mut self, bytes: u32, ns: u64) {
        self.packets -= 1;
        self.bytes -= u64::from(bytes);
        self.ns -= u128::from(ns);
        self.byte_ns -= u128::from(bytes) * u128::from(ns);
    }
}

/// A link and the delays behind it.
#[derive(Clone, Debug)]
pub(crate) struct FastLink {
    terms: Terms,
    /// Constant delay behind the link.
    delay: Span,
    /// Random delay behind that.
    jitter: Option<Box<Jitter>>,
    framing_bytes: u32,
    /// When the last accepted packet is sent, and the work beyond the last whole nanosecond before it.
    free_at: Time,
    remainder: u64,
    /// In order; the last `waiting.packets` of them are in the queue.
    line: VecDeque<Passage>,
    /// When the first of them leaves.
    due: Time,
    /// When the latest packet left or leaves, where the delay is random.
    latest_due: Time,
    waiting: Sum,
    gone: Sum,
    /// Up to when the most that waited has been looked for.
    until: Time,
    longest_ns: u64,
    watch_from: Time,
    /// Everything else that is counted; complete after [`FastLink::settle`].
    gauge: Box<Gauge>,
}

impl FastLink {
    /// The link with these terms, before its first packet; none if they do not tell when packets leave.
    pub(crate) fn new(terms: Terms, gauge: Gauge) -> Option<Self> {
        if terms.rate == Rate::ZERO || (terms.device_packets > 0 && terms.rate > FASTEST_WITH_DEVICE) {
            return None;
        }
        Some(Self {
            terms,
            delay: Span::ZERO,
            jitter: None,
            framing_bytes: gauge.tally.framing_bytes,
            free_at: Time::ZERO,
            remainder: 0,
            line: VecDeque::new(),
            due: Time::NEVER,
            latest_due: Time::ZERO,
            waiting: Sum::default(),
            gone: Sum::default(),
            until: Time::ZERO,
            longest_ns: 0,
            watch_from: gauge.watches_from(),
            gauge: Box::new(gauge),
        })
    }

    /// Adds a constant delay behind the link; returns whether that is possible.
    pub(crate) fn add_delay(&mut self, delay: Span) -> bool {
        let is_possible = self.jitter.is_none();
        if is_possible {
            self.delay += delay;
        }
        is_possible
    }

    /// Adds a random delay behind the constant one; returns whether that is possible.
    pub(crate) fn add_jitter(&mut self, jitter: &Jitter) -> bool {
        let is_possible = self.jitter.is_none() && jitter.is_ordered_and_empty();
        if is_possible {
            self.jitter = Some(Box::new(jitter.clone()));
        }
        is_possible
    }

    /// A packet arrives.
    #[allow(
        clippy::inline_always,
        reason = "a call would copy the packet right after it was put together, which stalls"
    )]
    #[inline(always)]
    pub(crate) fn arrive<T: Tap>(&mut self, now: Time, mut packet: Packet, tap: &mut T) {
        self.catch_up(now);
        self.look(now);
        let bytes = packet.size_bytes;
        if self.waiting.packets >= self.terms.most_packets
            || self.waiting.bytes + u64::from(bytes) > self.terms.most_bytes
        {
            let dropped = packet;
            self.gauge.dropped(now, &dropped, tap);
        } else {
            packet.queued = now;
            tap.packet(now, PacketEvent::Enqueued, &packet);
            self.accept(now, packet);
        }
        if self.terms.device_packets > 0 {
            self.hand_down(now);
        }
    }

    /// Works out the way of `packet` and puts it in line.
    #[inline]
    fn accept(&mut self, now: Time, packet: Packet) {
        if self.free_at <= now {
            (self.free_at, self.remainder) = (now, 0);
        }
        let starts = self.free_at;
        let bytes = packet.size_bytes + self.framing_bytes;
        let (span, remainder) = self.terms.rate.time_for_exact(bytes, self.remainder);
        self.free_at = starts + span;
        self.remainder = remainder;
        let dequeued = if self.terms.device_packets == 0 { starts } else { self.room_in_device(now) };
        let leaves = self.free_at + self.delay;
        if self.line.is_empty() {
            self.plan(leaves);
        }
        self.line.push_back(Passage { leaves, dequeued, packet });
        if dequeued > now {
            self.waiting.add(packet.size_bytes, now.as_ns());
        } else {
            self.gone.add(packet.size_bytes, 0);
        }
    }

    /// When the device has room for the packet that is put in line next.
    #[inline]
    fn room_in_device(&self, now: Time) -> Time {
        // Its place is that of the packet so many places before it, which the device hands onto the wire.
        let Some(ahead) = self.line.len().checked_sub(self.terms.device_packets) else { return now };
        let Some(before) = ahead.checked_sub(1) else { return now };
        let starts = (self.line[before].leaves - self.delay).max(self.line[ahead].packet.queued);
        // As in ns-3 the device asks for more by an event of its own.
        if starts > now { starts + Span::from_ns(1) } else { now }
    }

    /// With a packet that arrives in the very moment in which the device has got room, the device need not ask.
    #[inline]
    fn hand_down(&mut self, now: Time) {
        let soon = now + Span::from_ns(1);
        if self.waiting.packets > 0 {
            let first = self.line.len() - self.waiting.packets as usize;
            if self.line[first].dequeued == soon {
                self.line[first].dequeued = now;
                self.catch_up(now);
            }
        }
    }

    /// Counts what has left the queue by `now`.
    #[inline]
    fn catch_up(&mut self, now: Time) {
        while self.waiting.packets > 0 {
            let passage = &self.line[self.line.len() - self.waiting.packets as usize];
            let (at, queued, bytes) = (passage.dequeued, passage.packet.queued, passage.packet.size_bytes);
            if at > now {
                return;
            }
            self.look(at);
            let ns = (at - queued).as_ns();
            self.waiting.remove(bytes, queued.as_ns());
            self.gone.add(bytes, ns);
            self.longest_ns = self.longest_ns.max(ns);
            if at >= self.watch_from {
                let watched = &mut self.gauge.tally.watched_queueing_delay_ns;
                *watched = (*watched).max(ns);
            }
        }
    }

    /// Notes how much waited up to `now`. States that lasted no time leave no trace.
    #[inline]
    fn look(&mut self, now: Time) {
        if now > self.until {
            self.until = now;
            let tally = &mut self.gauge.tally;
            tally.max_queue_packets = tally.max_queue_packets.max(self.waiting.packets);
            tally.max_queue_bytes = tally.max_queue_bytes.max(self.waiting.bytes);
        }
    }

    #[inline]
    pub(crate) const fn next_event(&self) -> Time {
        self.due
    }

    /// The packet that leaves next.
    #[inline]
    pub(crate) fn front(&self) -> Option<&Packet> {
        self.line.front().map(|passage| &passage.packet)
    }

    /// The next packet leaves at `now`.
    #[inline]
    pub(crate) fn step(&mut self, now: Time) -> Option<Packet> {
        if self.waiting.packets == self.line.len() as u64 {
            self.catch_up(now);
        }
        let passage = self.line.pop_front()?;
        match self.line.front() {
            Some(next) => self.plan(next.leaves),
            None => self.due = Time::NEVER,
        }
        Some(passage.packet)
    }

    /// Plans the departure of the packet that is now the next to leave, and is out of the constant delay at `leaves`.
    #[inline]
    fn plan(&mut self, leaves: Time) {
        self.due = match &mut self.jitter {
            None => leaves,
            Some(jitter) => {
                // Not before the packet ahead.
                self.latest_due = self.latest_due.max(leaves + jitter.delay(leaves));
                self.latest_due
            }
        };
    }

    /// From when on the longest waiting time is kept a second time.
    pub(crate) const fn watch_from(&mut self, at: Time) {
        self.watch_from = at;
    }

    pub(crate) fn packets(&self) -> u64 {
        self.line.len() as u64
    }

    pub(crate) const fn tally(&self) -> &LinkTally {
        &self.gauge.tally
    }

    /// Brings the counters up to `now`, when all that happens up to `done` has happened.
    pub(crate) fn settle(&mut self, done: Time, now: Time) {
        self.catch_up(done);
        self.look(now);
        self.gauge.offer(now, self.terms.rate);
        let (on_wire_packets, on_wire_bytes) = self.on_wire(done);
        let (waiting, gone) = (self.waiting, self.gone);
        let framing = u64::from(self.framing_bytes);
        let tally = &mut self.gauge.tally;
        tally.packets_in = gone.packets + waiting.packets + tally.packets_dropped;
        let accepted_bytes = gone.bytes + waiting.bytes + (gone.packets + waiting.packets) * framing;
        tally.bytes_in = accepted_bytes + tally.bytes_dropped;
        tally.packets_out = gone.packets - on_wire_packets;
        tally.bytes_out = gone.bytes - on_wire_bytes + tally.packets_out * framing;
        tally.packets_dequeued = gone.packets;
        tally.queue_packets = waiting.packets;
        tally.queue_bytes = waiting.bytes;
        let ns = u128::from(now.as_ns());
        tally.queue_packet_ns = gone.ns + u128::from(waiting.packets) * ns - waiting.ns;
        tally.queue_byte_ns = gone.byte_ns + u128::from(waiting.bytes) * ns - waiting.byte_ns;
        tally.queueing_delay_ns = gone.ns;
        tally.max_queueing_delay_ns = self.longest_ns;
    }

    /// Packets and bytes that have left the queue and are not sent at `now`.
    fn on_wire(&self, now: Time) -> (u64, u64) {
        let left_queue = self.line.len() - self.waiting.packets as usize;
        let passages = self.line.range(..left_queue).rev();
        let unsent = passages.take_while(|passage| passage.leaves > now + self.delay);
        unsent.fold((0, 0), |(packets, bytes), passage| {
            (packets + 1, bytes + u64::from(passage.packet.size_bytes))
        })
    }
}

#[cfg(test)]
#[path = "fast_link_tests.rs"]
mod tests;
