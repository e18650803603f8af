//! From what happens inside a path to what the packet log calls it.

use packetlog::Event;
use path::PacketEvent;

/// The log's name for something that happened to a packet of a flow's data or (`is_data` false) return direction. None for
/// copies, which show when they leave, and for queue events unless `full` asks for them; those of ACKs are never logged.
#[inline]
pub const fn logged_event(event: PacketEvent, is_data: bool, full: bool) -> Option<Event> {
    match (event, is_data) {
        (PacketEvent::Dropped, true) => Some(Event::Drop),
        (PacketEvent::Dropped, false) => Some(Event::AckDrop),
        (PacketEvent::Marked, true) => Some(Event::Mark),
        (PacketEvent::Marked, false) => Some(Event::AckMark),
        (PacketEvent::Enqueued, true) if full => Some(Event::Enqueue),
        (PacketEvent::Dequeued, true) if full => Some(Event::Dequeue),
        (PacketEvent::Enqueued | PacketEvent::Dequeued | PacketEvent::Duplicated, _) => None,
    }
}

/// The log's name for what a sender found out about a packet. That it arrived is for `full` logs only.
#[inline]
pub const fn verdict_event(lost: bool, full: bool) -> Option<Event> {
    match (lost, full) {
        (true, _) => Some(Event::Lost),
        (false, true) => Some(Event::Acked),
        (false, false) => None,
    }
}

/// Delivery opportunities of the data direction (0) and of the return direction (1).
pub const OPPORTUNITIES: [Event; 2] = [Event::Opportunity, Event::AckOpportunity];
