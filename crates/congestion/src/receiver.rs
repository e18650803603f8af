//! Receiver-side half of schemes that compute at the receiver (Sprout, media schemes).

use crate::Message;
use core::fmt::Debug;
use units::Time;

/// Arrival of a data packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrived {
    /// Present time (receiver's clock).
    pub now: Time,
    /// Packet number.
    pub number: u64,
    /// Time of sending (sender's clock).
    pub sent_at: Time,
    /// Bytes counted for this packet: payload, or filler.
    pub bytes: u32,
    /// Bytes of the whole IP datagram.
    pub datagram_bytes: u32,
    /// Message of the sender-side half.
    pub message: Message,
    /// True if the packet was marked congestion-experienced.
    pub ce: bool,
}

/// Receiver-side half of a scheme. It sees every arriving packet, has its own timer, and writes feedback into ACKs. The
/// sender-side [`Controller`](crate::Controller) reads the feedback in [`Ack::feedback`](crate::Ack::feedback).
pub trait ReceiverHalf: Debug + Send {
    /// Handles the first arrival of a packet.
    fn on_packet(&mut self, event: &Arrived);

    /// Returns the time at which an ACK must leave even if no packet arrives; [`Time::NEVER`] for none. Several ACKs
    /// may leave at one time: one leaves each time this is not after now.
    fn next_timer(&self) -> Time;

    /// Appends feedback to an ACK that leaves at `now`, and sets the time of the next one.
    fn write_feedback(&mut self, now: Time, feedback: &mut Vec<u8>);

    /// Returns the number of padding bytes in the ACK just written (for schemes that load the return path).
    fn padding_bytes(&self) -> u32 {
        0
    }
}
