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
mod settings;

use crate::Trainer;

/// What is specific to one scheme.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scheme {
    /// Name of its controller, and of its trainer.
    name: &'static str,
    /// That of the controller that takes its place in training.
    in_training: &'static str,
    /// Which of the values that it sees is the window, and what that is divided by.
    window: usize,
    window_unit: f64,
    /// Least and most packets of a window.
    limits: [f64; 2],
}

const INDIGO_SCHEME: Scheme = Scheme {
    name: "indigo",
    in_training: "indigo-in-training",
    window: 3,
    window_unit: 5000.0,
    limits: [2.0, 1e7],
};
const MUSES_SCHEME: Scheme = Scheme {
    name: "muses",
    in_training: "muses-in-training",
    window: 5,
    window_unit: 12_500.0,
    limits: [10.0, 12_500.0],
};

/// The trainer of Indigo.
pub const INDIGO: Trainer = Trainer { name: "indigo", train: |job| dagger::train(&INDIGO_SCHEME, job) };
/// The trainer of Muses.
pub const MUSES: Trainer = Trainer { name: "muses", train: |job| dagger::train(&MUSES_SCHEME, job) };
