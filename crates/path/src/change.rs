//! Changes of an element's settings during a run: by a schedule, or by a random walk.

use crate::element_settings::{not_negative, probability, refuse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use strict_input::Refusal;
use units::Time;

/// Latest time of a change, s: one year.
pub(crate) const LATEST_S: f64 = 31_536_000.0;

/// A scheduled change of an element: new values of its numeric settings and of its queue's settings.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
pub struct Change {
    /// Time of the change, s.
    // NaN if absent: the check of the path refuses it, after the faults of the other keys.
    #[serde(default = "never")]
    #[schemars(required, !default)]
    #[schemars(range(min = 0))]
    pub at_s: f64,
    /// Settings of the queue.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub queue: BTreeMap<String, f64>,
    /// Settings of the element.
    #[serde(flatten)]
    pub settings: BTreeMap<String, f64>,
}

fn never() -> f64 {
    f64::NAN
}

impl Change {
    pub(crate) fn at(&self) -> Time {
        Time::from_secs_f64(self.at_s)
    }
}

/// Shortest interval, ms: bounds the events per simulated second.
const SHORTEST_INTERVAL_MS: f64 = 0.1;
/// Longest interval, ms: one hour.
const LONGEST_INTERVAL_MS: f64 = 3_600_000.0;

/// Random walks of one element: the interval, and the numeric settings that change.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
pub struct WalkSpec {
    /// Time between steps, ms.
    #[serde(default = "hundred")]
    #[schemars(range(min = 0.1, max = 3_600_000))]
    pub interval_ms: f64,
    /// Walk of each setting.
    #[serde(flatten)]
    pub keys: BTreeMap<String, KeyWalk>,
}

fn hundred() -> f64 {
    100.0
}

/// Random walk of one setting, in the setting's unit.
#[derive(Deserialize, Serialize, Clone, Copy, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyWalk {
    /// Share of the last step that the next step keeps, 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub corr: f64,
    /// Standard deviation of the random part of each step.
    #[schemars(range(min = 0))]
    pub std: f64,
    /// Lowest value.
    pub min: f64,
    /// Highest value.
    pub max: f64,
    /// First value; the middle if absent.
    pub start: Option<f64>,
}

impl KeyWalk {
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        probability("corr", self.corr)?;
        not_negative("std", self.std, f64::MAX)?;
        if !self.min.is_finite() {
            return Err(refuse("min", self.min, "must be a number"));
        }
        if !(self.max > self.min && self.max.is_finite()) {
            return Err(refuse("max", self.max, format!("must be above min = {}", self.min)));
        }
        match self.start {
            Some(start) if !(self.min..=self.max).contains(&start) => {
                let allowed = format!("must be from min = {} to max = {}", self.min, self.max);
                Err(refuse("start", start, allowed))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn start(&self) -> f64 {
        self.start.unwrap_or(f64::midpoint(self.min, self.max))
    }
}

impl WalkSpec {
    /// Checks everything that does not depend on the element.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        let interval = self.interval_ms;
        if !(SHORTEST_INTERVAL_MS..=LONGEST_INTERVAL_MS).contains(&interval) {
            return Err(refuse("interval_ms", interval, "must be from 0.1 to 3600000"));
        }
        if self.keys.is_empty() {
            return Err(Refusal::new("nothing walks: a setting of the element is missing"));
        }
        Ok(())
    }

    /// Returns the first value of each walking setting.
    pub(crate) fn starts(&self) -> impl Iterator<Item = (&str, f64)> {
        self.keys.iter().map(|(name, walk)| (name.as_str(), walk.start()))
    }
}
