//! Conversion of events inside a path to records of the packet log.

use path::{Packet, PacketEvent, Tap};
use record::Event;
use units::Time;

/// Delivery opportunities of the data direction (0) and of the ACK direction (1).
const OPPORTUNITIES: [Event; 2] = [Event::Opportunity, Event::AckOpportunity];

/// Owner of the data that the packets of a direction carry, and writer of the packets' events.
pub trait Keeper {
    /// Returns true if `packet` is data, false if it is from the ACK direction of its flow.
    fn is_data(&self, packet: &Packet) -> bool;

    /// Counts one more packet with the token of `packet`.
    fn share(&mut self, packet: &Packet);

    /// Counts one packet less with the token of `packet`.
    fn release(&mut self, packet: &Packet);

    /// Records an event of `packet` that the log has a name for.
    fn packet(&mut self, now: Time, event: Event, packet: &Packet);

    /// Returns true if `older` is a pure acknowledgment that `newer` of this flow makes redundant, as far as a device
    /// on the path can read them.
    fn is_superseded(&self, _older: &Packet, _newer: &Packet) -> bool {
        false
    }

    /// Records that a link could have delivered this number of bytes.
    fn opportunity(&mut self, now: Time, event: Event, bytes: u32);

    /// Returns true if opportunities are needed.
    fn wants_opportunities(&self) -> bool;
}

/// Watcher of one direction of a path for a [`Keeper`].
#[derive(Debug)]
pub struct Watcher<K> {
    keeper: K,
    /// Direction: 0 for data, 1 for ACKs.
    direction: usize,
    /// True if the log contains queue events.
    full_log: bool,
}

impl<K: Keeper> Watcher<K> {
    /// Returns a watcher of `direction`: 0 for data, 1 for ACKs.
    pub const fn new(keeper: K, direction: usize, full_log: bool) -> Self {
        Self { keeper, direction, full_log }
    }
}

impl<K: Keeper> Tap for Watcher<K> {
    #[inline]
    fn packet(&mut self, now: Time, event: PacketEvent, packet: &Packet) {
        if event == PacketEvent::Duplicated {
            self.keeper.share(packet);
        }
        let is_data = self.keeper.is_data(packet);
        let Some(log_event) = logged_event(event, is_data, self.full_log) else { return };
        self.keeper.packet(now, log_event, packet);
        if event == PacketEvent::Dropped {
            self.keeper.release(packet);
        }
    }

    fn is_superseded(&self, older: &Packet, newer: &Packet) -> bool {
        self.keeper.is_superseded(older, newer)
    }

    #[inline]
    fn opportunity(&mut self, now: Time, bytes: u32) {
        self.keeper.opportunity(now, OPPORTUNITIES[self.direction], bytes);
    }

    #[inline]
    fn wants_opportunities(&self) -> bool {
        self.keeper.wants_opportunities()
    }
}

/// Returns the log's name for an event of a packet in a flow's data or (`is_data` false) ACK direction.
///
/// Returns `None` for duplicates, since the log shows their departure. Queue events are logged only for data and if
/// `full`.
#[inline]
const fn logged_event(event: PacketEvent, is_data: bool, full: bool) -> Option<Event> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeper that stores its events.
    #[derive(Default)]
    struct SeenEvents {
        users: i32,
        events: Vec<Event>,
    }

    impl Keeper for &mut SeenEvents {
        fn is_data(&self, packet: &Packet) -> bool {
            packet.flow == 0
        }
        fn share(&mut self, _packet: &Packet) {
            self.users += 1;
        }
        fn release(&mut self, _packet: &Packet) {
            self.users -= 1;
        }
        fn packet(&mut self, _now: Time, event: Event, _packet: &Packet) {
            self.events.push(event);
        }
        fn opportunity(&mut self, _now: Time, event: Event, _bytes: u32) {
            self.events.push(event);
        }
        fn wants_opportunities(&self) -> bool {
            true
        }
    }

    #[test]
    fn copies_are_kept_drops_released_and_queues_logged_in_full_logs_alone() {
        let packet_events = [
            PacketEvent::Duplicated,
            PacketEvent::Enqueued,
            PacketEvent::Dequeued,
            PacketEvent::Marked,
            PacketEvent::Dropped,
            PacketEvent::Duplicated,
        ];
        let observed = |flow: u32, direction: usize, full_log: bool| {
            let mut observed = SeenEvents::default();
            let mut watcher = Watcher::new(&mut observed, direction, full_log);
            let packet = Packet::new(flow, 0, 1500, 0, Time::ZERO);
            for event in packet_events {
                watcher.packet(Time::ZERO, event, &packet);
            }
            watcher.opportunity(Time::ZERO, 1500);
            (observed.users, observed.events)
        };
        let (mark, drop, opportunity) = (Event::Mark, Event::Drop, Event::Opportunity);
        assert_eq!(observed(0, 0, false), (1, vec![mark, drop, opportunity]));
        assert_eq!(observed(0, 0, true), (1, vec![Event::Enqueue, Event::Dequeue, mark, drop, opportunity]));
        let of_acks = vec![Event::AckMark, Event::AckDrop, Event::AckOpportunity];
        assert_eq!(observed(1, 1, true), (1, of_acks));
    }
}
