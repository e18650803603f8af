//! Schemes that imitate an expert.

/// Parts of the training that differ between schemes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scheme {
    /// Name of the controller and of the trainer.
    pub(super) name: &'static str,
    /// Name of the controller that replaces it in training.
    pub(super) in_training: &'static str,
    /// Position of the window in an observation, and the divisor of the window.
    pub(super) window: usize,
    pub(super) window_unit: f64,
    /// Minimum and maximum window, packets.
    pub(super) limits: [f64; 2],
}

pub(super) const INDIGO_SCHEME: Scheme = Scheme {
    name: "indigo",
    in_training: "indigo-in-training",
    window: 3,
    window_unit: 5000.0,
    limits: [2.0, 1e7],
};
pub(super) const MUSES_SCHEME: Scheme = Scheme {
    name: "muses",
    in_training: "muses-in-training",
    window: 5,
    window_unit: 12_500.0,
    limits: [10.0, 12_500.0],
};
