//! Directions of a path.

use record::Event;

/// Direction of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Data packets ("datalink" logs).
    Data,
    /// ACK direction ("acklink" logs).
    Ack,
}

impl Direction {
    #[inline]
    fn pick(self, data: Event, ack: Event) -> Event {
        match self {
            Self::Data => data,
            Self::Ack => ack,
        }
    }

    pub(super) fn send(self) -> Event {
        self.pick(Event::Send, Event::AckSend)
    }

    pub(super) fn deliver(self) -> Event {
        self.pick(Event::Deliver, Event::AckDeliver)
    }

    pub(super) fn drop(self) -> Event {
        self.pick(Event::Drop, Event::AckDrop)
    }

    pub(super) fn opportunity(self) -> Event {
        self.pick(Event::Opportunity, Event::AckOpportunity)
    }
}
