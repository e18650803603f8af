//! Decoding of a live source's frames at the receiver.

use crate::wire::FrameMark;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use units::Time;

/// Maximum number of incomplete frames that are remembered; older ones count as lost.
const MAX_PENDING: usize = 1024;

/// A frame that could be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecodedFrame {
    /// The frame.
    pub mark: FrameMark,
    /// Time at which the frame and all frames that it depends on were complete (receiver's clock).
    pub decoded_at: Time,
}

/// Frame of which some packets have arrived.
#[derive(Clone, Copy, Debug)]
struct Pending {
    mark: FrameMark,
    received_bytes: u32,
}

/// Assembles frames. A frame can be decoded when it and its predecessor are complete, or when it is a complete key
/// frame. Earlier frames that are not complete by then are never shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrameAssembler {
    /// Incomplete or undecoded frames, by frame number, ascending.
    pending: VecDeque<Pending>,
    last_decoded: u32,
    decoded: VecDeque<DecodedFrame>,
}

impl FrameAssembler {
    /// Adds a packet with `new_bytes` of frame `mark`.
    pub(crate) fn on_packet(&mut self, now: Time, mark: FrameMark, new_bytes: u32) {
        if mark.number <= self.last_decoded {
            return;
        }
        let index = self.pending.partition_point(|pending| pending.mark.number < mark.number);
        if self.pending.get(index).is_none_or(|pending| pending.mark.number != mark.number) {
            self.pending.insert(index, Pending { mark, received_bytes: 0 });
        }
        self.pending[index].received_bytes += new_bytes;
        if self.pending.len() > MAX_PENDING {
            self.pending.pop_front();
        }
        self.decode(now);
    }

    fn decode(&mut self, now: Time) {
        let is_complete = |pending: &Pending| pending.received_bytes >= pending.mark.bytes;
        // The newest complete key frame makes everything before it superfluous.
        if let Some(key) = self.pending.iter().rposition(|pending| pending.mark.key && is_complete(pending)) {
            let in_order = self.pending.iter().take(key).enumerate().all(|(offset, pending)| {
                is_complete(pending) && pending.mark.number == self.last_decoded + 1 + offset as u32
            });
            if !in_order {
                self.pending.drain(..key);
                self.last_decoded = self.pending[0].mark.number - 1;
            }
        }
        while let Some(first) = self.pending.front().copied() {
            if !is_complete(&first) || first.mark.number != self.last_decoded + 1 {
                return;
            }
            self.last_decoded = first.mark.number;
            self.pending.pop_front();
            self.decoded.push_back(DecodedFrame { mark: first.mark, decoded_at: now });
        }
    }

    /// Returns the next decoded frame that was not taken yet.
    pub(crate) fn take(&mut self) -> Option<DecodedFrame> {
        self.decoded.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(number: u32, key: bool) -> FrameMark {
        FrameMark { number, bytes: 2000, key, ..FrameMark::default() }
    }

    fn decoded_numbers(assembler: &mut FrameAssembler) -> Vec<u32> {
        std::iter::from_fn(|| assembler.take()).map(|frame| frame.mark.number).collect()
    }

    #[test]
    fn a_frame_is_decoded_when_its_last_packet_is_there() {
        let mut assembler = FrameAssembler::default();
        assembler.on_packet(Time::from_ns(5), mark(1, true), 1000);
        assert_eq!(assembler.take(), None);
        assembler.on_packet(Time::from_ns(9), mark(1, true), 1000);
        let frame = assembler.take().unwrap();
        assert_eq!((frame.mark.number, frame.decoded_at), (1, Time::from_ns(9)));
    }

    #[test]
    fn later_frames_wait_for_a_packet_that_is_sent_again() {
        let mut assembler = FrameAssembler::default();
        assembler.on_packet(Time::ZERO, mark(1, true), 2000);
        assembler.on_packet(Time::ZERO, mark(2, false), 1000);
        assembler.on_packet(Time::ZERO, mark(3, false), 2000);
        assert_eq!(decoded_numbers(&mut assembler), [1]);
        assembler.on_packet(Time::ZERO, mark(2, false), 1000);
        assert_eq!(decoded_numbers(&mut assembler), [2, 3]);
    }

    #[test]
    fn after_a_loss_only_a_key_frame_helps() {
        let mut assembler = FrameAssembler::default();
        assembler.on_packet(Time::ZERO, mark(1, true), 2000);
        // All of frame 2 is lost.
        assembler.on_packet(Time::ZERO, mark(3, false), 2000);
        assembler.on_packet(Time::ZERO, mark(4, false), 2000);
        assert_eq!(decoded_numbers(&mut assembler), [1]);
        assembler.on_packet(Time::ZERO, mark(5, true), 2000);
        assembler.on_packet(Time::ZERO, mark(6, false), 2000);
        assert_eq!(decoded_numbers(&mut assembler), [5, 6]);
        assembler.on_packet(Time::ZERO, mark(4, false), 2000);
        assert!(decoded_numbers(&mut assembler).is_empty(), "it is too late for frame 4");
    }

    #[test]
    fn a_key_frame_in_order_hides_nothing() {
        let mut assembler = FrameAssembler::default();
        assembler.on_packet(Time::ZERO, mark(1, true), 2000);
        assembler.on_packet(Time::ZERO, mark(2, false), 1000);
        assembler.on_packet(Time::ZERO, mark(3, true), 1000);
        assembler.on_packet(Time::ZERO, mark(2, false), 1000);
        assembler.on_packet(Time::ZERO, mark(3, true), 1000);
        assert_eq!(decoded_numbers(&mut assembler), [1, 2, 3]);
    }
}
