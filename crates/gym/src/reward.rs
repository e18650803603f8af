//! Rewards: functions of the values of a step.

use crate::oracle::OracleValues;
use congestion::{STEP_FIELDS, StepField, StepValues, step_field};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use strict_input::Refusal;

/// Name and meaning of every reward, for documents.
pub const REWARDS: &[(&str, &str)] = &[
    (
        "aurora",
        "0.001 (10 T - 1000 L - 2000 l): T `ack_mbps` in packets of 1500 bytes per second, L `rtt_mean_ms` in s, l `loss_ratio`",
    ),
    (
        "orca",
        "(T - 5 l) / M * min(1, 1.25 `rtt_min_ms` / `srtt_ms`): T `ack_mbps`, l lost Mbit/s, M `delivery_max_mbps`",
    ),
    ("log_power", "ln `ack_mbps` - ln `rtt_mean_ms`; of no ACK, ln 0.001 in the place of the first"),
    (
        "log_share",
        "ln(`ack_mbps` `flows` / `capacity_mbps`) - ln(`rtt_mean_ms` / `base_rtt_ms`): its sum over flows is largest where all \
         have the same and the queue is empty",
    ),
    ("fields", "the sum of fields of the step times their weights"),
    ("none", "0"),
];

/// Packet length in Aurora's simulator, bytes.
const AURORA_PACKET_BYTES: f64 = 1500.0;
/// Minimum rate for a logarithm, Mbit/s.
const LEAST_MBPS: f64 = 0.001;

/// Reward function.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum RewardSpec {
    /// Reward of Jay et al., "A Deep Reinforcement Learning Perspective on Internet Congestion Control", ICML 2019,
    /// section 4.1, with the scale of its simulator.
    Aurora {},
    /// Reward of Abbasloo et al., "Classic Meets Modern", SIGCOMM 2020, section 4.3.
    Orca {},
    /// Logarithm of power, which evaluates Pantheon's Indigo.
    LogPower {},
    /// Logarithm of power for several flows, with the link's capacity from the oracle.
    LogShare {},
    /// Weighted sum of step fields.
    Fields {
        /// Weight of each field.
        weights: BTreeMap<String, f64>,
    },
    /// Reward 0.
    None {},
}

/// Reward function with field positions instead of names.
#[derive(Clone, Debug)]
pub(crate) enum Reward {
    Aurora,
    Orca,
    LogPower,
    LogShare,
    Fields(Vec<(usize, f64)>),
    None,
}

impl Reward {
    pub(crate) fn new(spec: &RewardSpec) -> Result<Self, Refusal> {
        Ok(match spec {
            RewardSpec::Aurora {} => Self::Aurora,
            RewardSpec::Orca {} => Self::Orca,
            RewardSpec::LogPower {} => Self::LogPower,
            RewardSpec::LogShare {} => Self::LogShare,
            RewardSpec::None {} => Self::None,
            RewardSpec::Fields { weights } => {
                let places = weights.iter().map(|(name, weight)| {
                    let place = step_field(name).ok_or_else(|| {
                        let known: Vec<&str> = STEP_FIELDS.iter().map(|(name, ..)| *name).collect();
                        Refusal::of_key("reward", format!("`{name}`: allowed are {}", known.join(", ")))
                    })?;
                    if weight.is_finite() {
                        Ok((place, *weight))
                    } else {
                        Err(Refusal::of_value(format!("`{name}`"), weight, "allowed are finite numbers")
                            .at("reward"))
                    }
                });
                Self::Fields(places.collect::<Result<_, Refusal>>()?)
            }
        })
    }

    /// Returns true if the reward needs the oracle.
    pub(crate) const fn needs_oracle(&self) -> bool {
        matches!(self, Self::LogShare)
    }

    /// Returns the reward of a step.
    pub(crate) fn of(&self, values: &StepValues, oracle: &OracleValues) -> f64 {
        let of = |field: StepField| values[field as usize];
        let log = |mbps: f64| libm::log(mbps.max(LEAST_MBPS));
        match self {
            Self::Aurora => {
                let packets_per_s = of(StepField::AckRate) * 1e6 / 8.0 / AURORA_PACKET_BYTES;
                0.001 * (10.0 * packets_per_s - of(StepField::RttMean) - 2000.0 * of(StepField::LossRatio))
            }
            Self::Orca => {
                let (most, srtt) = (of(StepField::DeliveryMax), of(StepField::Srtt));
                if most <= 0.0 || srtt <= 0.0 {
                    return 0.0;
                }
                let lost_mbps = of(StepField::BytesLost) * 8e-6 / of(StepField::Length);
                (of(StepField::AckRate) - 5.0 * lost_mbps) / most
                    * (1.25 * of(StepField::RttMin) / srtt).min(1.0)
            }
            Self::LogPower => log(of(StepField::AckRate)) - libm::log(of(StepField::RttMean).max(0.001)),
            Self::LogShare => {
                let [capacity, _, _, base_ms, flows] = *oracle;
                let share = (capacity / flows.max(1.0)).max(LEAST_MBPS);
                let inflation = if base_ms > 0.0 { of(StepField::RttMean) / base_ms } else { 1.0 };
                log(of(StepField::AckRate)) - libm::log(share) - libm::log(inflation.max(1.0))
            }
            Self::Fields(places) => places.iter().map(|(place, weight)| weight * values[*place]).sum(),
            Self::None => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(given: &[(&str, f64)]) -> StepValues {
        let mut values = [0.0; STEP_FIELDS.len()];
        for (name, value) in given {
            values[step_field(name).unwrap()] = *value;
        }
        values
    }

    #[test]
    fn rewards_are_their_formulas() {
        let step = values(&[
            ("ack_mbps", 2.4),
            ("rtt_mean_ms", 150.0),
            ("rtt_min_ms", 100.0),
            ("srtt_ms", 250.0),
            ("loss_ratio", 0.01),
            ("bytes_lost", 2500.0),
            ("dt_s", 0.1),
            ("delivery_max_mbps", 4.0),
        ]);
        let oracle = [4.8, 7.0, 10_500.0, 100.0, 2.0];
        let of = |reward: Reward| reward.of(&step, &oracle);
        // 200 packets/s, 0.15 s, 1 %.
        assert!((of(Reward::Aurora) - (2.0 - 0.15 - 0.02)).abs() < 1e-12);
        // The result is (2.4 - 5 * 0.2) / 4 * 0.5.
        assert!((of(Reward::Orca) - 0.175).abs() < 1e-12);
        assert!((of(Reward::LogPower) - libm::log(2.4 / 150.0)).abs() < 1e-12);
        assert!((of(Reward::LogShare) - libm::log(1.0 / 1.5)).abs() < 1e-12);
        let weights = [("ack_mbps".to_owned(), 1.0), ("rtt_mean_ms".to_owned(), -0.01)].into();
        let fields = Reward::new(&RewardSpec::Fields { weights }).unwrap();
        assert!((of(fields) - 0.9).abs() < 1e-12);
        let silent = values(&[("rtt_mean_ms", 100.0)]);
        assert!(Reward::LogPower.of(&silent, &oracle).is_finite());
        assert_eq!(Reward::Orca.of(&silent, &oracle), 0.0);
    }

    #[test]
    fn an_unknown_field_is_refused() {
        let weights = [("ack".to_owned(), 1.0)].into();
        let error = Reward::new(&RewardSpec::Fields { weights }).unwrap_err().to_string();
        assert!(error.starts_with("reward: `ack`: allowed are t_s, dt_s,"), "{error}");
    }
}
