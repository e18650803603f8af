//! Reports of packet events inside a path.

use crate::Packet;
use units::Time;

/// Event of a packet inside a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketEvent {
    /// The packet entered the queue of a link.
    Enqueued,
    /// The packet left the queue of a link and its transmission began.
    Dequeued,
    /// The packet was dropped: the driver must release its token.
    Dropped,
    /// The ECN bits of the packet were set to CE.
    Marked,
    /// The packet was duplicated: its token now has one more user.
    Duplicated,
}

/// Receiver of the events of a path. The driver implements it: logs, counters, release of dropped packets.
pub trait Tap {
    /// Handles `event` of `packet` at `now`.
    fn packet(&mut self, now: Time, event: PacketEvent, packet: &Packet);

    /// Returns true if `older`, which waits, is a pure acknowledgement without information beyond `newer` of its flow.
    /// Only the driver knows the contents of packets.
    fn is_superseded(&self, _older: &Packet, _newer: &Packet) -> bool {
        false
    }

    /// Handles an opportunity of a trace link to deliver `bytes` at `now`, used or not.
    fn opportunity(&mut self, _now: Time, _bytes: u32) {}

    /// Returns true if the tap needs [`Tap::opportunity`]. If not, idle links skip unused opportunities arithmetically.
    fn wants_opportunities(&self) -> bool {
        false
    }
}

/// Tap that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTap;

impl Tap for NoTap {
    fn packet(&mut self, _now: Time, _event: PacketEvent, _packet: &Packet) {}
}
