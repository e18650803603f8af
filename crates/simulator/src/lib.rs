//! The simulator: transports and a path under a virtual clock.
//!
//! [`run`] executes one run specification, writes its files and returns its statistics. The event loop itself
//! (`world.rs`) knows nothing of files: it reports packet events to a [`Recorder`].

mod content;
mod recorder;
mod run;
mod schedule;
mod spec;
mod world;

pub use recorder::Recorder;
pub use run::{RunReport, run};
pub use spec::{FlowSpec, LogLevel, RunSpec};
