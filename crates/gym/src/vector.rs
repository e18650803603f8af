//! Many environments, stepped in one call on several threads, and the arrays for their results.

use crate::Error;
use crate::environment::Environment;
use crate::oracle::ORACLE_FIELDS;
use crate::task::Task;
use congestion::STEP_FIELDS;
use rayon::prelude::*;
use std::sync::Arc;
use strict_input::Refusal;

/// Maximum number of agents of all environments. Each agent has a simulated flow.
const MOST_AGENTS: usize = 1 << 16;
/// Maximum number of observed numbers of all agents.
const MOST_SHOWN: usize = 1 << 27;

/// Behavior of an environment after the end of its episode (Gymnasium 1.1, `gymnasium.vector.AutoresetMode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Autoreset {
    /// The next step begins the next episode and ignores its action.
    NextStep,
    /// The step that ends an episode begins the next one. The last observation is kept separately.
    SameStep,
    /// Nothing happens until a reset.
    Disabled,
}

/// Results in rows: first the agents of environment 0, then those of environment 1, and so on.
#[derive(Debug, Default)]
pub struct Arrays {
    /// Observations.
    pub observations: Vec<f32>,
    /// Last observations of episodes that ended with this step, if the next episode has already begun.
    pub final_observations: Vec<f32>,
    /// Actions, which the caller writes before a step.
    pub actions: Vec<f32>,
    /// Rewards.
    pub rewards: Vec<f64>,
    /// 1 if an agent's flow is over.
    pub terminated: Vec<u8>,
    /// 1 if the episode is over for another reason.
    pub truncated: Vec<u8>,
    /// 1 if an agent's decision is due.
    pub due: Vec<u8>,
    /// Fields of the step ([`STEP_FIELDS`]).
    pub values: Vec<f64>,
    /// Values of the oracle ([`ORACLE_FIELDS`]).
    pub oracle: Vec<f64>,
    /// Sum of rewards and number of decisions of each agent, in the episode that continues or ended with this step.
    pub episodes: Vec<f64>,
    /// 1 if the environment's episode ended with this step, for each environment.
    pub ended: Vec<u8>,
    /// Time in that episode, s.
    pub times: Vec<f64>,
}

/// Many environments of one task.
#[derive(Debug)]
pub struct Vector {
    task: Arc<Task>,
    environments: Vec<Environment>,
    pool: Option<Pool>,
    autoreset: Autoreset,
    inputs: usize,
    outputs: usize,
    /// Results of the environments.
    pub arrays: Arrays,
}

/// Threads with their process. A fork of the process has no threads, so its work would never be done.
#[derive(Debug)]
struct Pool {
    threads: rayon::ThreadPool,
    process: u32,
}

impl Pool {
    fn new(threads: usize) -> Result<Self, Error> {
        let built = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let threads = built.map_err(|source| Error::Threads { threads, source })?;
        Ok(Self { threads, process: std::process::id() })
    }

    fn threads(&self) -> Result<&rayon::ThreadPool, Error> {
        let (made, here) = (self.process, std::process::id());
        if made == here {
            return Ok(&self.threads);
        }
        Err(Error::Forked { made, here })
    }
}

/// Rows of one environment in [`Arrays`].
struct Rows<'a> {
    environment: &'a mut Environment,
    observations: &'a mut [f32],
    final_observations: &'a mut [f32],
    actions: &'a [f32],
    rewards: &'a mut [f64],
    flags: [&'a mut [u8]; 3],
    values: &'a mut [f64],
    oracle: &'a mut [f64],
    episodes: &'a mut [f64],
    ended: &'a mut u8,
    time: &'a mut f64,
}

impl Vector {
    /// Creates `count` environments of `task` with `threads` threads. With `keeps`, episodes can be replayed.
    ///
    /// # Errors
    /// Returns an error if no episode of the task can begin, or the environments do not fit into memory.
    pub fn new(
        task: Arc<Task>,
        count: usize,
        threads: usize,
        autoreset: Autoreset,
        keeps: bool,
    ) -> Result<Self, Error> {
        if count == 0 || threads == 0 {
            return Err(Refusal::new(format!(
                "{count} environments on {threads} threads: at least one of each is needed"
            ))
            .into());
        }
        let mut first = Environment::new(Arc::clone(&task), keeps);
        first.reset(Some(0))?;
        let (inputs, outputs) = first.lengths();
        let shown = 2 * inputs + outputs + STEP_FIELDS.len() + ORACLE_FIELDS.len();
        let most = MOST_AGENTS.min(MOST_SHOWN / shown) / task.agents();
        if count > most {
            let agents = task.agents();
            return Err(Refusal::of_value(
                "num_envs",
                count,
                format!("allowed are up to {most} where each has {agents} flows that see {inputs} numbers"),
            )
            .into());
        }
        let rows = count * task.agents();
        let arrays = Arrays {
            observations: vec![0.0; rows * inputs],
            final_observations: vec![0.0; rows * inputs],
            actions: vec![0.0; rows * outputs],
            rewards: vec![0.0; rows],
            terminated: vec![0; rows],
            truncated: vec![0; rows],
            due: vec![0; rows],
            values: vec![0.0; rows * STEP_FIELDS.len()],
            oracle: vec![0.0; rows * ORACLE_FIELDS.len()],
            episodes: vec![0.0; rows * 2],
            ended: vec![0; count],
            times: vec![0.0; count],
        };
        let pool = match threads.min(count) {
            1 => None,
            threads => Some(Pool::new(threads)?),
        };
        let environments = (0..count).map(|_| Environment::new(Arc::clone(&task), keeps)).collect();
        Ok(Self { task, environments, pool, autoreset, inputs, outputs, arrays })
    }

    /// Returns the length of an observation.
    pub const fn inputs(&self) -> usize {
        self.inputs
    }

    /// Returns the length of an action.
    pub const fn outputs(&self) -> usize {
        self.outputs
    }

    /// Returns the number of agents in each environment.
    pub fn agents(&self) -> usize {
        self.task.agents()
    }

    /// Returns the environments.
    pub fn environments(&self) -> &[Environment] {
        &self.environments
    }

    /// Begins episodes in all environments, or in those selected by `mask`, with new `seeds` where given.
    ///
    /// # Errors
    /// Returns the first error.
    pub fn reset(&mut self, seeds: &[Option<u64>], mask: Option<&[bool]>) -> Result<(), Error> {
        self.each(|index, rows| {
            if mask.is_none_or(|mask| mask.get(index).copied().unwrap_or_default()) {
                rows.environment.reset(seeds.get(index).copied().flatten())?;
                *rows.ended = 0;
                rows.show();
            }
            Ok(())
        })
    }

    /// Makes one step of every environment.
    ///
    /// # Errors
    /// Returns the first error.
    pub fn step(&mut self) -> Result<(), Error> {
        let autoreset = self.autoreset;
        self.each(|_, rows| {
            *rows.ended = 0;
            if rows.environment.is_over() {
                if autoreset == Autoreset::NextStep {
                    rows.environment.reset(None)?;
                    rows.show();
                }
                return Ok(());
            }
            rows.environment.step(rows.actions)?;
            rows.show();
            if rows.environment.is_over() {
                *rows.ended = 1;
                if autoreset == Autoreset::SameStep {
                    rows.final_observations.copy_from_slice(rows.observations);
                    rows.environment.reset(None)?;
                    rows.see();
                }
            }
            Ok(())
        })
    }

    fn each(&mut self, work: impl Fn(usize, &mut Rows<'_>) -> Result<(), Error> + Sync) -> Result<(), Error> {
        let agents = self.task.agents();
        let Arrays {
            observations,
            final_observations,
            actions,
            rewards,
            terminated,
            truncated,
            due,
            values,
            oracle,
            episodes,
            ended,
            times,
        } = &mut self.arrays;
        let (inputs, outputs) = (agents * self.inputs, agents * self.outputs);
        let seen = observations.chunks_exact_mut(inputs).zip(final_observations.chunks_exact_mut(inputs));
        let acted = actions.chunks_exact(outputs).zip(rewards.chunks_exact_mut(agents));
        let over = terminated.chunks_exact_mut(agents).zip(truncated.chunks_exact_mut(agents));
        let over = over.zip(due.chunks_exact_mut(agents));
        let told = values
            .chunks_exact_mut(agents * STEP_FIELDS.len())
            .zip(oracle.chunks_exact_mut(agents * ORACLE_FIELDS.len()));
        let whole = episodes.chunks_exact_mut(agents * 2).zip(ended.iter_mut().zip(times.iter_mut()));
        let parts = self.environments.iter_mut().zip(seen).zip(acted).zip(over).zip(told).zip(whole);
        let rows = parts.map(|(((((environment, seen), acted), over), told), whole)| Rows {
            environment,
            observations: seen.0,
            final_observations: seen.1,
            actions: acted.0,
            rewards: acted.1,
            flags: [over.0.0, over.0.1, over.1],
            values: told.0,
            oracle: told.1,
            episodes: whole.0,
            ended: whole.1.0,
            time: whole.1.1,
        });
        match &self.pool {
            None => rows.enumerate().try_for_each(|(index, mut rows)| work(index, &mut rows)),
            Some(pool) => {
                let (pool, mut rows) = (pool.threads()?, rows.collect::<Vec<Rows<'_>>>());
                // The first error by index, independent of the threads' speed.
                let errors: Vec<Option<Error>> = pool.install(|| {
                    rows.par_iter_mut().enumerate().map(|(index, rows)| work(index, rows).err()).collect()
                });
                errors.into_iter().flatten().next().map_or(Ok(()), Err)
            }
        }
    }
}

impl Rows<'_> {
    /// Writes observations and due decisions.
    fn see(&mut self) {
        let inputs = self.observations.len() / self.rewards.len();
        for (agent, place) in self.observations.chunks_exact_mut(inputs).enumerate() {
            place.copy_from_slice(self.environment.observation(agent));
        }
        for (place, shown) in self.flags[2].iter_mut().zip(self.environment.shown()) {
            *place = u8::from(shown.due);
        }
    }

    /// Writes all results.
    fn show(&mut self) {
        self.see();
        *self.time = self.environment.now_s();
        for (agent, place) in self.values.chunks_exact_mut(STEP_FIELDS.len()).enumerate() {
            place.copy_from_slice(&self.environment.values(agent));
        }
        for (agent, shown) in self.environment.shown().iter().enumerate() {
            self.rewards[agent] = shown.reward;
            self.flags[0][agent] = u8::from(shown.terminated);
            self.flags[1][agent] = u8::from(shown.truncated);
            let width = ORACLE_FIELDS.len();
            self.oracle[agent * width..][..width].copy_from_slice(&shown.oracle);
            self.episodes[agent * 2..][..2].copy_from_slice(&shown.episode);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_another_process_are_refused() {
        let pool = Pool::new(1).unwrap();
        assert_eq!(pool.threads().unwrap().current_num_threads(), 1);
        let forked = Pool { process: pool.process ^ 1, ..pool };
        let why = forked.threads().unwrap_err().to_string();
        assert!(why.contains("is a fork of process") && !why.contains('\n'), "{why}");
    }
}
