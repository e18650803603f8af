//! TEN-TMS (NAORL): the bandwidth estimator that won the `MMSys` 2024 challenge, five experts and their gate.
//!
//! Source: bytedance/offline-RL-congestion-control@683f6d06, `onnx_model/TEN-TMS_model.onnx`, and the paper in the same
//! repository.
//!
//! [`crate::parts::estimator`] describes the network's inputs and use. Its answer is a position between 5 kbit/s and 8
//! Mbit/s.

use crate::Entry;
use crate::parts::estimator::{Estimates, entry};

const LOWEST_BPS: f64 = 5000.0;
const SCALE_BPS: f64 = 7_995_000.0;

struct TenTms;

impl Estimates for TenTms {
    const NAME: &'static str = "ten-tms";
    const SUMMARY: &'static str = "TEN-TMS, also NAORL (bytedance/offline-RL-congestion-control@683f6d06)";
    const OUTPUTS: usize = 1;

    fn bps(outputs: &[f32]) -> f64 {
        SCALE_BPS * (f64::from(outputs[0]) + 1.0) / 2.0 + LOWEST_BPS
    }
}

/// Entry of the registry.
pub(crate) const ENTRY: Entry = entry::<TenTms>();

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::estimator::tests::assert_vectors;

    #[test]
    fn the_published_network_says_what_it_said_elsewhere() {
        let weights =
            include_bytes!("../../../../../python/dumbbell/catalog/weights/ten-tms/ten-tms.safetensors");
        assert_vectors::<TenTms>(weights, include_str!("vectors.csv"));
    }
}
