//! One episode after another.

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

/// Episodes that are tried until one has a decision.
const ATTEMPTS: usize = 100;

struct Nobody;

impl Observer for Nobody {}

/// What an agent shows after a step.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Whether its decision is due.
    pub due: bool,
    /// What the step brought.
    pub reward: f64,
    /// Whether its flow is over.
    pub terminated: bool,
    /// Whether the episode is over otherwise.
    pub truncated: bool,
    /// What the path knows.
    pub oracle: OracleValues,
    /// Sum of the rewards, and number of decisions, of the episode.
    pub episode: [f64; 2],
}

/// An environment.
#[derive(Debug)]
pub struct Environment {
    task: Arc<Task>,
    simulation: Option<Simulation<Box<RunSpec>>>,
    base_seed: u64,
    /// Number of the next episode since the seed was given.
    episode: u64,
    run_seed: u64,
    drawn: BTreeMap<String, f64>,
    oracle: Oracle,
    shown: Vec<Shown>,
    decisions: u64,
    /// Whether the episode is over.
    is_over: bool,
    /// Every action of the episode, if they are kept.
    actions: Option<Vec<f32>>,
}

impl Environment {
    /// An environment of `task`, before its first episode; `keeps` says whether it can be replayed.
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

    /// Whether the episode is over, or none has begun.
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// The seed of the run of this episode.
    pub const fn run_seed(&self) -> u64 {
        self.run_seed
    }

    /// What was drawn for this episode, by name.
    pub const fn drawn(&self) -> &BTreeMap<String, f64> {
        &self.drawn
    }

    /// What each agent shows.
    pub fn shown(&self) -> &[Shown] {
        &self.shown
    }

    /// The time in the episode, s.
    pub fn now_s(&self) -> f64 {
        self.simulation.as_ref().map_or(0.0, |simulation| simulation.now().as_secs_f64())
    }

    /// Begins the next episode, of a new `seed` if there is one: runs until the first decision falls due.
    ///
    /// # Errors
    /// One line: the run cannot be built, or no decision falls due.
    pub fn reset(&mut self, seed: Option<u64>) -> Result<(), Error> {
        if let Some(seed) = seed {
            (self.base_seed, self.episode) = (seed, 0);
        }
        for _ in 0..ATTEMPTS {
            let mut seeds = Rng::new(self.base_seed, &format!("gym/episode/{}", self.episode));
            self.episode += 1;
            // Below 2^53: a seed that JSON and Python's floats keep.
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

    /// Decides for every agent whose decision is due, and goes on to the next one. `actions` holds one action of each
    /// agent after the other. Nothing happens where the episode is over.
    ///
    /// # Errors
    /// One line: the run cost more than its specification allows.
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

    /// What every agent shows now.
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

    /// What agent number `index` saw when its latest decision fell due.
    pub fn observation(&mut self, index: usize) -> &[f32] {
        self.simulation
            .as_mut()
            .and_then(|simulation| simulation.agent(index))
            .map_or(&[], |agent| agent.observation())
    }

    /// What happened in the step that agent number `index` ended last.
    pub fn values(&mut self, index: usize) -> StepValues {
        let agent = self.simulation.as_mut().and_then(|simulation| simulation.agent(index));
        agent.map_or([0.0; STEP_FIELDS.len()], |agent| *agent.values())
    }

    /// Lengths of observations and of actions.
    pub fn lengths(&mut self) -> (usize, usize) {
        let agent = self.simulation.as_mut().and_then(|simulation| simulation.agent(0));
        agent.map_or((0, 0), |agent| (agent.inputs(), agent.outputs()))
    }

    /// The episode up to now, with this log and spacing of samples.
    ///
    /// # Errors
    /// One line: no episode has begun, or actions are not kept.
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

/// An episode that can be carried out again.
#[derive(Debug)]
pub struct Recording {
    task: Arc<Task>,
    /// Its run.
    pub spec: RunSpec,
    actions: Vec<f32>,
}

impl Recording {
    /// Carries it out with the same actions, and tells `observer` what happens.
    ///
    /// # Errors
    /// One line: what is wrong with the specification, or why the observer wanted the run to end early.
    pub fn replay<O: Observer + ?Sized>(&self, observer: &mut O) -> Result<Totals, Error> {
        let mut simulation = Simulation::new(&self.spec, &self.task.registry)?;
        let agents = self.task.agents;
        let width = agents * simulation.agent(0).map_or(1, |agent| agent.outputs());
        let mut actions = self.actions.chunks_exact(width.max(1));
        while advance_telling(&mut simulation, agents, observer)? {
            // The last decision may be due without having been made: nothing follows it.
            let Some(action) = actions.next() else { return finish(simulation, agents, observer) };
            decide_telling(&mut simulation, agents, action, observer);
        }
        Ok(simulation.totals())
    }
}

/// Goes on to the end with actions that do nothing.
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

/// Goes on until decisions are due: of one agent exactly when it falls due, of several when all of the instant are.
/// Returns whether any is.
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
