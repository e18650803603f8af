//! Link whose delivery opportunities are a Poisson process: exponential gaps, unbounded, in ns.
//!
//! The optional sparse head is as in Pantheon's calibrated traces (StanfordSNR/observatory@84f9454, `traces/`):
//! opportunities `head_gap_ms` apart until `head_s`.

use crate::QueueSpec;
use crate::buffer::Buffer;
use crate::change::{Change, WalkSpec};
use crate::element::{Capacity, ElementTable, Streams, Table, settings};
use crate::element_settings::{full_packet, milliseconds_above_zero, not_negative, packet_bytes, rate};
use crate::opportunity_link::{OpportunityLink, Process, RandomOpportunities};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rate, Rng, Span, Time};

/// Settings of a Poisson link.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoissonSpec {
    /// Name in statistics.
    pub name: Option<String>,
    /// Mean rate, Mbit/s.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub rate_mbps: f64,
    /// Bytes that an opportunity serves.
    #[serde(default = "full_packet::<u32>")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub opportunity_bytes: u32,
    /// Length of a head of evenly spaced opportunities, s.
    #[serde(default)]
    #[schemars(range(min = 0, max = 86_400))]
    pub head_s: f64,
    /// Time between opportunities in the head, ms.
    #[serde(default = "tenth")]
    #[schemars(range(min = 0.000_001, max = 3_600_000))]
    pub head_gap_ms: f64,
    /// Queue in front of the link.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of settings.
    pub walk: Option<WalkSpec>,
}

fn tenth() -> f64 {
    100.0
}

impl Table for PoissonSpec {
    fn check(&self, _running: bool) -> Result<(), Refusal> {
        rate("rate_mbps", self.rate_mbps)?;
        packet_bytes("opportunity_bytes", self.opportunity_bytes)?;
        not_negative("head_s", self.head_s, 86_400.0)?;
        milliseconds_above_zero("head_gap_ms", self.head_gap_ms)?;
        self.queue.validate()
    }

    fn queue(&self) -> Option<&QueueSpec> {
        Some(&self.queue)
    }

    fn capacity(&self) -> Option<Capacity> {
        Some(Capacity::in_opportunities(self.rate_mbps))
    }

    settings!(rate_mbps, opportunity_bytes);
}

/// A Poisson link.
pub(crate) type Poisson = OpportunityLink<RandomOpportunities<Gaps>>;

/// Exponential gaps after the head.
#[derive(Clone, Debug)]
pub(crate) struct Gaps {
    rng: Rng,
    /// Mean gap, ns.
    mean_ns: f64,
    head_end: Time,
    head_gap: Span,
}

fn mean_ns(spec: &PoissonSpec) -> f64 {
    f64::from(spec.opportunity_bytes) * 8e3 / spec.rate_mbps
}

impl ElementTable for PoissonSpec {
    type Element = Poisson;

    fn build(&self, name: String, streams: &Streams<'_>) -> Result<Poisson, Refusal> {
        let mut buffer = Buffer::build(&self.queue, name, streams.queue())?;
        buffer.set_rate(Rate::from_mbps(self.rate_mbps));
        let gaps = Gaps {
            rng: streams.element(),
            mean_ns: mean_ns(self),
            head_end: Time::from_secs_f64(self.head_s),
            head_gap: Span::from_secs_f64(self.head_gap_ms / 1e3),
        };
        Ok(OpportunityLink::new(buffer, self.opportunity_bytes, 0, RandomOpportunities::new(gaps)))
    }
}

impl Process for Gaps {
    type Table = PoissonSpec;

    #[inline]
    fn after(&mut self, time: Time) -> Time {
        if time + self.head_gap <= self.head_end {
            return time + self.head_gap;
        }
        let from = time.max(self.head_end);
        from + Span::from_ns(self.rng.exponential(self.mean_ns).round() as u64)
    }

    fn change(&mut self, now: Time, next: Time, table: &PoissonSpec) -> Time {
        let old = core::mem::replace(&mut self.mean_ns, mean_ns(table));
        if next <= self.head_end {
            return next;
        }
        // The rest of an exponential gap is exponential: stretching it applies the new rate at once.
        now + (next - now).mul_f64(self.mean_ns / old)
    }

    fn service(table: &PoissonSpec) -> (u32, Rate) {
        (table.opportunity_bytes, Rate::from_mbps(table.rate_mbps))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Bench, at_ms};
    use units::Time;

    const NEPAL: &str =
        r#"[{"kind": "poisson", "rate_mbps": 3, "queue": {"kind": "droptail", "packets": 14}}]"#;

    #[test]
    fn opportunities_come_at_the_mean_rate_with_exponential_gaps() {
        let mut bench = Bench::new(NEPAL);
        bench.log.wants_opportunities = true;
        bench.run_until(Time::from_secs_f64(400.0));
        let times: Vec<f64> = bench.log.opportunities.iter().map(|(time, _)| time.as_secs_f64()).collect();
        // 250 per s: 100000 with a deviation of 316; four of them.
        assert!((times.len() as f64 - 100_000.0).abs() < 1264.0, "{}", times.len());
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let square = gaps.iter().map(|gap| gap * gap).sum::<f64>() / gaps.len() as f64;
        // Coefficient of variation 1.
        assert!(((square / (mean * mean) - 1.0).sqrt() - 1.0).abs() < 0.02);
        assert_eq!(bench.stats(Time::from_secs_f64(400.0)).capacity_bits, times.len() as u128 * 12_000);
    }

    #[test]
    fn opportunities_do_not_depend_on_the_traffic() {
        let capacity = |packets: u64, wants| {
            let mut bench = Bench::new(NEPAL);
            bench.log.wants_opportunities = wants;
            (0..packets).for_each(|i| bench.send(at_ms(i * 7), 1500));
            assert!(bench.is_conserved());
            bench.stats(at_ms(20_000)).capacity_bits
        };
        assert_eq!(capacity(0, false), capacity(0, true));
        assert_eq!(capacity(0, false), capacity(1000, false));
    }

    #[test]
    fn the_head_is_sparse() {
        let json = r#"[{"kind": "poisson", "rate_mbps": 30, "head_s": 1, "head_gap_ms": 100}]"#;
        let mut bench = Bench::new(json);
        (0..12).for_each(|_| bench.send(Time::ZERO, 1500));
        bench.run_until(at_ms(3000));
        assert_eq!(bench.times_us()[..10], (1..=10).map(|i| i * 100_000).collect::<Vec<u64>>());
        assert!(bench.times_us()[11] < 1_010_000);
    }

    #[test]
    fn the_rate_can_change() {
        let json = r#"[{"kind": "poisson", "rate_mbps": 3, "schedule": [{"at_s": 100, "rate_mbps": 12}]}]"#;
        let mut bench = Bench::new(json);
        let before = bench.stats(Time::from_secs_f64(100.0)).capacity_bits as f64;
        let after = bench.stats(Time::from_secs_f64(200.0)).capacity_bits as f64 - before;
        // 25000 and 100000 opportunities, deviations 158 and 316; four of them.
        assert!(
            (before / 12e3 - 25e3).abs() < 632.0 && (after / 12e3 - 100e3).abs() < 1264.0,
            "{before} {after}"
        );
    }
}
