//! Errors of this crate.

use strict_input::Refusal;
use thiserror::Error;

/// Reason why a controller's cost could not be measured.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum Error {
    /// A parameter or a setting of the transport is not allowed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The run had no ACK.
    #[error("{scheme}: no ACK in {duration_s} s")]
    NoAck {
        /// Name of the scheme.
        scheme: String,
        /// Length of the run, s.
        duration_s: f64,
    },
    /// The controller behaved differently although its inputs were equal.
    #[error("{scheme}: the replay ended elsewhere than the run")]
    Diverged {
        /// Name of the scheme.
        scheme: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_is_one_line() {
        let scheme = || "copa".to_owned();
        for (error, line) in [
            (Refusal::of_key("weights", "no file named").into(), "weights: no file named"),
            (Error::NoAck { scheme: scheme(), duration_s: 20.0 }, "copa: no ACK in 20 s"),
            (Error::Diverged { scheme: scheme() }, "copa: the replay ended elsewhere than the run"),
        ] {
            assert_eq!(error.to_string(), line);
        }
    }
}
