//! Random values of a task and their targets in a run.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use strict_input::Refusal;
use units::Rng;

/// Random value.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Draw {
    /// Uniform distribution between two bounds.
    Uniform {
        /// Minimum value.
        low: f64,
        /// Maximum value.
        high: f64,
        /// Fraction of episodes with the value 0.
        #[serde(default)]
        zero: f64,
    },
    /// Distribution with a uniform logarithm between two bounds.
    LogUniform {
        /// Minimum value.
        low: f64,
        /// Maximum value.
        high: f64,
        /// Fraction of episodes with the value 0.
        #[serde(default)]
        zero: f64,
    },
    /// One value of a list, all equally likely.
    Choice {
        /// List of values.
        values: Vec<f64>,
    },
}

impl Draw {
    /// Checks the bounds.
    ///
    /// # Errors
    /// Returns one line with the problem.
    pub(crate) fn check(&self, name: &str) -> Result<(), Refusal> {
        let bounds = |low: f64, high: f64, least: f64, zero: f64| {
            if !(low.is_finite() && high.is_finite() && low >= least && low <= high) {
                return Err(Refusal::of_key(
                    name,
                    format!("from {low} to {high}: allowed are finite numbers, the lower one first"),
                ));
            }
            if (0.0..=1.0).contains(&zero) {
                Ok(())
            } else {
                Err(Refusal::of_key(name, format!("zero = {zero}: allowed is 0 to 1")))
            }
        };
        match self {
            Self::Uniform { low, high, zero } => bounds(*low, *high, f64::MIN, *zero),
            Self::LogUniform { low, high, zero } if *low > 0.0 => bounds(*low, *high, 0.0, *zero),
            Self::LogUniform { low, .. } => {
                Err(Refusal::of_key(name, format!("from {low}: allowed is above 0 for a logarithm")))
            }
            Self::Choice { values } if values.is_empty() => {
                Err(Refusal::of_key(name, "values: at least one is needed"))
            }
            Self::Choice { values } if values.iter().all(|value| value.is_finite()) => Ok(()),
            Self::Choice { .. } => Err(Refusal::of_key(name, "values: allowed are finite numbers")),
        }
    }

    /// Draws a value.
    pub(crate) fn draw(&self, rng: &mut Rng) -> f64 {
        // Each draw consumes the same number of random numbers, so that the result does not change other draws.
        let (position, is_zero) = (rng.uniform(), rng.uniform());
        match self {
            Self::Uniform { zero, .. } | Self::LogUniform { zero, .. } if is_zero < *zero => 0.0,
            Self::Uniform { low, high, .. } => low + (high - low) * position,
            Self::LogUniform { low, high, .. } => low * libm::exp(libm::log(high / low) * position),
            Self::Choice { values } => values[(position * values.len() as f64) as usize % values.len()],
        }
    }
}

/// Target of a value: `scale` times the value times the values of `by`, plus `add`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// JSON pointer into the run spec.
    pub pointer: String,
    /// Factor.
    #[serde(default = "one")]
    pub scale: f64,
    /// Names of other variations whose values are factors.
    #[serde(default)]
    pub by: Vec<String>,
    /// Summand.
    #[serde(default)]
    pub add: f64,
    /// Minimum of the result, if any.
    #[serde(default)]
    pub least: Option<f64>,
    /// True if the result is rounded to an integer.
    #[serde(default)]
    pub whole: bool,
    /// True if the result is written as a string, for parameters of controllers.
    #[serde(default)]
    pub text: bool,
}

const fn one() -> f64 {
    1.0
}

/// Quantity that varies between episodes.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Variation {
    /// Name of the variation.
    pub name: String,
    /// Random values of the variation.
    pub draw: Draw,
    /// Targets of the values.
    #[serde(default)]
    pub targets: Vec<Target>,
}

/// Draws all `variations` and writes them to `run`.
///
/// # Errors
/// Returns an error if a target does not exist.
pub(crate) fn apply(
    variations: &[Variation],
    rng: &mut Rng,
    run: &mut Value,
) -> Result<BTreeMap<String, f64>, Refusal> {
    let drawn: BTreeMap<String, f64> =
        variations.iter().map(|variation| (variation.name.clone(), variation.draw.draw(rng))).collect();
    for variation in variations {
        for target in &variation.targets {
            let mut value = drawn[&variation.name] * target.scale;
            for name in &target.by {
                let other = drawn.get(name);
                value *= other.ok_or_else(|| {
                    Refusal::of_value("by", format_args!("`{name}`"), "nothing of that name varies")
                        .at(variation.name.clone())
                })?;
            }
            value += target.add;
            value = target.least.map_or(value, |least| value.max(least));
            let value = if target.whole { value.round() } else { value };
            let place = run.pointer_mut(&target.pointer).ok_or_else(|| {
                Refusal::of_key(&*target.pointer, "the run has no such place").at(variation.name.clone())
            })?;
            *place = match (target.text, target.whole) {
                (true, _) => Value::from(value.to_string()),
                (false, true) => Value::from(value as i64),
                (false, false) => Value::from(value),
            };
        }
    }
    Ok(drawn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_go_to_their_places_and_products_follow() {
        let variations: Vec<Variation> = serde_json::from_value(json!([
            {"name": "rate", "draw": {"kind": "uniform", "low": 10.0, "high": 10.0}, "targets": [{"pointer": "/rate"}]},
            {"name": "bdp", "draw": {"kind": "choice", "values": [2.0]},
             "targets": [{"pointer": "/queue", "by": ["rate"], "scale": 0.5, "add": 0.4, "whole": true},
                         {"pointer": "/text", "text": true}]},
        ]))
        .unwrap();
        let mut run = json!({"rate": 0, "queue": 0, "text": ""});
        let drawn = apply(&variations, &mut Rng::new(1, "x"), &mut run).unwrap();
        assert_eq!(run, json!({"rate": 10.0, "queue": 10, "text": "2"}));
        assert_eq!(drawn["bdp"], 2.0);
        let error = apply(&variations, &mut Rng::new(1, "x"), &mut json!({})).unwrap_err().to_string();
        assert_eq!(error, "rate: /rate: the run has no such place");
    }

    #[test]
    fn draws_keep_their_bounds_and_wrong_ones_are_refused() {
        let mut rng = Rng::new(1, "x");
        let (uniform, log) = (
            Draw::Uniform { low: 1.0, high: 3.0, zero: 0.0 },
            Draw::LogUniform { low: 1.0, high: 100.0, zero: 0.5 },
        );
        let drawn: Vec<f64> = (0..1000).map(|_| uniform.draw(&mut rng)).collect();
        assert!(drawn.iter().all(|value| (1.0..=3.0).contains(value)));
        let drawn: Vec<f64> = (0..1000).map(|_| log.draw(&mut rng)).collect();
        let zeros = drawn.iter().filter(|value| **value == 0.0).count();
        let below = drawn.iter().filter(|value| (1.0..10.0).contains(*value)).count();
        assert!((400..600).contains(&zeros) && (180..320).contains(&below), "{zeros} {below}");
        for (draw, expected) in [
            (Draw::Uniform { low: 2.0, high: 1.0, zero: 0.0 }, "x: from 2 to 1: allowed are finite numbers"),
            (Draw::LogUniform { low: 0.0, high: 1.0, zero: 0.0 }, "x: from 0: allowed is above 0"),
            (Draw::Uniform { low: 1.0, high: 1.0, zero: 2.0 }, "x: zero = 2: allowed is 0 to 1"),
            (Draw::Choice { values: Vec::new() }, "x: values: at least one is needed"),
        ] {
            assert!(draw.check("x").unwrap_err().to_string().starts_with(expected));
        }
    }
}
