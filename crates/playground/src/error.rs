//! Why there is no run, in one line.

use strict_input::Refusal;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The specification is not one.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The registry has no such controller, or the run failed.
    #[error(transparent)]
    Simulation(#[from] simulator::Error),
    /// Its metrics contradict each other.
    #[error(transparent)]
    Run(#[from] runs::Error),
    /// What was asked about it cannot be.
    #[error(transparent)]
    View(#[from] views::Error),
    /// Totals are of the whole run.
    #[error("the run goes on: there are totals when it is over")]
    GoesOn,
    /// The run is longer than what is kept of it.
    #[error(
        "so long a run is not kept whole: packets and a reading are there for runs of up to 4 million packet events"
    )]
    NotKept,
    /// A file that a parameter names was not handed over.
    #[error("flows[{flow}]: `{parameter}` = `{name}`: this file was not handed over")]
    NoFile {
        /// The flow's number, from 0.
        flow: usize,
        /// Its parameter.
        parameter: &'static str,
        /// The file's name.
        name: String,
    },
    /// A flow is decided for from outside.
    #[error("flows: an agent decides for itself in the playground; none can be decided for")]
    Undecided,
}
