//! Teams' baseline: a bandwidth estimator for calls, trained offline on logs of Microsoft Teams.
//!
//! Source: microsoft/RL4BandwidthEstimationChallenge@fcf857c5, `onnx_models/Offline_RL_baseline_bandwidth_estimator_model.onnx`.
//!
//! How it sees and is used: [`crate::estimator`]. Its answer is a place between 10 kbit/s and 8 Mbit/s on a logarithmic scale.

use crate::estimator::{AUDIO_SHARE, Estimator, INITIAL_RATE, MAX_RATE, MIN_RATE, Told, WEIGHTS, network};
use crate::{Build, Entry};

/// The estimate and its spread.
const OUTPUTS: usize = 2;
/// Half the width of the scale: the logarithm of 8 Mbit/s over 10 kbit/s, halved.
const HALF_SCALE: f64 = 3.342_306;
const LOWEST_MBPS: f64 = 0.01;

fn bps(outputs: &[f32]) -> f64 {
    1e6 * LOWEST_MBPS * libm::exp(HALF_SCALE * (f64::from(outputs[0]) + 1.0))
}

/// Registry entry.
pub(crate) const ENTRY: Entry = Entry {
    name: "teams-bwe",
    summary: "Teams' baseline estimator (microsoft/RL4BandwidthEstimationChallenge@fcf857c5)",
    parameters: &[WEIGHTS, INITIAL_RATE, MIN_RATE, MAX_RATE, AUDIO_SHARE],
    receiver: Some(|parameters, _start| {
        Ok(Box::new(Estimator::new(parameters, network(parameters, OUTPUTS)?, bps)))
    }),
    build: Build::Fallible(|parameters, _start| {
        network(parameters, OUTPUTS)?;
        Ok(Box::new(Told::new(parameters)))
    }),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Parameters;
    use crate::network::vectors;

    const WEIGHTS: &[u8] =
        include_bytes!("../../../python/dumbbell/catalog/weights/teams-bwe/teams-bwe.safetensors");

    #[test]
    fn the_published_network_says_what_it_said_elsewhere() {
        let mut parameters =
            Parameters::defaults(ENTRY.parameters).with_files([("w".to_owned(), WEIGHTS.into())].into());
        parameters.set("weights", "w").unwrap();
        let mut network = network(&parameters, OUTPUTS).unwrap();
        for (expected, input) in vectors(include_str!("teams_bwe/vectors.csv")) {
            let found = bps(network.step(&input));
            assert!((found - expected).abs() < 1e-5 * expected, "{found} {expected}");
        }
    }
}
