//! The data's receiver: the other end, whose packets are the ACKs.

use super::peer::{Peer, ms};
use super::wire::Header;
use crate::{Arrived, Parameters, ReceiverHalf, Start};
use units::{Span, Time};

/// Feedback without a flow of its own leaves once per tick.
const REPORT_INTERVAL: Span = Span::from_ms(20);

/// The receiver-side half.
#[derive(Debug)]
pub(super) struct Receiver {
    parameters: Parameters,
    start: Start,
    feedback_only: bool,
    /// It listens: there is nothing before the first packet.
    peer: Option<Peer>,
    /// When the next report leaves, with `feedback_only`.
    report_at: Time,
    padding_bytes: u32,
}

impl Receiver {
    pub(super) fn new(parameters: &Parameters, start: &Start) -> Self {
        Self {
            parameters: parameters.clone(),
            start: start.clone(),
            feedback_only: parameters.flag("feedback_only"),
            peer: None,
            report_at: Time::NEVER,
            padding_bytes: 0,
        }
    }
}

impl ReceiverHalf for Receiver {
    fn on_packet(&mut self, event: &Arrived) {
        let now = ms(event.now);
        let is_first = self.peer.is_none();
        let peer = self.peer.get_or_insert_with(|| Peer::new(&self.parameters, &self.start, now, true));
        peer.on_packet(now, &Header::from_message(event.message, event.bytes));
        peer.look(now);
        if is_first {
            self.report_at = event.now + REPORT_INTERVAL;
        }
    }

    fn next_timer(&self) -> Time {
        match &self.peer {
            None => Time::NEVER,
            Some(_) if self.feedback_only => self.report_at,
            Some(peer) => peer.next_send(),
        }
    }

    fn write_feedback(&mut self, now: Time, feedback: &mut Vec<u8>) {
        self.padding_bytes = 0;
        let Some(peer) = &mut self.peer else { return };
        let header = if self.feedback_only {
            self.report_at = now + REPORT_INTERVAL;
            peer.report(ms(now))
        } else {
            if peer.next_packet().is_none() {
                peer.look(ms(now));
            }
            peer.send(ms(now), peer.next_packet().unwrap_or(0))
        };
        self.padding_bytes = header.data_bytes;
        header.write(feedback);
    }

    fn padding_bytes(&self) -> u32 {
        self.padding_bytes
    }
}
