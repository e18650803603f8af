//! Errors of this crate.

use path::Interruption;
use strict_input::Refusal;
use thiserror::Error;

/// Reason why a run is impossible.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum Error {
    /// The run spec has a value that is not allowed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The path, or a packet on the path, is invalid.
    #[error(transparent)]
    Path(path::Error),
    /// A part of the run spec is invalid.
    #[error("{place}: {source}")]
    At {
        /// Part of the run spec: `flows[0] (copa)`, ...
        place: String,
        /// Error in this part.
        source: Box<Error>,
    },
    /// The metrics contradict each other.
    #[error("the statistics contradict each other: {0}")]
    Contradiction(String),
}

impl Error {
    /// Returns the error with its place.
    #[must_use]
    pub(crate) fn at(self, place: String) -> Self {
        match self {
            Self::Refused(refusal) => Self::Refused(refusal.at(place)),
            other => Self::At { place, source: Box::new(other) },
        }
    }
}

impl From<path::Error> for Error {
    fn from(error: path::Error) -> Self {
        match error {
            path::Error::Refused(refusal) => Self::Refused(refusal),
            other => Self::Path(other),
        }
    }
}

impl From<Interruption> for Error {
    fn from(interrupted: Interruption) -> Self {
        Self::Path(interrupted.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::error::Error as _;

    #[test]
    fn each_error_is_one_line_and_what_is_wrong_is_a_cause_of_where() {
        let oversized =
            path::Error::Oversized { datagram_bytes: 99, overhead_bytes: 1, mtu_bytes: 64, fragment: true };
        let place = || "flows[0] (copa)".to_owned();
        for (error, line) in [
            (
                Error::from(Refusal::of_value("start_s", -1, "must not be negative")).at(place()),
                "flows[0] (copa): start_s = -1: must not be negative",
            ),
            (
                Error::from(oversized.clone()).at(place()),
                "flows[0] (copa): a datagram of 99 bytes and 1 of overhead exceeds mtu_bytes = 64, even in 128 \
                 fragments",
            ),
            (Interruption.into(), "interrupted"),
            (
                Error::Contradiction("more was lost than sent".to_owned()),
                "the statistics contradict each other: more was lost than sent",
            ),
        ] {
            assert_eq!(error.to_string(), line);
        }
        let placed = Error::from(oversized).at(place());
        assert!(placed.source().is_some_and(|cause| cause.is::<Box<Error>>() || cause.is::<Error>()));
    }
}
