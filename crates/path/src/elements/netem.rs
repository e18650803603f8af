//! Quirk of Linux's netem as used by Mininet: one limit covers the packets in the delay line and those waiting for the
//! shaper above it.
//!
//! Mininet's links are `htb rate R burst 15k` with the child `netem delay D limit L` (`mininet/link.py` of
//! mininet/mininet). `limit_packets` counts the packets still being delayed, so of 77 packets at 46 Mbit/s and 10 ms
//! only about 38 can wait. Shaping comes after the delay. The bucket lets `burst_bytes` of excess pass without any
//! delay. Without `rate_mbps` the element is netem alone. Mininet's profile P2: 77 packets, 10 ms, 46 Mbit/s, 15360
//! bytes, with `deficit`.
//!
//! In the statistics all packets inside are waiting, as the limit counts; queueing delay is the time beyond `delay_ms`.

use crate::bucket::Bucket;
use crate::change::{Change, WalkSpec};
use crate::element::{Capacity, Element, ElementTable, Streams, Table, settings};
use crate::element_settings::{burst, milliseconds, rate, refuse};
use crate::link_counters::Gauge;
use crate::{LinkTally, Packet, PacketEvent, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use strict_input::Refusal;
use units::{Rate, Span, Time};

/// Settings of netem below a shaper.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetemSpec {
    /// Name in statistics.
    pub name: Option<String>,
    /// Delay before the shaper, ms.
    #[schemars(range(min = 0, max = 3_600_000))]
    pub delay_ms: f64,
    /// Maximum number of packets inside, delayed and waiting together; netem's default is 1000.
    #[serde(default = "thousand")]
    #[schemars(range(min = 1))]
    pub limit_packets: u64,
    /// Rate of the shaper, Mbit/s; needs `burst_bytes`; no shaper if absent.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub rate_mbps: Option<f64>,
    /// Depth of the shaper's bucket, bytes; needs `rate_mbps`.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub burst_bytes: Option<u64>,
    /// A packet leaves at any level that is not negative, as in htb.
    #[serde(default = "yes")]
    pub deficit: bool,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of settings.
    pub walk: Option<WalkSpec>,
}

fn thousand() -> u64 {
    1000
}
fn yes() -> bool {
    true
}

impl Table for NetemSpec {
    fn check(&self, _running: bool) -> Result<(), Refusal> {
        milliseconds("delay_ms", self.delay_ms)?;
        if self.limit_packets == 0 {
            return Err(refuse("limit_packets", 0, "must be at least 1"));
        }
        match (self.rate_mbps, self.burst_bytes) {
            (None, None) => Ok(()),
            (Some(mbps), Some(bytes)) => {
                rate("rate_mbps", mbps)?;
                burst("burst_bytes", bytes)
            }
            _ => Err(Refusal::of_key("rate_mbps, burst_bytes", "allowed is both or none")),
        }
    }

    fn delay_ms(&self) -> f64 {
        self.delay_ms
    }

    fn capacity(&self) -> Option<Capacity> {
        Some(Capacity::in_bursts(self.rate_mbps.unwrap_or(f64::INFINITY)))
    }

    settings!(delay_ms, limit_packets, rate_mbps, burst_bytes);
}

impl ElementTable for NetemSpec {
    type Element = Netem;

    fn build(&self, name: String, _streams: &Streams<'_>) -> Result<Netem, Refusal> {
        Ok(Netem {
            delay: Span::from_secs_f64(self.delay_ms / 1e3),
            limit: self.limit_packets,
            bucket: bucket(self),
            deficit: self.deficit,
            inside: VecDeque::new(),
            gauge: Gauge::new(name),
            due: Time::NEVER,
        })
    }
}

/// Netem below a shaper.
#[derive(Clone, Debug)]
pub(crate) struct Netem {
    delay: Span,
    limit: u64,
    bucket: Option<Bucket>,
    deficit: bool,
    /// Packets with the ends of their delays, in order.
    inside: VecDeque<(Time, Packet)>,
    gauge: Gauge,
    due: Time,
}

fn bucket(spec: &NetemSpec) -> Option<Bucket> {
    Some(Bucket::new(Rate::from_mbps(spec.rate_mbps?), spec.burst_bytes?))
}

impl Netem {
    fn offer(&mut self, now: Time) {
        self.gauge.offer(now, self.bucket.as_ref().map_or(Rate::ZERO, Bucket::rate));
    }

    #[inline]
    fn plan(&mut self) {
        let Some((delayed_until, packet)) = self.inside.front() else {
            self.due = Time::NEVER;
            return;
        };
        let ready = self.bucket.as_ref().map_or(Time::ZERO, |bucket| {
            bucket.ready(if self.deficit { 0 } else { bucket.need(packet.size_bytes) })
        });
        self.due = ready.max(*delayed_until);
    }

    #[inline]
    fn count(&mut self, now: Time, bytes: i64, packets: i64) {
        self.gauge.integrate(now);
        let tally = &mut self.gauge.tally;
        tally.queue_packets = tally.queue_packets.wrapping_add_signed(packets);
        tally.queue_bytes = tally.queue_bytes.wrapping_add_signed(bytes);
    }
}

impl Element for Netem {
    type Table = NetemSpec;

    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, mut packet: Packet, tap: &mut T) -> Option<Packet> {
        self.gauge.arrived(packet.size_bytes);
        if self.inside.len() as u64 >= self.limit {
            self.gauge.dropped(now, &packet, tap);
            return None;
        }
        self.count(now, i64::from(packet.size_bytes), 1);
        packet.queued = now;
        tap.packet(now, PacketEvent::Enqueued, &packet);
        let until = self.inside.back().map_or(Time::ZERO, |(last, _)| *last).max(now + self.delay);
        self.inside.push_back((until, packet));
        if self.inside.len() == 1 {
            self.plan();
        }
        None
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.due
    }

    #[inline]
    fn step<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        let (delayed_until, packet) = self.inside.pop_front()?;
        self.count(now, -i64::from(packet.size_bytes), -1);
        self.gauge.add_wait(delayed_until, now);
        self.gauge.sent(packet.size_bytes);
        if let Some(bucket) = &mut self.bucket {
            bucket.update(now);
            bucket.take(packet.size_bytes);
        }
        self.plan();
        tap.packet(now, PacketEvent::Dequeued, &packet);
        Some(packet)
    }

    fn change(&mut self, now: Time, table: &NetemSpec) {
        self.offer(now);
        self.delay = Span::from_secs_f64(table.delay_ms / 1e3);
        self.limit = table.limit_packets;
        if let (Some(bucket), Some(mbps), Some(bytes)) =
            (&mut self.bucket, table.rate_mbps, table.burst_bytes)
        {
            bucket.change(now, Rate::from_mbps(mbps), bytes);
        } else {
            self.bucket = bucket(table);
        }
        self.plan();
    }

    fn packets(&self) -> u64 {
        self.inside.len() as u64
    }

    fn tally(&self) -> Option<&LinkTally> {
        Some(&self.gauge.tally)
    }

    fn watch_from(&mut self, at: Time) {
        self.gauge.watch_from(at);
    }

    fn settle(&mut self, now: Time) {
        self.gauge.integrate(now);
        self.offer(now);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Bench, at_ms, at_us};
    use units::{Span, Time};

    /// One direction of a Mininet link of 46 Mbit/s, 10 ms and 77 packets: netem's limit and delay, then HTB's rate and
    /// burst (mininet/mininet, mininet/link.py, `TCIntf`).
    const MININET: &str = r#"[{"kind": "netem", "delay_ms": 10, "limit_packets": 77, "rate_mbps": 46,
        "burst_bytes": 15360}]"#;

    #[test]
    fn the_limit_counts_packets_still_in_the_delay_line() {
        let mut bench = Bench::new(MININET);
        // 100 packets within 10 ms: nothing has left yet, so 77 fit.
        (0..100).for_each(|i| bench.send(at_us(i * 50), 1482));
        assert_eq!(bench.log.dropped, (77..100).collect::<Vec<u64>>());
    }

    #[test]
    fn at_line_rate_half_of_the_limit_is_in_the_delay_line() {
        let mut bench = Bench::new(MININET);
        // 1482 bytes at 46 Mbit/s take 257.74 us: twice the rate for 200 ms.
        (0..1552).for_each(|i| bench.send(Time::ZERO + Span::from_ns(i * 128_870), 1482));
        let stats = bench.stats(at_ms(200));
        assert_eq!(stats.max_queue_packets, 77);
        // Everything inside leaves within 77 x 257.74 us = 19.8 ms, of which 10 are the delay: 38 packets can wait.
        let wait = stats.max_queueing_delay_ns;
        assert!((9_000_000..=9_900_000).contains(&wait), "{wait} ns");
        // 190 ms of 46 Mbit/s, and the bucket's 15360 bytes with one packet of debt at most.
        let bits = stats.bytes_out * 8;
        assert!((8_740_000..=8_740_000 + (15_360 + 1482) * 8).contains(&bits), "{bits}");
        assert_eq!(stats.capacity_bits, 9_200_000);
    }

    #[test]
    fn the_bucket_forgives_a_burst_after_the_delay() {
        let mut bench = Bench::new(MININET);
        (0..12).for_each(|_| bench.send(Time::ZERO, 1536));
        bench.run_until(at_ms(100));
        // 15360 = 10 x 1536: ten packets leave with their tokens, the eleventh at level 0. The twelfth leaves when 1536
        // bytes of debt are paid: 12288 bit / 46 Mbit/s = 267.13 us.
        let mut expected = vec![10_000; 11];
        expected.push(10_267);
        assert_eq!(bench.times_us(), expected);
    }

    #[test]
    fn without_a_rate_it_is_a_delay_with_a_limit() {
        let mut bench = Bench::new(r#"[{"kind": "netem", "delay_ms": 5, "limit_packets": 2}]"#);
        for ms in [0, 1, 2, 5] {
            bench.send(at_ms(ms), 100);
        }
        let stats = bench.stats(at_ms(100));
        assert_eq!((bench.times_us(), bench.log.dropped.clone()), (vec![5000, 6000, 10_000], vec![2]));
        assert_eq!((stats.capacity_bits, stats.queueing_delay_ns), (0, 0));
    }
}
