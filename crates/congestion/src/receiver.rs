//! The receiver-side half of schemes that compute at the receiver (Sprout, media schemes).

use crate::Message;
use core::fmt::Debug;
use units::Time;

/// A data packet arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrived {
    /// Now (receiver's clock).
    pub now: Time,
    /// Packet number.
    pub number: u64,
    /// When it was sent (sender's clock).
    pub sent_at: Time,
    /// Bytes counted for this packet: payload, or filler.
    pub bytes: u32,
    /// Bytes of the whole IP datagram.
    pub datagram_bytes: u32,
    /// What the sender-side half says with it.
    pub message: Message,
    /// Whether it was marked congestion-experienced.
    pub ce: bool,
}

/// Runs beside the receiver: sees every arriving packet, has its own timer, and puts feedback into ACKs, which the
/// sender-side [`Controller`](crate::Controller) finds in [`Ack::feedback`](crate::Ack::feedback).
pub trait ReceiverHalf: Debug + Send {
    /// A packet arrived that had not arrived before.
    fn on_packet(&mut self, event: &Arrived);

    /// When an ACK has to leave even if no packet arrives; [`Time::NEVER`] for not at all. Several may leave at one
    /// moment: one leaves each time this is not after now.
    fn next_timer(&self) -> Time;

    /// An ACK leaves at `now`: appends what the sender-side half needs to know, and plans the next one.
    fn write_feedback(&mut self, now: Time, feedback: &mut Vec<u8>);

    /// Bytes without content that the ACK just written carries besides (schemes that load the return path).
    fn padding_bytes(&self) -> u32 {
        0
    }
}
