//! Late detection of losses, as in the authors' program (`detectLoss`).
//!
//! The program intends to detect a loss 30 ms after the arrival of a packet that was sent 30 ms later. But it adds the
//! difference of the frames' ages. So in fact it compares the times that the two packets waited in the sender's queue.
//! Other losses are detected when the previous report was 512 packets ahead.

use std::collections::VecDeque;
use units::{Span, Time};

/// Additional wait of the later packet that proves a loss (`kReorderTime`).
const REORDER: Span = Span::from_ms(30);
/// Number of remembered waits, in packets: more than any decision needs.
const REMEMBERED: usize = 16_384;

/// Losses of one flow that are not detected yet.
#[derive(Clone, Debug)]
pub(crate) struct LateLosses {
    /// Number of packets after which a loss is detected in any case; zero for immediate detection.
    after_packets: u64,
    /// Frames that are not sent yet: time of writing, and bytes.
    frames: VecDeque<(Time, u64)>,
    /// Waits of packets before sending, and the number of the first of these packets.
    waits: VecDeque<Span>,
    first: u64,
    /// Lost packets and their waits, in ascending order.
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

    /// Adds a sent packet; numbers ascend by one.
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

    /// Handles an acknowledgement of packets up to `newest`, among them `numbers`. Returns the number of losses that
    /// are now detected.
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
        // There are two frames of three packets: the first leaves at once, the second within 40 ms.
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
