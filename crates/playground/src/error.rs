//! Errors of the playground, one line each.

use strict_input::Refusal;

/// Reason why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The run spec is invalid.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The registry has no such controller, or the run failed.
    #[error(transparent)]
    Simulation(#[from] simulator::Error),
    /// The run's metrics contradict each other.
    #[error(transparent)]
    Run(#[from] runs::Error),
    /// A request about the run is invalid.
    #[error(transparent)]
    View(#[from] views::Error),
    /// Totals exist only after the run's end.
    #[error("the run goes on: there are totals when it is over")]
    GoesOn,
    /// The run is longer than its kept part.
    #[error(
        "so long a run is not kept whole: packets and a reading are there for runs of up to 4 million packet events"
    )]
    NotKept,
    /// A file that a parameter names is missing.
    #[error("flows[{flow}]: `{parameter}` = `{name}`: this file was not handed over")]
    NoFile {
        /// Number of the flow, from 0.
        flow: usize,
        /// Name of the parameter.
        parameter: &'static str,
        /// Name of the file.
        name: String,
    },
    /// An external decision for a flow was requested.
    #[error("flows: an agent decides for itself in the playground; none can be decided for")]
    Undecided,
}
