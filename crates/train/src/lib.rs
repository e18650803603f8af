//! Trainers of learned controllers, over our own simulator.
//!
//! A trainer is one file with a [`Trainer`], and one line in [`TRAINERS`]. It reads no file and no clock: the caller gives it
//! what it starts from, says when its time is over, and keeps what it reports. Work is spread over threads in a way
//! that what comes out does not depend on how many they are.

mod error;
pub mod imitation;
mod job;
pub mod remy;
mod spread;

pub use error::Error;
pub use job::{Job, News, Trainer, Watch};
pub use spread::{Wanted, spread};

use strict_input::Refusal;

/// All trainers, by name.
pub const TRAINERS: &[Trainer] = &[imitation::INDIGO, imitation::MUSES, remy::TRAINER];

/// Trains what `name` stands for; returns the file that was learned.
///
/// # Errors
/// One line: what is wrong with the name, the settings or the file to go on from, or why it was told to stop.
pub fn train(name: &str, job: &Job<'_>) -> Result<Vec<u8>, Error> {
    let Some(trainer) = TRAINERS.iter().find(|trainer| trainer.name == name) else {
        let known: Vec<&str> = TRAINERS.iter().map(|trainer| trainer.name).collect();
        return Err(
            Refusal::new(format!("unknown trainer `{name}`: allowed are {}", known.join(", "))).into()
        );
    };
    (trainer.train)(job)
}
