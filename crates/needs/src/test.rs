//! Types of tests and their requirements.

/// Function that returns the reason why tests are ignored on this machine, if any.
pub type Missing = fn() -> Option<String>;

/// Test with its name. It fails by panicking.
pub type Test = (&'static str, fn());
