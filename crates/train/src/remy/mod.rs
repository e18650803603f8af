//! Trainer of `RemyCC`s.
//!
//! It follows tcpexmachina/remy@ad05f8a, `src/ratbreeder.cc`, with changes that reduce the time to minutes:
//!
//! - It draws a few networks in every epoch, not a hundred.
//! - It changes one coordinate at a time, not all combinations.
//! - Short trials filter the candidates.
//! - Changes of an epoch are undone if trials of ten times the length do not confirm them.

mod candidates;
mod network;
mod search;
mod settings;
mod usage;

use crate::Trainer;
pub use network::{Network, Outcome, Trial};
pub use settings::Settings;
pub use usage::Usage;

/// Trainer of Remy.
pub const TRAINER: Trainer = Trainer { name: "remy", train: search::train };
