//! Counters of a link.

use crate::{Packet, PacketEvent, Tap};
use units::{Rate, Time};

/// Raw counters of one link-like element. Bytes in, out and dropped contain the link's framing, if it has any. Waiting
/// bytes are the bytes that count for the queue's limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkTally {
    /// Name of the element; its kind if the user gave no name.
    pub name: String,
    /// Bytes that the link adds to every packet.
    pub framing_bytes: u32,
    /// Bits that the link could have sent until the last [`crate::Direction::settle`]; 0 for a link without a rate.
    pub capacity_bits: u128,
    /// Packets that arrived.
    pub packets_in: u64,
    /// Bytes that arrived.
    pub bytes_in: u64,
    /// Packets sent completely.
    pub packets_out: u64,
    /// Bytes of the packets sent completely.
    pub bytes_out: u64,
    /// Packets dropped by the queue.
    pub packets_dropped: u64,
    /// Bytes dropped by the queue.
    pub bytes_dropped: u64,
    /// Packets marked by the queue.
    pub packets_marked: u64,
    /// Packets waiting, without the packet being sent.
    pub queue_packets: u64,
    /// Bytes waiting.
    pub queue_bytes: u64,
    /// Maximum number of waiting packets; states without duration do not count.
    pub max_queue_packets: u64,
    /// Maximum number of waiting bytes; states without duration do not count.
    pub max_queue_bytes: u64,
    /// Time integral of `queue_packets`, packet ns.
    pub queue_packet_ns: u128,
    /// Time integral of `queue_bytes`, byte ns.
    pub queue_byte_ns: u128,
    /// Sum of the waiting times of the packets that left the queue towards the link, ns.
    pub queueing_delay_ns: u128,
    /// Longest waiting time, ns.
    pub max_queueing_delay_ns: u64,
    /// Longest waiting time of the packets that left the queue from [`crate::Direction::watch_from`] on, ns.
    pub watched_queueing_delay_ns: u64,
    /// Packets that left the queue towards the link.
    pub packets_dequeued: u64,
}

/// [`LinkTally`] with the times up to which its integrals reach.
#[derive(Clone, Debug)]
pub(crate) struct Gauge {
    pub(crate) tally: LinkTally,
    until: Time,
    /// Capacity up to `capacity_until`, in 10^-9 bit.
    capacity: u128,
    capacity_until: Time,
    /// Start of the second measurement of the longest waiting time.
    watch_from: Time,
}

impl Gauge {
    pub(crate) fn new(name: String) -> Self {
        let tally = LinkTally { name, ..LinkTally::default() };
        Self { tally, until: Time::ZERO, capacity: 0, capacity_until: Time::ZERO, watch_from: Time::NEVER }
    }

    pub(crate) const fn watch_from(&mut self, at: Time) {
        self.watch_from = at;
    }

    pub(crate) const fn watches_from(&self) -> Time {
        self.watch_from
    }

    /// Updates the integrals to `now`. States without duration do not count.
    #[inline]
    pub(crate) fn integrate(&mut self, now: Time) {
        let span = (now - self.until).as_ns();
        if span == 0 {
            return;
        }
        self.until = now;
        let tally = &mut self.tally;
        if tally.queue_packets > 0 {
            tally.queue_packet_ns += u128::from(tally.queue_packets) * u128::from(span);
            tally.queue_byte_ns += u128::from(tally.queue_bytes) * u128::from(span);
            tally.max_queue_packets = tally.max_queue_packets.max(tally.queue_packets);
            tally.max_queue_bytes = tally.max_queue_bytes.max(tally.queue_bytes);
        }
    }

    /// Adds the capacity of `rate` since the last call.
    pub(crate) fn offer(&mut self, now: Time, rate: Rate) {
        // A driver that samples late may have passed a change already.
        let now = now.max(self.capacity_until);
        self.capacity += u128::from(rate.bps()) * u128::from((now - self.capacity_until).as_ns());
        self.capacity_until = now;
        self.tally.capacity_bits = self.capacity / 1_000_000_000;
    }

    #[inline]
    pub(crate) fn arrived(&mut self, bytes: u32) {
        self.tally.packets_in += 1;
        self.tally.bytes_in += u64::from(bytes + self.tally.framing_bytes);
    }

    #[inline]
    pub(crate) fn sent(&mut self, bytes: u32) {
        self.tally.packets_out += 1;
        self.tally.bytes_out += u64::from(bytes + self.tally.framing_bytes);
    }

    #[inline]
    pub(crate) fn add_wait(&mut self, since: Time, now: Time) {
        let ns = (now - since).as_ns();
        self.tally.packets_dequeued += 1;
        self.tally.queueing_delay_ns += u128::from(ns);
        self.tally.max_queueing_delay_ns = self.tally.max_queueing_delay_ns.max(ns);
        if now >= self.watch_from {
            self.tally.watched_queueing_delay_ns = self.tally.watched_queueing_delay_ns.max(ns);
        }
    }

    /// Reports `packet` as dropped.
    pub(crate) fn dropped<T: Tap>(&mut self, now: Time, packet: &Packet, tap: &mut T) {
        self.counter(0, tap).packet(now, PacketEvent::Dropped, packet);
    }

    #[inline]
    pub(crate) fn counter<'a, T: Tap>(&'a mut self, header_bytes: u32, tap: &'a mut T) -> Counter<'a, T> {
        Counter { tap, tally: &mut self.tally, header_bytes }
    }
}

/// Counts drops and marks before they reach the driver's tap, and hides the header that only the queue counts.
pub(crate) struct Counter<'a, T> {
    tap: &'a mut T,
    tally: &'a mut LinkTally,
    header_bytes: u32,
}

impl<T: Tap> Tap for Counter<'_, T> {
    #[inline]
    fn packet(&mut self, now: Time, event: PacketEvent, packet: &Packet) {
        match event {
            PacketEvent::Dropped => {
                self.tally.packets_dropped += 1;
                self.tally.bytes_dropped +=
                    u64::from(packet.size_bytes + self.tally.framing_bytes - self.header_bytes);
            }
            PacketEvent::Marked => self.tally.packets_marked += 1,
            PacketEvent::Enqueued | PacketEvent::Dequeued | PacketEvent::Duplicated => {}
        }
        if self.header_bytes == 0 {
            self.tap.packet(now, event, packet);
        } else {
            let size_bytes = packet.size_bytes - self.header_bytes;
            self.tap.packet(now, event, &Packet { size_bytes, ..*packet });
        }
    }

    fn is_superseded(&self, older: &Packet, newer: &Packet) -> bool {
        self.tap.is_superseded(older, newer)
    }
}
