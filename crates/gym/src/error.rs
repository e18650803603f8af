//! The errors of this crate.

use strict_input::Refusal;
use thiserror::Error;

/// Reason why an environment cannot be created or continue.
#[derive(Debug, Error)]
pub enum Error {
    /// An entry of the task is not allowed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The run of an episode failed.
    #[error(transparent)]
    Simulation(#[from] simulator::Error),
    /// Episodes end before the first decision.
    #[error("no decision fell due in any of {episodes} episodes")]
    NoDecision {
        /// Number of attempted episodes.
        episodes: usize,
    },
    /// No recorded episode exists.
    #[error("no episode whose actions were kept")]
    NoActions,
    /// The system refuses threads.
    #[error("threads = {threads}: {source}")]
    Threads {
        /// Number of requested threads.
        threads: usize,
        /// Error of the thread library.
        source: rayon::ThreadPoolBuildError,
    },
    /// The threads belong to another process, of which this process is a fork.
    #[error(
        "process {here} is a fork of process {made}, whose threads step these environments: allowed is to make them \
         after the fork, or with threads = 1"
    )]
    Forked {
        /// Identifier of the process that created the threads.
        made: u32,
        /// Identifier of this process.
        here: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_is_one_line() {
        for (error, line) in [
            (
                Refusal::of_value("agents", 0, "at least one is needed").into(),
                "agents = 0: at least one is needed",
            ),
            (simulator::Error::Undecided(Some(1)).into(), "flows[1]: nobody decides for its agent"),
            (Error::NoDecision { episodes: 100 }, "no decision fell due in any of 100 episodes"),
            (Error::NoActions, "no episode whose actions were kept"),
            (
                Error::Forked { made: 1, here: 2 },
                "process 2 is a fork of process 1, whose threads step these environments: allowed is to make them \
                 after the fork, or with threads = 1",
            ),
        ] {
            assert_eq!(error.to_string(), line);
        }
    }
}
