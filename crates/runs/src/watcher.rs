//! From what happens inside a path to what the packet log calls it.

use path::{Packet, PacketEvent, Tap};
use record::Event;
use units::Time;

/// Delivery opportunities of the data direction (0) and of the return direction (1).
const OPPORTUNITIES: [Event; 2] = [Event::Opportunity, Event::AckOpportunity];

/// Whoever keeps what the packets of a direction carry, and logs what happens to them.
pub trait Keeper {
    /// Whether `packet` is data, rather than one of the return direction of its flow.
    fn is_data(&self, packet: &Packet) -> bool;

    /// One packet more carries the token of `packet`.
    fn share(&mut self, packet: &Packet);

    /// One packet less carries it.
    fn release(&mut self, packet: &Packet);

    /// Something happened to `packet` that the log has a name for.
    fn packet(&mut self, now: Time, event: Event, packet: &Packet);

    /// Whether `older` is a pure acknowledgement that `newer` of the same flow makes superfluous, as far as a device on the
    /// way can read them.
    fn is_superseded(&self, _older: &Packet, _newer: &Packet) -> bool {
        false
    }

    /// A link could have delivered so many bytes.
    fn opportunity(&mut self, now: Time, event: Event, bytes: u32);

    /// Whether anybody wants to know of opportunities.
    fn wants_opportunities(&self) -> bool;
}

/// Watches one direction of a path on behalf of a [`Keeper`].
#[derive(Debug)]
pub struct Watcher<K> {
    keeper: K,
    /// 0 for data, 1 for the return direction.
    direction: usize,
    /// Whether the log names entering and leaving queues too.
    full_log: bool,
}

impl<K: Keeper> Watcher<K> {
    /// A watcher of `direction`: 0 for data, 1 for the return direction.
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
        let Some(logged) = logged_event(event, is_data, self.full_log) else { return };
        self.keeper.packet(now, logged, packet);
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

/// The log's name for something that happened to a packet of a flow's data or (`is_data` false) return direction. None for
/// copies, which show when they leave, and for queue events unless `full` asks for them; those of ACKs are never logged.
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

    /// Remembers what it was told.
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
        let happened = [
            PacketEvent::Duplicated,
            PacketEvent::Enqueued,
            PacketEvent::Dequeued,
            PacketEvent::Marked,
            PacketEvent::Dropped,
            PacketEvent::Duplicated,
        ];
        let told = |flow: u32, direction: usize, full_log: bool| {
            let mut told = SeenEvents::default();
            let mut watcher = Watcher::new(&mut told, direction, full_log);
            let packet = Packet::new(flow, 0, 1500, 0, Time::ZERO);
            for event in happened {
                watcher.packet(Time::ZERO, event, &packet);
            }
            watcher.opportunity(Time::ZERO, 1500);
            (told.users, told.events)
        };
        let (mark, drop, opportunity) = (Event::Mark, Event::Drop, Event::Opportunity);
        assert_eq!(told(0, 0, false), (1, vec![mark, drop, opportunity]));
        assert_eq!(told(0, 0, true), (1, vec![Event::Enqueue, Event::Dequeue, mark, drop, opportunity]));
        let of_acks = vec![Event::AckMark, Event::AckDrop, Event::AckOpportunity];
        assert_eq!(told(1, 1, true), (1, of_acks));
    }
}
