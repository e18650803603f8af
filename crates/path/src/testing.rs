//! Shared parts of the element tests.

use crate::{Direction, Ecn, ElementSpec, LinkTally, Packet, PacketEvent, Tap};
use units::{Span, Time};

/// Tap that records events for the tests.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) dropped: Vec<u64>,
    pub(crate) marked: Vec<u64>,
    pub(crate) duplicated: Vec<u64>,
    /// Sizes seen in queue events.
    pub(crate) queued_bytes: Vec<u32>,
    pub(crate) opportunities: Vec<(Time, u32)>,
    pub(crate) wants_opportunities: bool,
}

impl Tap for Log {
    fn packet(&mut self, _now: Time, event: PacketEvent, packet: &Packet) {
        match event {
            PacketEvent::Dropped => self.dropped.push(packet.number),
            PacketEvent::Marked => self.marked.push(packet.number),
            PacketEvent::Duplicated => self.duplicated.push(packet.number),
            PacketEvent::Enqueued | PacketEvent::Dequeued => self.queued_bytes.push(packet.size_bytes),
        }
    }

    fn opportunity(&mut self, now: Time, bytes: u32) {
        self.opportunities.push((now, bytes));
    }

    fn wants_opportunities(&self) -> bool {
        self.wants_opportunities
    }
}

pub(crate) fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

pub(crate) fn at_us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

pub(crate) fn elements(json: &str) -> Vec<ElementSpec> {
    serde_json::from_str(json).unwrap()
}

/// Direction with its driver, and packets numbered from 0.
pub(crate) struct Bench {
    pub(crate) direction: Direction,
    pub(crate) log: Log,
    pub(crate) out: Vec<(Time, Packet)>,
    pub(crate) sent: u64,
}

impl Bench {
    /// Returns a bench with the elements of a JSON array, seed 1.
    pub(crate) fn new(json: &str) -> Self {
        Self::seeded(json, 1)
    }

    pub(crate) fn seeded(json: &str, seed: u64) -> Self {
        let direction = Direction::build(&elements(json), "data", seed).unwrap();
        Self { direction, log: Log::default(), out: Vec::new(), sent: 0 }
    }

    pub(crate) fn send(&mut self, at: Time, size_bytes: u32) {
        self.send_with(at, size_bytes, Ecn::NOT_ECT);
    }

    /// Sends a packet of flow number `flow`.
    pub(crate) fn send_of(&mut self, flow: u32, at: Time, size_bytes: u32) {
        self.put(Packet::new(flow, self.sent, size_bytes, self.sent as u32, at));
    }

    pub(crate) fn send_with(&mut self, at: Time, size_bytes: u32, ecn: Ecn) {
        let mut packet = Packet::new(0, self.sent, size_bytes, self.sent as u32, at);
        packet.ecn = ecn;
        self.put(packet);
    }

    fn put(&mut self, packet: Packet) {
        let at = packet.entered;
        self.run_until(at);
        self.direction.arrive(at, packet, &mut self.log);
        self.sent += 1;
        self.collect(at);
    }

    /// Runs event by event, so that every departure has its own time.
    pub(crate) fn run_until(&mut self, end: Time) {
        while self.direction.next_event() <= end && self.direction.next_event() != Time::NEVER {
            let now = self.direction.next_event();
            self.direction.advance(now, &mut self.log);
            self.collect(now);
        }
    }

    fn collect(&mut self, now: Time) {
        while let Some(packet) = self.direction.pop() {
            self.out.push((now, packet));
        }
    }

    /// Returns the statistics of the first link at `now`.
    pub(crate) fn stats(&mut self, now: Time) -> LinkTally {
        self.run_until(now);
        self.direction.settle(now);
        self.direction.links().next().unwrap().clone()
    }

    /// Returns the departures of packets, us.
    pub(crate) fn times_us(&self) -> Vec<u64> {
        self.out.iter().map(|(time, _)| time.as_ns() / 1000).collect()
    }

    /// Returns the numbers of the packets that left.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.out.iter().map(|(_, packet)| packet.number).collect()
    }

    /// Returns true if sent + duplicated = out + inside + dropped.
    pub(crate) fn is_conserved(&self) -> bool {
        let packets = self.sent + self.log.duplicated.len() as u64;
        packets == self.out.len() as u64 + self.direction.packets_inside() + self.log.dropped.len() as u64
    }
}
