//! Sent packets that the sender still needs, by packet number.

use crate::rate::{Newest, Snapshot};
use std::collections::VecDeque;
use units::{Span, Time};

/// State of a sent packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    InFlight,
    Acked,
    Lost,
}

/// One transmission. It fits one cache line, because both sending and acknowledging touch all of it.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct SentPacket {
    pub(crate) sent_at: Time,
    pub(crate) offset: u64,
    pub(crate) snapshot: Snapshot,
    /// Payload, bytes; at most [`crate::config::MAX_PAYLOAD_BYTES`].
    pub(crate) payload_bytes: u16,
    /// Payload bytes acknowledged by ACKs for a part of the packet.
    pub(crate) acked_bytes: u16,
    pub(crate) fate: Fate,
    pub(crate) retransmission: bool,
    /// True if the packet carries no application data: nothing to send again.
    pub(crate) filler: bool,
    /// True if the application limited the sender when the packet left.
    pub(crate) app_limited: bool,
}

const _: () = assert!(size_of::<SentPacket>() == 64, "a sent packet is one cache line");

impl SentPacket {
    /// Returns the payload bytes that are not acknowledged.
    pub(crate) fn outstanding_bytes(&self) -> u32 {
        u32::from(self.payload_bytes - self.acked_bytes)
    }

    /// Returns the stream offset behind the payload.
    pub(crate) fn end(&self) -> u64 {
        self.offset + u64::from(self.payload_bytes)
    }

    /// Returns the values that a rate sample needs.
    pub(crate) const fn newest(&self) -> Newest {
        Newest { sent_at: self.sent_at, app_limited: self.app_limited, snapshot: self.snapshot }
    }
}

/// Time after departure for which a lost packet is remembered, in case it arrives after all.
const LATE: Span = Span::from_secs(10);

/// Maximum number of remembered lost packets below `base`.
const MOST_LATE: usize = 1 << 16;

/// Window of consecutive packet numbers. Everything below `base` is settled: acknowledged, or lost and only remembered
/// in case it arrives after all.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentPackets {
    /// Packets from `base` on. Grows with the flight: a ring is walked from end to end, so it should be no larger than
    /// needed.
    packets: VecDeque<SentPacket>,
    base: u64,
    /// Lost packets below `base`, by number.
    late: VecDeque<(u64, SentPacket)>,
    /// Lowest number in flight: every packet below is acknowledged or lost.
    first_in_flight: u64,
}

impl SentPackets {
    /// Returns the number of the next packet.
    pub(crate) fn next_number(&self) -> u64 {
        self.base + self.packets.len() as u64
    }

    /// Returns the lowest number still remembered.
    pub(crate) const fn base(&self) -> u64 {
        self.base
    }

    pub(crate) fn push(&mut self, packet: SentPacket) {
        self.packets.push_back(packet);
    }

    #[inline]
    pub(crate) fn get(&self, number: u64) -> Option<&SentPacket> {
        match number.checked_sub(self.base) {
            Some(index) => self.packets.get(usize::try_from(index).ok()?),
            None => self.get_late(number),
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut SentPacket> {
        match number.checked_sub(self.base) {
            Some(index) => self.packets.get_mut(usize::try_from(index).ok()?),
            None => self.get_late_mut(number),
        }
    }

    #[cold]
    #[inline(never)]
    fn get_late(&self, number: u64) -> Option<&SentPacket> {
        let index = self.late.binary_search_by_key(&number, |(late, _)| *late).ok()?;
        self.late.get(index).map(|(_, packet)| packet)
    }

    #[cold]
    #[inline(never)]
    fn get_late_mut(&mut self, number: u64) -> Option<&mut SentPacket> {
        let index = self.late.binary_search_by_key(&number, |(late, _)| *late).ok()?;
        self.late.get_mut(index).map(|(_, packet)| packet)
    }

    /// Puts packet `number`, which is kept, in flight again.
    pub(crate) fn on_restored(&mut self, number: u64) {
        self.first_in_flight = self.first_in_flight.min(number);
    }

    /// Advances `first_in_flight` after packets have left the flight.
    #[inline]
    pub(crate) fn pass_settled(&mut self) {
        while let Some(packet) = self.packets.get((self.first_in_flight - self.base) as usize)
            && packet.fate != Fate::InFlight
        {
            self.first_in_flight += 1;
        }
    }

    /// Returns the lowest number in flight, or the next number if nothing is in flight.
    pub(crate) const fn first_in_flight(&self) -> u64 {
        self.first_in_flight
    }

    /// Forgets settled packets from the front: acknowledged packets, and lost packets sent before `lost_before`. Lost
    /// packets stay in `late` for a while.
    pub(crate) fn forget(&mut self, now: Time, lost_before: Time) {
        while let Some(packet) = self.packets.front() {
            match packet.fate {
                Fate::InFlight => break,
                Fate::Lost if packet.sent_at >= lost_before => break,
                Fate::Lost => {
                    if self.late.len() == MOST_LATE {
                        self.late.pop_front();
                    }
                    self.late.push_back((self.base, *packet));
                    self.forget_front();
                }
                Fate::Acked => self.forget_front(),
            }
        }
        if self.late.front().is_some_and(|(_, packet)| packet.sent_at + LATE < now) {
            self.forget_late(now);
        }
    }

    #[cold]
    fn forget_late(&mut self, now: Time) {
        while let Some((_, packet)) = self.late.front()
            && (packet.sent_at + LATE < now || packet.fate != Fate::Lost)
        {
            self.late.pop_front();
        }
    }

    fn forget_front(&mut self) {
        self.packets.pop_front();
        self.base += 1;
    }
}

#[cfg(test)]
impl SentPacket {
    /// Returns a packet of 1000 bytes from `offset` on, sent at `ms`.
    pub(crate) fn of_test(offset: u64, ms: u64) -> Self {
        Self {
            sent_at: Time::from_ns(ms * 1_000_000),
            offset,
            snapshot: Snapshot::default(),
            payload_bytes: 1000,
            acked_bytes: 0,
            fate: Fate::InFlight,
            retransmission: false,
            filler: false,
            app_limited: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settled_packets_are_forgotten_from_the_front_and_lost_ones_only_after_a_while() {
        let mut packets = SentPackets::default();
        (0..4).for_each(|number| packets.push(SentPacket::of_test(number * 1000, number * 10)));
        let settle = |packets: &mut SentPackets, number, fate| {
            packets.get_mut(number).unwrap().fate = fate;
            packets.pass_settled();
        };
        settle(&mut packets, 1, Fate::Lost);
        assert_eq!(packets.first_in_flight(), 0);
        settle(&mut packets, 0, Fate::Acked);
        settle(&mut packets, 3, Fate::Acked);
        assert_eq!(packets.first_in_flight(), 2);
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        packets.forget(at(20), at(10));
        assert_eq!((packets.base(), packets.next_number()), (1, 4));
        packets.forget(at(20), at(11));
        assert_eq!((packets.base(), packets.get(0).is_none(), packets.first_in_flight()), (2, true, 2));
        assert_eq!(packets.get(1).map(|packet| packet.fate), Some(Fate::Lost), "it may yet arrive");
        packets.forget(at(10_011), at(11));
        assert!(packets.get(1).is_none());
        settle(&mut packets, 2, Fate::Acked);
        packets.forget(at(20_000), Time::ZERO);
        assert_eq!((packets.base(), packets.next_number(), packets.first_in_flight()), (4, 4, 4));
    }
}
