//! What episodes are made of.

use crate::draw::{Draw, Variation, apply};
use crate::reward::{Reward, RewardSpec};
use congestion::{Files, Registry};
use runs::RunSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use strict_input::Refusal;
use units::{Rng, Time};

/// The name under which agents find the line that says what their policy is.
const POLICY: &str = "policy";
/// Longest episode, s.
const LONGEST_S: f64 = 100_000.0;

/// One kind of episode.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The run; its seed and duration are not looked at. Agents come first among its flows.
    pub run: Value,
    /// What differs between its episodes.
    #[serde(default)]
    pub variations: Vec<Variation>,
    /// How many of the flows that are no agents take part; all if absent.
    #[serde(default)]
    pub background: Option<Draw>,
}

/// What episodes are made of, as it is handed over.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TaskSpec {
    /// What an episode is chosen from, all equally likely.
    pub scenarios: Vec<Scenario>,
    /// How many agents there are.
    pub agents: usize,
    /// The line that says what their policy is, where a policy of one's own is meant.
    #[serde(default)]
    pub policy: Option<String>,
    /// What is rewarded.
    pub reward: RewardSpec,
    /// Whether every agent gets the mean of all rewards.
    #[serde(default)]
    pub share_reward: bool,
    /// Whether the oracle is asked.
    #[serde(default = "yes")]
    pub oracle: bool,
    /// Length, s: an episode ends at the first decision that is not before.
    pub duration_s: f64,
    /// Most decisions.
    #[serde(default)]
    pub most_steps: Option<u64>,
}

const fn yes() -> bool {
    true
}

/// What episodes are made of, checked.
#[derive(Clone, Debug)]
pub struct Task {
    scenarios: Vec<(Scenario, Vec<Files>)>,
    pub(crate) agents: usize,
    pub(crate) reward: Reward,
    pub(crate) share_reward: bool,
    pub(crate) oracle: bool,
    pub(crate) ends: Time,
    pub(crate) most_steps: u64,
    pub(crate) registry: Registry,
}

/// A run, and what was drawn for it.
#[derive(Debug)]
pub(crate) struct Drawn {
    pub(crate) spec: Box<RunSpec>,
    pub(crate) values: BTreeMap<String, f64>,
}

impl Task {
    /// Checks `spec`; `files` has what the parameters of flows name, by scenario and flow.
    ///
    /// # Errors
    /// One line naming what is wrong.
    pub fn new(spec: TaskSpec, mut files: Vec<Vec<Files>>) -> Result<Self, Refusal> {
        if spec.scenarios.is_empty() {
            return Err(Refusal::of_key("scenarios", "at least one is needed"));
        }
        if spec.agents == 0 {
            return Err(Refusal::of_value("agents", 0, "at least one is needed"));
        }
        if !(spec.duration_s > 0.0 && spec.duration_s <= LONGEST_S) {
            return Err(Refusal::of_value(
                "duration_s",
                spec.duration_s,
                format!("allowed is a number above 0 up to {LONGEST_S}"),
            ));
        }
        if spec.most_steps == Some(0) {
            return Err(Refusal::of_value("most_steps", 0, "allowed is a whole number from 1"));
        }
        files.resize(spec.scenarios.len(), Vec::new());
        let mut scenarios: Vec<(Scenario, Vec<Files>)> = spec.scenarios.into_iter().zip(files).collect();
        for (scenario, files) in &mut scenarios {
            scenario.prepare(spec.duration_s)?;
            let flows = scenario.run["flows"].as_array().map_or(0, Vec::len);
            if flows < spec.agents {
                return Err(Refusal::of_value("agents", spec.agents, format!("the run has {flows} flows")));
            }
            files.resize(flows, Files::new());
            if let Some(line) = &spec.policy {
                for files in &mut files[..spec.agents] {
                    files.insert(POLICY.to_owned(), line.as_bytes().into());
                }
            }
        }
        let reward = Reward::new(&spec.reward)?;
        Ok(Self {
            scenarios,
            agents: spec.agents,
            oracle: spec.oracle || reward.needs_oracle(),
            reward,
            share_reward: spec.share_reward,
            ends: Time::from_secs_f64(spec.duration_s),
            most_steps: spec.most_steps.unwrap_or(u64::MAX),
            registry: Registry::with_agents(),
        })
    }

    /// How many agents there are.
    pub const fn agents(&self) -> usize {
        self.agents
    }

    /// The run that follows from `seed`.
    pub(crate) fn draw(&self, seed: u64) -> Result<Drawn, Refusal> {
        let mut rng = Rng::new(seed, "gym/scenario");
        let (scenario, files) = &self.scenarios[rng.below(self.scenarios.len() as u64) as usize];
        let mut run = scenario.run.clone();
        let values = apply(&scenario.variations, &mut rng, &mut run)?;
        if let Some(draw) = &scenario.background
            && let Some(flows) = run["flows"].as_array_mut()
        {
            flows.truncate(self.agents + draw.draw(&mut rng).max(0.0) as usize);
        }
        let mut spec: Box<RunSpec> =
            serde_json::from_value(run).map_err(|error| Refusal::new(error.to_string()))?;
        spec.seed = seed;
        for (flow, files) in spec.flows.iter_mut().zip(files) {
            flow.files.clone_from(files);
        }
        Ok(Drawn { spec, values })
    }
}

impl Scenario {
    /// Checks it and sets what every run of an environment has.
    fn prepare(&mut self, duration_s: f64) -> Result<(), Refusal> {
        for variation in &self.variations {
            variation.draw.check(&variation.name)?;
        }
        if let Some(background) = &self.background {
            background.check("background")?;
        }
        let run = self.run.as_object_mut().ok_or_else(|| Refusal::of_key("run", "allowed is a table"))?;
        // Episodes end with a decision: the run has to last longer.
        let guard_s = 2.0 * duration_s + 60.0;
        for (key, value) in [
            ("seed", 0.into()),
            ("duration_s", guard_s.into()),
            ("sample_interval_s", guard_s.into()),
            ("log", "none".into()),
        ] {
            run.insert(key.to_owned(), value);
        }
        Ok(())
    }
}
