//! Environments for agents: simulated flows whose decisions are made outside the simulation, many of them in one call.
//!
//! A [`Task`] describes episodes: the runs, their variations, their length and the reward. An [`Environment`] is a
//! sequence of episodes. A [`Vector`] steps thousands of environments on all CPUs and writes the results to arrays that
//! callers read in place. Results depend only on the seed, not on the number of threads.

mod draw;
mod environment;
mod error;
mod oracle;
mod reward;
mod task;
mod vector;

#[cfg(test)]
mod tests;

pub use environment::{Environment, Recording, Shown};
pub use error::Error;
pub use oracle::ORACLE_FIELDS;
pub use reward::REWARDS;
pub use task::{Task, TaskSpec};
pub use vector::{Arrays, Autoreset, Vector};
