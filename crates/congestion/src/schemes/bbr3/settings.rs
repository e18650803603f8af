//! Documented constants of BBR version 3 as parameters.

use crate::{Parameter, Parameters};
use units::Span;

/// Startup pacing gain: 4 ln 2, rounded as in the draft.
const STARTUP_PACING_GAIN: f64 = 2.77;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::number(
        "startup_pacing_gain",
        "",
        STARTUP_PACING_GAIN,
        (1.0, 10.0),
        "Pacing gain of Startup (draft: 4 ln 2).",
    ),
    Parameter::choice(
        "rules",
        "draft",
        &["draft", "linux"],
        "Whose rules hold where the draft and Linux differ.",
    ),
    Parameter::number("drain_pacing_gain", "", 0.5, (0.05, 1.0), "Pacing gain of Drain (Linux: 0.344)."),
    Parameter::number("cwnd_gain", "", 2.0, (1.0, 10.0), "Window in BDP, except in Up and ProbeRTT."),
    Parameter::number("down_pacing_gain", "", 0.9, (0.1, 1.0), "Pacing gain of ProbeBW Down (Linux: 0.906)."),
    Parameter::number("up_pacing_gain", "", 1.25, (1.0, 4.0), "Pacing gain of ProbeBW Up."),
    Parameter::number("up_cwnd_gain", "", 2.25, (1.0, 10.0), "Window in ProbeBW Up, in BDP."),
    Parameter::number("loss_threshold", "", 0.02, (0.0, 1.0), "Loss rate up to which probing goes on."),
    Parameter::number("beta", "", 0.7, (0.1, 1.0), "Share of a bound kept when a round had losses."),
    Parameter::number(
        "headroom",
        "",
        0.15,
        (0.0, 0.9),
        "Share of the long-term bound left free while cruising.",
    ),
    Parameter::integer(
        "startup_full_loss_count",
        "ranges",
        6,
        (1, 1000),
        "Ranges lost in a round that end Startup.",
    ),
    Parameter::number("full_bw_growth", "", 1.25, (1.0, 4.0), "Growth that keeps Startup and Up going."),
    Parameter::integer("full_bw_rounds", "rounds", 3, (1, 100), "Rounds without that growth that end them."),
    Parameter::number("probe_wait_s", "s", 2.0, (0.1, 1000.0), "Shortest time between two bandwidth probes."),
    Parameter::number("probe_wait_spread_s", "s", 1.0, (0.0, 1000.0), "Random time added to it."),
    Parameter::integer(
        "probe_wait_rounds",
        "rounds",
        63,
        (1, 10_000),
        "Most rounds between probes (Reno's time scale).",
    ),
    Parameter::number(
        "min_rtt_window_s",
        "s",
        10.0,
        (0.1, 3600.0),
        "Time after which the minimum RTT is stale.",
    ),
    Parameter::number("probe_rtt_interval_s", "s", 5.0, (0.1, 3600.0), "Time between ProbeRTT phases."),
    Parameter::number("probe_rtt_ms", "ms", 200.0, (0.0, 10_000.0), "Least duration of ProbeRTT."),
    Parameter::number("probe_rtt_cwnd_gain", "", 0.5, (0.0, 1.0), "Window in ProbeRTT, in BDP."),
    Parameter::integer(
        "extra_acked_rounds",
        "rounds",
        10,
        (1, 1000),
        "Window of the ACK-aggregation maximum (1 in Startup); by Linux' rules of each of two.",
    ),
    Parameter::flag("extra_acked", true, "Widen the window by the measured ACK aggregation."),
    Parameter::flag("ecn", false, "Respond to CE marks as Linux's version 3, below 5 ms of RTT."),
    Parameter::integer("min_cwnd", "packets", 4, (1, 1000), "Smallest window."),
    Parameter::number(
        "pacing_margin",
        "",
        0.01,
        (0.0, 0.5),
        "Share by which pacing stays below the bandwidth.",
    ),
];

/// Parameters in the units of the controller.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// True if Linux' rules replace the draft's where they differ.
    pub(super) linux: bool,
    pub(super) startup_pacing_gain: f64,
    pub(super) drain_pacing_gain: f64,
    pub(super) cwnd_gain: f64,
    pub(super) down_pacing_gain: f64,
    pub(super) up_pacing_gain: f64,
    pub(super) up_cwnd_gain: f64,
    pub(super) loss_threshold: f64,
    pub(super) beta: f64,
    pub(super) headroom: f64,
    pub(super) startup_full_loss_count: u32,
    pub(super) full_bw_growth: f64,
    pub(super) full_bw_rounds: u32,
    /// Minimum wait between two probes, s.
    pub(super) probe_wait_s: f64,
    pub(super) probe_wait_spread_s: f64,
    pub(super) probe_wait_rounds: f64,
    pub(super) min_rtt_window: Span,
    pub(super) probe_rtt_interval: Span,
    pub(super) probe_rtt_time: Span,
    pub(super) probe_rtt_cwnd_gain: f64,
    pub(super) extra_acked: bool,
    pub(super) extra_acked_rounds: u64,
    pub(super) ecn: bool,
    /// Minimum window, packets.
    pub(super) min_cwnd: f64,
    pub(super) pacing_margin: f64,
}

impl Settings {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let seconds = |name| Span::from_secs_f64(parameters.number(name));
        Self {
            linux: parameters.choice("rules") == "linux",
            startup_pacing_gain: parameters.number("startup_pacing_gain"),
            drain_pacing_gain: parameters.number("drain_pacing_gain"),
            cwnd_gain: parameters.number("cwnd_gain"),
            down_pacing_gain: parameters.number("down_pacing_gain"),
            up_pacing_gain: parameters.number("up_pacing_gain"),
            up_cwnd_gain: parameters.number("up_cwnd_gain"),
            loss_threshold: parameters.number("loss_threshold"),
            beta: parameters.number("beta"),
            headroom: parameters.number("headroom"),
            startup_full_loss_count: parameters.integer("startup_full_loss_count") as u32,
            full_bw_growth: parameters.number("full_bw_growth"),
            full_bw_rounds: parameters.integer("full_bw_rounds") as u32,
            probe_wait_s: parameters.number("probe_wait_s"),
            probe_wait_spread_s: parameters.number("probe_wait_spread_s"),
            probe_wait_rounds: parameters.number("probe_wait_rounds"),
            min_rtt_window: seconds("min_rtt_window_s"),
            probe_rtt_interval: seconds("probe_rtt_interval_s"),
            probe_rtt_time: Span::from_secs_f64(parameters.number("probe_rtt_ms") / 1e3),
            probe_rtt_cwnd_gain: parameters.number("probe_rtt_cwnd_gain"),
            extra_acked: parameters.flag("extra_acked"),
            extra_acked_rounds: parameters.integer("extra_acked_rounds") as u64,
            ecn: parameters.flag("ecn"),
            min_cwnd: parameters.number("min_cwnd"),
            pacing_margin: parameters.number("pacing_margin"),
        }
    }
}
