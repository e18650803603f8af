//! The quirk of Linux's netem as Mininet uses it: one limit for the packets in the delay line and those waiting for
//! the shaper above it.
//!
//! Mininet's links are `htb rate R burst 15k` with the child `netem delay D limit L` (reference `schemes-window` 3.7):
//! `limit_packets` counts the packets still being delayed, so of 77 packets at 46 Mbit/s and 10 ms only about 38 can
//! wait; shaping comes after the delay; and the bucket forgives `burst_bytes` of excess without any delay. Without
//! `rate_mbps` it is netem alone. Profile P2 there: 77 packets, 10 ms, 46 Mbit/s, 15360 bytes, with `deficit`.
//!
//! Waiting packets in the statistics are all inside, as the limit counts; queueing delay is what exceeds `delay_ms`.

use crate::bucket::Bucket;
use crate::element::Element;
use crate::parameters::{Parameters, burst, milliseconds, rate, refuse, settable};
use crate::spec::Change;
use crate::stats::Meter;
use crate::{LinkStats, Packet, PacketEvent, Tap};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use units::{Rate, Span, Time};

/// Parameters of netem below a shaper.
#[derive(Deserialize, Serialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct NetemSpec {
    /// Name in statistics.
    pub name: Option<String>,
    /// Delay, ms.
    pub delay_ms: f64,
    /// Most packets inside, delayed and waiting together; netem's default is 1000.
    #[serde(default = "thousand")]
    pub limit_packets: u64,
    /// Rate of the shaper, Mbit/s; none if absent.
    pub rate_mbps: Option<f64>,
    /// Depth of its bucket, bytes; needed with `rate_mbps`.
    pub burst_bytes: Option<u64>,
    /// Let a packet leave on any level that is not negative, as htb does.
    #[serde(default = "yes")]
    pub deficit: bool,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
}

fn thousand() -> u64 {
    1000
}
fn yes() -> bool {
    true
}

impl Parameters for NetemSpec {
    fn check(&self, _running: bool) -> Result<(), String> {
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
            _ => Err("rate_mbps, burst_bytes: allowed is both or none".to_owned()),
        }
    }

    settable!(delay_ms, limit_packets, rate_mbps, burst_bytes);
}

/// Netem below a shaper.
#[derive(Clone, Debug)]
pub(crate) struct Netem {
    delay: Span,
    limit: u64,
    bucket: Option<Bucket>,
    deficit: bool,
    /// Each with the end of its delay; in order.
    inside: VecDeque<(Time, Packet)>,
    meter: Meter,
    due: Time,
}

fn bucket(spec: &NetemSpec) -> Option<Bucket> {
    Some(Bucket::new(Rate::from_mbps(spec.rate_mbps?), spec.burst_bytes?))
}

impl Netem {
    pub(crate) fn new(spec: &NetemSpec, name: String) -> Self {
        Self {
            delay: Span::from_secs_f64(spec.delay_ms / 1e3),
            limit: spec.limit_packets,
            bucket: bucket(spec),
            deficit: spec.deficit,
            inside: VecDeque::new(),
            meter: Meter::new(name),
            due: Time::NEVER,
        }
    }

    pub(crate) fn change(&mut self, now: Time, spec: &NetemSpec) {
        self.offer(now);
        self.delay = Span::from_secs_f64(spec.delay_ms / 1e3);
        self.limit = spec.limit_packets;
        if let (Some(bucket), Some(mbps), Some(bytes)) = (&mut self.bucket, spec.rate_mbps, spec.burst_bytes)
        {
            bucket.change(now, Rate::from_mbps(mbps), bytes);
        } else {
            self.bucket = bucket(spec);
        }
        self.plan();
    }

    fn offer(&mut self, now: Time) {
        self.meter.offer(now, self.bucket.as_ref().map_or(Rate::ZERO, Bucket::rate));
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
        self.meter.integrate(now);
        let stats = &mut self.meter.stats;
        stats.queue_packets = stats.queue_packets.wrapping_add_signed(packets);
        stats.queue_bytes = stats.queue_bytes.wrapping_add_signed(bytes);
    }
}

impl Element for Netem {
    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, mut packet: Packet, tap: &mut T) -> Option<Packet> {
        self.meter.arrived(packet.size_bytes);
        if self.inside.len() as u64 >= self.limit {
            self.meter.drop(now, &packet, tap);
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
        self.meter.waited((now - delayed_until).as_ns());
        self.meter.sent(packet.size_bytes);
        if let Some(bucket) = &mut self.bucket {
            bucket.update(now);
            bucket.take(packet.size_bytes);
        }
        self.plan();
        tap.packet(now, PacketEvent::Dequeued, &packet);
        Some(packet)
    }

    fn packets(&self) -> u64 {
        self.inside.len() as u64
    }

    fn stats(&self) -> Option<&LinkStats> {
        Some(&self.meter.stats)
    }

    fn finish(&mut self, now: Time) {
        self.meter.integrate(now);
        self.offer(now);
    }
}
