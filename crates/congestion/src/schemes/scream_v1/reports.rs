//! Receiver-side half: reports of arrivals, at most one per 5 ms.

use crate::{Arrived, ReceiverHalf};
use units::{Span, Time};

/// Minimum time between two reports.
const SPACING: Span = Span::from_ms(5);

/// Schedule of the reports; the ACK itself contains the arrivals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reports {
    reported_at: Option<Time>,
    due: Time,
}

impl Default for Reports {
    fn default() -> Self {
        Self { reported_at: None, due: Time::NEVER }
    }
}

impl ReceiverHalf for Reports {
    fn on_packet(&mut self, event: &Arrived) {
        let earliest = self.reported_at.map_or(event.now, |at| at + SPACING);
        self.due = self.due.min(earliest.max(event.now));
    }

    fn next_timer(&self) -> Time {
        self.due
    }

    fn write_feedback(&mut self, now: Time, _feedback: &mut Vec<u8>) {
        self.reported_at = Some(now);
        self.due = Time::NEVER;
    }
}
