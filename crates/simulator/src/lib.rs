//! The simulator: transports and a path under a virtual clock.
//!
//! [`simulate`] carries out one run specification and tells an observer what happens. Files and the wall clock are no
//! concern of this crate.

mod budget;
mod content;
mod error;
mod prefetch;
mod schedule;
mod simulation;
mod stream;
mod world;

pub use error::Error;
pub use simulation::{Simulation, simulate};
pub use world::{Progress, Slice};
