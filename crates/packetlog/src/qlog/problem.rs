//! Problems of a trace or a part of a trace.

use std::borrow::Cow;
use thiserror::Error;

/// Reason why a trace or an event cannot be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum Problem {
    /// The header has none of the possible names of a column.
    #[error("event_fields has none of {0}")]
    NoColumn(String),
    /// The unit of times is unknown.
    #[error("time_units = `{0}`: allowed are ms, us")]
    TimeUnits(String),
    /// Message of the JSON library.
    #[error("is not valid JSON: {0}")]
    Invalid(String),
    /// A JSON text is too large.
    #[error("has {objects} objects and {values} values: allowed are {most_objects} and {most_values}")]
    TooLarge {
        /// Number of objects.
        objects: u64,
        /// Number of values.
        values: u64,
        /// Maximum number of objects.
        most_objects: u64,
        /// Maximum number of values.
        most_values: u64,
    },
}

impl From<Problem> for Cow<'static, str> {
    fn from(problem: Problem) -> Self {
        problem.to_string().into()
    }
}
