//! Loss that does not depend on what was lost before: random, periodic, or a list of packets.
//!
//! One random number is drawn per packet, so the same seed loses the same packets by their index, whatever their times.

use crate::change::{Change, WalkSpec};
use crate::element::{Element, ElementTable, Streams, Table, settings};
use crate::element_settings::{probability, refuse};
use crate::{Packet, PacketEvent, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rng, Time};

/// Settings of loss; exactly one of `probability`, `every` and `packets`. Packets are counted from 1, all flows
/// together.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossSpec {
    /// Name, for the reader.
    pub name: Option<String>,
    /// Probability of losing a packet; one draw per packet.
    #[schemars(range(min = 0, max = 1))]
    pub probability: Option<f64>,
    /// Lose every so many-th packet.
    #[schemars(range(min = 1))]
    pub every: Option<u64>,
    /// Lose these packets: ascending numbers from 1.
    pub packets: Option<Vec<u64>>,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of settings.
    pub walk: Option<WalkSpec>,
}

impl LossSpec {
    /// Loss of each packet with this probability.
    pub fn random(probability: f64) -> Self {
        Self {
            name: None,
            probability: Some(probability),
            every: None,
            packets: None,
            schedule: Vec::new(),
            walk: None,
        }
    }
}

impl Table for LossSpec {
    fn check(&self, _running: bool) -> Result<(), Refusal> {
        match (self.probability, self.every, &self.packets) {
            (Some(value), None, None) => probability("probability", value),
            (None, Some(every), None) if every == 0 => Err(refuse("every", every, "must be at least 1")),
            (None, Some(_), None) => Ok(()),
            (None, None, Some(packets)) => {
                let mut last = 0;
                for (index, &packet) in packets.iter().enumerate() {
                    if packet <= last {
                        let allowed = format!("must be above {last}: packets are counted from 1 and ascend");
                        return Err(refuse(&format!("packets[{index}]"), packet, allowed));
                    }
                    last = packet;
                }
                Ok(())
            }
            _ => Err(Refusal::of_key("probability, every, packets", "exactly one is needed")),
        }
    }

    fn loss(&self) -> Option<f64> {
        self.probability
    }

    settings!(probability, every);
}

impl ElementTable for LossSpec {
    type Element = Loss;

    fn build(&self, _name: String, streams: &Streams<'_>) -> Result<Loss, Refusal> {
        let rule = match (self.every, &self.packets) {
            (Some(every), _) => Rule::Every(every),
            (None, Some(packets)) => Rule::List(packets.as_slice().into(), 0),
            (None, None) => Rule::Random(self.probability.unwrap_or(0.0)),
        };
        Ok(Loss { rule, seen: 0, rng: streams.element() })
    }
}

/// Loss.
#[derive(Clone, Debug)]
pub(crate) struct Loss {
    rule: Rule,
    /// Packets seen.
    seen: u64,
    rng: Rng,
}

#[derive(Clone, Debug)]
enum Rule {
    Random(f64),
    Every(u64),
    /// Indexes, and the position of the next one.
    List(Box<[u64]>, usize),
}

impl Element for Loss {
    type Table = LossSpec;

    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) -> Option<Packet> {
        self.seen += 1;
        let is_lost = match &mut self.rule {
            Rule::Random(probability) => self.rng.uniform() < *probability,
            Rule::Every(every) => self.seen.is_multiple_of(*every),
            Rule::List(packets, next) => {
                let is_next = packets.get(*next) == Some(&self.seen);
                *next += usize::from(is_next);
                is_next
            }
        };
        if is_lost {
            tap.packet(now, PacketEvent::Dropped, &packet);
            return None;
        }
        Some(packet)
    }

    fn change(&mut self, _now: Time, table: &LossSpec) {
        match &mut self.rule {
            Rule::Random(probability) => *probability = table.probability.unwrap_or(0.0),
            Rule::Every(every) => *every = table.every.unwrap_or(*every),
            Rule::List(..) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Bench, at_ms, at_us};

    fn dropped(json: &str, seed: u64, gap_us: u64) -> Vec<u64> {
        let mut bench = Bench::seeded(&format!("[{json}]"), seed);
        (0..100_000).for_each(|i| bench.send(at_us(i * gap_us), 100));
        assert!(bench.is_conserved());
        bench.log.dropped
    }

    #[test]
    fn random_loss_has_its_probability_and_repeats_by_seed_and_packet() {
        let json = r#"{"kind": "loss", "probability": 0.0477}"#;
        let first = dropped(json, 1, 10);
        // Deviation sqrt(100000 x 0.0477 x 0.9523) = 67; four of them.
        assert!((first.len() as f64 - 4770.0).abs() < 270.0, "{}", first.len());
        assert_eq!(first, dropped(json, 1, 777));
        assert_ne!(first, dropped(json, 2, 10));
    }

    #[test]
    fn probability_zero_and_one_are_exact() {
        assert!(dropped(r#"{"kind": "loss", "probability": 0}"#, 1, 1).is_empty());
        assert_eq!(dropped(r#"{"kind": "loss", "probability": 1}"#, 1, 1).len(), 100_000);
    }

    #[test]
    fn periodic_and_listed_loss_count_packets_from_one() {
        let every = dropped(r#"{"kind": "loss", "every": 30000}"#, 1, 1);
        assert_eq!(every, [29_999, 59_999, 89_999]);
        let listed = dropped(r#"{"kind": "loss", "packets": [1, 3, 15]}"#, 1, 1);
        assert_eq!(listed, [0, 2, 14]);
    }

    #[test]
    fn loss_can_be_scheduled() {
        let json = r#"[{"kind": "loss", "probability": 0,
            "schedule": [{"at_s": 1, "probability": 1}, {"at_s": 2, "probability": 0}]}]"#;
        let mut bench = Bench::new(json);
        (0..30).for_each(|i| bench.send(at_ms(i * 100), 100));
        assert_eq!(bench.log.dropped, (10..20).collect::<Vec<u64>>());
    }
}
