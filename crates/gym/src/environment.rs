//! Environment: a sequence of episodes.

use crate::Error;
use crate::oracle::{Oracle, OracleValues};
use crate::task::Task;
use congestion::{STEP_FIELDS, StepValues};
use runs::{LogLevel, Observer, RunSpec, Totals};
use simulator::{Progress, Simulation};
use std::collections::BTreeMap;
use std::sync::Arc;
use strict_input::Refusal;
use units::Rng;

/// Maximum number of attempts to find an episode with a decision.
const ATTEMPTS: usize = 100;

struct Nobody;

impl Observer for Nobody {}

/// State of an agent after a step.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// True if the agent's decision is due.
    pub due: bool,
    /// Reward of the step.
    pub reward: f64,
    /// True if the agent's flow is over.
    pub terminated: bool,
    /// True if the episode is over for another reason.
    pub truncated: bool,
    /// Values of the oracle.
    pub oracle: OracleValues,
    /// Sum of the rewards and number of decisions in the episode.
    pub episode: [f64; 2],
}

/// Environment of a task.
#[derive(Debug)]
pub struct Environment {
    task: Arc<Task>,
    simulation: Option<Simulation<Box<RunSpec>>>,
    base_seed: u64,
    /// Number of the next episode since the seed was set.
    episode: u64,
    run_seed: u64,
    drawn: BTreeMap<String, f64>,
    oracle: Oracle,
    shown: Vec<Shown>,
    decisions: u64,
    /// True if the episode is over.
    is_over: bool,
    /// All actions of the episode; `None` if they are not kept.
    actions: Option<Vec<f32>>,
}

impl Environment {
    /// Creates an environment of `task`, before its first episode. With `keeps`, episodes can be replayed.
    pub fn new(task: Arc<Task>, keeps: bool) -> Self {
        Self {
            shown: vec![Shown::default(); task.agents],
            task,
            simulation: None,
            base_seed: 0,
            episode: 0,
            run_seed: 0,
            drawn: BTreeMap::new(),
            oracle: Oracle::default(),
            decisions: 0,
            is_over: true,
            actions: keeps.then(Vec::new),
        }
    }

    /// Returns true if the episode is over or none has begun.
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns the seed of this episode's run.
    pub const fn run_seed(&self) -> u64 {
        self.run_seed
    }

    /// Returns the random values of this episode by name.
    pub const fn drawn(&self) -> &BTreeMap<String, f64> {
        &self.drawn
    }

    /// Returns the state of each agent.
    pub fn shown(&self) -> &[Shown] {
        &self.shown
    }

    /// Returns the time in the episode, s.
    pub fn now_s(&self) -> f64 {
        self.simulation.as_ref().map_or(0.0, |simulation| simulation.now().as_secs_f64())
    }

    /// Begins the next episode, with a new `seed` if given, and runs it to the first decision.
    ///
    /// # Errors
    /// Returns an error if the run cannot be built or no decision falls due.
    pub fn reset(&mut self, seed: Option<u64>) -> Result<(), Error> {
        if let Some(seed) = seed {
            (self.base_seed, self.episode) = (seed, 0);
        }
        for _ in 0..ATTEMPTS {
            let mut seeds = Rng::new(self.base_seed, &format!("gym/episode/{}", self.episode));
            self.episode += 1;
            // Seeds are below 2^53, which JSON numbers and Python floats represent exactly.
            self.run_seed = seeds.next_u64() >> 11;
            if self.begin()? {
                return Ok(());
            }
        }
        Err(Error::NoDecision { episodes: ATTEMPTS })
    }

    fn begin(&mut self) -> Result<bool, Error> {
        let drawn = self.task.draw(self.run_seed)?;
        self.drawn = drawn.values;
        self.oracle.begin(&drawn.spec, self.task.agents)?;
        self.shown.fill(Shown::default());
        self.decisions = 0;
        if let Some(actions) = &mut self.actions {
            actions.clear();
        }
        let mut simulation = Simulation::new(drawn.spec, &self.task.registry)?;
        for agent in 0..self.task.agents {
            if simulation.agent(agent).is_none() {
                return Err(Refusal::of_key(
                    format!("flows[{agent}]"),
                    "allowed is an agent: a controller whose name begins with agent-",
                )
                .into());
            }
        }
        let goes_on = advance(&mut simulation, self.task.agents)?;
        self.is_over = !goes_on || simulation.now() >= self.task.ends;
        self.simulation = Some(simulation);
        self.look();
        self.shown.iter_mut().for_each(|shown| (shown.reward, shown.episode) = (0.0, [0.0; 2]));
        Ok(!self.is_over)
    }

    /// Makes the due decisions of all agents and runs to the next ones. `actions` contains one action per agent, one
    /// after the other. Does nothing if the episode is over.
    ///
    /// # Errors
    /// Returns an error if the run costs more than its run spec allows.
    pub fn step(&mut self, actions: &[f32]) -> Result<(), Error> {
        if self.is_over {
            return Ok(());
        }
        let Some(simulation) = &mut self.simulation else { return Ok(()) };
        if let Some(kept) = &mut self.actions {
            kept.extend_from_slice(actions);
        }
        decide(simulation, self.task.agents, actions);
        let goes_on = advance(simulation, self.task.agents)?;
        self.decisions += 1;
        let is_late =
            !goes_on || simulation.now() >= self.task.ends || self.decisions >= self.task.most_steps;
        self.is_over = is_late;
        self.look();
        if is_late {
            self.shown.iter_mut().for_each(|shown| shown.truncated = !shown.terminated);
        }
        self.is_over |= self.shown.iter().all(|shown| shown.terminated);
        Ok(())
    }

    /// Updates the state of every agent.
    fn look(&mut self) {
        let Some(simulation) = &mut self.simulation else { return };
        let now = simulation.now();
        let mut oracle = OracleValues::default();
        if self.task.oracle {
            let flows = simulation.spec().flows.len();
            let active = (0..flows).filter(|flow| simulation.sender(*flow).is_active(now)).count();
            let [data, _] = simulation.settled(&mut Nobody);
            self.oracle.ask(now, data.links(), active, &mut oracle);
        }
        for (index, shown) in self.shown.iter_mut().enumerate() {
            if self.task.oracle {
                oracle[3] = self.oracle.base_rtt_ms(index, now);
            }
            let was_over = shown.terminated;
            shown.terminated = simulation.sender(index).completed_at().is_some();
            let Some(agent) = simulation.agent(index) else { continue };
            shown.due = agent.is_waiting();
            if self.is_over && !shown.due {
                agent.close(now);
            }
            shown.oracle = oracle;
            let counts = shown.due || (self.is_over && !was_over);
            shown.reward = if counts { self.task.reward.of(agent.values(), &oracle) } else { 0.0 };
            shown.episode[1] += f64::from(u8::from(counts));
        }
        if self.task.share_reward {
            let mean = self.shown.iter().map(|shown| shown.reward).sum::<f64>() / self.shown.len() as f64;
            self.shown.iter_mut().for_each(|shown| shown.reward = mean);
        }
        self.shown.iter_mut().for_each(|shown| shown.episode[0] += shown.reward);
    }

    /// Returns the observation of agent `index` at its latest decision.
    pub fn observation(&mut self, index: usize) -> &[f32] {
        self.simulation
            .as_mut()
            .and_then(|simulation| simulation.agent(index))
            .map_or(&[], |agent| agent.observation())
    }

    /// Returns the values of the step that agent `index` ended last.
    pub fn values(&mut self, index: usize) -> StepValues {
        let agent = self.simulation.as_mut().and_then(|simulation| simulation.agent(index));
        agent.map_or([0.0; STEP_FIELDS.len()], |agent| *agent.values())
    }

    /// Returns the lengths of observations and of actions.
    pub fn lengths(&mut self) -> (usize, usize) {
        let agent = self.simulation.as_mut().and_then(|simulation| simulation.agent(0));
        agent.map_or((0, 0), |agent| (agent.inputs(), agent.outputs()))
    }

    /// Returns a recording of the episode up to now, with this log level and sample interval.
    ///
    /// # Errors
    /// Returns an error if no episode has begun or actions are not kept.
    pub fn record(&self, log: LogLevel, sample_interval_s: f64) -> Result<Recording, Error> {
        let (simulation, actions) =
            self.simulation.as_ref().zip(self.actions.clone()).ok_or(Error::NoActions)?;
        let duration_s = simulation.now().as_secs_f64();
        let mut spec = simulation.spec().clone();
        (spec.duration_s, spec.log, spec.sample_interval_s) =
            (duration_s, log, sample_interval_s.min(duration_s));
        Ok(Recording { task: Arc::clone(&self.task), spec, actions })
    }
}

/// Episode that can be replayed.
#[derive(Debug)]
pub struct Recording {
    task: Arc<Task>,
    /// Run spec of the episode.
    pub spec: RunSpec,
    actions: Vec<f32>,
}

impl Recording {
    /// Replays the episode with the same actions and reports to `observer`.
    ///
    /// # Errors
    /// Returns an error if the run spec is invalid or the observer ended the run.
    pub fn replay<O: Observer + ?Sized>(&self, observer: &mut O) -> Result<Totals, Error> {
        let mut simulation = Simulation::new(&self.spec, &self.task.registry)?;
        let agents = self.task.agents;
        let width = agents * simulation.agent(0).map_or(1, |agent| agent.outputs());
        let mut actions = self.actions.chunks_exact(width.max(1));
        while advance_telling(&mut simulation, agents, observer)? {
            // The last decision may be due but not made; nothing follows it.
            let Some(action) = actions.next() else { return finish(simulation, agents, observer) };
            decide_telling(&mut simulation, agents, action, observer);
        }
        Ok(simulation.totals())
    }
}

/// Runs to the end with actions that change nothing.
fn finish<O: Observer + ?Sized>(
    mut simulation: Simulation<&RunSpec>,
    agents: usize,
    observer: &mut O,
) -> Result<Totals, Error> {
    let width = agents * simulation.agent(0).map_or(1, |agent| agent.outputs());
    let nothing = vec![0.0; width];
    loop {
        decide_telling(&mut simulation, agents, &nothing, observer);
        if !advance_telling(&mut simulation, agents, observer)? {
            return Ok(simulation.totals());
        }
    }
}

/// Runs until decisions are due. With one agent the run stops exactly at its decision. With several agents it stops
/// after all decisions of that instant are due. Returns true if a decision is due.
fn advance_telling<S: core::ops::Deref<Target = RunSpec>, O: Observer + ?Sized>(
    simulation: &mut Simulation<S>,
    agents: usize,
    observer: &mut O,
) -> Result<bool, Error> {
    loop {
        match simulation.advance(observer)? {
            Progress::Due(_) if agents > 1 => {}
            Progress::Paused => {}
            Progress::Due(_) | Progress::Waiting => return Ok(true),
            Progress::Finished => return Ok(false),
        }
    }
}

fn decide_telling<S: core::ops::Deref<Target = RunSpec>, O: Observer + ?Sized>(
    simulation: &mut Simulation<S>,
    agents: usize,
    actions: &[f32],
    observer: &mut O,
) {
    let width = actions.len() / agents;
    for (flow, action) in actions.chunks_exact(width.max(1)).take(agents).enumerate() {
        simulation.decide(flow, action, observer);
    }
}

fn advance(simulation: &mut Simulation<Box<RunSpec>>, agents: usize) -> Result<bool, Error> {
    advance_telling(simulation, agents, &mut Nobody)
}

fn decide(simulation: &mut Simulation<Box<RunSpec>>, agents: usize, actions: &[f32]) {
    decide_telling(simulation, agents, actions, &mut Nobody);
}
