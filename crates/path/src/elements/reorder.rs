//! Reordering: random packets are held back and overtaken by later packets.
//!
//! A held packet continues after `delay_ms`, or after `gap` later packets have overtaken it; with both settings, at the
//! earlier of the two. With `gap` alone a packet stays if no packet follows.

use crate::change::{Change, WalkSpec};
use crate::element::{Element, ElementTable, Streams, Table, settings};
use crate::element_settings::{milliseconds_above_zero, probability, refuse};
use crate::{Packet, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use strict_input::Refusal;
use units::{Rng, Span, Time};

/// Settings of reordering; `delay_ms`, `gap` or both.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReorderSpec {
    /// Name, for the reader.
    pub name: Option<String>,
    /// Probability of holding a packet back.
    #[schemars(range(min = 0, max = 1))]
    pub probability: f64,
    /// Time that a packet is held, ms.
    #[schemars(range(min = 0.000_001, max = 3_600_000))]
    pub delay_ms: Option<f64>,
    /// Number of later packets that overtake a held packet; with `gap` alone a packet stays if no packet follows.
    #[schemars(range(min = 1))]
    pub gap: Option<u64>,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of settings.
    pub walk: Option<WalkSpec>,
}

impl Table for ReorderSpec {
    fn check(&self, _running: bool) -> Result<(), Refusal> {
        probability("probability", self.probability)?;
        self.delay_ms.map_or(Ok(()), |delay| milliseconds_above_zero("delay_ms", delay))?;
        if self.gap == Some(0) {
            return Err(refuse("gap", 0, "must be at least 1"));
        }
        if self.delay_ms.is_none() && self.gap.is_none() {
            return Err(Refusal::of_key("delay_ms, gap", "at least one is needed"));
        }
        Ok(())
    }

    settings!(probability, delay_ms, gap);
}

impl ElementTable for ReorderSpec {
    type Element = Reorder;

    fn build(&self, _name: String, streams: &Streams<'_>) -> Result<Reorder, Refusal> {
        let mut reorder = Reorder {
            probability: 0.0,
            delay: Span::ZERO,
            gap: 0,
            rng: streams.element(),
            passed_packets: 0,
            held_packets: VecDeque::new(),
            due: Time::NEVER,
        };
        reorder.change(Time::ZERO, self);
        Ok(reorder)
    }
}

#[derive(Clone, Copy, Debug)]
struct HeldPacket {
    packet: Packet,
    /// Latest departure.
    until: Time,
    /// Number of passed packets at which the packet leaves.
    passed_packets: u64,
}

/// Reordering.
#[derive(Clone, Debug)]
pub(crate) struct Reorder {
    probability: f64,
    delay: Span,
    gap: u64,
    rng: Rng,
    /// Total number of packets that were not held.
    passed_packets: u64,
    /// Held packets in order of arrival, which is also the order of departure.
    held_packets: VecDeque<HeldPacket>,
    due: Time,
}

impl Reorder {
    fn plan(&mut self, now: Time) {
        self.due = match self.held_packets.front() {
            None => Time::NEVER,
            Some(first) if first.passed_packets <= self.passed_packets => now,
            Some(first) => first.until.max(now),
        };
    }
}

impl Element for Reorder {
    type Table = ReorderSpec;

    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, _tap: &mut T) -> Option<Packet> {
        if self.rng.uniform() < self.probability {
            let passed_packets = self.passed_packets.saturating_add(self.gap);
            self.held_packets.push_back(HeldPacket { packet, until: now + self.delay, passed_packets });
            if self.held_packets.len() == 1 {
                self.plan(now);
            }
            return None;
        }
        self.passed_packets += 1;
        if !self.held_packets.is_empty() {
            self.plan(now);
        }
        Some(packet)
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.due
    }

    #[inline]
    fn step<T: Tap>(&mut self, now: Time, _tap: &mut T) -> Option<Packet> {
        let first = self.held_packets.pop_front();
        self.plan(now);
        first.map(|first| first.packet)
    }

    /// Applies new settings. Packets that are held already keep their conditions.
    fn change(&mut self, _now: Time, table: &ReorderSpec) {
        self.probability = table.probability;
        self.delay = table.delay_ms.map_or(Span::MAX, |ms| Span::from_secs_f64(ms / 1e3));
        self.gap = table.gap.unwrap_or(u64::MAX);
    }

    fn packets(&self) -> u64 {
        self.held_packets.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Bench, at_ms};

    /// Ten packets, 1 ms apart; packets from 2 to 3 ms are held.
    fn bench(terms: &str) -> Bench {
        let mut bench = Bench::new(&format!(
            r#"[{{"kind": "reorder", "probability": 0, {terms}, "schedule":
                [{{"at_s": 0.002, "probability": 1}}, {{"at_s": 0.004, "probability": 0}}]}}]"#
        ));
        (0..10).for_each(|i| bench.send(at_ms(i), 100));
        bench.run_until(at_ms(100));
        assert!(bench.is_conserved());
        bench
    }

    #[test]
    fn packets_are_held_for_a_time() {
        let bench = bench(r#""delay_ms": 3.5"#);
        assert_eq!(bench.numbers(), [0, 1, 4, 5, 2, 6, 3, 7, 8, 9]);
        assert_eq!(bench.times_us()[4], 5500);
    }

    #[test]
    fn packets_are_held_until_so_many_have_overtaken_them() {
        let bench = bench(r#""gap": 2"#);
        // Packet 5 is the second to overtake 2 and 3.
        assert_eq!(bench.numbers(), [0, 1, 4, 5, 2, 3, 6, 7, 8, 9]);
        assert_eq!(bench.times_us()[4..6], [5000, 5000]);
    }

    #[test]
    fn with_both_terms_the_first_to_come_counts() {
        assert_eq!(bench(r#""gap": 2, "delay_ms": 2.5"#).numbers(), [0, 1, 4, 2, 5, 3, 6, 7, 8, 9]);
        // Nothing overtakes at the end.
        let mut last = Bench::new(r#"[{"kind": "reorder", "probability": 1, "gap": 2, "delay_ms": 7}]"#);
        last.send(at_ms(1), 100);
        last.run_until(at_ms(100));
        assert_eq!(last.times_us(), [8000]);
    }
}
