//! Trainers that imitate an expert: Indigo and Muses.
//!
//! `DAgger` (Ross, Gordon and Bagnell, "A Reduction of Imitation Learning and Structured Prediction to No-Regret Online Learning",
//! AISTATS 2011) as StanfordSNR/indigo@2601c92e, dagger/dagger.py, has it: in the first iteration the expert acts, in all
//! others what was learned, and in all of them the expert says what it would have done; everything is kept and learned from. The
//! expert knows the path, so the window that it wants is computed and not searched for. The network is an LSTM layer and
//! a dense one; gradients are those of whole episodes (back-propagation through time), steps Adam's (Kingma and Ba, ICLR 2015).

mod adam;
mod dagger;
mod environment;
mod file;
mod lstm;
mod math;
mod pupil;
mod scheme;
mod settings;

use crate::Trainer;
use scheme::{INDIGO_SCHEME, MUSES_SCHEME};

/// The trainer of Indigo.
pub const INDIGO: Trainer = Trainer { name: "indigo", train: |job| dagger::train(&INDIGO_SCHEME, job) };
/// The trainer of Muses.
pub const MUSES: Trainer = Trainer { name: "muses", train: |job| dagger::train(&MUSES_SCHEME, job) };
