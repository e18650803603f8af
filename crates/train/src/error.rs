//! Errors of this crate.

use strict_input::Refusal;
use thiserror::Error;

/// Reason why a training fails.
#[derive(Debug, Error)]
pub enum Error {
    /// The trainer's name, a setting, or the file to resume from is not allowed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A run of the training failed.
    #[error(transparent)]
    Simulation(simulator::Error),
    /// The training, or this part of it, was stopped, with a reason.
    #[error("{0}")]
    Stopped(String),
    /// The state of the training cannot be stored.
    #[error(transparent)]
    State(#[from] serde_json::Error),
}

impl From<simulator::Error> for Error {
    fn from(error: simulator::Error) -> Self {
        match error {
            simulator::Error::Stopped(why) => Self::Stopped(why),
            other => Self::Simulation(other),
        }
    }
}

impl From<path::Error> for Error {
    fn from(error: path::Error) -> Self {
        simulator::Error::from(error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_is_one_line() {
        let no_number = || serde_json::from_str::<u8>("x").unwrap_err();
        for (error, line) in [
            (
                Refusal::of_value("units", 7, "allowed are 32, 64, 96, 128").into(),
                "units = 7: allowed are 32, 64, 96, 128",
            ),
            (simulator::Error::Undecided(None).into(), "flows: nobody decides for an agent"),
            (path::Error::EmptyTrace.into(), "no line: a trace has at least one"),
            (simulator::Error::Stopped("interrupted".to_owned()).into(), "interrupted"),
            (no_number().into(), &*no_number().to_string()),
        ] {
            let error: Error = error;
            assert_eq!(error.to_string(), line);
        }
    }
}
