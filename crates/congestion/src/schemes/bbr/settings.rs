//! Documented constants of BBR v1 as parameters.

use crate::{Parameter, Parameters};
use units::Span;

/// Startup gain: Linux's 2885/1000 (2 / ln 2) in fixed-point arithmetic: 739/256.
const HIGH_GAIN: f64 = 739.0 / 256.0;
/// Drain gain: 1000/2885 in the same fixed-point arithmetic: 88/256.
const DRAIN_GAIN: f64 = 88.0 / 256.0;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::number(
        "startup_gain",
        "",
        HIGH_GAIN,
        (1.0, 10.0),
        "Pacing and window gain of STARTUP (2 / ln 2).",
    ),
    Parameter::number("drain_gain", "", DRAIN_GAIN, (0.05, 1.0), "Pacing gain of DRAIN (ln 2 / 2)."),
    Parameter::number("cwnd_gain", "", 2.0, (1.0, 10.0), "Window in PROBE_BW, in BDP."),
    Parameter::number("probe_up_gain", "", 1.25, (1.0, 4.0), "Pacing gain of the cycle's first phase."),
    Parameter::number("probe_down_gain", "", 0.75, (0.1, 1.0), "Pacing gain of the cycle's second phase."),
    Parameter::integer("bw_window_rounds", "rounds", 10, (1, 1000), "Window of the bandwidth maximum."),
    Parameter::number(
        "min_rtt_window_s",
        "s",
        10.0,
        (0.1, 3600.0),
        "Time after which the minimum RTT is stale.",
    ),
    Parameter::number("probe_rtt_ms", "ms", 200.0, (0.0, 10_000.0), "Least duration of PROBE_RTT."),
    Parameter::integer("min_cwnd", "packets", 4, (1, 1000), "Smallest window, and the window of PROBE_RTT."),
    Parameter::number(
        "full_bw_growth",
        "",
        1.25,
        (1.0, 4.0),
        "Growth of the bandwidth that keeps STARTUP going.",
    ),
    Parameter::integer(
        "full_bw_rounds",
        "rounds",
        3,
        (1, 100),
        "Rounds without that growth that end STARTUP.",
    ),
    Parameter::number(
        "pacing_margin",
        "",
        0.01,
        (0.0, 0.5),
        "Share by which pacing stays below the bandwidth.",
    ),
    Parameter::flag("lt_bw", true, "Long-term sampling: recognise token-bucket policers."),
    Parameter::integer("lt_min_rounds", "rounds", 4, (1, 100), "Fewest rounds of a long-term sample."),
    Parameter::number(
        "lt_loss_ratio",
        "",
        50.0 / 256.0,
        (0.0, 1.0),
        "Lost per delivered bytes of such a sample.",
    ),
    Parameter::integer(
        "lt_hold_rounds",
        "rounds",
        48,
        (1, 10_000),
        "Rounds for which a policed rate is used.",
    ),
    Parameter::flag("extra_acked", true, "Widen the window by the measured ACK aggregation (Linux 5.1)."),
];

/// Parameters that are read repeatedly.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) startup_gain: f64,
    pub(super) drain_gain: f64,
    pub(super) cwnd_gain: f64,
    pub(super) probe_up_gain: f64,
    pub(super) probe_down_gain: f64,
    pub(super) min_rtt_window: Span,
    pub(super) probe_rtt_time: Span,
    /// Minimum window, packets.
    pub(super) min_cwnd: f64,
    pub(super) full_bw_growth: f64,
    pub(super) full_bw_rounds: u32,
    pub(super) pacing_margin: f64,
    pub(super) extra_acked: bool,
}

impl Settings {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            startup_gain: parameters.number("startup_gain"),
            drain_gain: parameters.number("drain_gain"),
            cwnd_gain: parameters.number("cwnd_gain"),
            probe_up_gain: parameters.number("probe_up_gain"),
            probe_down_gain: parameters.number("probe_down_gain"),
            min_rtt_window: Span::from_secs_f64(parameters.number("min_rtt_window_s")),
            probe_rtt_time: Span::from_secs_f64(parameters.number("probe_rtt_ms") / 1e3),
            min_cwnd: parameters.number("min_cwnd"),
            full_bw_growth: parameters.number("full_bw_growth"),
            full_bw_rounds: parameters.integer("full_bw_rounds") as u32,
            pacing_margin: parameters.number("pacing_margin"),
            extra_acked: parameters.flag("extra_acked"),
        }
    }
}
