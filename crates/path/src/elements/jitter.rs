//! Random delay, drawn for every packet or for intervals.
//!
//! With `redraw_min_ms` and `redraw_max_ms` the delay is drawn again after a uniform time between them, for example
//! every 8 to 24 ms. The traffic has no effect on these times. Otherwise the delay is drawn for every packet. Draws
//! below zero count as 0.

use crate::change::{Change, WalkSpec};
use crate::element::{Element, ElementTable, Streams, Table, settings};
use crate::element_settings::{milliseconds, milliseconds_above_zero, refuse};
use crate::store::Store;
use crate::{Packet, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rng, Span, Time};

/// Settings of jitter.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JitterSpec {
    /// Name, for the reader.
    pub name: Option<String>,
    /// Distribution of the delay.
    pub distribution: Distribution,
    /// Mean, ms.
    #[schemars(range(min = 0, max = 3_600_000))]
    pub mean_ms: f64,
    /// Half the width (uniform) or the standard deviation (normal, Pareto), ms; `exponential` has none.
    #[schemars(range(min = 0, max = 3_600_000))]
    pub deviation_ms: Option<f64>,
    /// Packets wait for earlier packets; false: they overtake.
    #[serde(default = "yes")]
    pub preserve_order: bool,
    /// Minimum time between two draws of the delay, ms; draws do not depend on the traffic; needs `redraw_max_ms`.
    #[schemars(range(min = 0.001, max = 3_600_000))]
    pub redraw_min_ms: Option<f64>,
    /// Maximum time between two draws of the delay, ms; needs `redraw_min_ms`.
    #[schemars(range(min = 0.001, max = 3_600_000))]
    pub redraw_max_ms: Option<f64>,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of settings.
    pub walk: Option<WalkSpec>,
}

fn yes() -> bool {
    true
}

/// Distribution of a random delay.
#[derive(Deserialize, Serialize, Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Mean plus or minus up to the deviation.
    Uniform,
    /// Normal (Gaussian).
    Normal,
    /// Exponential, from 0.
    Exponential,
    /// Heavy-tailed, from a little below the mean; finite variance.
    Pareto,
}

/// Shortest hold: bounds the draws per simulated second.
const SHORTEST_HOLD_MS: f64 = 0.001;

impl JitterSpec {
    /// Returns an exponential delay of this mean for every packet, in order.
    pub fn exponential(mean_ms: f64) -> Self {
        Self {
            name: None,
            distribution: Distribution::Exponential,
            mean_ms,
            deviation_ms: None,
            preserve_order: yes(),
            redraw_min_ms: None,
            redraw_max_ms: None,
            schedule: Vec::new(),
            walk: None,
        }
    }
}

impl Table for JitterSpec {
    fn check(&self, _running: bool) -> Result<(), Refusal> {
        milliseconds("mean_ms", self.mean_ms)?;
        match (self.distribution, self.deviation_ms) {
            (Distribution::Exponential, Some(deviation)) => {
                return Err(refuse(
                    "deviation_ms",
                    deviation,
                    "not allowed with an exponential distribution",
                ));
            }
            (Distribution::Pareto, Some(deviation)) => {
                milliseconds_above_zero("deviation_ms", deviation)?;
                milliseconds_above_zero("mean_ms", self.mean_ms)?;
            }
            (_, Some(deviation)) => milliseconds("deviation_ms", deviation)?,
            (Distribution::Exponential, None) => {}
            (_, None) => {
                return Err(Refusal::of_key("deviation_ms", "missing; needed with this distribution"));
            }
        }
        match (self.redraw_min_ms, self.redraw_max_ms) {
            (None, None) => Ok(()),
            (Some(min), Some(max)) => {
                milliseconds("redraw_min_ms", min)?;
                milliseconds("redraw_max_ms", max)?;
                if min < SHORTEST_HOLD_MS {
                    return Err(refuse("redraw_min_ms", min, "must be at least 0.001"));
                }
                if max < min {
                    return Err(refuse(
                        "redraw_max_ms",
                        max,
                        format!("must be at least redraw_min_ms = {min}"),
                    ));
                }
                Ok(())
            }
            _ => Err(Refusal::of_key("redraw_min_ms, redraw_max_ms", "allowed is both or none")),
        }
    }

    settings!(mean_ms, deviation_ms, redraw_min_ms, redraw_max_ms);
}

impl ElementTable for JitterSpec {
    type Element = Jitter;

    fn build(&self, _name: String, streams: &Streams<'_>) -> Result<Jitter, Refusal> {
        Ok(Jitter {
            distribution: self.distribution,
            mean_ns: self.mean_ms * 1e6,
            deviation_ns: self.deviation_ms.unwrap_or(0.0) * 1e6,
            before: Span::ZERO,
            hold: hold(self),
            rng: streams.element(),
            store: Store::new(self.preserve_order),
        })
    }
}

/// Current delay, and the range of hold times, ns.
#[derive(Clone, Copy, Debug)]
struct Hold {
    min_ns: f64,
    max_ns: f64,
    delay: Span,
    until: Time,
}

/// A random delay.
#[derive(Clone, Debug)]
pub(crate) struct Jitter {
    distribution: Distribution,
    mean_ns: f64,
    deviation_ns: f64,
    /// Constant delay of every packet before the random delay.
    before: Span,
    hold: Option<Hold>,
    rng: Rng,
    store: Store,
}

fn hold(spec: &JitterSpec) -> Option<Hold> {
    let (min, max) = (spec.redraw_min_ms?, spec.redraw_max_ms?);
    Some(Hold { min_ns: min * 1e6, max_ns: max * 1e6, delay: Span::ZERO, until: Time::ZERO })
}

impl Jitter {
    fn draw(&mut self) -> Span {
        let (mean, deviation) = (self.mean_ns, self.deviation_ns);
        let ns = match self.distribution {
            Distribution::Uniform => mean + deviation * (2.0 * self.rng.uniform() - 1.0),
            Distribution::Normal => self.rng.normal(mean, deviation),
            Distribution::Exponential => self.rng.exponential(mean),
            Distribution::Pareto => {
                // A Pareto variable of shape a has (mean / deviation)^2 = a (a - 2).
                let ratio = mean / deviation;
                self.rng.pareto(mean, 1.0 + (1.0 + ratio * ratio).sqrt())
            }
        };
        Span::from_ns(ns.round() as u64)
    }

    /// Returns true if packets leave in the order of their arrival, and none is inside.
    pub(crate) fn is_ordered_and_empty(&self) -> bool {
        matches!(self.store, Store::Ordered(_)) && self.store.packets() == 0
    }

    /// Adds a constant delay before the random delay. Packets still reach the random delay in the order of their
    /// arrival.
    pub(crate) fn add_before(&mut self, delay: Span) {
        self.before += delay;
    }

    /// Returns the packet that leaves next, if order is kept.
    #[inline]
    pub(crate) fn front(&self) -> Option<&Packet> {
        self.store.front()
    }

    /// Returns the delay of a packet that arrives at `now`. Times do not decrease from call to call.
    #[inline]
    pub(crate) fn delay(&mut self, now: Time) -> Span {
        let Some(mut hold) = self.hold else { return self.draw() };
        while hold.until <= now {
            hold.delay = self.draw();
            let ns = hold.min_ns + (hold.max_ns - hold.min_ns) * self.rng.uniform();
            hold.until += Span::from_ns(ns.round() as u64);
        }
        self.hold = Some(hold);
        hold.delay
    }
}

impl Element for Jitter {
    type Table = JitterSpec;

    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, _tap: &mut T) -> Option<Packet> {
        let arrives = now + self.before;
        let time = arrives + self.delay(arrives);
        self.store.push(time, packet);
        None
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.store.due()
    }

    #[inline]
    fn step<T: Tap>(&mut self, _now: Time, _tap: &mut T) -> Option<Packet> {
        self.store.pop()
    }

    /// Applies new settings, which hold from the next draw on.
    fn change(&mut self, now: Time, table: &JitterSpec) {
        if self.hold.is_some() {
            self.delay(now);
        }
        self.mean_ns = table.mean_ms * 1e6;
        self.deviation_ns = table.deviation_ms.unwrap_or(0.0) * 1e6;
        if let (Some(old), Some(new)) = (self.hold, &mut hold(table)) {
            self.hold = Some(Hold { delay: old.delay, until: old.until, ..*new });
        } else {
            self.hold = hold(table).map(|hold| Hold { until: now, ..hold });
        }
    }

    fn packets(&self) -> u64 {
        self.store.packets()
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Bench, at_us};
    use units::Time;

    /// Returns the delays in ms of `count` packets, one every `gap_us`, by their number.
    fn delays(json: &str, count: u64, gap_us: u64) -> Vec<f64> {
        let mut bench = Bench::new(&format!("[{json}]"));
        (0..count).for_each(|i| bench.send(at_us(i * gap_us), 100));
        bench.run_until(Time::from_secs_f64(1e6));
        bench.out.sort_by_key(|(_, packet)| packet.number);
        bench.out.iter().map(|(time, packet)| (*time - packet.entered).as_ms_f64()).collect()
    }

    fn moments(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance =
            values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / values.len() as f64;
        (mean, variance.sqrt())
    }

    #[test]
    fn distributions_have_their_moments() {
        // 50000 draws: standard errors of the mean are below 5 / 224 = 0.022 ms; tolerances are four of them and more.
        for (json, deviation) in [
            (r#""distribution": "uniform", "mean_ms": 10, "deviation_ms": 6"#, 6.0 / 3f64.sqrt()),
            (r#""distribution": "normal", "mean_ms": 10, "deviation_ms": 2"#, 2.0),
            (r#""distribution": "exponential", "mean_ms": 10"#, 10.0),
            (r#""distribution": "pareto", "mean_ms": 10, "deviation_ms": 2"#, 2.0),
        ] {
            let json = format!(r#"{{"kind": "jitter", "preserve_order": false, {json}}}"#);
            let (mean, spread) = moments(&delays(&json, 50_000, 10));
            assert!(
                (mean - 10.0).abs() < 0.2 && (spread / deviation - 1.0).abs() < 0.1,
                "{json}: {mean} {spread}"
            );
        }
    }

    #[test]
    fn uniform_jitter_stays_in_its_range() {
        let json = r#"{"kind": "jitter", "distribution": "uniform", "mean_ms": 1, "deviation_ms": 1, "preserve_order": false}"#;
        assert!(delays(json, 10_000, 100).iter().all(|ms| (0.0..=2.0).contains(ms)));
    }

    #[test]
    fn a_held_delay_is_redrawn_every_8_to_24_ms() {
        let json = r#"{"kind": "jitter", "distribution": "exponential", "mean_ms": 5, "preserve_order": false,
            "redraw_min_ms": 8, "redraw_max_ms": 24}"#;
        let delays = delays(json, 1_600_000, 100);
        let mut lengths = Vec::new();
        let mut length = 0;
        for pair in delays.windows(2) {
            length += 1;
            if pair[0] != pair[1] {
                lengths.push(length);
                length = 0;
            }
        }
        // Packets are 0.1 ms apart: 80 to 240 per hold, one more or less, and 160 on average.
        assert!(lengths.iter().all(|length| (79..=241).contains(length)), "{lengths:?}");
        let mean = f64::from(lengths.iter().sum::<i32>()) / lengths.len() as f64;
        // 10000 holds with a deviation of 46: standard error 0.46.
        assert!((mean - 160.0).abs() < 2.0, "{mean}");
        let (mean, _) = moments(&delays);
        assert!((mean - 5.0).abs() < 0.25, "{mean}");
    }

    #[test]
    fn order_is_kept_or_not_as_configured() {
        for preserve in [true, false] {
            let mut bench = Bench::new(&format!(
                r#"[{{"kind": "jitter", "distribution": "uniform", "mean_ms": 5, "deviation_ms": 5,
                      "preserve_order": {preserve}}}]"#
            ));
            (0..1000).for_each(|i| bench.send(at_us(i * 100), 100));
            bench.run_until(Time::from_secs_f64(10.0));
            assert_eq!(bench.numbers().is_sorted(), preserve);
            assert!(bench.out.is_sorted_by_key(|(time, _)| *time) && bench.is_conserved());
        }
    }
}
