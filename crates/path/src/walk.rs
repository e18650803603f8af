//! Random walks of an element's parameters (reference `ccperf` 3.3).
//!
//! Every interval, for each key by itself: the last step D becomes `corr` D + N(0, `std`^2), and the value moves by D
//! and is clamped to [`min`, `max`]. Where it is clamped D is set to 0, so that a walk does not stick to its bound
//! for the memory's sake; the page leaves that open, as it does the interval and the start.

use crate::ElementSpec;
use crate::parameters::{not_negative, probability, refuse};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::{Rng, Span, Time};

/// Shortest interval, ms: bounds the events per simulated second.
const SHORTEST_INTERVAL_MS: f64 = 0.1;
/// Longest interval, ms: one hour.
const LONGEST_INTERVAL_MS: f64 = 3_600_000.0;

/// The walks of one element: which of its numeric parameters wander, and how often they move.
#[derive(Deserialize, Serialize, Clone, Debug)]
pub struct WalkSpec {
    /// Time between steps, ms.
    #[serde(default = "hundred")]
    pub interval_ms: f64,
    /// How each parameter walks.
    #[serde(flatten)]
    pub keys: BTreeMap<String, KeyWalk>,
}

fn hundred() -> f64 {
    100.0
}

/// The walk of one parameter, in its unit.
#[derive(Deserialize, Serialize, Clone, Copy, Debug)]
#[serde(deny_unknown_fields)]
pub struct KeyWalk {
    /// Share of the last step that the next one keeps, 0 to 1.
    pub corr: f64,
    /// Standard deviation of what is added to it.
    pub std: f64,
    /// Lowest value.
    pub min: f64,
    /// Highest value.
    pub max: f64,
    /// First value; the middle if absent.
    pub start: Option<f64>,
}

impl KeyWalk {
    fn check(&self) -> Result<(), String> {
        probability("corr", self.corr)?;
        not_negative("std", self.std, f64::MAX)?;
        if !self.min.is_finite() {
            return Err(refuse("min", self.min, "must be a number"));
        }
        if !(self.max > self.min && self.max.is_finite()) {
            return Err(refuse("max", self.max, &format!("must be above min = {}", self.min)));
        }
        match self.start {
            Some(start) if !(self.min..=self.max).contains(&start) => {
                let allowed = format!("must be from min = {} to max = {}", self.min, self.max);
                Err(refuse("start", start, &allowed))
            }
            _ => Ok(()),
        }
    }

    fn start(&self) -> f64 {
        self.start.unwrap_or(f64::midpoint(self.min, self.max))
    }
}

impl WalkSpec {
    /// Checks the walks of `element`, whose states after its scheduled changes are `states`: in each of them every
    /// combination of lowest and highest values must be allowed.
    pub(crate) fn check(&self, element: &ElementSpec, states: &[Option<ElementSpec>]) -> Result<(), String> {
        let interval = self.interval_ms;
        if !(SHORTEST_INTERVAL_MS..=LONGEST_INTERVAL_MS).contains(&interval) {
            return Err(refuse("interval_ms", interval, "must be from 0.1 to 3600000"));
        }
        if self.keys.is_empty() {
            return Err("nothing walks: a parameter of the element is missing".to_owned());
        }
        for (name, walk) in &self.keys {
            element.clone().set(name, walk.min)?;
            walk.check().map_err(|why| format!("{name}: {why}"))?;
            let scheduled = |(index, change): (usize, &crate::Change)| {
                change.parameters.contains_key(name).then_some(index)
            };
            if let Some(index) = element.schedule().iter().enumerate().find_map(scheduled) {
                return Err(format!(
                    "{name}: schedule[{index}] sets it too: allowed is one of walk and schedule"
                ));
            }
        }
        element.at_start().check(false)?;
        for state in core::iter::once(element).chain(states.iter().flatten()) {
            for corner in 0..1u32 << self.keys.len() {
                let mut at_corner = state.clone();
                for (bit, (name, walk)) in self.keys.iter().enumerate() {
                    at_corner.set(name, if corner & (1 << bit) == 0 { walk.min } else { walk.max })?;
                }
                at_corner.check(true)?;
            }
        }
        Ok(())
    }

    /// The first value of each walking parameter.
    pub(crate) fn starts(&self) -> impl Iterator<Item = (&str, f64)> {
        self.keys.iter().map(|(name, walk)| (name.as_str(), walk.start()))
    }
}

/// The walks of one element at work.
#[derive(Clone, Debug)]
pub(crate) struct Walker {
    /// The element's place.
    pub(crate) stage: usize,
    /// When the next step is due.
    pub(crate) next: Time,
    interval: Span,
    /// The element as it now is.
    spec: ElementSpec,
    keys: Vec<Key>,
}

#[derive(Clone, Debug)]
struct Key {
    name: String,
    walk: KeyWalk,
    value: f64,
    /// The last step, D.
    step: f64,
    rng: Rng,
}

impl Key {
    fn advance(&mut self) {
        self.step = self.walk.corr * self.step + self.rng.normal(0.0, self.walk.std);
        let wanted = self.value + self.step;
        self.value = wanted.clamp(self.walk.min, self.walk.max);
        if self.value != wanted {
            self.step = 0.0;
        }
    }
}

impl Walker {
    /// The walks of a checked `element`, if it has any; each key draws from the stream `prefix/walk/KEY`.
    pub(crate) fn build(element: &ElementSpec, stage: usize, seed: u64, prefix: &str) -> Option<Self> {
        let spec = element.walk()?;
        let keys = spec.keys.iter().map(|(name, walk)| Key {
            name: name.clone(),
            walk: *walk,
            value: walk.start(),
            step: 0.0,
            rng: Rng::new(seed, &format!("{prefix}/walk/{name}")),
        });
        let interval = Span::from_secs_f64(spec.interval_ms / 1e3);
        let spec = element.at_start().into_owned();
        Some(Self { stage, next: Time::ZERO + interval, interval, spec, keys: keys.collect() })
    }

    /// The element after the step that is due.
    pub(crate) fn step(&mut self) -> &ElementSpec {
        self.next += self.interval;
        self.keys.iter_mut().for_each(Key::advance);
        self.write()
    }

    /// The element after a scheduled change to `state`.
    pub(crate) fn adopt(&mut self, state: &ElementSpec) -> &ElementSpec {
        self.spec = state.clone();
        self.write()
    }

    fn write(&mut self) -> &ElementSpec {
        for key in &self.keys {
            let result = self.spec.set_nearest(&key.name, key.value);
            debug_assert!(result.is_ok(), "checked when the direction was built: {result:?}");
        }
        &self.spec
    }
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
