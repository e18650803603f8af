//! FARC: a bandwidth estimator for calls that sees receive rate, packets, queueing delay and losses.
//!
//! Source: streaming-university/FARC@97de652c, `onnx_model/fast_and_furious_model.onnx`.
//!
//! How it sees and is used: [`crate::estimator`]. Its two paths are named after short and long intervals, but split the inputs by
//! feature, within the queueing delay.

use crate::estimator::{AUDIO_SHARE, Estimator, INITIAL_RATE, MAX_RATE, MIN_RATE, Told, WEIGHTS, network};
use crate::{Build, Entry};

/// The estimate, and one more that is not used.
const OUTPUTS: usize = 2;
const UNIT_BPS: f64 = 1e5;

fn bps(outputs: &[f32]) -> f64 {
    UNIT_BPS * f64::from(outputs[0])
}

/// Registry entry.
pub(crate) const ENTRY: Entry = Entry {
    name: "farc",
    summary: "FARC (streaming-university/FARC@97de652c)",
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

    const WEIGHTS: &[u8] = include_bytes!("../../../python/dumbbell/catalog/weights/farc/farc.safetensors");

    #[test]
    fn the_published_network_says_what_it_said_elsewhere() {
        let mut parameters =
            Parameters::defaults(ENTRY.parameters).with_files([("w".to_owned(), WEIGHTS.into())].into());
        parameters.set("weights", "w").unwrap();
        let mut network = network(&parameters, OUTPUTS).unwrap();
        for (expected, input) in vectors(include_str!("farc/vectors.csv")) {
            let found = bps(network.step(&input));
            assert!((found - expected).abs() < 1e-5 * expected, "{found} {expected}");
        }
    }
}
