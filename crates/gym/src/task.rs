//! Task: description of episodes.

use crate::draw::{Draw, Variation, apply};
use crate::reward::{Reward, RewardSpec};
use congestion::{Files, Registry};
use runs::RunSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use strict_input::Refusal;
use units::{Rng, Time};

/// Name of the file that contains the agents' policy line.
const POLICY: &str = "policy";
/// Maximum length of an episode, s.
const LONGEST_S: f64 = 100_000.0;

/// Kind of episode.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Run spec. Its seed and duration are ignored. Agents come first among its flows.
    pub run: Value,
    /// Quantities that vary between episodes.
    #[serde(default)]
    pub variations: Vec<Variation>,
    /// Number of active flows besides the agents; all flows if absent.
    #[serde(default)]
    pub background: Option<Draw>,
}

/// Description of episodes as the caller writes it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TaskSpec {
    /// Kinds of episodes, all equally likely.
    pub scenarios: Vec<Scenario>,
    /// Number of agents.
    pub agents: usize,
    /// Policy line of the agents, for a custom policy.
    #[serde(default)]
    pub policy: Option<String>,
    /// Reward function.
    pub reward: RewardSpec,
    /// True if every agent gets the mean of all rewards.
    #[serde(default)]
    pub share_reward: bool,
    /// True if the oracle is computed.
    #[serde(default = "yes")]
    pub oracle: bool,
    /// Length, s. An episode ends at the first decision at or after this time.
    pub duration_s: f64,
    /// Maximum number of decisions.
    #[serde(default)]
    pub most_steps: Option<u64>,
}

const fn yes() -> bool {
    true
}

/// Checked description of episodes.
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

/// Run with its random values.
#[derive(Debug)]
pub(crate) struct Drawn {
    pub(crate) spec: Box<RunSpec>,
    pub(crate) values: BTreeMap<String, f64>,
}

impl Task {
    /// Checks `spec`. `files` contains the files that the flows' parameters name, by scenario and flow.
    ///
    /// # Errors
    /// Returns one line with the problem.
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

    /// Returns the number of agents.
    pub const fn agents(&self) -> usize {
        self.agents
    }

    /// Returns the run of `seed`.
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
    /// Checks the scenario and sets the common entries of all runs.
    fn prepare(&mut self, duration_s: f64) -> Result<(), Refusal> {
        for variation in &self.variations {
            variation.draw.check(&variation.name)?;
        }
        if let Some(background) = &self.background {
            background.check("background")?;
        }
        let run = self.run.as_object_mut().ok_or_else(|| Refusal::of_key("run", "allowed is a table"))?;
        // Episodes end with a decision, so the run must last longer.
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
