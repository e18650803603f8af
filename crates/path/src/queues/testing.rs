//! Shared parts of the discipline tests.

use super::{Queue, QueueSpec};
use crate::{Ecn, Packet, PacketEvent, Tap};
use units::{Rng, Span, Time};

/// Tap that records all events by kind.
#[derive(Default)]
pub(super) struct Recorder {
    pub(super) enqueued: Vec<(Time, Packet)>,
    pub(super) dequeued: Vec<(Time, Packet)>,
    pub(super) dropped: Vec<(Time, Packet)>,
    pub(super) marked: Vec<(Time, Packet)>,
}

impl Tap for Recorder {
    fn packet(&mut self, now: Time, event: PacketEvent, packet: &Packet) {
        let events = match event {
            PacketEvent::Enqueued => &mut self.enqueued,
            PacketEvent::Dequeued => &mut self.dequeued,
            PacketEvent::Dropped => &mut self.dropped,
            PacketEvent::Marked => &mut self.marked,
            PacketEvent::Duplicated => panic!("a queue duplicates nothing"),
        };
        events.push((now, *packet));
    }
}

/// Returns the packet numbers of events.
pub(super) fn numbers(events: &[(Time, Packet)]) -> Vec<u64> {
    events.iter().map(|(_, packet)| packet.number).collect()
}

/// Queue with a clock and arrivals numbered from 0.
pub(super) struct Bench {
    pub(super) queue: Queue,
    pub(super) tap: Recorder,
    pub(super) now: Time,
    pub(super) arrivals: u64,
}

impl Bench {
    pub(super) fn new(spec: &QueueSpec) -> Self {
        let queue = Queue::build(spec, Rng::new(1, "queue")).unwrap();
        Self { queue, tap: Recorder::default(), now: Time::ZERO, arrivals: 0 }
    }

    pub(super) fn at_ms(&mut self, ms: u64) {
        self.now = Time::ZERO + Span::from_ms(ms);
    }

    pub(super) fn arrive(&mut self, flow: u32, size_bytes: u32) {
        self.arrive_with(flow, size_bytes, Ecn::NOT_ECT);
    }

    pub(super) fn arrive_with(&mut self, flow: u32, size_bytes: u32, ecn: Ecn) {
        let mut packet = Packet::new(flow, self.arrivals, size_bytes, self.arrivals as u32, Time::ZERO);
        packet.ecn = ecn;
        self.queue.enqueue(self.now, packet, &mut self.tap);
        self.arrivals += 1;
    }

    pub(super) fn leave_packet(&mut self) -> Option<Packet> {
        self.queue.dequeue(self.now, &mut self.tap)
    }

    /// Removes the next packet and returns its number.
    pub(super) fn leave(&mut self) -> Option<u64> {
        self.leave_packet().map(|packet| packet.number)
    }
}
