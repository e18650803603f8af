//! The errors of this crate.

use strict_input::Refusal;
use thiserror::Error;

/// Why an environment cannot be made, or go on.
#[derive(Debug, Error)]
pub enum Error {
    /// Something in the task is not allowed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The run of an episode.
    #[error(transparent)]
    Simulation(#[from] simulator::Error),
    /// Episodes end before there is anything to decide.
    #[error("no decision fell due in any of {episodes} episodes")]
    NoDecision {
        /// Number of episodes that were tried.
        episodes: usize,
    },
    /// There is nothing to replay.
    #[error("no episode whose actions were kept")]
    NoActions,
    /// The system refuses threads.
    #[error("threads = {threads}: {source}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// Why.
        source: rayon::ThreadPoolBuildError,
    },
    /// The threads are those of the process that this one is a fork of.
    #[error(
        "process {here} is a fork of process {made}, whose threads step these environments: allowed is to make them \
         after the fork, or with threads = 1"
    )]
    Forked {
        /// The process that made the threads.
        made: u32,
        /// This process.
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
