//! Propagation delay of a single flow, in addition to the shared path.

use crate::Packet;
use std::collections::VecDeque;
use units::{Span, Time};

/// Delay line that holds packets for a fixed time, in order.
#[derive(Clone, Debug)]
pub struct DelayLine {
    delay: Span,
    waiting: VecDeque<(Time, Packet)>,
}

impl DelayLine {
    /// Returns a line that holds every packet for `delay`.
    pub const fn new(delay: Span) -> Self {
        Self { delay, waiting: VecDeque::new() }
    }

    /// Returns true if the delay is zero, so that packets need not enter the line.
    pub const fn is_zero(&self) -> bool {
        self.delay.is_zero()
    }

    /// Takes in a packet at `now`.
    pub fn push(&mut self, now: Time, packet: Packet) {
        self.waiting.push_back((now + self.delay, packet));
    }

    /// Returns the departure of the next packet; [`Time::NEVER`] if the line is empty.
    pub fn next(&self) -> Time {
        self.waiting.front().map_or(Time::NEVER, |(due, _)| *due)
    }

    /// Removes and returns the next packet if it leaves at or before `now`.
    pub fn pop(&mut self, now: Time) -> Option<Packet> {
        self.waiting.pop_front_if(|(due, _)| *due <= now).map(|(_, packet)| packet)
    }

    /// Returns the number of packets inside.
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
