//! Input of a trainer, and its progress reports.

use crate::Error;
use core::fmt::{self, Debug, Formatter};

/// Named trainer.
#[derive(Clone, Copy, Debug)]
pub struct Trainer {
    /// Name of the trainer.
    pub name: &'static str,
    /// Function that trains until the job's time is over and returns the learned file.
    pub train: fn(&Job<'_>) -> Result<Vec<u8>, Error>,
}

/// Training job.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// Trainer's own settings: a JSON object.
    pub settings: &'a str,
    /// Seed of all random draws.
    pub seed: u64,
    /// Maximum threads.
    pub jobs: usize,
    /// Time limit in seconds of [`Watch::elapsed_s`]; infinite if `settings` limit the training.
    pub seconds: f64,
    /// Result of an earlier training, to continue from.
    pub start: Option<&'a [u8]>,
    /// Receiver of progress reports.
    pub watch: &'a dyn Watch,
}

impl Job<'_> {
    /// Returns true if the time is over.
    pub fn is_over(&self) -> bool {
        self.watch.elapsed_s() >= self.seconds
    }
}

impl Debug for Job<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Job")
            .field("settings", &self.settings)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

/// Progress report of a training.
#[derive(Clone, Copy, Debug)]
pub struct News<'a> {
    /// Progress line: current activity, objective.
    pub text: &'a str,
    /// Learned file, if the training can continue from this point; it is stored.
    pub result: Option<&'a [u8]>,
}

/// Observer of a training, with a clock.
pub trait Watch {
    /// Reports progress.
    ///
    /// # Errors
    /// Returns the reason to end the training now, without a result.
    fn tell(&self, news: &News<'_>) -> Result<(), Error>;

    /// Checks for a stop. Called ten times a second during work.
    ///
    /// # Errors
    /// Returns the reason like [`tell`](Self::tell).
    fn look(&self) -> Result<(), Error>;

    /// Returns the seconds since the training began.
    fn elapsed_s(&self) -> f64;
}
