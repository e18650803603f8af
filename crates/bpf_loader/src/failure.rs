//! Failures of commands.

/// Why a command failed: one line for the user.
pub(crate) type Failure = String;
