//! Link of constant rate: it sends one packet at a time, for a time proportional to its bytes.
//!
//! Serialization is exact: the remainder of a division is carried to the next packet, so a busy link neither gains nor
//! loses a nanosecond. A scheduled rate of 0 stops the link, including the packet being sent, until the next change.
//!
//! `device_packets` is the device queue below the queue discipline, as in ns-3's point-to-point devices
//! (`src/point-to-point/model/point-to-point-net-device.cc` of nsnam/ns-3-dev-git@ns-3.41). Only the packets above it
//! count for the queue's limit, so `packets = qlen` with one device packet stores qlen + 2 packets in all.
//! `framing_bytes` in ns-3 is 2 (PPP).

use crate::bucket::BYTE_WORK;
use crate::buffer::Buffer;
use crate::change::{Change, WalkSpec};
use crate::element::{Capacity, Element, ElementTable, Streams, Table, settings};
use crate::element_settings::{not_negative, rate, refuse};
use crate::fast_link::{FastLink, Terms};
use crate::{LinkTally, Packet, QueueSpec, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use strict_input::Refusal;
use units::{Rate, Span, Time};

/// Maximum bytes of framing.
const MOST_FRAMING: f64 = 10_000.0;
/// Maximum length of the device queue, packets.
const MOST_DEVICE_PACKETS: u32 = 1_000_000;

/// Settings of a link.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Name in statistics.
    pub name: Option<String>,
    /// Rate, Mbit/s; a scheduled 0 stops the link, including the packet being sent, until the next change.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub rate_mbps: f64,
    /// Bytes added to every packet on the wire; the queue does not count them.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000))]
    pub framing_bytes: u32,
    /// Length of the device's own queue below the queue discipline, packets, as in ns-3: only packets above it count
    /// for the limit.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub device_packets: u32,
    /// Quirk: the packet being sent counts for the queue's limits (droptail only).
    #[serde(default)]
    pub count_in_service: bool,
    /// Queue in front of the link.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of settings.
    pub walk: Option<WalkSpec>,
}

impl LinkSpec {
    /// Returns a link of this rate with the queue `queue`.
    pub fn new(rate_mbps: f64, queue: QueueSpec) -> Self {
        Self {
            name: None,
            rate_mbps,
            framing_bytes: 0,
            device_packets: 0,
            count_in_service: false,
            queue,
            schedule: Vec::new(),
            walk: None,
        }
    }
}

impl Table for LinkSpec {
    fn check(&self, running: bool) -> Result<(), Refusal> {
        // A link may be switched off for a while, but not from the start.
        if !(running && self.rate_mbps == 0.0) {
            rate("rate_mbps", self.rate_mbps)?;
        }
        not_negative("framing_bytes", f64::from(self.framing_bytes), MOST_FRAMING)?;
        if self.device_packets > MOST_DEVICE_PACKETS {
            return Err(refuse("device_packets", self.device_packets, "must be at most 1000000"));
        }
        Buffer::check_in_service(self.count_in_service, &self.queue)?;
        self.queue.validate()
    }

    fn queue(&self) -> Option<&QueueSpec> {
        Some(&self.queue)
    }

    fn capacity(&self) -> Option<Capacity> {
        Some(Capacity::steady(self.rate_mbps))
    }

    settings!(rate_mbps, framing_bytes, device_packets);
}

impl ElementTable for LinkSpec {
    type Element = Link;

    fn build(&self, name: String, streams: &Streams<'_>) -> Result<Link, Refusal> {
        let mut buffer = Buffer::build(&self.queue, name, streams.queue())?
            .with_in_service(self.count_in_service, &self.queue);
        let rate = Rate::from_mbps(self.rate_mbps);
        buffer.set_rate(rate);
        buffer.gauge.tally.framing_bytes = self.framing_bytes;
        Ok(Link {
            buffer,
            rate,
            device: VecDeque::new(),
            device_packets: self.device_packets as usize,
            hand_down_at: Time::NEVER,
            sending: Packet::new(0, 0, 0, 0, Time::ZERO),
            is_sending: false,
            sent_at: Time::NEVER,
            remainder: 0,
            stalled: 0,
        })
    }
}

/// A link.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    buffer: Buffer,
    rate: Rate,
    device: VecDeque<Packet>,
    device_packets: usize,
    /// Time at which the queue discipline refills the device.
    hand_down_at: Time,
    /// Packet being sent, or the last one. No `Option`, because taking a packet out of one stalls.
    sending: Packet,
    is_sending: bool,
    /// Time at which `sending` is sent completely.
    sent_at: Time,
    /// Work beyond the last whole nanosecond before `sent_at`.
    remainder: u64,
    /// Remaining work of `sending` while the rate is zero.
    stalled: u64,
}

impl Link {
    /// Returns this link, working ahead; `None` if its queue does not tell when packets leave.
    pub(crate) fn ahead(&self) -> Option<FastLink> {
        let (most_packets, most_bytes) = self.buffer.refuses_beyond()?;
        let terms = Terms { rate: self.rate, device_packets: self.device_packets, most_packets, most_bytes };
        FastLink::new(terms, self.buffer.gauge.clone())
    }

    /// Continues the packet being sent, of which `work` is left.
    fn work_on(&mut self, now: Time, work: u64) {
        if self.rate == Rate::ZERO {
            self.stalled = work;
            self.sent_at = Time::NEVER;
        } else {
            self.sent_at = now + Span::from_ns(work / self.rate.bps());
            self.remainder = work % self.rate.bps();
        }
    }

    #[inline]
    fn start(&mut self, now: Time, packet: Packet) {
        let bytes = packet.size_bytes + self.buffer.gauge.tally.framing_bytes;
        if self.rate == Rate::ZERO {
            self.work_on(now, u64::from(bytes) * BYTE_WORK + self.remainder);
        } else {
            let (span, remainder) = self.rate.time_for_exact(bytes, self.remainder);
            self.sent_at = now + span;
            self.remainder = remainder;
        }
        self.sending = packet;
        self.is_sending = true;
    }

    /// Moves packets down into the device and onto the wire.
    #[inline]
    fn refill<T: Tap>(&mut self, now: Time, tap: &mut T) {
        self.hand_down_at = Time::NEVER;
        if !self.is_sending {
            // Two branches, because one `Option` for both would be one more copy.
            if let Some(packet) = self.device.pop_front() {
                self.start(now, packet);
            } else if let Some(packet) = self.buffer.dequeue(now, tap) {
                self.start(now, packet);
            } else {
                self.sent_at = Time::NEVER;
                self.remainder = 0;
                return;
            }
        }
        while self.device.len() < self.device_packets {
            let Some(packet) = self.buffer.dequeue(now, tap) else { return };
            self.device.push_back(packet);
        }
    }
}

impl Element for Link {
    type Table = LinkSpec;

    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) -> Option<Packet> {
        let sending = self.is_sending.then_some(self.sending.size_bytes);
        self.buffer.enqueue(now, packet, sending, tap);
        if !self.is_sending || self.device.len() < self.device_packets {
            self.refill(now, tap);
        }
        None
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.sent_at.min(self.hand_down_at)
    }

    #[inline]
    fn step<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        if self.hand_down_at <= now && self.sent_at > now {
            self.refill(now, tap);
            return None;
        }
        if !self.is_sending {
            return None;
        }
        let packet = self.sending;
        self.is_sending = false;
        self.buffer.gauge.sent(packet.size_bytes);
        if let Some(next) = self.device.pop_front() {
            self.start(now, next);
            // As in ns-3 the device requests more packets by an event of its own. A packet that arrives at this very
            // moment finds the queue as full as before.
            self.hand_down_at = now + Span::from_ns(1);
        } else {
            self.refill(now, tap);
        }
        Some(packet)
    }

    fn change(&mut self, now: Time, table: &LinkSpec) {
        self.buffer.gauge.tally.framing_bytes = table.framing_bytes;
        self.device_packets = table.device_packets as usize;
        let new = Rate::from_mbps(table.rate_mbps);
        if new == self.rate {
            return;
        }
        self.buffer.gauge.offer(now, self.rate);
        self.buffer.set_rate(new);
        let old = core::mem::replace(&mut self.rate, new);
        if self.is_sending {
            let left = if old == Rate::ZERO {
                self.stalled
            } else {
                (self.sent_at - now).as_ns() * old.bps() + self.remainder
            };
            self.work_on(now, left);
        }
    }

    fn packets(&self) -> u64 {
        self.buffer.packets() + self.device.len() as u64 + u64::from(self.is_sending)
    }

    fn set_queue(&mut self, name: &str, value: f64) -> Result<(), Refusal> {
        self.buffer.set(name, value)
    }

    fn tally(&self) -> Option<&LinkTally> {
        Some(&self.buffer.gauge.tally)
    }

    fn watch_from(&mut self, at: Time) {
        self.buffer.gauge.watch_from(at);
    }

    fn settle(&mut self, now: Time) {
        self.buffer.gauge.integrate(now);
        self.buffer.gauge.offer(now, self.rate);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Bench, at_ms, at_us};
    use units::Time;

    const TWELVE: &str = r#"[{"kind": "link", "rate_mbps": 12}]"#;

    #[test]
    fn back_to_back_packets_leave_one_per_ms_at_12_mbps() {
        let mut bench = Bench::new(TWELVE);
        (0..5).for_each(|_| bench.send(Time::ZERO, 1500));
        bench.send(at_us(20_500), 750);
        bench.run_until(at_ms(100));
        assert_eq!(bench.times_us(), [1000, 2000, 3000, 4000, 5000, 21_000]);
    }

    #[test]
    fn a_busy_link_keeps_its_rate_to_the_nanosecond() {
        let mut bench = Bench::new(r#"[{"kind": "link", "rate_mbps": 100.42}]"#);
        (0..10_042).for_each(|_| bench.send(Time::ZERO, 1500));
        bench.run_until(at_ms(10_000));
        // 10042 x 12000 bit at 100.42 Mbit/s are 1.2 s; one packet alone takes 119498.1 ns, rounded down.
        assert_eq!(bench.out[0].0.as_ns(), 119_498);
        assert_eq!(bench.out[10_041].0, at_ms(1200));
    }

    #[test]
    fn what_arrives_as_a_frame_ends_finds_the_queue_above_the_device_full() {
        let link = |device: u32| {
            format!(
                r#"[{{"kind": "delay", "delay_ms": 1}}, {{"kind": "link", "rate_mbps": 12, "device_packets": {device},
                     "queue": {{"kind": "droptail", "packets": 1}}}}]"#
            )
        };
        // The queue is full. One packet arrives as the first frame ends, one a microsecond later. Without a device the
        // first of them finds room, with a device the second.
        for (device, dropped) in [(0, 3), (1, 3)] {
            let mut bench = Bench::new(&link(device));
            (0..2 + u64::from(device)).for_each(|_| bench.send(Time::ZERO, 1500));
            bench.send(at_ms(1), 1500);
            bench.send(at_us(1001), 1500);
            bench.run_until(at_ms(100));
            assert_eq!(bench.log.dropped, [dropped], "{device} packets in the device");
        }
    }

    #[test]
    fn statistics_are_those_of_the_hand_computed_case() {
        let mut bench = Bench::new(
            r#"[{"kind": "link", "name": "bottleneck", "rate_mbps": 12, "queue": {"kind": "droptail", "packets": 2}}]"#,
        );
        (0..4).for_each(|_| bench.send(Time::ZERO, 1500));
        let stats = bench.stats(at_ms(10));
        assert_eq!(stats.name, "bottleneck");
        assert_eq!((stats.packets_in, stats.packets_out, stats.packets_dropped), (4, 3, 1));
        assert_eq!((stats.bytes_in, stats.bytes_out, stats.bytes_dropped), (6000, 4500, 1500));
        // Two wait until 1 ms, one until 2 ms: 3 packet ms; delays 0 + 1 + 2 ms.
        assert_eq!((stats.queue_packet_ns, stats.queue_byte_ns), (3_000_000, 4_500_000_000));
        assert_eq!((stats.queueing_delay_ns, stats.max_queueing_delay_ns), (3_000_000, 2_000_000));
        assert_eq!((stats.max_queue_packets, stats.packets_dequeued), (2, 3));
        assert_eq!(stats.capacity_bits, 120_000);
        assert_eq!(bench.log.dropped, [3]);
    }

    #[test]
    fn framing_takes_time_and_counts_but_does_not_stay_on() {
        // 1500 + 2 bytes at 12.016 Mbit/s: 1 ms.
        let mut bench = Bench::new(r#"[{"kind": "link", "rate_mbps": 12.016, "framing_bytes": 2}]"#);
        bench.send(Time::ZERO, 1500);
        let stats = bench.stats(at_ms(3));
        assert_eq!((bench.times_us(), bench.out[0].1.size_bytes), (vec![1000], 1500));
        assert_eq!((stats.bytes_in, stats.bytes_out), (1502, 1502));
    }

    #[test]
    fn a_device_queue_stores_two_more_than_the_queue_discipline() {
        let count_inside = |device| {
            let mut bench = Bench::new(&format!(
                r#"[{{"kind": "link", "rate_mbps": 12, "device_packets": {device},
                      "queue": {{"kind": "droptail", "packets": 20}}}}]"#
            ));
            (0..40).for_each(|_| bench.send(Time::ZERO, 1500));
            bench.direction.packets_inside()
        };
        // qlen 20 + 1 in the device + 1 being sent; without a device queue one less.
        assert_eq!((count_inside(0), count_inside(1), count_inside(3)), (21, 22, 24));
    }

    #[test]
    fn packets_pass_the_device_queue_in_order_and_without_gaps() {
        let mut bench = Bench::new(r#"[{"kind": "link", "rate_mbps": 12, "device_packets": 1}]"#);
        (0..4).for_each(|_| bench.send(Time::ZERO, 1500));
        bench.run_until(at_ms(10));
        assert_eq!((bench.times_us(), bench.numbers()), (vec![1000, 2000, 3000, 4000], vec![0, 1, 2, 3]));
    }

    #[test]
    fn the_packet_being_sent_counts_for_the_limit_if_asked_to() {
        let count_inside = |limit: &str, in_service: bool| {
            let mut bench = Bench::new(&format!(
                r#"[{{"kind": "link", "rate_mbps": 12, "count_in_service": {in_service},
                      "queue": {{"kind": "droptail", {limit}}}}}]"#
            ));
            (0..9).for_each(|_| bench.send(Time::ZERO, 1500));
            assert!(bench.is_conserved());
            bench.direction.packets_inside()
        };
        assert_eq!((count_inside(r#""packets": 2"#, false), count_inside(r#""packets": 2"#, true)), (3, 2));
        assert_eq!((count_inside(r#""packets": 1"#, false), count_inside(r#""packets": 1"#, true)), (2, 1));
        assert_eq!((count_inside(r#""bytes": 4500"#, false), count_inside(r#""bytes": 4500"#, true)), (4, 3));
    }

    #[test]
    fn a_change_of_rate_applies_to_the_rest_of_the_packet_being_sent() {
        let mut bench = Bench::new(
            r#"[{"kind": "link", "rate_mbps": 12, "schedule": [{"at_s": 0.0005, "rate_mbps": 6},
                {"at_s": 0.01, "rate_mbps": 24}]}]"#,
        );
        (0..2).for_each(|_| bench.send(Time::ZERO, 1500));
        let stats = bench.stats(at_ms(20));
        // Half of the first packet by 0.5 ms, the other half takes 1 ms; the second packet takes 2 ms.
        assert_eq!(bench.times_us(), [1500, 3500]);
        // 6000 bit to 0.5 ms, 57000 to 10 ms, 240000 to 20 ms.
        assert_eq!(stats.capacity_bits, 303_000);
    }

    #[test]
    fn rate_zero_stops_the_link_until_the_next_change() {
        let mut bench = Bench::new(
            r#"[{"kind": "link", "rate_mbps": 12, "schedule": [{"at_s": 0.0005, "rate_mbps": 0},
                {"at_s": 1, "rate_mbps": 12}, {"at_s": 2, "rate_mbps": 0}, {"at_s": 3, "rate_mbps": 6}]}]"#,
        );
        (0..2).for_each(|_| bench.send(Time::ZERO, 1500));
        bench.send(at_ms(2500), 1500);
        let stats = bench.stats(at_ms(4000));
        assert_eq!(bench.times_us(), [1_000_500, 1_001_500, 3_002_000]);
        assert_eq!(stats.capacity_bits, 6000 + 12_000_000 + 6_000_000);
    }

    #[test]
    fn the_queue_can_change_during_the_run() {
        let mut bench = Bench::new(
            r#"[{"kind": "link", "rate_mbps": 12, "queue": {"kind": "droptail", "packets": 5},
                "schedule": [{"at_s": 1, "queue": {"packets": 2}}]}]"#,
        );
        (0..9).for_each(|_| bench.send(Time::ZERO, 1500));
        bench.run_until(at_ms(1000));
        (0..9).for_each(|_| bench.send(at_ms(1000), 1500));
        bench.run_until(at_ms(2000));
        assert_eq!(bench.out.len(), 6 + 3);
    }
}
