//! Settings of PIE.

use crate::queues::quirk::QueueQuirk;
use crate::queues::settings::{milliseconds, milliseconds_or_zero};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::Span;

/// Mahimahi's update period, ms.
const MAHIMAHI_T_UPDATE_MS: f64 = 30.0;

/// Proportional integral controller enhanced, RFC 8033.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PieSpec {
    /// Limit, packets.
    #[schemars(range(min = 1))]
    pub packets: Option<u64>,
    /// Limit, bytes.
    #[schemars(range(min = 1))]
    pub bytes: Option<u64>,
    /// Target delay, ms.
    #[serde(default = "fifteen")]
    #[schemars(range(min = 0.000_001, max = 3_600_000))]
    pub target_ms: f64,
    /// Time between updates of the probability, ms: 15 if absent, 30 with quirk `mahimahi`.
    #[schemars(range(min = 0.000_001, max = 3_600_000))]
    pub t_update_ms: Option<f64>,
    /// Length of a burst that is accepted after a calm time, ms.
    #[serde(default = "hundred_fifty")]
    #[schemars(range(min = 0, max = 3_600_000))]
    pub max_burst_ms: f64,
    /// Mark instead of drop while the probability is at most 10 %.
    #[serde(default)]
    pub ecn: bool,
    /// Differences to the RFC.
    #[serde(default)]
    pub quirk: QueueQuirk,
}

fn fifteen() -> f64 {
    15.0
}
fn hundred_fifty() -> f64 {
    150.0
}

impl PieSpec {
    pub(super) fn settings(&self) -> Result<Settings, Refusal> {
        let usual = if self.quirk.is_mahimahi() { MAHIMAHI_T_UPDATE_MS } else { fifteen() };
        let t_update_ms = self.t_update_ms.unwrap_or(usual);
        let settings = Settings {
            target: milliseconds("target_ms", self.target_ms)?,
            t_update: milliseconds("t_update_ms", t_update_ms)?,
            max_burst: milliseconds_or_zero("max_burst_ms", self.max_burst_ms)?,
            ecn: self.ecn,
        };
        let times = [
            ("target_ms", self.target_ms),
            ("t_update_ms", t_update_ms),
            ("max_burst_ms", self.max_burst_ms),
        ];
        self.quirk.check(self.ecn, &times)?;
        Ok(settings)
    }
}

/// Checked [`PieSpec`], common to both variants; names as in RFC 8033.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// `QDELAY_REF`.
    pub(super) target: Span,
    pub(super) t_update: Span,
    pub(super) max_burst: Span,
    pub(super) ecn: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_rfc_and_of_mahimahi() {
        let times = |json: &str| {
            let settings = serde_json::from_str::<PieSpec>(json).unwrap().settings().unwrap();
            [settings.target, settings.t_update, settings.max_burst].map(Span::as_ms_f64)
        };
        assert_eq!(times("{}"), [15.0, 15.0, 150.0]);
        assert_eq!(times(r#"{"quirk": "mahimahi"}"#), [15.0, 30.0, 150.0]);
    }
}
