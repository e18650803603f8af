//! TEN-TMS (NAORL): the bandwidth estimator that won the `MMSys` 2024 challenge, five experts and their gate.
//!
//! Source: bytedance/offline-RL-congestion-control@683f6d06, `onnx_model/TEN-TMS_model.onnx`, and the paper beside it.
//!
//! How it sees and is used: [`crate::estimator`]. Its answer is a place between 5 kbit/s and 8 Mbit/s.

use crate::estimator::{AUDIO_SHARE, Estimator, INITIAL_RATE, MAX_RATE, MIN_RATE, Told, WEIGHTS, network};
use crate::{Build, Entry};

const OUTPUTS: usize = 1;
const LOWEST_BPS: f64 = 5000.0;
const SCALE_BPS: f64 = 7_995_000.0;

fn bps(outputs: &[f32]) -> f64 {
    SCALE_BPS * (f64::from(outputs[0]) + 1.0) / 2.0 + LOWEST_BPS
}

/// Registry entry.
pub(crate) const ENTRY: Entry = Entry {
    name: "ten-tms",
    summary: "TEN-TMS, also NAORL (bytedance/offline-RL-congestion-control@683f6d06)",
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
        include_bytes!("../../../python/dumbbell/catalog/weights/ten-tms/ten-tms.safetensors");

    #[test]
    fn the_published_network_says_what_it_said_elsewhere() {
        let mut parameters =
            Parameters::defaults(ENTRY.parameters).with_files([("w".to_owned(), WEIGHTS.into())].into());
        parameters.set("weights", "w").unwrap();
        let mut network = network(&parameters, OUTPUTS).unwrap();
        for (expected, input) in vectors(include_str!("ten_tms/vectors.csv")) {
            let found = bps(network.step(&input));
            assert!((found - expected).abs() < 1e-5 * expected, "{found} {expected}");
        }
    }
}
