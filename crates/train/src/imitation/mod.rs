//! Trainers that imitate an expert: Indigo and Muses.
//!
//! The method is `DAgger` (Ross, Gordon and Bagnell, "A Reduction of Imitation Learning and Structured Prediction to
//! No-Regret Online Learning", AISTATS 2011), as in StanfordSNR/indigo@2601c92e, dagger/dagger.py.
//!
//! In the first iteration the expert acts, in all others the network. The expert labels every step with its own
//! action. All episodes are stored and learned from. The expert knows the path, thus its window is computed, not
//! searched for.
//!
//! The network is an LSTM layer and a dense layer. Gradients are of whole episodes (back-propagation through time),
//! steps are Adam's (Kingma and Ba, ICLR 2015).

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

/// Trainer of Indigo.
pub const INDIGO: Trainer = Trainer { name: "indigo", train: |job| dagger::train(&INDIGO_SCHEME, job) };
/// Trainer of Muses.
pub const MUSES: Trainer = Trainer { name: "muses", train: |job| dagger::train(&MUSES_SCHEME, job) };
