//! Slotted delivery: packets wait for the next slot and leave in it together (frame aggregation, batching of ACKs).
//!
//! Slots are at `phase_ms`, `phase_ms + slot_ms`, ...; a packet that arrives at a slot waits for the next one. The
//! store is not limited.

use crate::change::{Change, WalkSpec};
use crate::element::{Element, ElementTable, Streams, Table, settings};
use crate::element_settings::{milliseconds, milliseconds_above_zero, refuse};
use crate::{Packet, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use strict_input::Refusal;
use units::{Span, Time};

/// Settings of slotted delivery.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AggregateSpec {
    /// Name, for the reader.
    pub name: Option<String>,
    /// Time between slots, ms.
    #[schemars(range(min = 0.000_001, max = 3_600_000))]
    pub slot_ms: f64,
    /// Maximum number of packets per slot.
    #[schemars(range(min = 1))]
    pub max_packets: Option<u32>,
    /// Time of the first slot, ms.
    #[serde(default)]
    #[schemars(range(min = 0, max = 3_600_000))]
    pub phase_ms: f64,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of settings.
    pub walk: Option<WalkSpec>,
}

impl Table for AggregateSpec {
    fn check(&self, _running: bool) -> Result<(), Refusal> {
        milliseconds_above_zero("slot_ms", self.slot_ms)?;
        milliseconds("phase_ms", self.phase_ms)?;
        if self.max_packets == Some(0) {
            return Err(refuse("max_packets", 0, "must be at least 1"));
        }
        Ok(())
    }

    settings!(slot_ms, max_packets, phase_ms);
}

impl ElementTable for AggregateSpec {
    type Element = Aggregate;

    fn build(&self, _name: String, _streams: &Streams<'_>) -> Result<Aggregate, Refusal> {
        Ok(Aggregate::new(self))
    }
}

/// Slotted delivery.
#[derive(Clone, Debug)]
pub(crate) struct Aggregate {
    slot: Span,
    phase: Time,
    max_packets: u32,
    waiting: VecDeque<Packet>,
    /// Slot at which the first packet leaves.
    due: Time,
    /// Number of packets that may still leave at `due`.
    left: u32,
}

impl Aggregate {
    fn new(spec: &AggregateSpec) -> Self {
        let mut aggregate = Self {
            slot: Span::ZERO,
            phase: Time::ZERO,
            max_packets: 0,
            waiting: VecDeque::new(),
            due: Time::NEVER,
            left: 0,
        };
        aggregate.adopt(spec);
        aggregate
    }

    /// Applies new settings. A slot that packets already wait for stays.
    fn adopt(&mut self, spec: &AggregateSpec) {
        self.slot = Span::from_secs_f64(spec.slot_ms / 1e3);
        self.phase = Time::from_secs_f64(spec.phase_ms / 1e3);
        self.max_packets = spec.max_packets.unwrap_or(u32::MAX);
    }

    /// Plans the first slot after `now`.
    fn plan(&mut self, now: Time) {
        self.left = self.max_packets;
        self.due = if now < self.phase {
            self.phase
        } else {
            self.phase + self.slot * ((now - self.phase).as_ns() / self.slot.as_ns() + 1)
        };
    }
}

impl Element for Aggregate {
    type Table = AggregateSpec;

    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, _tap: &mut T) -> Option<Packet> {
        if self.waiting.is_empty() {
            self.plan(now);
        }
        self.waiting.push_back(packet);
        None
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.due
    }

    #[inline]
    fn step<T: Tap>(&mut self, now: Time, _tap: &mut T) -> Option<Packet> {
        let packet = self.waiting.pop_front();
        self.left -= 1;
        if self.waiting.is_empty() {
            self.due = Time::NEVER;
        } else if self.left == 0 {
            self.plan(now);
        }
        packet
    }

    fn change(&mut self, _now: Time, table: &AggregateSpec) {
        self.adopt(table);
    }

    fn packets(&self) -> u64 {
        self.waiting.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Bench, at_ms, at_us};

    #[test]
    fn packets_leave_together_at_the_slots() {
        let mut bench = Bench::new(r#"[{"kind": "aggregate", "slot_ms": 10, "phase_ms": 3}]"#);
        for ms in [0, 2, 3, 12, 13, 14, 40] {
            bench.send(at_ms(ms), 100);
        }
        bench.run_until(at_ms(100));
        // Slots 3, 13, 23, 33, 43; an arrival at a slot waits for the next slot.
        assert_eq!(bench.times_us(), [3, 3, 13, 13, 23, 23, 43].map(|ms| ms * 1000));
    }

    #[test]
    fn a_slot_takes_no_more_than_its_limit() {
        let mut bench = Bench::new(r#"[{"kind": "aggregate", "slot_ms": 10, "max_packets": 2}]"#);
        (0..5).for_each(|_| bench.send(at_us(1), 100));
        bench.run_until(at_ms(100));
        assert_eq!(bench.times_us(), [10_000, 10_000, 20_000, 20_000, 30_000]);
    }
}
