//! Settings of an imitation training: paths, expert, and amount of training.

use path::PathSpec;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strict_input::Refusal;

/// Random paths, drawn anew in every iteration. Values are distributed by ratios between the ends of each range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RandomPaths {
    /// Number of paths.
    pub(super) count: usize,
    pub(super) rate_mbps: [f64; 2],
    pub(super) rtt_ms: [f64; 2],
    /// Queue, as a multiple of rate times RTT.
    pub(super) buffer_bdp: [f64; 2],
    /// Maximum probability of a random loss; half of the paths have none.
    pub(super) loss: f64,
}

/// Settings of a training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    /// Rates and one-way delays of links with an infinite queue: every combination.
    pub(super) rates_mbps: Vec<f64>,
    pub(super) delays_ms: Vec<f64>,
    /// Other paths, as in run specs.
    pub(super) paths: Vec<PathSpec>,
    pub(super) drawn: RandomPaths,
    /// Transport, as in run specs.
    pub(super) transport: Map<String, Value>,
    /// Queue that the expert aims for, in ms of the link's rate ...
    pub(super) queue_ms: f64,
    /// ... plus this fraction of a finite queue.
    pub(super) queue_share: f64,
    /// Maximum jitter, ms, and fraction of the episodes with jitter.
    pub(super) jitter_ms: f64,
    pub(super) jitter_share: f64,
    /// Steps of an episode.
    pub(super) steps: usize,
    pub(super) iterations: usize,
    /// Passes of an iteration over each episode, and maximum episodes of an iteration.
    pub(super) epochs: usize,
    pub(super) lessons: usize,
    /// Units of the network.
    pub(super) units: usize,
}

impl Settings {
    /// Reads and checks settings.
    pub(super) fn read(text: &str) -> Result<Self, Refusal> {
        let settings: Self = strict_input::parse(text)?;
        let within = |name: &str, value: f64, least: f64, most: f64| {
            if (least..=most).contains(&value) {
                return Ok(());
            }
            Err(Refusal::of_value(name, value, format!("allowed is {least} to {most}")))
        };
        let all = |name: &str, values: &[f64], least: f64, most: f64| {
            values.iter().try_for_each(|value| within(name, *value, least, most))
        };
        all("rates_mbps", &settings.rates_mbps, 0.1, 1000.0)?;
        all("delays_ms", &settings.delays_ms, 0.5, 1000.0)?;
        let random = &settings.drawn;
        for (name, range, least, most) in [
            ("rate_mbps", random.rate_mbps, 0.1, 1000.0),
            ("rtt_ms", random.rtt_ms, 1.0, 2000.0),
            ("buffer_bdp", random.buffer_bdp, 0.01, 100.0),
        ] {
            all(name, &range, least, most)?;
            within(name, range[1], range[0], most)?;
        }
        within("loss", random.loss, 0.0, 0.5)?;
        within("queue_ms", settings.queue_ms, 0.0, 1000.0)?;
        within("queue_share", settings.queue_share, 0.0, 1.0)?;
        within("jitter_ms", settings.jitter_ms, 0.0, 1000.0)?;
        within("jitter_share", settings.jitter_share, 0.0, 1.0)?;
        within("steps", settings.steps as f64, 10.0, 10_000.0)?;
        within("iterations", settings.iterations as f64, 1.0, 10_000.0)?;
        within("epochs", settings.epochs as f64, 1.0, 1000.0)?;
        within("lessons", settings.lessons as f64, 10.0, 1e6)?;
        if ![32, 64, 96, 128].contains(&settings.units) {
            return Err(Refusal::of_value("units", settings.units, "allowed are 32, 64, 96, 128"));
        }
        let paths =
            settings.rates_mbps.len() * settings.delays_ms.len() + settings.paths.len() + random.count;
        within("paths", paths as f64, 1.0, 10_000.0)?;
        Ok(settings)
    }
}
