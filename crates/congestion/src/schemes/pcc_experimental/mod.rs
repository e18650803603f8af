//! PCC-Expr: Vivace's utility and gradient steps on monitor intervals that last 1.5 RTTs.
//!
//! Source: PCCproject/PCC-Uspace@cd43e34 of 10 April 2018, `src/pcc`: Pantheon's `pcc_experimental`. There are three
//! modes:
//!
//! - STARTING: each useful interval with more utility than the previous one doubles the rate. Less utility, or an RTT
//!   1.3 times the RTT at the interval's start, halves it and ends the mode.
//! - PROBING: two pairs of intervals 5 % above and below the rate, until both pairs agree.
//! - DECISION MADE: gradient steps, one interval each, as long as they keep their direction.
//!
//! While packets are not accounted for, the flow sends at the plain rate. Kept as published:
//!
//! - The source's constants have single precision. So a step to its bound of 5 % ends a hundred-millionth above the
//!   next probe, and the sign of that difference decides the next step.
//! - The latency term counts bytes instead of packets, so an RTT that grows by 2 % within an interval outweighs any
//!   throughput.
//! - An interval's length is fixed at its beginning, from the smoothed RTT of that moment. Its duration ends with its
//!   last departure.
//! - The rate is spaced by whole packets; the utility counts their payload.
//! - The return to PROBING divides by 1.02 or 0.98, regardless of the sum of the steps.
//!
//! Expected: the class of Vivace-latency with a minimum of 2 Mi bit/s and a faster start.

#[cfg(test)]
mod tests;

use crate::parts::{
    Boundary, GradientStep, Interval, IntervalTerms, MonitorTimed, Round, RttSample, StepRule, quantised,
};
use crate::{
    Ack, Build, Control, Controller, Entry, FieldSink, Loss, Parameter, Parameters, Sent, Start, Timeout,
};
use units::{Rate, Rng, Span, Time};

/// Mbit of the source.
const MI: f64 = 1024.0 * 1024.0;
/// Exponent of the throughput's reward.
const EXPONENT: f64 = 0.9;
/// Loss rate above which `loss_coefficient` holds; below it the coefficient is one.
const TOLERATED_LOSS: f64 = 0.03;
/// Number of probes in a PROBING round: two pairs.
const PROBES: usize = 4;
/// Step back to PROBING from the first DECISION MADE round; the source never counts further rounds.
const STEP_BACK: f64 = 0.02;
/// Maximum step as a fraction of the rate, and its growth with each step that hits it.
const BOUND: f32 = 0.05;
const BOUND_GROWTH: f32 = 0.06;
/// Maximum rate, for paths without a limit, Mi bit/s.
const MAX_RATE: f64 = 1e5;
/// Result of C's conversion of an undefined inflation to a whole number, in multiples of 2 %.
const UNDEFINED_INFLATION: f64 = -21_474_836.48;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "pcc-experimental",
    summary: "PCC-Expr (PCCproject/PCC-Uspace@cd43e34, April 2018): Vivace's utility on time-based monitor intervals",
    parameters: &[
        Parameter::number(
            "initial_rate",
            "Mbit/s",
            11.2,
            (0.1, 1000.0),
            "First rate: ten packets of 1400 bytes in 10 ms.",
        ),
        Parameter::number("min_rate", "Mi bit/s", 2.0, (0.01, 1000.0), "Smallest rate that a step leads to."),
        Parameter::number("min_step", "Mi bit/s", 0.5, (0.001, 1000.0), "Smallest step."),
        Parameter::number(
            "probe",
            "",
            0.05,
            (0.001, 0.5),
            "How far probes are from the rate, as a share of it.",
        ),
        Parameter::number("interval_rtts", "RTT", 1.5, (0.1, 100.0), "Length of a monitor interval."),
        Parameter::number("latency_coefficient", "", 11330.0, (0.0, 1e9), "Weight of RTT inflation."),
        Parameter::number("loss_coefficient", "", 11.35, (0.0, 1e9), "Weight of loss above 3 %."),
        Parameter::number(
            "inflation_exit",
            "",
            0.3,
            (0.0, 1e6),
            "An RTT this share above the smoothed one at the interval's start ends STARTING.",
        ),
        Parameter::integer(
            "header_bytes",
            "bytes",
            44,
            (0, 500),
            "Headers that pacing pays for per packet; the utility counts payload alone.",
        ),
        Parameter::flag(
            "bytes_quirk",
            true,
            "The latency term counts bytes instead of packets, as published.",
        ),
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(PccExperimental::new(parameters, start))),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Starting,
    Probing,
    DecisionMade,
}

/// Rate of an interval, Mi bit/s, and the resulting utility.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    rate: f64,
    utility: f64,
}

#[derive(Debug)]
struct PccExperimental {
    min_rate: f64,
    /// Rates of the upper and the lower probe, as multiples of the rate.
    probes: (f64, f64),
    interval_rtts: f64,
    latency_coefficient: f64,
    loss_coefficient: f64,
    inflation_exit: f64,
    payload_share: f64,
    bytes_quirk: bool,
    rng: Rng,
    mode: Mode,
    /// Central rate, Mi bit/s.
    rate: f64,
    /// True if the latest probe was above the rate.
    probed_up: bool,
    /// True if the latest decision was to send more.
    went_up: bool,
    step: GradientStep,
    latest: Outcome,
    /// Smoothed RTT, weight 1/4.
    srtt: Span,
    monitor: MonitorTimed,
}

impl PccExperimental {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let payload_bytes = f64::from(start.mss_bytes.max(1));
        let probe = parameters.number("probe") as f32;
        let rule = StepRule {
            theta: 1.0,
            last_slope: 9.0,
            early_growth: 0.5,
            late_growth: 1.0,
            early_below: 3.0,
            least: parameters.number("min_step"),
        };
        Self {
            min_rate: parameters.number("min_rate"),
            probes: (f64::from(1.0 + probe), f64::from(1.0 - probe)),
            interval_rtts: parameters.number("interval_rtts"),
            latency_coefficient: parameters.number("latency_coefficient"),
            loss_coefficient: parameters.number("loss_coefficient"),
            inflation_exit: parameters.number("inflation_exit"),
            payload_share: payload_bytes / (payload_bytes + parameters.number("header_bytes")),
            bytes_quirk: parameters.flag("bytes_quirk"),
            rng: Rng::new(start.seed, "pcc-experimental"),
            mode: Mode::Starting,
            rate: parameters.number("initial_rate") * 1e6 / MI,
            probed_up: false,
            went_up: true,
            step: GradientStep::new(rule, Boundary::new(f64::from(BOUND), f64::from(BOUND_GROWTH))),
            latest: Outcome::default(),
            srtt: Span::ZERO,
            monitor: MonitorTimed::default(),
        }
    }

    /// Begins an interval with the packet that leaves now.
    fn open(&mut self, now: Time) {
        let wanted = if self.mode == Mode::Probing { PROBES } else { 1 };
        let is_useful = !self.srtt.is_zero() && self.monitor.useful() < wanted;
        let is_probe = is_useful && self.mode == Mode::Probing;
        let rate = if is_probe { self.next_probe() } else { self.rate };
        self.monitor.open(
            now,
            IntervalTerms {
                rate,
                is_useful,
                is_starting: self.mode == Mode::Starting,
                rtt: self.srtt,
                end: now + self.interval(),
            },
        );
    }

    /// Returns the rate of the next probe. The first probe of a pair is above or below by chance; the second is the
    /// opposite.
    fn next_probe(&mut self) -> f64 {
        let is_first = self.monitor.useful().is_multiple_of(2);
        self.probed_up = if is_first { self.rng.chance(0.5) } else { !self.probed_up };
        self.rate * if self.probed_up { self.probes.0 } else { self.probes.1 }
    }

    fn interval(&self) -> Span {
        self.srtt.mul_f64(self.interval_rtts)
    }

    /// Decides if all useful intervals are accounted for.
    fn conclude(&mut self, now: Time) {
        let is_complete = |interval: &Interval| now >= interval.terms.end && interval.is_accounted_for();
        match self.monitor.round(is_complete) {
            Round::Waiting => {}
            Round::Void => self.monitor.end_round(),
            Round::Complete => {
                let mut outcomes = [Outcome::default(); PROBES];
                let mut count = 0;
                for (interval, outcome) in self.monitor.useful_intervals().zip(&mut outcomes) {
                    *outcome = Outcome { rate: interval.terms.rate, utility: self.utility(interval) };
                    count += 1;
                }
                self.decide(&outcomes[..count]);
                self.monitor.end_round();
            }
        }
    }

    /// Returns the utility `X^0.9 - X (c L + b q)`, X in Mi bit/s.
    fn utility(&self, interval: &Interval) -> f64 {
        let x = interval.sent_bytes as f64 * 8.0 / interval.sending_time().as_secs_f64() / MI;
        let loss = interval.loss();
        let loss_coefficient = if loss > TOLERATED_LOSS { self.loss_coefficient } else { 1.0 };
        let per_packet =
            if self.bytes_quirk { interval.sent_bytes as f64 / interval.packets as f64 } else { 1.0 };
        let latency = self.latency_coefficient * per_packet * rounded(inflation(&interval.samples));
        libm::pow(x, EXPONENT) - x * (loss_coefficient * loss + latency)
    }

    fn decide(&mut self, outcomes: &[Outcome]) {
        match (self.mode, outcomes) {
            (Mode::Starting, [outcome, ..]) if outcome.utility > self.latest.utility => {
                self.rate = (2.0 * self.rate).min(MAX_RATE);
                self.latest = *outcome;
            }
            (Mode::Starting, _) => self.stop_starting(),
            (Mode::Probing, &[first, second, third, fourth]) => {
                let up = is_up_better(first, second);
                if up == is_up_better(third, fourth) {
                    self.went_up = up;
                    self.latest = if third.utility > fourth.utility { third } else { fourth };
                    let change = self.change(second, first);
                    self.make(change);
                    self.mode = Mode::DecisionMade;
                }
            }
            // The flow sent too little to make all probes.
            (Mode::Probing, _) => {}
            (Mode::DecisionMade, _) => {
                let Some(&outcome) = outcomes.first() else { return };
                let before = self.step.previous();
                let change = self.change(self.latest, outcome);
                if change * before > 0.0 {
                    self.make(change);
                    self.latest = outcome;
                } else {
                    self.step.set_previous(before);
                    self.rate /= if self.went_up { 1.0 + STEP_BACK } else { 1.0 - STEP_BACK };
                    self.mode = Mode::Probing;
                }
            }
        }
    }

    /// Returns the step from the gradient between two outcomes. The rate does not fall below its minimum.
    fn change(&mut self, from: Outcome, to: Outcome) -> f64 {
        let change = if from.rate == to.rate {
            self.step.rule().least
        } else {
            self.step.change((from.utility, from.rate), (to.utility, to.rate), self.rate)
        };
        change.max(self.min_rate - self.rate)
    }

    fn make(&mut self, change: f64) {
        self.step.set_previous(change);
        self.rate = (self.rate + change).min(MAX_RATE);
    }

    fn stop_starting(&mut self) {
        self.rate /= 2.0;
        self.mode = Mode::Probing;
    }
}

/// Returns true if the higher of two rates has more utility.
fn is_up_better(one: Outcome, other: Outcome) -> bool {
    if one.utility > other.utility { one.rate > other.rate } else { one.rate < other.rate }
}

/// Returns the excess of the RTTs in the second half of the samples over the first half, divided by their mean; NaN
/// without two samples.
fn inflation(samples: &[RttSample]) -> f64 {
    let half = samples.len() / 2;
    let sum = |samples: &[RttSample]| -> f64 { samples.iter().map(|sample| sample.rtt.as_ms_f64()).sum() };
    let (first, second) = (sum(&samples[..half]), sum(&samples[half..2 * half]));
    2.0 * (second - first) / (first + second)
}

/// Returns the inflation, rounded towards zero to multiples of 2 %.
fn rounded(inflation: f64) -> f64 {
    if inflation.is_nan() { UNDEFINED_INFLATION } else { quantised(inflation, 2.0) }
}

impl Controller for PccExperimental {
    fn on_sent(&mut self, sent: &Sent) {
        let is_over =
            self.monitor.current().is_none_or(|current| !self.srtt.is_zero() && sent.now > current.terms.end);
        if self.monitor.useful() == 0 || is_over {
            self.open(sent.now);
        }
        self.monitor.on_sent(sent.now, sent.number, u64::from(sent.bytes));
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        let rtt = ack.rtt.unwrap_or(self.srtt);
        self.srtt = if self.srtt.is_zero() { rtt } else { (self.srtt * 3 + rtt) / 4 };
        let is_inflated = self.monitor.current().is_some_and(|current| {
            !current.terms.rtt.is_zero() && rtt > current.terms.rtt.mul_f64(1.0 + self.inflation_exit)
        });
        if self.mode == Mode::Starting && is_inflated {
            self.monitor.clear();
            self.stop_starting();
            return;
        }
        for packet in ack.packets.iter().filter(|packet| !packet.was_lost) {
            let sample = RttSample { number: packet.number, rtt, is_reliable: true };
            self.monitor.on_acked(u64::from(packet.bytes), sample);
        }
        self.conclude(ack.now);
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        for packet in loss.packets {
            self.monitor.on_lost(packet.number, u64::from(packet.bytes));
        }
        self.conclude(loss.now);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.monitor.on_all_lost();
        self.conclude(timeout.now);
    }

    fn control(&self) -> Control {
        let rate = self.monitor.current().map_or(self.rate, |current| current.terms.rate);
        let pacing = Rate::from_bps_f64((rate * MI * self.payload_share).max(1.0));
        Control { pacing: Some(pacing), ..Control::window(u64::MAX) }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        let sending = self.monitor.current().map_or(self.rate, |current| current.terms.rate);
        sink.put("rate", "Mbit/s", self.rate * MI / 1e6);
        sink.put("sending_rate", "Mbit/s", sending * MI / 1e6);
        sink.put("utility", "", self.latest.utility);
        sink.put("amplifier", "", self.step.amplifier());
        sink.put("mode", "0 starting, 1 probing, 2 decision made", f64::from(self.mode as u8));
    }
}
