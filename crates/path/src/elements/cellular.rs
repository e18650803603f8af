//! Cellular link: Poisson delivery opportunities with a random rate that can stop. This is Sprout's model of a link
//! (Winstein, Sivaraman and Balakrishnan, NSDI 2013, section 3.1; `src/sprout/receiver.hh` of keithw/sprout@c838669).
//!
//! Sprout's rate performs a Brownian motion and stays at 0 for exponential times. Here the rate is also pulled to a
//! level, so that a link has a mean and a share of outages; see [`wander`]. The defaults of `sigma` and `max_mbps` have
//! the ratio to the mean that they have in Sprout. There rates are from 0 to 1000 packets/s, with a mean of 500 and a
//! sigma of 200.

mod wander;

use crate::QueueSpec;
use crate::buffer::Buffer;
use crate::change::{Change, WalkSpec};
use crate::element::{Capacity, ElementTable, Streams, Table, settings};
use crate::element_settings::{above_zero, full_packet, packet_bytes, rate, refuse};
use crate::opportunity_link::{OpportunityLink, Process, RandomOpportunities};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rate, Rng, Span, Time};
use wander::{Shape, Stationary, TICK_S, Wander};

/// Sigma and maximum of Sprout, divided by its mean.
const SIGMA_OF_MEAN: f64 = 0.4;
const MAX_OF_MEAN: f64 = 2.0;
/// Maximum pull, and maximum rate at which outages end, 1/s: one per tick.
const FASTEST: f64 = 50.0;

/// Settings of a cellular link.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellularSpec {
    /// Name in statistics.
    pub name: Option<String>,
    /// Mean rate, outages included, Mbit/s.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub mean_mbps: f64,
    /// Standard deviation of the rate's random changes, opportunities/s per sqrt(s); 0.4 times the mean if absent.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub sigma: Option<f64>,
    /// Rate at which deviations from the level fade, 1/s; the slower, the more outages.
    #[serde(default = "one")]
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 50))]
    pub reversion_per_s: f64,
    /// Rate at which outages end, 1/s.
    #[serde(default = "one")]
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 50))]
    pub outage_escape_per_s: f64,
    /// Highest rate, Mbit/s; twice the mean if absent.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub max_mbps: Option<f64>,
    /// Bytes that an opportunity serves.
    #[serde(default = "full_packet::<u32>")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub opportunity_bytes: u32,
    /// Queue in front of the link.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of settings.
    pub walk: Option<WalkSpec>,
}

fn one() -> f64 {
    1.0
}

impl CellularSpec {
    fn shape(&self) -> Shape {
        let per_s = |mbps: f64| mbps * 1e6 / 8.0 / f64::from(self.opportunity_bytes);
        let mean = per_s(self.mean_mbps);
        Shape {
            mean,
            sigma: self.sigma.unwrap_or(SIGMA_OF_MEAN * mean),
            reversion: self.reversion_per_s,
            escape: self.outage_escape_per_s,
            max: self.max_mbps.map_or(MAX_OF_MEAN * mean, per_s),
        }
    }

    fn wander(&self) -> Result<(Wander, Stationary), Refusal> {
        Wander::with_mean(&self.shape()).map_err(|why| {
            refuse("mean_mbps", self.mean_mbps, format!("{why} with this sigma and reversion"))
        })
    }
}

impl Table for CellularSpec {
    fn check(&self, _running: bool) -> Result<(), Refusal> {
        packet_bytes("opportunity_bytes", self.opportunity_bytes)?;
        rate("mean_mbps", self.mean_mbps)?;
        above_zero("reversion_per_s", self.reversion_per_s, FASTEST)?;
        above_zero("outage_escape_per_s", self.outage_escape_per_s, FASTEST)?;
        if let Some(max_mbps) = self.max_mbps {
            rate("max_mbps", max_mbps)?;
            if max_mbps <= self.mean_mbps {
                return Err(refuse(
                    "max_mbps",
                    max_mbps,
                    format!("must be above mean_mbps, {}", self.mean_mbps),
                ));
            }
        }
        let Shape { sigma, max, .. } = self.shape();
        let lowest = wander::lowest_sigma(max);
        if sigma.is_nan() || sigma < lowest || sigma > 10.0 * max {
            let allowed = format!("must be from {lowest:.3} to {:.3} with this maximum", 10.0 * max);
            return Err(refuse("sigma", sigma, allowed));
        }
        self.wander()?;
        self.queue.validate()
    }

    fn queue(&self) -> Option<&QueueSpec> {
        Some(&self.queue)
    }

    fn capacity(&self) -> Option<Capacity> {
        Some(Capacity::in_opportunities(self.mean_mbps))
    }

    settings!(mean_mbps, sigma, reversion_per_s, outage_escape_per_s, max_mbps, opportunity_bytes);
}

/// A cellular link.
pub(crate) type Cellular = OpportunityLink<RandomOpportunities<Wandering>>;

/// Poisson process of opportunities whose rate changes with every tick.
#[derive(Clone, Debug)]
pub(crate) struct Wandering {
    rng: Rng,
    wander: Wander,
    /// Rate of the current tick, opportunities/s.
    rate: f64,
    /// End of the current tick.
    end: Time,
}

impl ElementTable for CellularSpec {
    type Element = Cellular;

    fn build(&self, name: String, streams: &Streams<'_>) -> Result<Cellular, Refusal> {
        let mut buffer = Buffer::build(&self.queue, name, streams.queue())?;
        buffer.set_rate(Rate::from_mbps(self.mean_mbps));
        let (wander, stationary) = self.wander()?;
        let mut rng = streams.element();
        let rate = stationary.draw(&mut rng);
        let process = Wandering { rng, wander, rate, end: Time::ZERO + tick() };
        Ok(OpportunityLink::new(buffer, self.opportunity_bytes, 0, RandomOpportunities::new(process)))
    }
}

fn tick() -> Span {
    Span::from_secs_f64(TICK_S)
}

impl Process for Wandering {
    type Table = CellularSpec;

    #[inline]
    fn after(&mut self, time: Time) -> Time {
        // Draws the opportunities of a unit Poisson process in the integral of the rate.
        let mut distance = self.rng.exponential(1.0);
        let mut from = time;
        loop {
            let offered = self.rate * (self.end - from).as_secs_f64();
            if distance < offered {
                return (from + Span::from_secs_f64(distance / self.rate)).min(self.end);
            }
            distance -= offered;
            from = self.end;
            self.end = from + tick();
            self.rate = self.wander.next(self.rate, &mut self.rng);
        }
    }

    /// Applies new settings. The next opportunity, which is drawn already, stays.
    fn change(&mut self, _now: Time, next: Time, table: &CellularSpec) -> Time {
        // The settings were checked with the schedule.
        if let Ok((wander, _)) = table.wander() {
            self.rate = wander.clamp(self.rate);
            self.wander = wander;
        }
        next
    }

    fn service(table: &CellularSpec) -> (u32, Rate) {
        (table.opportunity_bytes, Rate::from_mbps(table.mean_mbps))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Bench, at_ms, elements};
    use units::Time;

    const LTE: &str = r#"[{"kind": "cellular", "mean_mbps": 5}]"#;

    /// Returns the times of the opportunities in `seconds`, s.
    fn opportunities(json: &str, seed: u64, seconds: f64) -> Vec<f64> {
        let mut bench = Bench::seeded(json, seed);
        bench.log.wants_opportunities = true;
        bench.run_until(Time::from_secs_f64(seconds));
        bench.log.opportunities.iter().map(|(time, _)| time.as_secs_f64()).collect()
    }

    #[test]
    fn the_mean_rate_is_the_one_asked_for() {
        for (mean, more) in
            [(5.0, ""), (0.5, r#", "reversion_per_s": 3"#), (20.0, r#", "max_mbps": 100, "sigma": 900"#)]
        {
            let json = format!(r#"[{{"kind": "cellular", "mean_mbps": {mean}{more}}}]"#);
            let count: usize = (0..20).map(|seed| opportunities(&json, seed, 200.0).len()).sum();
            let mbps = count as f64 * 12e-3 / 4000.0;
            // 4000 s with deviations of half the mean that fade within a second: a standard error of about 1.5 %.
            assert!((mbps / mean - 1.0).abs() < 0.05, "{json}: {mbps}");
        }
    }

    #[test]
    fn counts_of_adjacent_ticks_go_together_and_vary_more_than_a_poisson_process() {
        let times = opportunities(LTE, 1, 400.0);
        let mut counts = vec![0.0; 4000];
        for time in &times {
            counts[(time * 10.0) as usize % 4000] += 1.0;
        }
        let mean = counts.iter().sum::<f64>() / 4000.0;
        let covariance = |lag: usize| {
            counts.windows(lag + 1).map(|pair| (pair[0] - mean) * (pair[lag] - mean)).sum::<f64>() / 4000.0
        };
        assert!(covariance(0) > 4.0 * mean, "{} {mean}", covariance(0));
        assert!(covariance(1) > 0.7 * covariance(0), "{} {}", covariance(1), covariance(0));
        assert!(covariance(100) < 0.4 * covariance(0), "{} {}", covariance(100), covariance(0));
    }

    #[test]
    fn outages_are_exponential_with_the_escape_rate() {
        let json =
            r#"[{"kind": "cellular", "mean_mbps": 12, "reversion_per_s": 0.3, "outage_escape_per_s": 2}]"#;
        let gaps: Vec<f64> = (0..10)
            .flat_map(|seed| {
                let times = opportunities(json, seed, 400.0);
                times.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<f64>>()
            })
            .filter(|gap| *gap > 0.5)
            .collect();
        // A gap beyond 0.5 s is an outage; the rest of the outage has the mean 0.5 s.
        let rest = gaps.iter().map(|gap| gap - 0.5).sum::<f64>() / gaps.len() as f64;
        assert!(gaps.len() > 100, "{}", gaps.len());
        assert!(
            (rest - 0.5).abs() < 4.0 * 0.5 / (gaps.len() as f64).sqrt() + 0.03,
            "{rest} of {}",
            gaps.len()
        );
    }

    #[test]
    fn opportunities_do_not_depend_on_the_traffic() {
        let capacity = |packets: u64, wants| {
            let mut bench = Bench::new(LTE);
            bench.log.wants_opportunities = wants;
            (0..packets).for_each(|i| bench.send(at_ms(i * 7), 1500));
            assert!(bench.is_conserved());
            bench.stats(at_ms(20_000)).capacity_bits
        };
        assert_eq!(capacity(0, false), capacity(0, true));
        assert_eq!(capacity(0, false), capacity(1000, false));
    }

    #[test]
    fn the_mean_can_change() {
        let json = r#"[{"kind": "cellular", "mean_mbps": 2, "reversion_per_s": 2,
            "schedule": [{"at_s": 300, "mean_mbps": 8}]}]"#;
        let (mut before, mut after) = (0.0, 0.0);
        for seed in 0..10 {
            let times = opportunities(json, seed, 600.0);
            before += times.iter().filter(|time| **time < 300.0).count() as f64 * 12e-3 / 3000.0;
            after += times.iter().filter(|time| **time >= 300.0).count() as f64 * 12e-3 / 3000.0;
        }
        assert!((before / 2.0 - 1.0).abs() < 0.06 && (after / 8.0 - 1.0).abs() < 0.06, "{before} {after}");
    }

    #[test]
    fn bad_values_are_refused() {
        for (keys, part) in [
            (r#""mean_mbps": 0"#, "mean_mbps = 0: must be above 0"),
            (r#""mean_mbps": 5, "max_mbps": 5"#, "max_mbps = 5: must be above mean_mbps, 5"),
            (r#""mean_mbps": 5, "sigma": 1"#, "sigma = 1: must be from 14.731 to 8333.333"),
            (r#""mean_mbps": 5, "reversion_per_s": 0"#, "reversion_per_s = 0: must be above 0"),
            (r#""mean_mbps": 5, "outage_escape_per_s": 51"#, "outage_escape_per_s = 51: must be at most 50"),
            (
                r#""mean_mbps": 0.001, "max_mbps": 12, "outage_escape_per_s": 50"#,
                "mean_mbps = 0.001: no such mean is possible",
            ),
            (r#""mean_mbps": 5, "schedule": [{"at_s": 1, "max_mbps": 2}]"#, "schedule[0]: max_mbps = 2"),
        ] {
            let keys =
                if keys.contains("0.001") { format!(r#"{keys}, "sigma": 300"#) } else { keys.to_owned() };
            let spec = elements(&format!(r#"[{{"kind": "cellular", {keys}}}]"#)).remove(0);
            let error = spec.validate().unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains('\n'), "{keys}: {error}");
        }
    }
}
