//! A link of constant rate: one packet at a time, each for as long as its bytes take.
//!
//! Serialization is exact: what a division leaves over is carried to the next packet, so a busy link neither gains
//! nor loses a nanosecond. A scheduled rate of 0 stops the link, the packet being sent included, until the next change.
//!
//! `device_packets` is the device queue below the queue discipline, as in ns-3's point-to-point devices (reference
//! `ccperf` 4.3): only the packets above it count for the queue's limit, so `packets = qlen` with one device packet
//! stores qlen + 2 packets in all. `framing_bytes` there is 2 (PPP).

use crate::element::{Element, Streams};
use crate::parameters::{Parameters, not_negative, rate, refuse, settable};
use crate::spec::Change;
use crate::stats::{BYTE_WORK, Buffer};
use crate::{LinkStats, Packet, QueueSpec, Tap};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use units::{Rate, Span, Time};

/// Most bytes of framing.
const MOST_FRAMING: f64 = 10_000.0;
/// Longest device queue.
const MOST_DEVICE_PACKETS: u32 = 1_000_000;

/// Parameters of a link.
#[derive(Deserialize, Serialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Name in statistics.
    pub name: Option<String>,
    /// Rate, Mbit/s.
    pub rate_mbps: f64,
    /// Bytes added to every packet on the wire; the queue does not count them.
    #[serde(default)]
    pub framing_bytes: u32,
    /// Packets in the device's own queue, below the queue discipline.
    #[serde(default)]
    pub device_packets: u32,
    /// Whether the packet being sent counts for the queue's limits (droptail only).
    #[serde(default)]
    pub count_in_service: bool,
    /// What waits.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
}

impl Parameters for LinkSpec {
    fn check(&self, running: bool) -> Result<(), String> {
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

    settable!(rate_mbps, framing_bytes, device_packets);
}

/// A link.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    buffer: Buffer,
    rate: Rate,
    device: VecDeque<Packet>,
    device_packets: usize,
    sending: Option<Packet>,
    /// When `sending` is out.
    finish: Time,
    /// Work beyond the last whole nanosecond before `finish`.
    remainder: u64,
    /// Work left of `sending` while the rate is zero.
    stalled: u64,
}

impl Link {
    pub(crate) fn build(spec: &LinkSpec, name: String, streams: &Streams<'_>) -> Result<Self, String> {
        let mut buffer = Buffer::build(&spec.queue, name, streams.queue())?
            .with_in_service(spec.count_in_service, &spec.queue);
        let rate = Rate::from_mbps(spec.rate_mbps);
        buffer.set_rate(rate);
        buffer.meter.framing_bytes = spec.framing_bytes;
        Ok(Self {
            buffer,
            rate,
            device: VecDeque::new(),
            device_packets: spec.device_packets as usize,
            sending: None,
            finish: Time::NEVER,
            remainder: 0,
            stalled: 0,
        })
    }

    pub(crate) fn change(&mut self, now: Time, spec: &LinkSpec) {
        self.buffer.meter.framing_bytes = spec.framing_bytes;
        self.device_packets = spec.device_packets as usize;
        let new = Rate::from_mbps(spec.rate_mbps);
        if new == self.rate {
            return;
        }
        self.buffer.meter.offer(now, self.rate);
        self.buffer.set_rate(new);
        let old = core::mem::replace(&mut self.rate, new);
        if self.sending.is_some() {
            let left = if old == Rate::ZERO {
                self.stalled
            } else {
                (self.finish - now).as_ns() * old.bps() + self.remainder
            };
            self.work_on(now, left);
        }
    }

    /// `work` is left of the packet being sent.
    fn work_on(&mut self, now: Time, work: u64) {
        if self.rate == Rate::ZERO {
            self.stalled = work;
            self.finish = Time::NEVER;
        } else {
            self.finish = now + Span::from_ns(work / self.rate.bps());
            self.remainder = work % self.rate.bps();
        }
    }

    #[inline]
    fn start(&mut self, now: Time, packet: Packet) {
        let bytes = packet.size_bytes + self.buffer.meter.framing_bytes;
        if self.rate == Rate::ZERO {
            self.work_on(now, u64::from(bytes) * BYTE_WORK + self.remainder);
        } else {
            let (span, remainder) = self.rate.time_for_exact(bytes, self.remainder);
            self.finish = now + span;
            self.remainder = remainder;
        }
        self.sending = Some(packet);
    }

    /// Moves packets down into the device and onto the wire.
    #[inline]
    fn refill<T: Tap>(&mut self, now: Time, tap: &mut T) {
        if self.sending.is_none() {
            let next = self.device.pop_front();
            let Some(packet) = next.or_else(|| self.buffer.dequeue(now, tap)) else {
                self.finish = Time::NEVER;
                self.remainder = 0;
                return;
            };
            self.start(now, packet);
        }
        while self.device.len() < self.device_packets {
            let Some(packet) = self.buffer.dequeue(now, tap) else { return };
            self.device.push_back(packet);
        }
    }
}

impl Element for Link {
    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) -> Option<Packet> {
        let sending = self.sending.as_ref().map(|sending| sending.size_bytes);
        self.buffer.enqueue(now, packet, sending, tap);
        if self.sending.is_none() || self.device.len() < self.device_packets {
            self.refill(now, tap);
        }
        None
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.finish
    }

    #[inline]
    fn step<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        let packet = self.sending.take()?;
        self.buffer.meter.sent(packet.size_bytes);
        self.refill(now, tap);
        Some(packet)
    }

    fn packets(&self) -> u64 {
        self.buffer.packets() + self.device.len() as u64 + u64::from(self.sending.is_some())
    }

    fn set_queue(&mut self, name: &str, value: f64) -> Result<(), String> {
        self.buffer.set(name, value)
    }

    fn stats(&self) -> Option<&LinkStats> {
        Some(&self.buffer.meter.stats)
    }

    fn finish(&mut self, now: Time) {
        self.buffer.meter.integrate(now);
        self.buffer.meter.offer(now, self.rate);
    }
}
