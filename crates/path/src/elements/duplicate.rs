//! Duplication: a duplicate follows its original immediately.

use crate::change::{Change, WalkSpec};
use crate::element::{Element, ElementTable, Streams, Table, settings};
use crate::element_settings::probability;
use crate::{Packet, PacketEvent, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rng, Time};

/// Settings of duplication.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DuplicateSpec {
    /// Name, for the reader.
    pub name: Option<String>,
    /// Probability of duplicating a packet.
    #[schemars(range(min = 0, max = 1))]
    pub probability: f64,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of settings.
    pub walk: Option<WalkSpec>,
}

impl Table for DuplicateSpec {
    fn check(&self, _running: bool) -> Result<(), Refusal> {
        probability("probability", self.probability)
    }

    settings!(probability);
}

impl ElementTable for DuplicateSpec {
    type Element = Duplicate;

    fn build(&self, _name: String, streams: &Streams<'_>) -> Result<Duplicate, Refusal> {
        Ok(Duplicate { probability: self.probability, rng: streams.element(), copy: None, due: Time::NEVER })
    }
}

/// Duplication.
#[derive(Clone, Debug)]
pub(crate) struct Duplicate {
    probability: f64,
    rng: Rng,
    /// Duplicate that is about to follow its original. At most one exists, because it leaves at the time of its
    /// creation, before any arrival.
    copy: Option<Packet>,
    due: Time,
}

impl Element for Duplicate {
    type Table = DuplicateSpec;

    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) -> Option<Packet> {
        debug_assert!(self.copy.is_none(), "the copy leaves before the next arrival");
        if self.rng.uniform() < self.probability {
            tap.packet(now, PacketEvent::Duplicated, &packet);
            self.copy = Some(packet);
            self.due = now;
        }
        Some(packet)
    }

    fn next_event(&self) -> Time {
        self.due
    }

    fn step<T: Tap>(&mut self, _now: Time, _tap: &mut T) -> Option<Packet> {
        self.due = Time::NEVER;
        self.copy.take()
    }

    fn change(&mut self, _now: Time, table: &DuplicateSpec) {
        self.probability = table.probability;
    }

    fn packets(&self) -> u64 {
        u64::from(self.copy.is_some())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Bench, at_ms};
    use units::Time;

    #[test]
    fn copies_follow_their_originals() {
        let json = r#"[{"kind": "duplicate", "probability": 1}, {"kind": "link", "rate_mbps": 12}]"#;
        let mut bench = Bench::new(json);
        (0..3).for_each(|_| bench.send(Time::ZERO, 1500));
        bench.run_until(at_ms(100));
        assert_eq!(bench.numbers(), [0, 0, 1, 1, 2, 2]);
        assert_eq!(bench.log.duplicated, [0, 1, 2]);
        assert_eq!(bench.times_us(), [1000, 2000, 3000, 4000, 5000, 6000]);
    }

    #[test]
    fn copies_of_copies_are_made_too() {
        let json = r#"[{"kind": "duplicate", "probability": 1}, {"kind": "duplicate", "probability": 1}]"#;
        let mut bench = Bench::new(json);
        (0..2).for_each(|_| bench.send(Time::ZERO, 1500));
        assert_eq!(bench.numbers(), [0, 0, 0, 0, 1, 1, 1, 1]);
        assert!(bench.is_conserved());
    }
}
