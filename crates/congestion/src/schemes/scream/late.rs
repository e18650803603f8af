//! When the authors' program knows that a packet is lost (`detectLoss`).
//!
//! It means to know 30 ms after a later packet arrived that was sent 30 ms later. To that it adds how much younger the
//! frame of the later packet is, so what is compared is how long the two waited in the sender's queue. What this does
//! not find is found when the report before had got 512 packets further.

use std::collections::VecDeque;
use units::{Span, Time};

/// How much longer the later packet has to have waited (`kReorderTime`).
const REORDER: Span = Span::from_ms(30);
/// Waits that are remembered, in packets: more than any that decides.
const REMEMBERED: usize = 16_384;

/// Losses of one flow that are not known yet.
#[derive(Clone, Debug)]
pub(crate) struct LateLosses {
    /// Packets after which a loss is known in any case; zero: it is known at once.
    after_packets: u64,
    /// Frames that are not sent yet: when they were written, and bytes.
    frames: VecDeque<(Time, u64)>,
    /// How long packets waited for sending, and the number of the first of them.
    waits: VecDeque<Span>,
    first: u64,
    /// Lost packets and how long they waited, in ascending order.
    lost: VecDeque<(u64, Span)>,
    /// Newest packet of the latest report (`hiSeqAck`).
    newest: u64,
}

impl LateLosses {
    pub(crate) const fn new(after_packets: u64) -> Self {
        Self {
            after_packets,
            frames: VecDeque::new(),
            waits: VecDeque::new(),
            first: 0,
            lost: VecDeque::new(),
            newest: 0,
        }
    }

    pub(crate) const fn is_on(&self) -> bool {
        self.after_packets > 0
    }

    pub(crate) fn on_frame(&mut self, now: Time, bytes: u64) {
        if self.is_on() {
            self.frames.push_back((now, bytes));
        }
    }

    /// A packet was sent; numbers ascend by one.
    pub(crate) fn on_sent(&mut self, now: Time, number: u64, bytes: u64) {
        if !self.is_on() {
            return;
        }
        let wait = self.frames.front().map_or(Span::ZERO, |(written, _)| now - *written);
        let mut left = bytes;
        while left > 0
            && let Some((_, waiting)) = self.frames.front_mut()
        {
            let sent = left.min(*waiting);
            (left, *waiting) = (left - sent, *waiting - sent);
            if *waiting == 0 {
                self.frames.pop_front();
            }
        }
        if self.waits.is_empty() {
            self.first = number;
        } else if self.waits.len() == REMEMBERED {
            self.waits.pop_front();
            self.first += 1;
        }
        self.waits.push_back(wait);
    }

    fn wait(&self, number: u64) -> Span {
        let place = number.checked_sub(self.first).and_then(|place| usize::try_from(place).ok());
        place.and_then(|place| self.waits.get(place)).copied().unwrap_or(Span::ZERO)
    }

    pub(crate) fn on_lost(&mut self, number: u64) {
        self.lost.push_back((number, self.wait(number)));
    }

    /// Packets up to `newest` were acknowledged, these being among them; returns how many losses are known now.
    pub(crate) fn on_acked(&mut self, numbers: impl Iterator<Item = u64>, newest: u64) -> usize {
        let reached = core::mem::replace(&mut self.newest, newest);
        if self.lost.is_empty() {
            return 0;
        }
        let longest = numbers.map(|number| self.wait(number)).max().unwrap_or(Span::ZERO);
        let before = self.lost.len();
        let after_packets = self.after_packets;
        self.lost.retain(|&(number, wait)| number + after_packets >= reached && longest <= wait + REORDER);
        before - self.lost.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    #[test]
    fn a_loss_is_known_when_a_later_packet_waited_30_ms_longer_or_512_packets_later() {
        let mut late = LateLosses::new(512);
        // Two frames of three packets: the first leaves at once, the second within 40 ms.
        late.on_frame(at(0), 3000);
        (0..3).for_each(|number| late.on_sent(at(0), number, 1000));
        late.on_frame(at(33), 3000);
        (3..6).for_each(|number| late.on_sent(at(33 + 20 * (number - 3)), number, 1000));
        late.on_lost(1);
        assert_eq!(late.on_acked([2, 3].into_iter(), 3), 0);
        assert_eq!(late.on_acked(std::iter::once(4), 4), 0, "20 ms");
        assert_eq!(late.on_acked(std::iter::once(5), 5), 1, "40 ms");
        late.on_lost(2);
        for newest in [514, 515] {
            assert_eq!(late.on_acked(std::iter::once(newest), newest), 0);
        }
        assert_eq!(late.on_acked(std::iter::once(516), 516), 1, "the report before had 515");
    }
}
