//! Bursty deliveries: packets wait for the next slot boundary and then for an offset that is drawn for each slot, as in
//! cellular schedulers.
//!
//! A packet leaves at the first multiple of `slot_ms` at or after its arrival, plus that slot's offset, uniform in [0,
//! `slot_ms`). Order is kept: a packet waits for earlier packets. The store is not limited.

use crate::change::{Change, WalkSpec};
use crate::element::{Element, ElementTable, Streams, Table, settings};
use crate::element_settings::{milliseconds, refuse};
use crate::store::Line;
use crate::{Packet, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rng, Span, Time};

/// Shortest slot: bounds the draws per simulated second.
const SHORTEST_SLOT_MS: f64 = 0.001;

/// Settings of bursty deliveries.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlottedSpec {
    /// Name, for the reader.
    pub name: Option<String>,
    /// Time between slots, and range of their offsets, ms.
    #[schemars(range(min = 0.001, max = 3_600_000))]
    pub slot_ms: f64,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of settings.
    pub walk: Option<WalkSpec>,
}

impl Table for SlottedSpec {
    fn check(&self, _running: bool) -> Result<(), Refusal> {
        milliseconds("slot_ms", self.slot_ms)?;
        if self.slot_ms < SHORTEST_SLOT_MS {
            return Err(refuse("slot_ms", self.slot_ms, "must be at least 0.001"));
        }
        Ok(())
    }

    settings!(slot_ms);
}

impl ElementTable for SlottedSpec {
    type Element = BurstyDelivery;

    fn build(&self, _name: String, streams: &Streams<'_>) -> Result<BurstyDelivery, Refusal> {
        let (slot, mut rng) = (span(self), streams.element());
        let offset = slot.mul_f64(rng.uniform());
        Ok(BurstyDelivery { slot, boundary: Time::ZERO, offset, rng, line: Line::new() })
    }
}

/// Bursty deliveries.
#[derive(Clone, Debug)]
pub(crate) struct BurstyDelivery {
    slot: Span,
    /// Slot drawn last, and its offset.
    boundary: Time,
    offset: Span,
    rng: Rng,
    line: Line,
}

impl BurstyDelivery {
    /// Returns the departure of a packet that arrives at `now`. There is one draw per slot, used or not, so draws do
    /// not depend on the traffic.
    fn release(&mut self, now: Time) -> Time {
        while self.boundary < now {
            self.boundary += self.slot;
            self.offset = self.slot.mul_f64(self.rng.uniform());
        }
        self.boundary + self.offset
    }
}

fn span(spec: &SlottedSpec) -> Span {
    Span::from_secs_f64(spec.slot_ms / 1e3)
}

impl Element for BurstyDelivery {
    type Table = SlottedSpec;

    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, _tap: &mut T) -> Option<Packet> {
        let time = self.release(now);
        self.line.push(time, packet);
        None
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.line.due()
    }

    #[inline]
    fn step<T: Tap>(&mut self, _now: Time, _tap: &mut T) -> Option<Packet> {
        self.line.pop()
    }

    /// Applies new settings. The new slots follow the last old slot that was used.
    fn change(&mut self, _now: Time, table: &SlottedSpec) {
        self.slot = span(table);
    }

    fn packets(&self) -> u64 {
        self.line.packets()
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Bench, at_us};
    use units::Time;

    const JSON: &str = r#"[{"kind": "slotted", "slot_ms": 10}]"#;

    /// Returns arrival and departure times in us of packets that arrive every `gap_us`.
    fn times(gap_us: u64, count: u64) -> Vec<(u64, u64)> {
        let mut bench = Bench::new(JSON);
        (0..count).for_each(|i| bench.send(at_us(1 + i * gap_us), 100));
        bench.run_until(Time::from_secs_f64(1e4));
        assert!(bench.is_conserved() && bench.numbers().is_sorted());
        bench.times_us().into_iter().enumerate().map(|(i, out)| (1 + i as u64 * gap_us, out)).collect()
    }

    #[test]
    fn packets_of_a_slot_leave_together_after_its_end() {
        let times = times(500, 4000);
        for pair in times.windows(2) {
            let same_slot = (pair[0].0 - 1) / 10_000 == (pair[1].0 - 1) / 10_000;
            assert!(!same_slot || pair[0].1 == pair[1].1, "{pair:?}");
        }
        assert!(times.iter().all(|(arrival, out)| *out >= arrival.next_multiple_of(10_000)));
        // Offsets are below one slot: no packet waits longer than to the boundary and one slot more.
        assert!(times.iter().all(|(arrival, out)| *out < arrival.next_multiple_of(10_000) + 10_000));
    }

    #[test]
    fn offsets_are_uniform_and_do_not_depend_on_the_traffic() {
        let sparse = times(10_000, 20_000);
        let mean =
            sparse.iter().map(|(arrival, out)| (out - arrival.next_multiple_of(10_000)) as f64).sum::<f64>()
                / sparse.len() as f64;
        // 20000 draws with a deviation of 2887 us: standard error 20 us.
        assert!((mean - 5000.0).abs() < 100.0, "{mean}");
        let dense = times(1000, 1000);
        assert!(dense.iter().step_by(10).map(|(_, out)| out).eq(sparse[..100].iter().map(|(_, out)| out)));
    }
}
