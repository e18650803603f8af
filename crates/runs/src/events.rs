//! From what happens inside a path to what the packet log calls it.

use path::PacketEvent;
use record::{Event, Record};
use transport::Sender;
use units::Time;

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

/// What the sender of `flow` (from 1) has just found out about its packets, as records of `at`. Those that arrived are for
/// `full` logs only.
#[inline]
pub fn verdicts(sender: &Sender, at: Time, flow: u32, full: bool) -> impl Iterator<Item = Record> + '_ {
    sender.verdicts().iter().filter(move |verdict| verdict.lost || full).map(move |verdict| Record {
        time_ns: at.as_ns(),
        flow,
        event: if verdict.lost { Event::Lost } else { Event::Acked },
        seq: verdict.number,
        size_bytes: 0,
        data_bytes: verdict.payload_bytes,
        one_way_delay_ns: 0,
    })
}

/// Delivery opportunities of the data direction (0) and of the return direction (1).
pub const OPPORTUNITIES: [Event; 2] = [Event::Opportunity, Event::AckOpportunity];
