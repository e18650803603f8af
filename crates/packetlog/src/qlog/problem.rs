//! What is wrong with a trace, or with a part of one.

use std::borrow::Cow;
use thiserror::Error;

/// Reason why a trace or an event cannot be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum Problem {
    /// None of the names that a column may have is there.
    #[error("event_fields has none of {0}")]
    NoColumn(String),
    /// The unit of times is unknown.
    #[error("time_units = `{0}`: allowed are ms, us")]
    TimeUnits(String),
    /// Message of the JSON library.
    #[error("is not valid JSON: {0}")]
    Invalid(String),
    /// A text of JSON is too large.
    #[error("has {objects} objects and {values} values: allowed are {most_objects} and {most_values}")]
    TooLarge {
        /// Its objects.
        objects: u64,
        /// Its values.
        values: u64,
        /// Most objects.
        most_objects: u64,
        /// Most values.
        most_values: u64,
    },
}

impl From<Problem> for Cow<'static, str> {
    fn from(problem: Problem) -> Self {
        problem.to_string().into()
    }
}
