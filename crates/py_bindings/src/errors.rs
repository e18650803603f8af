//! Errors of the core as Python exceptions.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::fmt::Display;

create_exception!(_core, Error, PyValueError, "Something the core refuses; the message is one line.");
create_exception!(_core, DamagedLog, Error, "A log that is cut off, malformed, or not of its format.");

/// Error that ends work in any of several crates.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Returns the exception for an error of any crate, or for a message, which already is one line.
pub(crate) fn error(cause: impl Display) -> PyErr {
    Error::new_err(cause.to_string())
}
