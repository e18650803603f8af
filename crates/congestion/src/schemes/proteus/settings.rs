//! Settings of the user: role and the coefficients of the utility.

use crate::{Parameter, Parameters};

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::choice(
        "role",
        "primary",
        &["primary", "scavenger", "hybrid"],
        "Whether the flow competes, yields, or competes only below the switching rate.",
    ),
    Parameter::number(
        "switching_rate",
        "Mbit/s",
        10.0,
        (0.0, 1e5),
        "Rate from which a hybrid flow is a scavenger (no default in the source).",
    ),
    Parameter::number("latency_coefficient", "", 900.0, (0.0, 1e9), "Weight of the RTT gradient."),
    Parameter::number("loss_coefficient", "", 11.35, (0.0, 1e9), "Weight of loss."),
    Parameter::number(
        "deviation_coefficient",
        "1/us",
        0.0015,
        (0.0, 1e6),
        "A scavenger's weight of the RTT's standard deviation.",
    ),
    Parameter::number("exponent", "", 0.9, (0.1, 1.0), "Exponent of the throughput's reward."),
    Parameter::number("probe", "", 0.05, (0.001, 0.5), "How far probes are from the rate, as a share of it."),
    Parameter::number(
        "initial_rate",
        "Mbit/s",
        1.12,
        (0.01, 1000.0),
        "First rate at an RTT of 100 ms or more; shorter RTTs scale it up.",
    ),
    Parameter::number("min_rate", "Mbit/s", 0.5, (0.01, 1000.0), "Smallest rate."),
    Parameter::number("min_step", "Mbit/s", 0.5, (0.001, 1000.0), "Smallest step."),
    Parameter::integer("header_bytes", "bytes", 44, (0, 500), "Headers that the rate pays for per packet."),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Primary,
    Scavenger,
    Hybrid,
}

/// Parameters, read once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) role: Role,
    pub(super) switching_rate: f64,
    pub(super) latency_coefficient: f64,
    pub(super) loss_coefficient: f64,
    pub(super) deviation_coefficient: f64,
    pub(super) exponent: f64,
    pub(super) probe: f64,
    pub(super) initial_rate: f64,
    pub(super) min_rate: f64,
    pub(super) min_step: f64,
    pub(super) header_bytes: u64,
}

impl Settings {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            role: match parameters.choice("role") {
                "scavenger" => Role::Scavenger,
                "hybrid" => Role::Hybrid,
                _ => Role::Primary,
            },
            switching_rate: parameters.number("switching_rate"),
            latency_coefficient: parameters.number("latency_coefficient"),
            loss_coefficient: parameters.number("loss_coefficient"),
            deviation_coefficient: parameters.number("deviation_coefficient"),
            exponent: parameters.number("exponent"),
            probe: parameters.number("probe"),
            initial_rate: parameters.number("initial_rate"),
            min_rate: parameters.number("min_rate"),
            min_step: parameters.number("min_step"),
            header_bytes: parameters.integer("header_bytes") as u64,
        }
    }
}
