//! Packet events on disk: our columnar log, and readers and writers for the formats of other tools.
#![allow(clippy::disallowed_methods, reason = "this crate reads and writes files")]

mod record;

pub use record::{Event, Record};
