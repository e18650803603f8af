//! PCC-Expr: Vivace's utility and gradient steps on monitor intervals that last 1.5 RTTs.
//!
//! Source: PCC-Uspace at cd43e34, 10 April 2018 (reference `schemes-rate` 1.4 and 5), Pantheon's `pcc_experimental`.
//! Three modes. STARTING: each useful interval with more utility than the one before doubles the rate; less utility, or
//! an RTT 1.3 times the one at the interval's start, halves it and ends the mode. PROBING: two pairs of intervals 5 %
//! above and below the rate, until both pairs agree. DECISION MADE: gradient steps, one interval each, as long as they
//! keep their direction. While the verdict on packets is awaited, the flow sends at the plain rate.
//!
//! Kept as published: the source's constants have single precision, so a step to its bound of 5 % ends a hundred-millionth
//! above the probe it is compared with next, and the sign of that difference decides what follows; the latency term is multiplied by bytes instead of packets per packet, so that an inflation of 2 %
//! of the RTT within an interval outweighs any throughput; an interval's duration ends with its last departure; going
//! back to PROBING divides by 1.02 or 0.98, whatever the steps had added up to.
//!
//! Expected (reference 5): the class of Vivace-latency with a floor of 2 Mi bit/s and a faster start.

use crate::parts::{Boundary, GradientStep, Interval, MonitorTimed, Plan, Round, RttSample, StepRule};
use crate::{Ack, Control, Controller, Entry, FieldSink, Loss, Parameter, Parameters, Sent, Start, Timeout};
use units::{Rate, Rng, Span, Time};

/// The source's Mbit.
const MI: f64 = 1024.0 * 1024.0;
/// Exponent of the throughput's reward.
const EXPONENT: f64 = 0.9;
/// Loss above which `loss_coefficient` holds; below it is one.
const TOLERATED_LOSS: f64 = 0.03;
/// Probes of one PROBING round: two pairs.
const PROBES: usize = 4;
/// Step back to PROBING from the first DECISION MADE round; the source never counts further rounds.
const STEP_BACK: f64 = 0.02;
/// Largest step as a share of the rate, and what each step that hits it adds.
const BOUND: f32 = 0.05;
const BOUND_GROWTH: f32 = 0.06;
/// A bound for paths without any: Mi bit/s.
const MAX_RATE: f64 = 1e5;
/// What an undefined inflation becomes when C converts it to a whole number, in multiples of 2 %.
const UNDEFINED_INFLATION: f64 = -21_474_836.48;

/// Registry entry.
pub(crate) const ENTRY: Entry = Entry {
    name: "pcc-experimental",
    summary: "PCC-Expr (PCC-Uspace at cd43e34, April 2018): Vivace's utility on time-based monitor intervals",
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
            "Headers that the rate pays for per packet.",
        ),
        Parameter::flag(
            "bytes_quirk",
            true,
            "The latency term counts bytes instead of packets, as published.",
        ),
    ],
    receiver: None,
    build: |parameters, start| Box::new(PccExperimental::new(parameters, start)),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Starting,
    Probing,
    DecisionMade,
}

/// A rate, Mi bit/s, and the utility it had.
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
    header_bytes: u64,
    payload_share: f64,
    bytes_quirk: bool,
    rng: Rng,
    mode: Mode,
    /// Central rate, Mi bit/s.
    rate: f64,
    /// Whether the latest probe was above the rate.
    probed_up: bool,
    /// Whether the latest decision was to send more.
    went_up: bool,
    step: GradientStep,
    latest: Outcome,
    /// Smoothed RTT, weight 1/4.
    srtt: Span,
    monitor: MonitorTimed,
}

impl PccExperimental {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let header_bytes = parameters.integer("header_bytes") as u64;
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
            header_bytes,
            payload_share: payload_bytes / (payload_bytes + header_bytes as f64),
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
            Plan {
                rate,
                is_useful,
                is_starting: self.mode == Mode::Starting,
                rtt: self.srtt,
                end: now + self.interval(),
            },
        );
    }

    /// The first probe of a pair is above or below by chance, the second is the other.
    fn next_probe(&mut self) -> f64 {
        let is_first = self.monitor.useful().is_multiple_of(2);
        self.probed_up = if is_first { self.rng.chance(0.5) } else { !self.probed_up };
        self.rate * if self.probed_up { self.probes.0 } else { self.probes.1 }
    }

    fn interval(&self) -> Span {
        self.srtt.mul_f64(self.interval_rtts)
    }

    /// Decides if the verdict on all useful intervals is in.
    fn conclude(&mut self, now: Time) {
        let is_complete = |interval: &Interval| now >= interval.plan.end && interval.is_accounted_for();
        match self.monitor.round(is_complete) {
            Round::Waiting => {}
            Round::Void => self.monitor.end_round(),
            Round::Complete => {
                let mut outcomes = [Outcome::default(); PROBES];
                let mut count = 0;
                for (interval, outcome) in self.monitor.useful_intervals().zip(&mut outcomes) {
                    *outcome = Outcome { rate: interval.plan.rate, utility: self.utility(interval) };
                    count += 1;
                }
                self.decide(&outcomes[..count]);
                self.monitor.end_round();
            }
        }
    }

    /// `X^0.9 - X (c L + b q)`, X in Mi bit/s.
    fn utility(&self, interval: &Interval) -> f64 {
        let x = interval.sent_bytes as f64 * 8.0 / interval.sending_time().as_secs_f64() / MI;
        let loss = interval.loss();
        let loss_coefficient = if loss > TOLERATED_LOSS { self.loss_coefficient } else { 1.0 };
        let per_packet =
            if self.bytes_quirk { interval.sent_bytes as f64 / interval.packets as f64 } else { 1.0 };
        let latency = self.latency_coefficient * per_packet * quantised(inflation(&interval.samples));
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
            // Too little was sent to make all probes.
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

    /// The step from the gradient between two outcomes, such that the rate does not fall below its floor.
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

/// Whether the higher of two rates has more utility.
fn is_up_better(one: Outcome, other: Outcome) -> bool {
    if one.utility > other.utility { one.rate > other.rate } else { one.rate < other.rate }
}

/// By how much the RTTs of the second half of the samples exceed those of the first, over their mean; NaN without two.
fn inflation(samples: &[RttSample]) -> f64 {
    let half = samples.len() / 2;
    let sum = |samples: &[RttSample]| -> f64 { samples.iter().map(|sample| sample.rtt.as_ms_f64()).sum() };
    let (first, second) = (sum(&samples[..half]), sum(&samples[half..2 * half]));
    2.0 * (second - first) / (first + second)
}

/// Rounded towards zero to multiples of 2 % (reference 4.2), with the source's detours through C's arithmetic.
fn quantised(inflation: f64) -> f64 {
    if inflation.is_nan() {
        return UNDEFINED_INFLATION;
    }
    let percent = ((inflation * 100.0).trunc() / 100.0 * 100.0).trunc();
    (percent / 2.0).trunc() * 2.0 / 100.0
}

impl Controller for PccExperimental {
    fn on_sent(&mut self, sent: &Sent) {
        let is_over = self
            .monitor
            .current()
            .is_none_or(|current| !self.srtt.is_zero() && sent.now - current.first_sent_at > self.interval());
        if self.monitor.useful() == 0 || is_over {
            self.open(sent.now);
        }
        self.monitor.on_sent(sent.now, sent.number, u64::from(sent.bytes) + self.header_bytes);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        let rtt = ack.rtt.unwrap_or(self.srtt);
        self.srtt = if self.srtt.is_zero() { rtt } else { (self.srtt * 3 + rtt) / 4 };
        let is_inflated = self.monitor.current().is_some_and(|current| {
            !current.plan.rtt.is_zero() && rtt > current.plan.rtt.mul_f64(1.0 + self.inflation_exit)
        });
        if self.mode == Mode::Starting && is_inflated {
            self.monitor.clear();
            self.stop_starting();
            return;
        }
        for packet in ack.packets.iter().filter(|packet| !packet.was_lost) {
            let sample = RttSample { number: packet.number, rtt, is_reliable: true };
            self.monitor.on_acked(u64::from(packet.bytes) + self.header_bytes, sample);
        }
        self.conclude(ack.now);
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        for packet in loss.packets {
            self.monitor.on_lost(packet.number, u64::from(packet.bytes) + self.header_bytes);
        }
        self.conclude(loss.now);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.monitor.on_all_lost();
        self.conclude(timeout.now);
    }

    fn control(&self) -> Control {
        let rate = self.monitor.current().map_or(self.rate, |current| current.plan.rate);
        let pacing = Rate::from_bps_f64((rate * MI * self.payload_share).max(1.0));
        Control { pacing: Some(pacing), ..Control::window(u64::MAX) }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        let sending = self.monitor.current().map_or(self.rate, |current| current.plan.rate);
        sink.put("rate", "Mbit/s", self.rate * MI / 1e6);
        sink.put("sending_rate", "Mbit/s", sending * MI / 1e6);
        sink.put("utility", "", self.latest.utility);
        sink.put("amplifier", "", self.step.amplifier());
        sink.put("mode", "", f64::from(self.mode as u8));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Driver;

    fn scheme(settings: &[(&str, &str)]) -> PccExperimental {
        let mut parameters = Parameters::defaults(ENTRY.parameters);
        for (name, value) in settings {
            parameters.set(name, value).unwrap();
        }
        let start = Start { now: Time::ZERO, mss_bytes: 1356, initial_window_bytes: 13_560, seed: 1 };
        PccExperimental::new(&parameters, &start)
    }

    /// In PROBING at `rate` Mi bit/s.
    fn probing(rate: f64) -> PccExperimental {
        let mut scheme = scheme(&[]);
        (scheme.mode, scheme.rate) = (Mode::Probing, rate);
        scheme
    }

    fn outcome(rate: f64, utility: f64) -> Outcome {
        Outcome { rate, utility }
    }

    fn samples(rtts_ms: &[u64]) -> Vec<RttSample> {
        let sample = |ms: &u64| RttSample { number: 0, rtt: Span::from_ms(*ms), is_reliable: true };
        rtts_ms.iter().map(sample).collect()
    }

    /// Reference `schemes-rate` 11, test 5, and the detail of 4.2.
    #[test]
    fn inflation_counts_in_whole_multiples_of_two_percent() {
        assert_eq!([0.0199, 0.02, 0.039, -0.05].map(quantised), [0.0, 0.02, 0.02, -0.04]);
        // 29 / 100 * 100 is a little less than 29 in floating point.
        assert_eq!((quantised(0.29), quantised(0.30)), (0.28, 0.30));
        assert_eq!(quantised(inflation(&samples(&[20]))), UNDEFINED_INFLATION);
    }

    #[test]
    fn inflation_is_the_difference_of_the_halves_over_their_mean() {
        assert_eq!(inflation(&samples(&[20, 20, 30, 30])), 0.4);
        // The last of an odd number is left out.
        assert_eq!(inflation(&samples(&[20, 30, 99])), 0.4);
    }

    #[test]
    fn the_utility_of_an_interval() {
        let utility = |settings: &[(&str, &str)], lost: u64, rtts_ms: [u64; 2]| {
            let mut scheme = scheme(settings);
            scheme.srtt = Span::from_ms(10);
            scheme.open(Time::ZERO);
            // 100 packets of 131.072 kB in all over 100 ms: 10 Mi bit/s.
            for number in 0..100 {
                let at = Time::ZERO + Span::from_us(number * 100_000 / 99);
                scheme.monitor.on_sent(
                    at,
                    number,
                    if number == 0 { 1424 } else { 1309 } + u64::from(number > 43),
                );
            }
            for number in 0..100 {
                if number < lost {
                    scheme.monitor.on_lost(number, 1310);
                    continue;
                }
                let rtt = Span::from_ms(rtts_ms[usize::from(number >= lost + (100 - lost) / 2)]);
                scheme.monitor.on_acked(0, RttSample { number, rtt, is_reliable: true });
            }
            let interval = scheme.monitor.useful_intervals().next().unwrap();
            let x = interval.sent_bytes as f64 * 8.0 / 0.1 / MI;
            (x, scheme.utility(interval))
        };
        let close = |(x, utility): (f64, f64), cost: f64| {
            let expected = libm::pow(x, 0.9) - x * cost;
            assert!((utility - expected).abs() < 2e-3 * expected.abs(), "{utility} instead of {expected}");
            assert!((x - 10.0).abs() < 0.1, "{x}");
        };
        close(utility(&[], 0, [100, 101]), 0.0);
        // Loss costs itself up to 3 %, 11.35 times itself above.
        close(utility(&[], 2, [100, 101]), 0.02);
        close(utility(&[], 5, [100, 101]), 11.35 * 0.05);
        // 3.9 % inflation count as 2 %, times bytes per packet; without the quirk once.
        let bytes = utility(&[], 0, [100, 104]);
        assert!(bytes.1 < -0.9 * 10.0 * 11330.0 * 0.02 * 1309.0, "{bytes:?}");
        close(utility(&[("bytes_quirk", "off")], 0, [100, 104]), 11330.0 * 0.02);
    }

    #[test]
    fn starting_doubles_while_utility_grows_and_then_halves() {
        let mut scheme = scheme(&[]);
        let first = scheme.rate;
        assert!((first * MI - 11.2e6).abs() < 1.0);
        scheme.decide(&[outcome(10.0, 8.0)]);
        scheme.decide(&[outcome(20.0, 14.0)]);
        assert_eq!((scheme.rate, scheme.mode), (4.0 * first, Mode::Starting));
        scheme.decide(&[outcome(40.0, 14.0)]);
        assert_eq!((scheme.rate, scheme.mode), (2.0 * first, Mode::Probing));
    }

    #[test]
    fn an_inflated_rtt_ends_starting_at_once() {
        let mut driver = Driver::new(&ENTRY, &[]);
        (driver.next_number, driver.rtt) = (0, Span::from_ms(20));
        let rate = driver.field("rate");
        driver.send();
        driver.ack(1);
        (0..4).for_each(|_| driver.send());
        driver.rtt = Span::from_us(25_900);
        driver.ack(1);
        assert_eq!((driver.field("rate"), driver.field("mode")), (rate, 0.0));
        driver.rtt = Span::from_us(26_100);
        driver.ack(1);
        assert_eq!((driver.field("rate"), driver.field("mode")), (rate / 2.0, 1.0));
    }

    #[test]
    fn probes_are_pairs_around_the_rate_and_then_the_plain_rate() {
        let mut scheme = probing(20.0);
        scheme.srtt = Span::from_ms(20);
        let mut rates = vec![];
        for interval in 0..6 {
            let now = Time::ZERO + Span::from_ms(40 * interval);
            let number = 2 * interval;
            let sent = |now, number| Sent {
                now,
                number,
                bytes: 1356,
                in_flight_bytes: 0,
                retransmission: false,
                filler: false,
            };
            scheme.on_sent(&sent(now, number));
            scheme.on_sent(&sent(now + Span::from_ms(1), number + 1));
            rates.push(scheme.monitor.current().unwrap().plan.rate);
        }
        for pair in rates[..4].chunks(2) {
            let mut pair = pair.to_vec();
            pair.sort_by(f64::total_cmp);
            assert!((pair[0] - 19.0).abs() < 1e-6 && (pair[1] - 21.0).abs() < 1e-5, "{pair:?}");
        }
        assert_eq!(rates[4..], [20.0, 20.0]);
        // Pacing counts payload: 1356 of 1400 bytes.
        let pacing = scheme.control().pacing.unwrap().bps();
        assert_eq!(pacing, (20.0 * MI * 1356.0 / 1400.0).round() as u64);
    }

    #[test]
    fn disagreeing_pairs_repeat_the_probes() {
        let mut scheme = probing(20.0);
        let (low, high) = (outcome(19.0, 1.0), outcome(21.0, 2.0));
        scheme.decide(&[low, high, outcome(19.0, 2.0), outcome(21.0, 1.0)]);
        assert_eq!((scheme.rate, scheme.mode), (20.0, Mode::Probing));
        scheme.decide(&[low, high, high, low]);
        // A gradient of 0.5 is half a Mi, the smallest step.
        assert_eq!((scheme.rate, scheme.mode), (20.5, Mode::DecisionMade));
    }

    #[test]
    fn steps_go_on_in_their_direction_and_a_turn_divides_by_one_step() {
        let mut scheme = probing(20.0);
        scheme.decide(&[outcome(19.0, 1.0), outcome(21.0, 2.0), outcome(19.0, 1.0), outcome(21.0, 2.0)]);
        // From 21 Mi with utility 2 to 20.5 Mi: less utility at less rate, so upwards still.
        scheme.decide(&[outcome(20.5, 1.8)]);
        assert_eq!((scheme.rate, scheme.mode), (21.0, Mode::DecisionMade));
        scheme.decide(&[outcome(21.0, 1.0)]);
        assert_eq!((scheme.rate, scheme.mode), (21.0 / 1.02, Mode::Probing));
        // The refused step left no trace in the direction.
        assert_eq!(scheme.step.previous(), 0.5);
    }

    /// The source's single precision, in both directions.
    #[test]
    fn a_bounded_step_ends_just_above_the_probe() {
        for up in [true, false] {
            let mut scheme = probing(40.0);
            let (upper, lower) = (40.0 * scheme.probes.0, 40.0 * scheme.probes.1);
            let (high, low) = (outcome(upper, f64::from(u8::from(up)) * 1e6), outcome(lower, 5e5));
            scheme.decide(&[high, low, high, low]);
            let beyond = scheme.rate - scheme.latest.rate;
            assert!(beyond > 0.0 && beyond < 1e-5, "{beyond:e}");
        }
    }

    #[test]
    fn steps_are_bounded_and_stop_at_the_floor() {
        let mut scheme = probing(20.0);
        let (low, high) = (outcome(19.0, 100.0), outcome(21.0, 1.0));
        scheme.decide(&[low, high, low, high]);
        assert!((scheme.rate - 19.0).abs() < 1e-6, "{}", scheme.rate); // 5 % of 20
        scheme.decide(&[outcome(18.9, 200.0)]);
        assert!((scheme.rate - 19.0 * 0.89).abs() < 1e-5, "{}", scheme.rate);
        let mut scheme = probing(2.1);
        scheme.decide(&[
            outcome(1.995, 100.0),
            outcome(2.205, 1.0),
            outcome(1.995, 100.0),
            outcome(2.205, 1.0),
        ]);
        assert_eq!(scheme.rate, 2.0);
    }
}
