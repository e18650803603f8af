//! Loss that does not depend on earlier losses: random, periodic, or a list of packets.
//!
//! One random number is drawn per packet, so one seed loses the same packets, by index, at any arrival times.
//! `min_bytes` and `max_bytes` limit the packets that the element considers: others pass, are not counted and need no
//! random number.

use crate::change::{Change, WalkSpec};
use crate::element::{Element, ElementTable, Streams, Table, settings};
use crate::element_settings::{packet_bytes, probability, refuse};
use crate::{Packet, PacketEvent, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use strict_input::Refusal;
use units::{Rng, Time};

/// Settings of loss; exactly one of `probability`, `every`, `keep_every` and `packets`. Packets are counted from 1, all
/// flows together.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossSpec {
    /// Name, for the reader.
    pub name: Option<String>,
    /// Probability of losing a packet; one draw per packet.
    #[schemars(range(min = 0, max = 1))]
    pub probability: Option<f64>,
    /// Lose every n-th packet.
    #[schemars(range(min = 1))]
    pub every: Option<u64>,
    /// Lose all but the first of every n packets, as a thinning of ACKs does.
    #[schemars(range(min = 1))]
    pub keep_every: Option<u64>,
    /// Lose these packets: ascending numbers from 1.
    pub packets: Option<Vec<u64>>,
    /// Smallest packet that can be lost, bytes with the path's overhead.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub min_bytes: Option<u32>,
    /// Largest packet that can be lost, bytes with the path's overhead.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_bytes: Option<u32>,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of settings.
    pub walk: Option<WalkSpec>,
}

impl LossSpec {
    /// Returns a loss of each packet with this probability.
    pub fn random(probability: f64) -> Self {
        Self {
            name: None,
            probability: Some(probability),
            every: None,
            keep_every: None,
            packets: None,
            min_bytes: None,
            max_bytes: None,
            schedule: Vec::new(),
            walk: None,
        }
    }
}

impl Table for LossSpec {
    fn check(&self, _running: bool) -> Result<(), Refusal> {
        self.check_sizes()?;
        match (self.probability, self.every, self.keep_every, &self.packets) {
            (Some(value), None, None, None) => probability("probability", value),
            (None, Some(every), None, None) => at_least_one("every", every),
            (None, None, Some(every), None) => at_least_one("keep_every", every),
            (None, None, None, Some(packets)) => {
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
            _ => Err(Refusal::of_key("probability, every, keep_every, packets", "exactly one is needed")),
        }
    }

    fn loss(&self) -> Option<f64> {
        let is_of_all = self.min_bytes.is_none() && self.max_bytes.is_none();
        self.probability.filter(|_| is_of_all)
    }

    settings!(probability, every, keep_every, min_bytes, max_bytes);
}

fn at_least_one(name: &str, number: u64) -> Result<(), Refusal> {
    if number == 0 { Err(refuse(name, number, "must be at least 1")) } else { Ok(()) }
}

impl LossSpec {
    fn check_sizes(&self) -> Result<(), Refusal> {
        for (name, bytes) in [("min_bytes", self.min_bytes), ("max_bytes", self.max_bytes)] {
            bytes.map_or(Ok(()), |bytes| packet_bytes(name, bytes))?;
        }
        match (self.min_bytes, self.max_bytes) {
            (Some(min), Some(max)) if max < min => {
                Err(refuse("max_bytes", max, format!("must be at least min_bytes = {min}")))
            }
            _ => Ok(()),
        }
    }

    /// Returns the sizes of the packets that can be lost.
    fn sizes(&self) -> RangeInclusive<u32> {
        self.min_bytes.unwrap_or(0)..=self.max_bytes.unwrap_or(u32::MAX)
    }
}

impl ElementTable for LossSpec {
    type Element = Loss;

    fn build(&self, _name: String, streams: &Streams<'_>) -> Result<Loss, Refusal> {
        let rule = match (self.every, self.keep_every, &self.packets) {
            (Some(every), ..) => Rule::Every(every),
            (None, Some(every), _) => Rule::AllButEvery(every),
            (None, None, Some(packets)) => Rule::List(packets.as_slice().into(), 0),
            (None, None, None) => Rule::Random(self.probability.unwrap_or(0.0)),
        };
        Ok(Loss { rule, sizes: self.sizes(), arrivals: 0, rng: streams.element() })
    }
}

/// Loss.
#[derive(Clone, Debug)]
pub(crate) struct Loss {
    rule: Rule,
    /// Sizes of the packets that can be lost.
    sizes: RangeInclusive<u32>,
    /// Number of packets considered so far.
    arrivals: u64,
    rng: Rng,
}

#[derive(Clone, Debug)]
enum Rule {
    Random(f64),
    Every(u64),
    /// Losses of all packets but the first of every n.
    AllButEvery(u64),
    /// Indexes of the lost packets, and the position of the next one.
    List(Box<[u64]>, usize),
}

impl Element for Loss {
    type Table = LossSpec;

    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) -> Option<Packet> {
        if !self.sizes.contains(&packet.size_bytes) {
            return Some(packet);
        }
        self.arrivals += 1;
        let is_lost = match &mut self.rule {
            Rule::Random(probability) => self.rng.uniform() < *probability,
            Rule::Every(every) => self.arrivals.is_multiple_of(*every),
            Rule::AllButEvery(every) => !(self.arrivals - 1).is_multiple_of(*every),
            Rule::List(packets, next) => {
                let is_next = packets.get(*next) == Some(&self.arrivals);
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
        self.sizes = table.sizes();
        match &mut self.rule {
            Rule::Random(probability) => *probability = table.probability.unwrap_or(0.0),
            Rule::Every(every) => *every = table.every.unwrap_or(*every),
            Rule::AllButEvery(every) => *every = table.keep_every.unwrap_or(*every),
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

    /// Returns the numbers of the lost packets. Sizes are 40, 1000, 40, 1000, ..., one packet per millisecond.
    fn dropped_of_two_sizes(json: &str) -> Vec<u64> {
        let mut bench = Bench::new(&format!("[{json}]"));
        (0..20).for_each(|i| bench.send(at_ms(i), if i % 2 == 0 { 40 } else { 1000 }));
        assert!(bench.is_conserved());
        bench.log.dropped
    }

    #[test]
    fn only_packets_of_the_given_sizes_are_looked_at() {
        let large = r#"{"kind": "loss", "probability": 1, "min_bytes": 41}"#;
        assert_eq!(dropped_of_two_sizes(large), [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
        // The limits belong to the range. The third small packet is number 4, the sixth number 10, the ninth number 16.
        let small = r#"{"kind": "loss", "every": 3, "min_bytes": 40, "max_bytes": 40}"#;
        assert_eq!(dropped_of_two_sizes(small), [4, 10, 16]);
    }

    #[test]
    fn a_thinning_keeps_the_first_of_so_many() {
        let acks = r#"{"kind": "loss", "keep_every": 4, "max_bytes": 100}"#;
        // Small packets are 0, 2, 4, ...; of these 0, 8 and 16 pass.
        assert_eq!(dropped_of_two_sizes(acks), [2, 4, 6, 10, 12, 14, 18]);
        assert!(dropped_of_two_sizes(r#"{"kind": "loss", "keep_every": 1}"#).is_empty());
    }

    #[test]
    fn a_black_hole_begins_by_schedule() {
        let json = r#"[{"kind": "loss", "probability": 1, "min_bytes": 1000000,
            "schedule": [{"at_s": 0.005, "min_bytes": 1401}]}]"#;
        let mut bench = Bench::new(json);
        (0..10).for_each(|i| bench.send(at_ms(i), if i == 7 { 1400 } else { 1500 }));
        assert_eq!(bench.log.dropped, [5, 6, 8, 9]);
    }
}
