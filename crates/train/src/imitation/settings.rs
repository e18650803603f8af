//! What is trained for, and how thoroughly.

use path::PathSpec;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strict_input::Refusal;

/// Paths that are drawn anew in every iteration, by ratios between the ends of each range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Drawn {
    /// How many.
    pub(super) count: usize,
    pub(super) rate_mbps: [f64; 2],
    pub(super) rtt_ms: [f64; 2],
    /// Queue, in products of rate and RTT.
    pub(super) buffer_bdp: [f64; 2],
    /// Highest probability of a random loss; half of the paths have none.
    pub(super) loss: f64,
}

/// Settings of a training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    /// Rates and one-way delays of links with an endless queue: every combination.
    pub(super) rates_mbps: Vec<f64>,
    pub(super) delays_ms: Vec<f64>,
    /// Other paths, as run specifications have them.
    pub(super) paths: Vec<PathSpec>,
    pub(super) drawn: Drawn,
    /// The transport, as run specifications have it.
    pub(super) transport: Map<String, Value>,
    /// What the expert wants in the queue: so many ms of the link's rate...
    pub(super) queue_ms: f64,
    /// ... and such a part of a queue that is finite.
    pub(super) queue_share: f64,
    /// Most jitter, ms, and which part of the episodes has any.
    pub(super) jitter_ms: f64,
    pub(super) jitter_share: f64,
    /// Steps of an episode.
    pub(super) steps: usize,
    pub(super) iterations: usize,
    /// How often an iteration learns from each episode, and from how many it learns at most.
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
        let drawn = &settings.drawn;
        for (name, range, least, most) in [
            ("rate_mbps", drawn.rate_mbps, 0.1, 1000.0),
            ("rtt_ms", drawn.rtt_ms, 1.0, 2000.0),
            ("buffer_bdp", drawn.buffer_bdp, 0.01, 100.0),
        ] {
            all(name, &range, least, most)?;
            within(name, range[1], range[0], most)?;
        }
        within("loss", drawn.loss, 0.0, 0.5)?;
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
        let paths = settings.rates_mbps.len() * settings.delays_ms.len() + settings.paths.len() + drawn.count;
        within("paths", paths as f64, 1.0, 10_000.0)?;
        Ok(settings)
    }
}
