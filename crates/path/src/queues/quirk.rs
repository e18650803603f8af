//! Differences between other systems' CoDel and PIE and the RFCs.

use super::settings::refuse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;

/// Size of one packet in Mahimahi, bytes: MTU plus its TUN header.
pub(super) const MAHIMAHI_PACKET_BYTES: u64 = 1504;

/// Known differences from a discipline's RFC, for comparison with results measured with them.
#[derive(Deserialize, Serialize, Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueueQuirk {
    /// No difference: the RFC.
    #[default]
    None,
    /// As in Mahimahi's `mm-link`.
    Mahimahi,
}

impl QueueQuirk {
    pub(super) fn is_mahimahi(self) -> bool {
        self == Self::Mahimahi
    }

    /// Refuses settings that Mahimahi's variant does not support.
    pub(super) fn check(self, ecn: bool, times_ms: &[(&str, f64)]) -> Result<(), Refusal> {
        if !self.is_mahimahi() {
            return Ok(());
        }
        if ecn {
            return Err(Refusal::of_value("ecn", true, "allowed is false with `quirk` = mahimahi"));
        }
        times_ms.iter().try_for_each(|(name, value)| self.check_time(name, *value))
    }

    /// Refuses fractions of a millisecond, which Mahimahi's clock does not have.
    pub(super) fn check_time(self, name: &str, value: f64) -> Result<(), Refusal> {
        if !self.is_mahimahi() || value.fract() == 0.0 {
            return Ok(());
        }
        Err(refuse(name, value, "whole ms with `quirk` = mahimahi"))
    }
}
