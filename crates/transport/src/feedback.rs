//! What a receiver that misbehaves makes of the ACKs that are due.

use crate::conduct::Conduct;
use crate::wire::{AckFrame, Arrival, MAX_ARRIVALS, Part};
use units::{Rng, Span, Time};

/// The last step of a receiver that misbehaves: what becomes of an ACK that is due.
#[derive(Clone, Debug)]
pub(crate) struct Feedback {
    conduct: Conduct,
    rng: Rng,
    /// When the first packet arrived.
    first_at: Option<Time>,
    /// The ACK that is being divided, and how many of its parts have left.
    divided: AckFrame,
    parts_sent: u32,
    parts: u32,
    divided_at: Time,
    /// What the ACK before the divided one said was complete.
    complete_before: u64,
}

impl Feedback {
    /// `None` for honest receivers.
    pub(crate) fn of(conduct: &Conduct, seed: u64) -> Option<Self> {
        (*conduct != Conduct::Honest).then(|| Self {
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

    /// When parts of an ACK wait to be sent; [`Time::NEVER`] if none do.
    pub(crate) const fn next_timer(&self) -> Time {
        if self.parts_sent < self.parts { self.divided_at } else { Time::NEVER }
    }

    /// Whether the ACK that is due now is left out.
    pub(crate) fn is_withheld(&mut self, now: Time) -> bool {
        match &self.conduct {
            Conduct::Silent { after_s, for_s } => {
                let first = self.first_at.unwrap_or(now);
                let begin = first + Span::from_secs_f64(*after_s);
                let end = for_s.map_or(Time::NEVER, |length| begin + Span::from_secs_f64(length));
                now >= begin && now < end
            }
            Conduct::DropFeedback { probability } => self.rng.chance(*probability),
            _ => false,
        }
    }

    /// Makes of an honest `frame` what is sent; `highest_offset` is the end of all payload seen, holes or not.
    pub(crate) fn falsify(&mut self, now: Time, frame: &mut AckFrame, highest_offset: u64) {
        match &self.conduct {
            Conduct::Optimistic { ahead_packets } => {
                let claims = frame.largest + 1..=frame.largest + u64::from(*ahead_packets);
                let room = MAX_ARRIVALS.saturating_sub(frame.arrivals.len());
                frame.arrivals.extend(claims.take(room).map(|number| Arrival { number, at: now }));
                frame.next_offset = highest_offset;
            }
            Conduct::AckDivision { parts } if *parts > 1 && !frame.arrivals.is_empty() => {
                self.divided.copy_from(frame);
                (self.parts, self.parts_sent, self.divided_at) = (*parts, 0, now);
                self.next_part(frame);
            }
            _ => {}
        }
    }

    /// Fills `frame` with the next part of a divided ACK; false if there is none.
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
            // The scheme's own feedback is said once.
            frame.feedback.clear();
            frame.padding_bytes = 0;
        }
        true
    }
}
