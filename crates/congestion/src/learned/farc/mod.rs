//! FARC: a bandwidth estimator for calls that sees receive rate, packets, queueing delay and losses.
//!
//! Source: streaming-university/FARC@97de652c, `onnx_model/fast_and_furious_model.onnx`.
//!
//! [`crate::parts::estimator`] describes the network's inputs and use. The names of its two branches are short and long
//! intervals, but they split the inputs by feature, within the queueing delay.

use crate::Entry;
use crate::parts::estimator::{Estimates, entry};

const UNIT_BPS: f64 = 1e5;

struct Farc;

impl Estimates for Farc {
    const NAME: &'static str = "farc";
    const SUMMARY: &'static str = "FARC (streaming-university/FARC@97de652c)";
    /// Number of outputs: the estimate, and one that is not used.
    const OUTPUTS: usize = 2;
    // The network's mask leaves out the audio flags of packets.
    const SEES_AUDIO: bool = false;

    fn bps(outputs: &[f32]) -> f64 {
        UNIT_BPS * f64::from(outputs[0])
    }
}

/// Entry of the registry.
pub(crate) const ENTRY: Entry = entry::<Farc>();

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::estimator::tests::assert_vectors;

    #[test]
    fn the_published_network_says_what_it_said_elsewhere() {
        let weights = include_bytes!("../../../../../python/dumbbell/catalog/weights/farc/farc.safetensors");
        assert_vectors::<Farc>(weights, include_str!("vectors.csv"));
    }
}
