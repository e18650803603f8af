//! Teams' baseline: a bandwidth estimator for calls, trained offline on logs of Microsoft Teams.
//!
//! Source: microsoft/RL4BandwidthEstimationChallenge@fcf857c5,
//! `onnx_models/Offline_RL_baseline_bandwidth_estimator_model.onnx`.
//!
//! [`crate::parts::estimator`] describes the network's inputs and use. Its answer is a position between 10 kbit/s and 8
//! Mbit/s on a logarithmic scale.

use crate::Entry;
use crate::parts::estimator::{Estimates, entry};

/// Half the width of the scale: half the logarithm of 8 Mbit/s over 10 kbit/s.
const HALF_SCALE: f64 = 3.342_306;
const LOWEST_MBPS: f64 = 0.01;

struct TeamsBwe;

impl Estimates for TeamsBwe {
    const NAME: &'static str = "teams-bwe";
    const SUMMARY: &'static str =
        "Teams' baseline estimator (microsoft/RL4BandwidthEstimationChallenge@fcf857c5)";
    /// Number of outputs: the estimate and its spread.
    const OUTPUTS: usize = 2;

    fn bps(outputs: &[f32]) -> f64 {
        1e6 * LOWEST_MBPS * libm::exp(HALF_SCALE * (f64::from(outputs[0]) + 1.0))
    }
}

/// Entry of the registry.
pub(crate) const ENTRY: Entry = entry::<TeamsBwe>();

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::estimator::tests::assert_vectors;

    #[test]
    fn the_published_network_says_what_it_said_elsewhere() {
        let weights =
            include_bytes!("../../../../../python/dumbbell/catalog/weights/teams-bwe/teams-bwe.safetensors");
        assert_vectors::<TeamsBwe>(weights, include_str!("vectors.csv"));
    }
}
