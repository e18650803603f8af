//! Periodic blackouts: nothing passes for `lasts_ms` in every `every_ms`, as when a terminal changes its satellite or
//! cell.
//!
//! The first blackout begins at `first_ms`. Packets that arrive in a blackout are lost, or held until its end and
//! released together, in order. The store is not limited.

use crate::change::{Change, WalkSpec};
use crate::element::{Element, ElementTable, Streams, Table, settings};
use crate::element_settings::{milliseconds, milliseconds_above_zero, refuse};
use crate::store::Line;
use crate::{Packet, PacketEvent, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Span, Time};

/// Settings of blackouts.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlackoutSpec {
    /// Name, for the reader.
    pub name: Option<String>,
    /// Time from the beginning of a blackout to the beginning of the next, ms.
    #[schemars(range(min = 0.000_001, max = 3_600_000))]
    pub every_ms: f64,
    /// Length of a blackout, ms; below `every_ms`.
    #[schemars(range(min = 0, max = 3_600_000))]
    pub lasts_ms: f64,
    /// Beginning of the first blackout, ms.
    #[serde(default)]
    #[schemars(range(min = 0, max = 3_600_000))]
    pub first_ms: f64,
    /// Hold packets that arrive in a blackout until its end; false: they are lost.
    #[serde(default)]
    pub hold: bool,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of settings.
    pub walk: Option<WalkSpec>,
}

impl Table for BlackoutSpec {
    fn check(&self, _running: bool) -> Result<(), Refusal> {
        milliseconds_above_zero("every_ms", self.every_ms)?;
        milliseconds("lasts_ms", self.lasts_ms)?;
        milliseconds("first_ms", self.first_ms)?;
        if self.lasts_ms >= self.every_ms {
            let allowed = format!("must be below every_ms = {}", self.every_ms);
            return Err(refuse("lasts_ms", self.lasts_ms, allowed));
        }
        Ok(())
    }

    settings!(every_ms, lasts_ms, first_ms);
}

impl ElementTable for BlackoutSpec {
    type Element = Blackout;

    fn build(&self, _name: String, _streams: &Streams<'_>) -> Result<Blackout, Refusal> {
        Ok(Blackout { times: Times::of(self), hold: self.hold, line: Line::new() })
    }
}

/// Blackouts.
#[derive(Clone, Debug)]
pub(crate) struct Blackout {
    times: Times,
    hold: bool,
    line: Line,
}

/// Times of the blackouts.
#[derive(Clone, Copy, Debug)]
struct Times {
    first: Time,
    every: Span,
    lasts: Span,
}

impl Times {
    fn of(spec: &BlackoutSpec) -> Self {
        Self {
            first: Time::from_secs_f64(spec.first_ms / 1e3),
            every: Span::from_secs_f64(spec.every_ms / 1e3),
            lasts: Span::from_secs_f64(spec.lasts_ms / 1e3),
        }
    }

    /// Returns the end of the blackout at `now`, if there is one.
    fn end_of(self, now: Time) -> Option<Time> {
        if now < self.first {
            return None;
        }
        let since = Span::from_ns((now - self.first).as_ns() % self.every.as_ns());
        (since < self.lasts).then(|| now + (self.lasts - since))
    }
}

impl Element for Blackout {
    type Table = BlackoutSpec;

    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) -> Option<Packet> {
        match self.times.end_of(now) {
            None if self.line.packets() == 0 => return Some(packet),
            // After a change of the times, new packets must not pass waiting packets.
            None => self.line.push(now, packet),
            Some(end) if self.hold => self.line.push(end, packet),
            Some(_) => tap.packet(now, PacketEvent::Dropped, &packet),
        }
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

    /// Applies new times. Waiting packets keep their departure times.
    fn change(&mut self, _now: Time, table: &BlackoutSpec) {
        self.times = Times::of(table);
    }

    fn packets(&self) -> u64 {
        self.line.packets()
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Bench, at_ms};

    #[test]
    fn what_arrives_in_a_blackout_is_lost() {
        let mut bench =
            Bench::new(r#"[{"kind": "blackout", "every_ms": 100, "lasts_ms": 20, "first_ms": 50}]"#);
        (0..30).for_each(|i| bench.send(at_ms(i * 10), 100));
        // Blackouts are from 50 to 70 ms, from 150 to 170 ms, and so on; the end is excluded.
        assert_eq!(bench.log.dropped, [5, 6, 15, 16, 25, 26]);
        assert!(bench.is_conserved());
    }

    #[test]
    fn what_is_held_leaves_together_at_the_end_and_in_order() {
        let mut bench =
            Bench::new(r#"[{"kind": "blackout", "every_ms": 100, "lasts_ms": 35, "hold": true}]"#);
        for ms in [0, 20, 34, 35, 50, 110] {
            bench.send(at_ms(ms), 100);
        }
        bench.run_until(at_ms(500));
        assert_eq!(bench.times_us(), [35, 35, 35, 35, 50, 135].map(|ms| ms * 1000));
        assert!(bench.log.dropped.is_empty() && bench.numbers().is_sorted());
    }

    #[test]
    fn a_blackout_without_length_stops_nothing() {
        let mut bench = Bench::new(r#"[{"kind": "blackout", "every_ms": 10, "lasts_ms": 0}]"#);
        (0..100).for_each(|i| bench.send(at_ms(i), 100));
        assert!(bench.log.dropped.is_empty());
    }

    #[test]
    fn packets_that_wait_are_not_overtaken_after_a_change() {
        let mut bench = Bench::new(
            r#"[{"kind": "blackout", "every_ms": 1000, "lasts_ms": 100, "hold": true,
                "schedule": [{"at_s": 0.05, "lasts_ms": 10}]}]"#,
        );
        bench.send(at_ms(20), 100);
        bench.send(at_ms(60), 100);
        bench.run_until(at_ms(2000));
        assert_eq!(bench.times_us(), [100_000, 100_000]);
    }
}
