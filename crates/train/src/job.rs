//! What a trainer is given, and what it tells meanwhile.

use crate::Error;
use core::fmt::{self, Debug, Formatter};

/// A trainer that can be named.
#[derive(Clone, Copy, Debug)]
pub struct Trainer {
    /// Its name.
    pub name: &'static str,
    /// Trains until the job's time is over; returns the file that was learned. An error is one line.
    pub train: fn(&Job<'_>) -> Result<Vec<u8>, Error>,
}

/// One training.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The trainer's own settings: a JSON object.
    pub settings: &'a str,
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Most threads that work at once.
    pub jobs: usize,
    /// Seconds of [`Watch::elapsed_s`] after which to end; infinite if something else in `settings` ends it.
    pub seconds: f64,
    /// What an earlier training reported, to go on from.
    pub start: Option<&'a [u8]>,
    /// Who is told.
    pub watch: &'a dyn Watch,
}

impl Job<'_> {
    /// Whether the time is over.
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

/// Where a training stands.
#[derive(Clone, Copy, Debug)]
pub struct News<'a> {
    /// In words: what is being done, the objective.
    pub text: &'a str,
    /// What has been learned, if this is a point to go on from; it is kept.
    pub result: Option<&'a [u8]>,
}

/// Is told how a training goes, and knows the time.
pub trait Watch {
    /// Where it stands.
    ///
    /// # Errors
    /// One line: why the training is to end now, without a result.
    fn tell(&self, news: &News<'_>) -> Result<(), Error>;

    /// Asked ten times a second while others work.
    ///
    /// # Errors
    /// As of [`tell`](Self::tell).
    fn look(&self) -> Result<(), Error>;

    /// Seconds since the training began.
    fn elapsed_s(&self) -> f64;
}
