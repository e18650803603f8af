//! Stores of packets inside a delay, with their departures.

use crate::Packet;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use units::Time;

/// Packets in order, with their departures.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    packets: VecDeque<(Time, Packet)>,
    /// Departure of the first packet.
    due: Time,
}

impl Line {
    pub(crate) fn new() -> Self {
        Self { packets: VecDeque::new(), due: Time::NEVER }
    }

    /// Appends `packet`; it leaves at `time`, but not before the packets ahead.
    #[inline]
    pub(crate) fn push(&mut self, time: Time, packet: Packet) {
        let time = self.packets.back().map_or(time, |(last, _)| time.max(*last));
        if self.packets.is_empty() {
            self.due = time;
        }
        self.packets.push_back((time, packet));
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        let (_, packet) = self.packets.pop_front()?;
        self.due = self.packets.front().map_or(Time::NEVER, |(time, _)| *time);
        Some(packet)
    }

    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.due
    }

    pub(crate) fn packets(&self) -> u64 {
        self.packets.len() as u64
    }
}

/// Packet with its departure; ordered by time, then arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    key: (Time, u64),
    packet: Packet,
}

impl PartialEq for Leaving {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Leaving {}

impl PartialOrd for Leaving {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Leaving {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// Packets that wait for earlier packets, or overtake.
#[derive(Clone, Debug)]
pub(crate) enum Store {
    Ordered(Line),
    Free { heap: BinaryHeap<Reverse<Leaving>>, arrivals: u64 },
}

impl Store {
    pub(crate) fn new(preserve_order: bool) -> Self {
        if preserve_order {
            Self::Ordered(Line::new())
        } else {
            Self::Free { heap: BinaryHeap::new(), arrivals: 0 }
        }
    }

    /// Adds `packet`; it leaves at `time`, or with the previous packet if that is later and order is kept.
    #[inline]
    pub(crate) fn push(&mut self, time: Time, packet: Packet) {
        match self {
            Self::Ordered(line) => line.push(time, packet),
            Self::Free { heap, arrivals } => {
                heap.push(Reverse(Leaving { key: (time, *arrivals), packet }));
                *arrivals += 1;
            }
        }
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        match self {
            Self::Ordered(line) => line.pop(),
            Self::Free { heap, .. } => heap.pop().map(|Reverse(first)| first.packet),
        }
    }

    /// Returns the packet that leaves next, if order is kept.
    #[inline]
    pub(crate) fn front(&self) -> Option<&Packet> {
        let Self::Ordered(line) = self else { return None };
        line.packets.front().map(|(_, packet)| packet)
    }

    /// Returns the departure of the next packet.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        match self {
            Self::Ordered(line) => line.due(),
            Self::Free { heap, .. } => heap.peek().map_or(Time::NEVER, |Reverse(first)| first.key.0),
        }
    }

    pub(crate) fn packets(&self) -> u64 {
        match self {
            Self::Ordered(line) => line.packets(),
            Self::Free { heap, .. } => heap.len() as u64,
        }
    }
}
