//! Falsification of ACKs by a misbehaving receiver.

use crate::receiver_behavior::ReceiverBehavior;
use crate::wire::{AckFrame, Arrival, MAX_ARRIVALS, Part};
use units::{Rng, Span, Time};

/// Last step of a misbehaving receiver: withholds, falsifies or divides an ACK that is due.
#[derive(Clone, Debug)]
pub(crate) struct Feedback {
    conduct: ReceiverBehavior,
    rng: Rng,
    /// Arrival of the first packet.
    first_at: Option<Time>,
    /// ACK that is being divided, and the number of its parts that have left.
    divided: AckFrame,
    parts_sent: u32,
    parts: u32,
    divided_at: Time,
    /// Stream bytes that the ACK before the divided one reported as complete.
    complete_before: u64,
}

impl Feedback {
    /// Returns `None` for honest receivers.
    pub(crate) fn of(conduct: &ReceiverBehavior, seed: u64) -> Option<Self> {
        (*conduct != ReceiverBehavior::Honest).then(|| Self {
            conduct: conduct.clone(),
            rng: Rng::new(seed, "feedback"),
            first_at: None,
            divided: AckFrame::default(),
            parts_sent: 0,
            parts: 0,
            divided_at: Time::NEVER,
            complete_before: 0,
        })
    }

    pub(crate) fn on_packet(&mut self, now: Time) {
        self.first_at.get_or_insert(now);
    }

    /// Returns the time at which the next part of a divided ACK is due; [`Time::NEVER`] if no part waits.
    pub(crate) const fn next_timer(&self) -> Time {
        if self.parts_sent < self.parts { self.divided_at } else { Time::NEVER }
    }

    /// Returns true if the receiver leaves out the ACK that is due now.
    pub(crate) fn is_withheld(&mut self, now: Time) -> bool {
        match &self.conduct {
            ReceiverBehavior::Silent { after_s, for_s } => {
                let first = self.first_at.unwrap_or(now);
                let begin = first + Span::from_secs_f64(*after_s);
                let end = for_s.map_or(Time::NEVER, |length| begin + Span::from_secs_f64(length));
                now >= begin && now < end
            }
            ReceiverBehavior::DropFeedback { probability } => self.rng.chance(*probability),
            _ => false,
        }
    }

    /// Turns an honest `frame` into the frame that is sent; `highest_offset` is the end of all payload seen, holes or
    /// not.
    pub(crate) fn falsify(&mut self, now: Time, frame: &mut AckFrame, highest_offset: u64) {
        match &self.conduct {
            ReceiverBehavior::Optimistic { ahead_packets } => {
                let claims = frame.largest + 1..=frame.largest + u64::from(*ahead_packets);
                let room = MAX_ARRIVALS.saturating_sub(frame.arrivals.len());
                let claimed = claims.take(room).map(|number| Arrival { number, at: now, ce: false });
                frame.arrivals.extend(claimed);
                frame.next_offset = highest_offset;
            }
            ReceiverBehavior::AckDivision { parts } if *parts > 1 && !frame.arrivals.is_empty() => {
                self.divided.copy_from(frame);
                (self.parts, self.parts_sent, self.divided_at) = (*parts, 0, now);
                self.next_part(frame);
            }
            _ => {}
        }
    }

    /// Fills `frame` with the next part of a divided ACK; returns false if there is none.
    pub(crate) fn next_part(&mut self, frame: &mut AckFrame) -> bool {
        if self.parts_sent >= self.parts {
            return false;
        }
        frame.copy_from(&self.divided);
        frame.part = Some(Part { index: self.parts_sent, count: self.parts });
        self.parts_sent += 1;
        if self.parts_sent < self.parts {
            frame.next_offset = self.complete_before;
        } else {
            self.complete_before = frame.next_offset;
        }
        if self.parts_sent > 1 {
            // Only one part carries the feedback of the scheme.
            frame.feedback.clear();
            frame.padding_bytes = 0;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    fn of(conduct: &ReceiverBehavior) -> Feedback {
        Feedback::of(conduct, 1).unwrap()
    }

    /// An honest ACK of packets 3 and 4; the stream is complete up to 5000.
    fn frame() -> AckFrame {
        let arrivals =
            [3, 4].map(|number| Arrival { number, at: at(number), ce: false }).into_iter().collect();
        AckFrame { number: 7, largest: 4, next_offset: 5000, arrivals, ..AckFrame::default() }
    }

    #[test]
    fn an_honest_receiver_has_none() {
        assert!(Feedback::of(&ReceiverBehavior::Honest, 1).is_none());
    }

    #[test]
    fn silence_begins_after_the_first_packet_and_ends() {
        let silent = |for_s| {
            let mut feedback = of(&ReceiverBehavior::Silent { after_s: 0.5, for_s });
            feedback.on_packet(at(1000));
            feedback.on_packet(at(2000));
            [1499, 1500, 1749, 1750].map(|ms| feedback.is_withheld(at(ms)))
        };
        assert_eq!(silent(Some(0.25)), [false, true, true, false]);
        assert_eq!(silent(None), [false, true, true, true]);
    }

    #[test]
    fn acks_are_left_out_with_their_probability_and_by_the_seed() {
        let left_out = |probability, seed| {
            let mut feedback = Feedback::of(&ReceiverBehavior::DropFeedback { probability }, seed).unwrap();
            (0..1000).map(|_| feedback.is_withheld(at(0))).collect::<Vec<_>>()
        };
        let count = left_out(0.25, 1).into_iter().filter(|&withheld| withheld).count();
        assert!((200..300).contains(&count), "{count} of 1000");
        assert_eq!(left_out(0.25, 1), left_out(0.25, 1));
        assert_ne!(left_out(0.25, 1), left_out(0.25, 2));
        assert!(
            left_out(0.0, 1).iter().all(|&withheld| !withheld) && left_out(1.0, 1).iter().all(|&all| all)
        );
    }

    #[test]
    fn an_optimist_acknowledges_what_has_not_arrived_and_hides_holes() {
        let (mut feedback, mut frame) = (of(&ReceiverBehavior::Optimistic { ahead_packets: 2 }), frame());
        feedback.falsify(at(9), &mut frame, 8000);
        let claimed: Vec<_> = frame.arrivals.iter().map(|arrival| (arrival.number, arrival.at)).collect();
        assert_eq!(claimed, [(3, at(3)), (4, at(4)), (5, at(9)), (6, at(9))]);
        assert_eq!((frame.next_offset, frame.largest), (8000, 4));
        frame.arrivals = core::iter::repeat_n(Arrival::default(), MAX_ARRIVALS - 1).collect();
        feedback.falsify(at(9), &mut frame, 8000);
        assert_eq!(frame.arrivals.len(), MAX_ARRIVALS, "no more than an ACK holds");
    }

    #[test]
    fn a_divided_ack_completes_the_stream_with_its_last_part_and_says_feedback_once() {
        let mut feedback = of(&ReceiverBehavior::AckDivision { parts: 3 });
        let mut frame = AckFrame { feedback: vec![1, 2], padding_bytes: 40, ..frame() };
        assert_eq!(feedback.next_timer(), Time::NEVER);
        feedback.falsify(at(9), &mut frame, 5000);
        let mut parts = vec![];
        loop {
            assert_eq!((frame.number, frame.arrivals.len()), (7, 2));
            let part = frame.part.unwrap();
            parts.push((
                part.index,
                part.count,
                frame.next_offset,
                frame.feedback.len(),
                frame.padding_bytes,
            ));
            assert_eq!(feedback.next_timer(), if part.index < 2 { at(9) } else { Time::NEVER });
            if !feedback.next_part(&mut frame) {
                break;
            }
        }
        assert_eq!(parts, [(0, 3, 0, 2, 40), (1, 3, 0, 0, 0), (2, 3, 5000, 0, 0)]);
        let mut next = AckFrame { next_offset: 6000, ..self::frame() };
        feedback.falsify(at(10), &mut next, 6000);
        assert_eq!(next.next_offset, 5000, "what was complete before");
    }

    #[test]
    fn an_ack_without_arrivals_is_not_divided() {
        let mut feedback = of(&ReceiverBehavior::AckDivision { parts: 3 });
        let empty = AckFrame { arrivals: [].into_iter().collect(), ..frame() };
        let mut frame = empty.clone();
        feedback.falsify(at(9), &mut frame, 5000);
        assert_eq!((frame, feedback.next_timer()), (empty, Time::NEVER));
    }
}
