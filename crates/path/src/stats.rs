//! What a link counts, and the queue with its counters.

use crate::queue::{Queue, QueueSpec};
use crate::{Packet, PacketEvent, Tap};
use units::{Rate, Rng, Time};

/// Work of one byte, in 10^-9 bit: rates (bit/s) times ns give the same unit.
pub(crate) const BYTE_WORK: u64 = 8_000_000_000;

/// Raw counters of one link-like element. Bytes in, out and dropped contain the link's framing, where it has any;
/// bytes waiting are those that the queue's limit counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Name of the element; its kind if it was given none.
    pub name: String,
    /// Bytes that the link adds to every packet.
    pub framing_bytes: u32,
    /// Bits the link could have sent until the last [`crate::Direction::finish`]; 0 for one without a rate.
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
    /// Packets waiting; the one being sent is not among them.
    pub queue_packets: u64,
    /// Bytes waiting.
    pub queue_bytes: u64,
    /// Most packets that waited for longer than an instant.
    pub max_queue_packets: u64,
    /// Most bytes that waited for longer than an instant.
    pub max_queue_bytes: u64,
    /// Time integral of `queue_packets`, packet ns.
    pub queue_packet_ns: u128,
    /// Time integral of `queue_bytes`, byte ns.
    pub queue_byte_ns: u128,
    /// Sum of the waiting times of the packets that left the queue towards the link, ns.
    pub queueing_delay_ns: u128,
    /// Longest waiting time, ns.
    pub max_queueing_delay_ns: u64,
    /// The same of the packets that left the queue from [`crate::Direction::watch_from`] on.
    pub watched_queueing_delay_ns: u64,
    /// Packets that left the queue towards the link.
    pub packets_dequeued: u64,
}

/// [`LinkStats`] and the time up to which its integrals reach.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    pub(crate) stats: LinkStats,
    until: Time,
    /// Capacity up to `capacity_until`, in 10^-9 bit.
    capacity: u128,
    capacity_until: Time,
    /// From when the longest waiting time is kept a second time.
    watch_from: Time,
}

impl Meter {
    pub(crate) fn new(name: String) -> Self {
        let stats = LinkStats { name, ..LinkStats::default() };
        Self { stats, until: Time::ZERO, capacity: 0, capacity_until: Time::ZERO, watch_from: Time::NEVER }
    }

    pub(crate) const fn watch_from(&mut self, at: Time) {
        self.watch_from = at;
    }

    /// Brings the integrals up to `now`. States that lasted no time leave no trace.
    #[inline]
    pub(crate) fn integrate(&mut self, now: Time) {
        let span = (now - self.until).as_ns();
        if span == 0 {
            return;
        }
        self.until = now;
        let stats = &mut self.stats;
        if stats.queue_packets > 0 {
            stats.queue_packet_ns += u128::from(stats.queue_packets) * u128::from(span);
            stats.queue_byte_ns += u128::from(stats.queue_bytes) * u128::from(span);
            stats.max_queue_packets = stats.max_queue_packets.max(stats.queue_packets);
            stats.max_queue_bytes = stats.max_queue_bytes.max(stats.queue_bytes);
        }
    }

    /// Accounts for `rate` having been on offer since the last call.
    pub(crate) fn offer(&mut self, now: Time, rate: Rate) {
        // A driver that samples late may be past a change already.
        let now = now.max(self.capacity_until);
        self.capacity += u128::from(rate.bps()) * u128::from((now - self.capacity_until).as_ns());
        self.capacity_until = now;
        self.stats.capacity_bits = self.capacity / 1_000_000_000;
    }

    #[inline]
    pub(crate) fn arrived(&mut self, bytes: u32) {
        self.stats.packets_in += 1;
        self.stats.bytes_in += u64::from(bytes + self.stats.framing_bytes);
    }

    #[inline]
    pub(crate) fn sent(&mut self, bytes: u32) {
        self.stats.packets_out += 1;
        self.stats.bytes_out += u64::from(bytes + self.stats.framing_bytes);
    }

    #[inline]
    pub(crate) fn waited(&mut self, since: Time, now: Time) {
        let ns = (now - since).as_ns();
        self.stats.packets_dequeued += 1;
        self.stats.queueing_delay_ns += u128::from(ns);
        self.stats.max_queueing_delay_ns = self.stats.max_queueing_delay_ns.max(ns);
        if now >= self.watch_from {
            self.stats.watched_queueing_delay_ns = self.stats.watched_queueing_delay_ns.max(ns);
        }
    }

    /// Reports `packet` as dropped.
    pub(crate) fn drop<T: Tap>(&mut self, now: Time, packet: &Packet, tap: &mut T) {
        self.counter(0, tap).packet(now, PacketEvent::Dropped, packet);
    }

    #[inline]
    fn counter<'a, T: Tap>(&'a mut self, header_bytes: u32, tap: &'a mut T) -> Counter<'a, T> {
        Counter { tap, stats: &mut self.stats, header_bytes }
    }
}

/// Counts drops and marks on their way to a tap, and hides the header that only the queue counts.
struct Counter<'a, T> {
    tap: &'a mut T,
    stats: &'a mut LinkStats,
    header_bytes: u32,
}

impl<T: Tap> Tap for Counter<'_, T> {
    #[inline]
    fn packet(&mut self, now: Time, event: PacketEvent, packet: &Packet) {
        match event {
            PacketEvent::Dropped => {
                self.stats.packets_dropped += 1;
                self.stats.bytes_dropped +=
                    u64::from(packet.size_bytes + self.stats.framing_bytes - self.header_bytes);
            }
            PacketEvent::Marked => self.stats.packets_marked += 1,
            PacketEvent::Enqueued | PacketEvent::Dequeued | PacketEvent::Duplicated => {}
        }
        if self.header_bytes == 0 {
            self.tap.packet(now, event, packet);
        } else {
            let size_bytes = packet.size_bytes - self.header_bytes;
            self.tap.packet(now, event, &Packet { size_bytes, ..*packet });
        }
    }
}

/// A queue with its counters.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    queue: Queue,
    /// Bytes that the queue counts on top of every packet, unseen outside (Mahimahi's TUN header).
    header_bytes: u32,
    /// The queue's limits, if the packet being sent counts for them too.
    limits: Option<Limits>,
    pub(crate) meter: Meter,
}

#[derive(Clone, Copy, Debug)]
struct Limits {
    packets: u64,
    bytes: u64,
}

impl Buffer {
    pub(crate) fn build(spec: &QueueSpec, name: String, rng: Rng) -> Result<Self, String> {
        let meter = Meter::new(name);
        Ok(Self { queue: Queue::build(spec, rng)?, header_bytes: 0, limits: None, meter })
    }

    /// Whether the packet being sent may be made to count for the limits of such a queue.
    pub(crate) fn check_in_service(count: bool, spec: &QueueSpec) -> Result<(), String> {
        if count && !matches!(spec, QueueSpec::Droptail(_)) {
            return Err("count_in_service = true: allowed only with a `droptail` queue".to_owned());
        }
        Ok(())
    }

    /// With the packet being sent counting for the limits of the queue of `spec` if `count`.
    pub(crate) fn with_in_service(self, count: bool, spec: &QueueSpec) -> Self {
        let limits = match spec {
            QueueSpec::Droptail(spec) if count => Some(Limits {
                packets: spec.packets.unwrap_or(u64::MAX),
                bytes: spec.bytes.unwrap_or(u64::MAX),
            }),
            _ => None,
        };
        Self { limits, ..self }
    }

    pub(crate) fn with_header(self, header_bytes: u32) -> Self {
        Self { header_bytes, ..self }
    }

    /// `packet` arrives while a packet of `sending` bytes, if any, is being sent.
    #[inline]
    pub(crate) fn enqueue<T: Tap>(
        &mut self,
        now: Time,
        mut packet: Packet,
        sending: Option<u32>,
        tap: &mut T,
    ) {
        self.meter.integrate(now);
        self.meter.arrived(packet.size_bytes);
        if let (Some(limits), Some(sending)) = (self.limits, sending) {
            let sizes = [sending, packet.size_bytes].map(|size| u64::from(size + self.header_bytes));
            let bytes = self.queue.bytes() + sizes[0] + sizes[1];
            if self.queue.packets() + 2 > limits.packets || bytes > limits.bytes {
                self.meter.drop(now, &packet, tap);
                return;
            }
        }
        packet.size_bytes += self.header_bytes;
        self.queue.enqueue(now, packet, &mut self.meter.counter(self.header_bytes, tap));
        self.observe();
    }

    #[inline]
    pub(crate) fn dequeue<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        if self.queue.is_empty() {
            return None;
        }
        self.meter.integrate(now);
        let packet = self.queue.dequeue(now, &mut self.meter.counter(self.header_bytes, tap));
        self.observe();
        let mut packet = packet?;
        packet.size_bytes -= self.header_bytes;
        self.meter.waited(packet.queued, now);
        Some(packet)
    }

    #[inline]
    fn observe(&mut self) {
        self.meter.stats.queue_packets = self.queue.packets();
        self.meter.stats.queue_bytes = self.queue.bytes();
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(crate) fn packets(&self) -> u64 {
        self.queue.packets()
    }

    pub(crate) fn set(&mut self, name: &str, value: f64) -> Result<(), String> {
        self.queue.set(name, value)?;
        if let Some(limits) = &mut self.limits {
            *(if name == "packets" { &mut limits.packets } else { &mut limits.bytes }) = value as u64;
        }
        Ok(())
    }

    pub(crate) fn set_rate(&mut self, rate: Rate) {
        self.queue.set_rate(rate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DroptailSpec, NoTap};
    use units::Span;

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn integrals_delays_and_maxima_are_exact() {
        let spec = QueueSpec::Droptail(DroptailSpec { packets: Some(2), bytes: None });
        let mut buffer = Buffer::build(&spec, "link".to_owned(), Rng::new(1, "queue")).unwrap();
        let packet = |number, size| Packet::new(0, number, size, 0, Time::ZERO);
        buffer.meter.watch_from(at_ms(8));
        buffer.enqueue(at_ms(1), packet(0, 1000), None, &mut NoTap);
        buffer.enqueue(at_ms(3), packet(1, 500), None, &mut NoTap);
        buffer.enqueue(at_ms(3), packet(2, 500), None, &mut NoTap);
        assert!(buffer.dequeue(at_ms(6), &mut NoTap).is_some());
        assert!(buffer.dequeue(at_ms(10), &mut NoTap).is_some());
        assert!(buffer.dequeue(at_ms(10), &mut NoTap).is_none());
        buffer.meter.integrate(at_ms(20));
        let stats = &buffer.meter.stats;
        // One packet for 1 to 3 ms, two for 3 to 6, one for 6 to 10: 2 + 6 + 4 = 12 packet ms.
        assert_eq!(stats.queue_packet_ns, 12_000_000);
        // 1000 x 2 + 1500 x 3 + 500 x 4 = 8500 byte ms.
        assert_eq!(stats.queue_byte_ns, 8_500_000_000);
        // 6 - 1 and 10 - 3 ms.
        assert_eq!((stats.queueing_delay_ns, stats.max_queueing_delay_ns), (12_000_000, 7_000_000));
        assert_eq!(stats.watched_queueing_delay_ns, 7_000_000);
        assert_eq!((stats.max_queue_packets, stats.max_queue_bytes), (2, 1500));
        assert_eq!((stats.packets_dropped, stats.bytes_dropped), (1, 500));
    }

    #[test]
    fn a_queue_that_is_left_at_once_was_never_long() {
        let mut buffer = Buffer::build(&QueueSpec::default(), String::new(), Rng::new(1, "queue")).unwrap();
        buffer.enqueue(at_ms(1), Packet::new(0, 0, 1500, 0, Time::ZERO), None, &mut NoTap);
        assert!(buffer.dequeue(at_ms(1), &mut NoTap).is_some());
        buffer.meter.integrate(at_ms(9));
        assert_eq!((buffer.meter.stats.max_queue_packets, buffer.meter.stats.queue_packet_ns), (0, 0));
    }
}
