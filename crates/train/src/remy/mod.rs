//! The trainer of `RemyCC`s.
//!
//! tcpexmachina/remy@ad05f8a, `src/ratbreeder.cc`, with what makes it run in minutes: a few networks instead of a hundred, drawn
//! anew in every epoch, steps along one coordinate at a time instead of all combinations, candidates that are sorted out by short
//! trials, and an epoch whose changes do not stand up to trials ten times as long is undone.

mod candidates;
mod network;
mod search;
mod settings;
mod usage;

use crate::Trainer;
pub use network::{Network, Outcome, Trial};
pub use settings::Settings;
pub use usage::Usage;

/// The trainer.
pub const TRAINER: Trainer = Trainer { name: "remy", train: search::train };
