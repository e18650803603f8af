//! Where a path reports what happens to packets inside it.

use crate::Packet;
use units::Time;

/// Something that happened to a packet inside a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketEvent {
    /// It entered the queue of a link.
    Enqueued,
    /// It left the queue of a link and its transmission began.
    Dequeued,
    /// It was dropped: the driver must release its token.
    Dropped,
    /// Its ECN bits were set to CE.
    Marked,
    /// A copy of it was made: the token now has one more user.
    Duplicated,
}

/// Receives the events of a path. The driver implements it: logs, counters, release of dropped packets.
pub trait Tap {
    /// `event` happened to `packet` at `now`.
    fn packet(&mut self, now: Time, event: PacketEvent, packet: &Packet);

    /// Whether `older`, which waits, is a pure acknowledgement that says nothing that `newer` of the same flow does not say
    /// too. Only the driver knows what packets carry.
    fn is_superseded(&self, _older: &Packet, _newer: &Packet) -> bool {
        false
    }

    /// A trace link had an opportunity to deliver `bytes` at `now`, used or not.
    fn opportunity(&mut self, _now: Time, _bytes: u32) {}

    /// Whether [`Tap::opportunity`] is wanted; idle links skip over unused opportunities arithmetically if not.
    fn wants_opportunities(&self) -> bool {
        false
    }
}

/// A tap that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTap;

impl Tap for NoTap {
    fn packet(&mut self, _now: Time, _event: PacketEvent, _packet: &Packet) {}
}
