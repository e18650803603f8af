//! Trainers of learned controllers on the built-in simulator.
//!
//! A trainer is one file with a [`Trainer`], and one line in [`TRAINERS`]. It uses no files and no clock. The caller
//! provides the start, limits the time, and stores the reports.
//!
//! Work is distributed over threads such that the result does not depend on their number.

mod error;
pub mod imitation;
mod job;
pub mod remy;
mod spread;

pub use error::Error;
pub use job::{Job, News, Trainer, Watch};
pub use spread::{StopSignal, spread};

use strict_input::Refusal;

/// All trainers.
pub const TRAINERS: &[Trainer] = &[imitation::INDIGO, imitation::MUSES, remy::TRAINER];

/// Trains with the trainer `name`. Returns the learned file.
///
/// # Errors
/// Returns an error if the name, the settings or the start file are invalid, or the reason why the training was
/// stopped.
pub fn train(name: &str, job: &Job<'_>) -> Result<Vec<u8>, Error> {
    let Some(trainer) = TRAINERS.iter().find(|trainer| trainer.name == name) else {
        let names: Vec<&str> = TRAINERS.iter().map(|trainer| trainer.name).collect();
        return Err(
            Refusal::new(format!("unknown trainer `{name}`: allowed are {}", names.join(", "))).into()
        );
    };
    (trainer.train)(job)
}
