//! The simulator: transports and a path under a virtual clock.
//!
//! [`run`] executes one run specification, writes its files and returns its statistics. The event loop itself
//! (`world.rs`) knows nothing of files: it reports packet events to a [`runs::Recorder`].

mod content;
mod run;
mod schedule;
mod stream;
mod world;

pub use run::{RunReport, run};
