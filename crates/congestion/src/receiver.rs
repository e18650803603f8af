//! The receiver-side half of schemes that compute at the receiver (Sprout, media schemes).

use core::fmt::Debug;
use units::Time;

/// Runs beside the receiver: sees every arriving packet, has its own timer, and puts feedback into ACKs, which the
/// sender-side [`Controller`](crate::Controller) finds in [`Ack::feedback`](crate::Ack::feedback).
pub trait ReceiverHalf: Debug + Send {
    /// Packet `number`, sent at `sent_at` (sender's clock), arrived with `bytes` of payload.
    fn on_packet(&mut self, now: Time, number: u64, sent_at: Time, bytes: u32);

    /// When an ACK has to leave even if no packet arrives; [`Time::NEVER`] for not at all.
    fn next_timer(&self) -> Time;

    /// An ACK leaves at `now`: appends what the sender-side half needs to know, and plans the next one.
    fn write_feedback(&mut self, now: Time, feedback: &mut Vec<u8>);
}
