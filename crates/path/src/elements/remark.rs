//! Rewriting of the ECN field: a path that clears it, exchanges the two ECN-capable codepoints, or sets or clears CE.
//!
//! One random number is drawn per packet, for every codepoint. So one seed rewrites the same packets, by index.

use crate::change::{Change, WalkSpec};
use crate::element::{Element, ElementTable, Streams, Table, settings};
use crate::element_settings::{probability, refuse};
use crate::{Ecn, Packet, PacketEvent, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rng, Time};

/// Packets that are rewritten, by their codepoint.
#[derive(Deserialize, Serialize, Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RemarkFrom {
    /// Not ECN-capable.
    NotEct,
    /// ECT(0).
    Ect0,
    /// ECT(1).
    Ect1,
    /// ECT(0) or ECT(1).
    Ect,
    /// Congestion experienced.
    Ce,
    /// ECT(0), ECT(1) or CE.
    Capable,
    /// Every packet.
    Any,
}

impl RemarkFrom {
    const fn contains(self, ecn: Ecn) -> bool {
        match self {
            Self::NotEct => !ecn.is_capable(),
            Self::Ect0 => ecn.bits() == Ecn::ECT0.bits(),
            Self::Ect1 => ecn.bits() == Ecn::ECT1.bits(),
            Self::Ect => ecn.is_capable() && ecn.bits() != Ecn::CE.bits(),
            Self::Ce => ecn.bits() == Ecn::CE.bits(),
            Self::Capable => ecn.is_capable(),
            Self::Any => true,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::NotEct => "not-ect",
            Self::Ect0 => "ect0",
            Self::Ect1 => "ect1",
            Self::Ect => "ect",
            Self::Ce => "ce",
            Self::Capable => "capable",
            Self::Any => "any",
        }
    }
}

/// Codepoint that packets are rewritten to.
#[derive(Deserialize, Serialize, Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RemarkTo {
    /// Not ECN-capable.
    NotEct,
    /// ECT(0).
    Ect0,
    /// ECT(1).
    Ect1,
    /// Congestion experienced.
    Ce,
}

impl RemarkTo {
    const fn codepoint(self) -> Ecn {
        match self {
            Self::NotEct => Ecn::NOT_ECT,
            Self::Ect0 => Ecn::ECT0,
            Self::Ect1 => Ecn::ECT1,
            Self::Ce => Ecn::CE,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::NotEct => "not-ect",
            Self::Ect0 => "ect0",
            Self::Ect1 => "ect1",
            Self::Ce => "ce",
        }
    }
}

fn always() -> f64 {
    1.0
}

/// Settings of rewriting.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemarkSpec {
    /// Name, for the reader.
    pub name: Option<String>,
    /// Packets that are rewritten: `ect` is ECT(0) or ECT(1), `capable` is `ect` or CE.
    pub codepoint: RemarkFrom,
    /// Codepoint after the rewriting.
    pub becomes: RemarkTo,
    /// Probability of rewriting such a packet; one draw per packet.
    #[serde(default = "always")]
    #[schemars(range(min = 0, max = 1))]
    pub probability: f64,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of settings.
    pub walk: Option<WalkSpec>,
}

impl Table for RemarkSpec {
    fn check(&self, _running: bool) -> Result<(), Refusal> {
        if self.codepoint.name() == self.becomes.name() {
            let allowed = format!("must be another one than codepoint = `{}`", self.codepoint.name());
            return Err(refuse("becomes", format_args!("`{}`", self.becomes.name()), allowed));
        }
        probability("probability", self.probability)
    }

    settings!(probability);
}

impl ElementTable for RemarkSpec {
    type Element = Remark;

    fn build(&self, _name: String, streams: &Streams<'_>) -> Result<Remark, Refusal> {
        let to = self.becomes.codepoint();
        Ok(Remark { from: self.codepoint, to, probability: self.probability, rng: streams.element() })
    }
}

/// Rewriting of the ECN field.
#[derive(Clone, Debug)]
pub(crate) struct Remark {
    from: RemarkFrom,
    to: Ecn,
    probability: f64,
    rng: Rng,
}

impl Element for Remark {
    type Table = RemarkSpec;

    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, mut packet: Packet, tap: &mut T) -> Option<Packet> {
        let is_drawn = self.rng.uniform() < self.probability;
        if is_drawn && self.from.contains(packet.ecn) && packet.ecn != self.to {
            packet.ecn = self.to;
            if self.to == Ecn::CE {
                tap.packet(now, PacketEvent::Marked, &packet);
            }
        }
        Some(packet)
    }

    fn change(&mut self, _now: Time, table: &RemarkSpec) {
        self.probability = table.probability;
    }
}

#[cfg(test)]
mod tests {
    use crate::Ecn;
    use crate::testing::{Bench, at_ms, at_us};

    const ALL: [Ecn; 4] = [Ecn::NOT_ECT, Ecn::ECT0, Ecn::ECT1, Ecn::CE];

    /// Returns the codepoints with which packets of each codepoint leave.
    fn rewrite(from: &str, to: &str) -> (Vec<Ecn>, Vec<u64>) {
        let mut bench =
            Bench::new(&format!(r#"[{{"kind": "remark", "codepoint": "{from}", "becomes": "{to}"}}]"#));
        for ecn in ALL {
            bench.send_with(at_ms(1), 100, ecn);
        }
        assert!(bench.is_conserved() && bench.log.dropped.is_empty());
        (bench.out.iter().map(|(_, packet)| packet.ecn).collect(), bench.log.marked)
    }

    #[test]
    fn each_rule_rewrites_its_codepoints_and_no_others() {
        let [none, ect0, ect1, ce] = ALL;
        for (from, to, expected) in [
            ("not-ect", "ect0", [ect0, ect0, ect1, ce]),
            ("ect0", "ect1", [none, ect1, ect1, ce]),
            ("ect1", "ect0", [none, ect0, ect0, ce]),
            ("ect", "not-ect", [none, none, none, ce]),
            ("ce", "ect0", [none, ect0, ect1, ect0]),
            ("capable", "not-ect", [none; 4]),
            ("any", "ect1", [ect1; 4]),
        ] {
            assert_eq!(rewrite(from, to), (expected.to_vec(), vec![]), "{from} to {to}");
        }
    }

    #[test]
    fn packets_that_become_ce_are_reported_as_marked() {
        let ce = Ecn::CE;
        assert_eq!(rewrite("ect", "ce"), (vec![Ecn::NOT_ECT, ce, ce, ce], vec![1, 2]));
        assert_eq!(rewrite("any", "ce"), (vec![ce; 4], vec![0, 1, 2]));
    }

    #[test]
    fn a_share_is_rewritten_and_repeats_by_seed() {
        let rewrite = |seed, gap_us: u64| {
            let json = r#"[{"kind": "remark", "codepoint": "ect0", "becomes": "ce", "probability": 0.3}]"#;
            let mut bench = Bench::seeded(json, seed);
            (0..100_000).for_each(|i| bench.send_with(at_us(i * gap_us), 100, Ecn::ECT0));
            bench.log.marked
        };
        let first = rewrite(1, 10);
        // Deviation sqrt(100000 x 0.3 x 0.7) = 145; four of them.
        assert!((first.len() as f64 - 30_000.0).abs() < 580.0, "{}", first.len());
        assert_eq!(first, rewrite(1, 777));
        assert_ne!(first, rewrite(2, 10));
    }

    #[test]
    fn rewriting_can_be_scheduled() {
        let json = r#"[{"kind": "remark", "codepoint": "ect", "becomes": "ce", "probability": 0,
            "schedule": [{"at_s": 1, "probability": 1}, {"at_s": 2, "probability": 0}]}]"#;
        let mut bench = Bench::new(json);
        (0..30).for_each(|i| bench.send_with(at_ms(i * 100), 100, Ecn::ECT0));
        assert_eq!(bench.log.marked, (10..20).collect::<Vec<u64>>());
    }
}
