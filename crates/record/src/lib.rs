//! Packet events: reported by every run, read by every metric and stored in the packet log.

/// Kind of event. The discriminants are the codes in the `event` column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Event {
    /// A data packet entered the path (sender side).
    Send = 0,
    /// The packet entered a link's queue (logged in full logs only).
    Enqueue = 1,
    /// The packet left a link's queue (logged in full logs only).
    Dequeue = 2,
    /// The packet was dropped inside the path.
    Drop = 3,
    /// The packet was CE-marked inside the path.
    Mark = 4,
    /// The packet left the path (receiver side).
    Deliver = 5,
    /// A data-direction link had an opportunity to deliver `size_bytes` (trace and Poisson links).
    Opportunity = 6,
    /// A packet of the flow's return direction (ACKs) entered the path.
    AckSend = 7,
    /// A packet of the return direction was dropped.
    AckDrop = 8,
    /// A packet of the return direction was CE-marked.
    AckMark = 9,
    /// A packet of the return direction left the path.
    AckDeliver = 10,
    /// A link of the return direction had an opportunity.
    AckOpportunity = 11,
    /// The sender declared data packet `seq` lost (flows of the built-in transport).
    Lost = 12,
    /// The sender learned that data packet `seq` had arrived (logged in full logs only; flows of the built-in
    /// transport).
    Acked = 13,
    /// The sender withdrew the loss of data packet `seq`: a timeout was a false alarm, and the packet is in flight as
    /// before (flows of the built-in transport).
    Restored = 14,
}

impl Event {
    /// List of all events; the position is the code.
    pub const ALL: [Self; 15] = [
        Self::Send,
        Self::Enqueue,
        Self::Dequeue,
        Self::Drop,
        Self::Mark,
        Self::Deliver,
        Self::Opportunity,
        Self::AckSend,
        Self::AckDrop,
        Self::AckMark,
        Self::AckDeliver,
        Self::AckOpportunity,
        Self::Lost,
        Self::Acked,
        Self::Restored,
    ];

    /// Returns the event with this code.
    pub fn of_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// Returns the name in files and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Enqueue => "enqueue",
            Self::Dequeue => "dequeue",
            Self::Drop => "drop",
            Self::Mark => "mark",
            Self::Deliver => "deliver",
            Self::Opportunity => "opportunity",
            Self::AckSend => "ack_send",
            Self::AckDrop => "ack_drop",
            Self::AckMark => "ack_mark",
            Self::AckDeliver => "ack_deliver",
            Self::AckOpportunity => "ack_opportunity",
            Self::Lost => "lost",
            Self::Acked => "acked",
            Self::Restored => "restored",
        }
    }
}

/// Row of the packet log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Time since the start of the run, ns.
    pub time_ns: u64,
    /// Flow number, from 1; 0 if a log does not tell (and for opportunities).
    pub flow: u32,
    /// Kind of event.
    pub event: Event,
    /// Packet number within flow and direction; 0 if a log does not tell.
    pub seq: u64,
    /// Bytes on the path, including the path's per-packet overhead; 0 for `Lost`, `Acked` and `Restored`, which do not
    /// happen on the path.
    pub size_bytes: u32,
    /// `Send`: payload bytes carried. `Deliver`: payload bytes that were new to the receiver (goodput). `Lost`,
    /// `Acked`, `Restored`: payload bytes of the packet. Other events: 0.
    pub data_bytes: u32,
    /// `Deliver` and `AckDeliver`: time since the packet entered the path, ns (negative if clocks disagree). Other
    /// events: 0.
    pub one_way_delay_ns: i64,
}

/// Rounds a time in ns to the nearest microsecond, halves up. This is the resolution of Pantheon's logs, with which its
/// formulas compute.
#[inline]
pub const fn time_to_us(time_ns: u64) -> u64 {
    time_ns.saturating_add(500) / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_to_the_nearest_microsecond() {
        assert_eq!([0, 499, 500, 1_499, 1_500].map(time_to_us), [0, 0, 1, 1, 2]);
        assert_eq!(time_to_us(u64::MAX), u64::MAX / 1_000);
    }

    #[test]
    fn the_position_in_the_list_of_events_is_the_code() {
        for (position, event) in Event::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(event as u8), position);
            assert_eq!(Event::of_code(position as u8), Some(event));
        }
        assert_eq!(Event::of_code(15), None);
        assert_eq!(Event::of_code(u8::MAX), None);
    }
}
