//! Tests, and what they need.

/// What is missing on this machine, if anything is: the reason for which tests are ignored.
pub type Missing = fn() -> Option<String>;

/// A test with its name; it fails by panicking.
pub type Test = (&'static str, fn());
