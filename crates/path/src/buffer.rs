//! Queue with its counters.

use crate::link_counters::Gauge;
use crate::queues::{Queue, QueueSpec};
use crate::{Packet, Tap};
use strict_input::Refusal;
use units::{Rate, Rng, Time};

/// Queue with its counters.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    queue: Queue,
    /// Bytes that the queue adds to the size of every packet, invisible outside (Mahimahi's TUN header).
    header_bytes: u32,
    /// Limits of the queue, if the packet being sent counts too.
    limits: Option<Limits>,
    pub(crate) gauge: Gauge,
}

#[derive(Clone, Copy, Debug)]
struct Limits {
    packets: u64,
    bytes: u64,
}

impl Buffer {
    pub(crate) fn build(spec: &QueueSpec, name: String, rng: Rng) -> Result<Self, Refusal> {
        let gauge = Gauge::new(name);
        Ok(Self { queue: Queue::build(spec, rng)?, header_bytes: 0, limits: None, gauge })
    }

    /// Checks that the packet being sent may count for the limits of a queue of `spec`.
    pub(crate) fn check_in_service(count: bool, spec: &QueueSpec) -> Result<(), Refusal> {
        if count && !matches!(spec, QueueSpec::Droptail(_)) {
            return Err(Refusal::of_value("count_in_service", true, "allowed only with a `droptail` queue"));
        }
        Ok(())
    }

    /// Makes the packet being sent count for the limits of the queue of `spec` if `count`.
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

    /// Handles the arrival of `packet` while a packet of `sending` bytes, if any, is being sent.
    #[inline]
    pub(crate) fn enqueue<T: Tap>(
        &mut self,
        now: Time,
        mut packet: Packet,
        sending: Option<u32>,
        tap: &mut T,
    ) {
        self.gauge.integrate(now);
        self.gauge.arrived(packet.size_bytes);
        if let (Some(limits), Some(sending)) = (self.limits, sending) {
            let sizes = [sending, packet.size_bytes].map(|size| u64::from(size + self.header_bytes));
            let bytes = self.queue.bytes() + sizes[0] + sizes[1];
            if self.queue.packets() + 2 > limits.packets || bytes > limits.bytes {
                self.gauge.dropped(now, &packet, tap);
                return;
            }
        }
        packet.size_bytes += self.header_bytes;
        self.queue.enqueue(now, packet, &mut self.gauge.counter(self.header_bytes, tap));
        self.observe();
    }

    #[inline]
    pub(crate) fn dequeue<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        if self.queue.is_empty() {
            return None;
        }
        self.gauge.integrate(now);
        let packet = self.queue.dequeue(now, &mut self.gauge.counter(self.header_bytes, tap));
        self.observe();
        let mut packet = packet?;
        packet.size_bytes -= self.header_bytes;
        self.gauge.add_wait(packet.queued, now);
        Some(packet)
    }

    #[inline]
    fn observe(&mut self) {
        self.gauge.tally.queue_packets = self.queue.packets();
        self.gauge.tally.queue_bytes = self.queue.bytes();
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Returns the maximum number of waiting packets and bytes, if the queue has no other rule and nothing waits.
    pub(crate) fn refuses_beyond(&self) -> Option<(u64, u64)> {
        let only = self.limits.is_none() && self.header_bytes == 0 && self.queue.is_empty();
        only.then(|| self.queue.refuses_beyond())?
    }

    pub(crate) fn packets(&self) -> u64 {
        self.queue.packets()
    }

    pub(crate) fn set(&mut self, name: &str, value: f64) -> Result<(), Refusal> {
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
        buffer.gauge.watch_from(at_ms(8));
        buffer.enqueue(at_ms(1), packet(0, 1000), None, &mut NoTap);
        buffer.enqueue(at_ms(3), packet(1, 500), None, &mut NoTap);
        buffer.enqueue(at_ms(3), packet(2, 500), None, &mut NoTap);
        assert!(buffer.dequeue(at_ms(6), &mut NoTap).is_some());
        assert!(buffer.dequeue(at_ms(10), &mut NoTap).is_some());
        assert!(buffer.dequeue(at_ms(10), &mut NoTap).is_none());
        buffer.gauge.integrate(at_ms(20));
        let tally = &buffer.gauge.tally;
        // One packet from 1 to 3 ms, two from 3 to 6, one from 6 to 10: 2 + 6 + 4 = 12 packet ms.
        assert_eq!(tally.queue_packet_ns, 12_000_000);
        // 1000 x 2 + 1500 x 3 + 500 x 4 = 8500 byte ms.
        assert_eq!(tally.queue_byte_ns, 8_500_000_000);
        // 6 - 1 and 10 - 3 ms.
        assert_eq!((tally.queueing_delay_ns, tally.max_queueing_delay_ns), (12_000_000, 7_000_000));
        assert_eq!(tally.watched_queueing_delay_ns, 7_000_000);
        assert_eq!((tally.max_queue_packets, tally.max_queue_bytes), (2, 1500));
        assert_eq!((tally.packets_dropped, tally.bytes_dropped), (1, 500));
    }

    #[test]
    fn a_queue_that_is_left_at_once_was_never_long() {
        let mut buffer = Buffer::build(&QueueSpec::default(), String::new(), Rng::new(1, "queue")).unwrap();
        buffer.enqueue(at_ms(1), Packet::new(0, 0, 1500, 0, Time::ZERO), None, &mut NoTap);
        assert!(buffer.dequeue(at_ms(1), &mut NoTap).is_some());
        buffer.gauge.integrate(at_ms(9));
        assert_eq!((buffer.gauge.tally.max_queue_packets, buffer.gauge.tally.queue_packet_ns), (0, 0));
    }
}
