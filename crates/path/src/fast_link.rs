//! Fast path for constant-rate FIFO links, and for the constant and random delays behind them.
//!
//! A packet that a droptail or infinite queue has accepted is never dropped, and leaves in order. At a constant rate
//! its arrival fixes the times at which it enters the device, goes onto the wire and leaves the delay behind the link.
//! So a packet is written once, and has one event: its departure. Events in between are counted when the next packet
//! arrives, or when the counters are read. A random delay that keeps the order is drawn when a packet is the next to
//! leave. The draws are then in the order of the packets, as they would be behind the link.
//!
//! Times, drops and counters equal those of [`crate::link`], [`crate::delay`] and [`crate::jitter`]. Only the reports
//! of packets that leave the queue are missing. A test compares them.

use crate::elements::jitter::Jitter;
use crate::link_counters::{Gauge, LinkTally};
use crate::{Packet, PacketEvent, Tap};
use std::collections::VecDeque;
use units::{Rate, Span, Time};

/// Highest rate with a device queue: every packet takes more than 1 ns, the time after which the device requests the
/// next packet.
const FASTEST_WITH_DEVICE: Rate = Rate::from_bps(4_000_000_000);

/// Settings of the link.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) rate: Rate,
    /// Packets in the device's own queue, below the queue discipline.
    pub(crate) device_packets: usize,
    /// Maximum number of packets in the queue.
    pub(crate) most_packets: u64,
    /// Maximum number of bytes in the queue.
    pub(crate) most_bytes: u64,
}

/// Packet in the link or in the delays behind it.
#[derive(Clone, Debug)]
struct Passage {
    /// Time at which the packet leaves link and constant delay.
    leaves: Time,
    /// Time at which the packet leaves the queue.
    dequeued: Time,
    packet: Packet,
}

/// Sums over the waiting packets, or over the packets that have left the queue.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    packets: u64,
    bytes: u64,
    /// For waiting packets: sum of their arrival times, ns. For packets that have left: sum of their waiting times, ns.
    ns: u128,
    /// Sum of these times, each multiplied by the packet's bytes.
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

/// Link with the delays behind it.
#[derive(Clone, Debug)]
pub(crate) struct FastLink {
    terms: Terms,
    /// Constant delay behind the link.
    delay: Span,
    /// Random delay behind the constant delay.
    jitter: Option<Box<Jitter>>,
    framing_bytes: u32,
    /// Time at which the last accepted packet is sent, and the work beyond the last whole nanosecond before that time.
    free_at: Time,
    remainder: u64,
    /// Packets in order; the last `waiting.packets` of them are in the queue.
    line: VecDeque<Passage>,
    /// Departure of the first packet in `line`.
    due: Time,
    /// Departure of the latest packet, if the delay is random.
    latest_due: Time,
    waiting: Sum,
    departures: Sum,
    /// Time up to which the maximum backlog is known.
    until: Time,
    longest_ns: u64,
    watch_from: Time,
    /// All other counters; complete after [`FastLink::settle`].
    gauge: Box<Gauge>,
}

impl FastLink {
    /// Returns the link with these terms, before its first packet; `None` if the terms do not tell when packets leave.
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
            departures: Sum::default(),
            until: Time::ZERO,
            longest_ns: 0,
            watch_from: gauge.watches_from(),
            gauge: Box::new(gauge),
        })
    }

    /// Adds a constant delay behind the link; returns true if that is possible.
    pub(crate) fn add_delay(&mut self, delay: Span) -> bool {
        let is_possible = self.jitter.is_none();
        if is_possible {
            self.delay += delay;
        }
        is_possible
    }

    /// Adds a random delay behind the constant delay; returns true if that is possible.
    pub(crate) fn add_jitter(&mut self, jitter: &Jitter) -> bool {
        let is_possible = self.jitter.is_none() && jitter.is_ordered_and_empty();
        if is_possible {
            self.jitter = Some(Box::new(jitter.clone()));
        }
        is_possible
    }

    /// Handles the arrival of a packet.
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

    /// Computes the times of `packet` and puts it in line.
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
            self.departures.add(packet.size_bytes, 0);
        }
    }

    /// Returns the time at which the device has room for the packet that is put in line next.
    #[inline]
    fn room_in_device(&self, now: Time) -> Time {
        // The packet takes the place of the packet `device_packets` before it, which the device hands onto the wire.
        let Some(ahead) = self.line.len().checked_sub(self.terms.device_packets) else { return now };
        let Some(before) = ahead.checked_sub(1) else { return now };
        let starts = (self.line[before].leaves - self.delay).max(self.line[ahead].packet.queued);
        // As in ns-3 the device requests the next packet by an event of its own.
        if starts > now { starts + Span::from_ns(1) } else { now }
    }

    /// Hands a packet down without a request of the device: a packet arrives at the moment at which the device has got
    /// room.
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

    /// Counts packets that have left the queue by `now`.
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
            self.departures.add(bytes, ns);
            self.longest_ns = self.longest_ns.max(ns);
            if at >= self.watch_from {
                let watched = &mut self.gauge.tally.watched_queueing_delay_ns;
                *watched = (*watched).max(ns);
            }
        }
    }

    /// Updates the maximum backlog up to `now`. States without duration do not count.
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

    /// Returns the packet that leaves next.
    #[inline]
    pub(crate) fn front(&self) -> Option<&Packet> {
        self.line.front().map(|passage| &passage.packet)
    }

    /// Removes and returns the packet that leaves at `now`.
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

    /// Plans the departure of the packet that is now the next to leave; it leaves the constant delay at `leaves`.
    #[inline]
    fn plan(&mut self, leaves: Time) {
        self.due = match &mut self.jitter {
            None => leaves,
            Some(jitter) => {
                // A packet does not leave before the packet ahead.
                self.latest_due = self.latest_due.max(leaves + jitter.delay(leaves));
                self.latest_due
            }
        };
    }

    /// Starts a second measurement of the longest waiting time at `at`.
    pub(crate) const fn watch_from(&mut self, at: Time) {
        self.watch_from = at;
    }

    pub(crate) fn packets(&self) -> u64 {
        self.line.len() as u64
    }

    pub(crate) const fn tally(&self) -> &LinkTally {
        &self.gauge.tally
    }

    /// Updates the counters to `now`, after everything up to `done` has happened.
    pub(crate) fn settle(&mut self, done: Time, now: Time) {
        self.catch_up(done);
        self.look(now);
        self.gauge.offer(now, self.terms.rate);
        let (on_wire_packets, on_wire_bytes) = self.on_wire(done);
        let (waiting, departures) = (self.waiting, self.departures);
        let framing = u64::from(self.framing_bytes);
        let tally = &mut self.gauge.tally;
        tally.packets_in = departures.packets + waiting.packets + tally.packets_dropped;
        let accepted_bytes =
            departures.bytes + waiting.bytes + (departures.packets + waiting.packets) * framing;
        tally.bytes_in = accepted_bytes + tally.bytes_dropped;
        tally.packets_out = departures.packets - on_wire_packets;
        tally.bytes_out = departures.bytes - on_wire_bytes + tally.packets_out * framing;
        tally.packets_dequeued = departures.packets;
        tally.queue_packets = waiting.packets;
        tally.queue_bytes = waiting.bytes;
        let ns = u128::from(now.as_ns());
        tally.queue_packet_ns = departures.ns + u128::from(waiting.packets) * ns - waiting.ns;
        tally.queue_byte_ns = departures.byte_ns + u128::from(waiting.bytes) * ns - waiting.byte_ns;
        tally.queueing_delay_ns = departures.ns;
        tally.max_queueing_delay_ns = self.longest_ns;
    }

    /// Returns the packets and bytes that have left the queue and are not completely sent at `now`.
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
