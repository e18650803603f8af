//! Inputs of a custom policy: numbers of a step, scaled to about 1 and kept within bounds.
//!
//! The first three are Aurora's, with its bounds (PCCproject/PCC-RL@ea3a9c03, `src/common/sender_obs.py`);
//! `loss_ratio`, `srtt_ratio`, `rate_share` and `sample_ratio` follow Orca's.

use crate::steps::{StepField, StepValues};

/// Input that a policy can have.
#[derive(Debug)]
pub struct Sight {
    /// Name in a policy's `sees`.
    pub name: &'static str,
    /// Minimum value.
    pub low: f64,
    /// Maximum value.
    pub high: f64,
    /// Description of the input.
    pub help: &'static str,
    value: fn(&Step<'_>) -> f64,
}

/// Step that the inputs are computed from.
pub(crate) struct Step<'a> {
    pub(crate) values: &'a StepValues,
    pub(crate) mss_bytes: f64,
    pub(crate) window_packets: f64,
    /// Last action, from -1 to 1.
    pub(crate) last_action: f64,
}

impl Step<'_> {
    fn of(&self, place: StepField) -> f64 {
        self.values[place as usize]
    }

    /// Returns `a` over `b`, or `otherwise` if `b` is not above 0.
    fn ratio(&self, a: StepField, b: StepField, otherwise: f64) -> f64 {
        let (a, b) = (self.of(a), self.of(b));
        if b > 0.0 { a / b } else { otherwise }
    }

    fn log(&self, place: StepField) -> f64 {
        libm::log1p(self.of(place))
    }
}

const fn sight(
    name: &'static str,
    (low, high): (f64, f64),
    help: &'static str,
    value: fn(&Step<'_>) -> f64,
) -> Sight {
    Sight { name, low, high, help, value }
}

/// All inputs.
pub const SIGHTS: &[Sight] = &[
    sight("latency_inflation", (-1.0, 10.0), "`rtt_slope`", |step| step.of(StepField::RttSlope)),
    sight("latency_ratio", (1.0, 10_000.0), "`rtt_mean_ms` over `rtt_min_ms`", |step| {
        step.ratio(StepField::RttMean, StepField::RttMin, 1.0)
    }),
    sight("send_ratio", (0.0, 1000.0), "`bytes_sent` over `bytes_acked`; 1 where no ACK came", |step| {
        step.ratio(StepField::BytesSent, StepField::BytesAcked, 1.0)
    }),
    sight("ack_ratio", (0.0, 1000.0), "`bytes_acked` over `bytes_sent`; 1 where nothing was sent", |step| {
        step.ratio(StepField::BytesAcked, StepField::BytesSent, 1.0)
    }),
    sight("loss_ratio", (0.0, 1.0), "`loss_ratio`", |step| step.of(StepField::LossRatio)),
    sight("mark_ratio", (0.0, 1.0), "`marks` over `packets_acked`", |step| {
        step.ratio(StepField::Marks, StepField::PacketsAcked, 0.0)
    }),
    sight("srtt_ratio", (0.0, 1.0), "`rtt_min_ms` over `srtt_ms`", |step| {
        step.ratio(StepField::RttMin, StepField::Srtt, 1.0)
    }),
    sight("rtt_ratio", (0.0, 100.0), "`rtt_ms` over `rtt_min_ms`", |step| {
        step.ratio(StepField::RttLast, StepField::RttMin, 1.0)
    }),
    sight("queueing_delay", (0.0, 100.0), "`rtt_mean_ms` less `rtt_min_ms`, in 100 ms", |step| {
        (step.of(StepField::RttMean) - step.of(StepField::RttMin)).max(0.0) / 100.0
    }),
    sight("standing_delay", (0.0, 100.0), "`rtt_standing_ms` less `rtt_min_ms`, in 100 ms", |step| {
        (step.of(StepField::RttStanding) - step.of(StepField::RttMin)).max(0.0) / 100.0
    }),
    sight("rttvar_ratio", (0.0, 100.0), "`rttvar_ms` over `srtt_ms`", |step| {
        step.ratio(StepField::Rttvar, StepField::Srtt, 0.0)
    }),
    sight("rtt_min", (0.0, 12.0), "ln(1 + `rtt_min_ms`)", |step| step.log(StepField::RttMin)),
    sight("send_rate", (0.0, 12.0), "ln(1 + `send_mbps`)", |step| step.log(StepField::SendRate)),
    sight("ack_rate", (0.0, 12.0), "ln(1 + `ack_mbps`)", |step| step.log(StepField::AckRate)),
    sight("delivery_rate", (0.0, 12.0), "ln(1 + `delivery_mbps`)", |step| step.log(StepField::DeliveryRate)),
    sight("rate_share", (0.0, 10.0), "`ack_mbps` over `delivery_max_mbps`", |step| {
        step.ratio(StepField::AckRate, StepField::DeliveryMax, 0.0)
    }),
    sight("pacing_share", (0.0, 10.0), "`pacing_mbps` over `delivery_max_mbps`", |step| {
        step.ratio(StepField::Pacing, StepField::DeliveryMax, 0.0)
    }),
    sight("window", (0.0, 18.0), "ln(1 + window in packets); 0 without one", |step| {
        libm::log1p(step.window_packets)
    }),
    sight("in_flight", (0.0, 18.0), "ln(1 + `in_flight_bytes` in packets)", |step| {
        libm::log1p(step.of(StepField::InFlight) / step.mss_bytes)
    }),
    sight(
        "sample_ratio",
        (0.0, 100.0),
        "`packets_acked` over the window in packets; 0 without one",
        |step| {
            if step.window_packets > 0.0 {
                step.of(StepField::PacketsAcked) / step.window_packets
            } else {
                0.0
            }
        },
    ),
    sight("acks", (0.0, 15.0), "ln(1 + `acks`)", |step| step.log(StepField::Acks)),
    sight("length", (0.0, 10.0), "`dt_s`", |step| step.of(StepField::Length)),
    sight("timeouts", (0.0, 10.0), "`timeouts`", |step| step.of(StepField::Timeouts)),
    sight("app_limited", (0.0, 1.0), "`app_limited`", |step| step.of(StepField::AppLimited)),
    sight("last_action", (-1.0, 1.0), "the action before; of five, from -1 (half) to 1 (double)", |step| {
        step.last_action
    }),
];

impl Sight {
    /// Returns the input's value for a step.
    pub(crate) fn of(&self, step: &Step<'_>) -> f32 {
        (self.value)(step).clamp(self.low, self.high) as f32
    }
}
