//! Receiver of the data, whose packets are the ACKs.

use super::peer::{End, Peer, ms};
use super::wire::Header;
use crate::{Arrived, Parameters, ReceiverHalf, Start};
use units::Time;

/// Receiver-side half.
#[derive(Debug)]
pub(super) struct Receiver {
    parameters: Parameters,
    start: Start,
    /// End of the connection; `None` before the first packet, because the receiver only listens.
    peer: Option<Peer>,
    padding_bytes: u32,
}

impl Receiver {
    pub(super) fn new(parameters: &Parameters, start: &Start) -> Self {
        Self { parameters: parameters.clone(), start: start.clone(), peer: None, padding_bytes: 0 }
    }
}

impl ReceiverHalf for Receiver {
    fn on_packet(&mut self, event: &Arrived) {
        let now = ms(event.now);
        let peer =
            self.peer.get_or_insert_with(|| Peer::new(&self.parameters, &self.start, now, End::Receiver));
        peer.on_packet(now, &Header::from_message(event.message, event.bytes));
        peer.look(event.now);
    }

    fn next_timer(&self) -> Time {
        self.peer.as_ref().map_or(Time::NEVER, Peer::next_send)
    }

    fn write_feedback(&mut self, now: Time, feedback: &mut Vec<u8>) {
        self.padding_bytes = 0;
        let Some(peer) = &mut self.peer else { return };
        if peer.next_packet().is_none() {
            peer.look(now);
        }
        let header = peer.send(ms(now), peer.next_packet().unwrap_or(0));
        self.padding_bytes = header.data_bytes;
        header.write(feedback);
    }

    fn padding_bytes(&self) -> u32 {
        self.padding_bytes
    }
}
