//! Simulator: transports and a path under a virtual clock.
//!
//! [`simulate`] executes one run spec and reports events to an observer. Files and the wall clock are outside of this
//! crate.

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
