//! Environments for agents: simulated flows whose decisions are made outside, many side by side in one call.
//!
//! A [`Task`] says what episodes are made of: runs to choose from, what varies in them, how long they are, what is
//! rewarded. An [`Environment`] is one episode after another; [`Vector`] steps thousands of them on all processors and writes
//! what they show into arrays that others read in place. A seed tells everything: how many threads there are changes
//! nothing.

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
