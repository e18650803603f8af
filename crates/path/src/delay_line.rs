//! A flow's own propagation delay, beyond what it shares with the others.

use crate::Packet;
use std::collections::VecDeque;
use units::{Span, Time};

/// Holds packets for a fixed time; order is kept.
#[derive(Clone, Debug)]
pub struct DelayLine {
    delay: Span,
    waiting: VecDeque<(Time, Packet)>,
}

impl DelayLine {
    /// A line that holds every packet for `delay`.
    pub const fn new(delay: Span) -> Self {
        Self { delay, waiting: VecDeque::new() }
    }

    /// Whether packets need not enter it at all.
    pub const fn is_zero(&self) -> bool {
        self.delay.is_zero()
    }

    /// A packet enters at `now`.
    pub fn push(&mut self, now: Time, packet: Packet) {
        self.waiting.push_back((now + self.delay, packet));
    }

    /// When the next packet leaves; [`Time::NEVER`] if none is inside.
    pub fn next(&self) -> Time {
        self.waiting.front().map_or(Time::NEVER, |(due, _)| *due)
    }

    /// The next packet that leaves at or before `now`.
    pub fn pop(&mut self, now: Time) -> Option<Packet> {
        self.waiting.pop_front_if(|(due, _)| *due <= now).map(|(_, packet)| packet)
    }

    /// Number of packets inside.
    pub fn packets_inside(&self) -> u64 {
        self.waiting.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_in_order_after_the_delay() {
        let at = |ms: u64| Time::from_ns(ms * 1_000_000);
        let mut line = DelayLine::new(Span::from_ms(5));
        assert_eq!((line.next(), line.pop(at(100))), (Time::NEVER, None));
        for ms in [1, 2] {
            line.push(at(ms), Packet::new(0, ms, 100, 0, at(ms)));
        }
        assert_eq!((line.next(), line.packets_inside(), line.pop(at(5))), (at(6), 2, None));
        let numbers: Vec<u64> = core::iter::from_fn(|| line.pop(at(7))).map(|packet| packet.number).collect();
        assert_eq!(numbers, [1, 2]);
    }
}
