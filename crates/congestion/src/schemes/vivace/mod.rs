//! PCC-Vivace as Pantheon ran it in 2018: gradient ascent on a utility of rate, loss and RTT slope.
//!
//! Source: Dong et al., NSDI 2018; PCCproject/PCC-Uspace@b67bb68, `pcc-gradient/sender/app/pcc.h`; and the executables
//! that Pantheon ran, StanfordSNR/vivace@423cbca, @7a4ba53 and @2baf862. One file serves the four schemes: `vivace`
//! (latency coefficient 900), `vivace-latency` (11330), `vivace-loss` (0) and `vivace-lte`. Rates are in Mbit/s on the
//! wire. The utility counts Mbit of 2^20 and packets of 1500 bytes for any packet size.
//!
//! START doubles once per completed interval until utility falls. SEARCH and RECORDING try one or two pairs of
//! intervals around the rate. If the pairs agree, the rate changes by gradient times confidence within a bound, at
//! least by `min_step`. A step of more than 10 % starts from the reference interval, and MOVING continues while utility
//! agrees.
//!
//! The reasons: the utility of one interval is noisy, so a decision needs pairs that agree. Each pair comes in random
//! order; otherwise a queue that grows or drains anyway would look like an effect of the probes. The gradient alone
//! would take hundreds of decisions to cross a fast link, so confidence multiplies it while decisions agree. The bound
//! limits the effect of one wrong gradient. Both restart when the direction turns (`parts/gradient_step.rs`).
//!
//! Expected (`docs/evidence/derivations.md`, PCC and Vivace): with a latency term 93 % of a smooth link with an empty
//! queue, and a random walk just above `min_rate` on links with bursty deliveries. Without it, the whole link, a full
//! buffer and more than 10 % loss in a deep one.

mod utility;

use crate::parts::{Boundary, Ended, GradientStep, IntervalScheme, Monitored, Ring, StepRule, WirePacket};
use crate::{Build, Entry, FieldSink, Parameter, Parameters, Start};
use units::{Rng, Span, Time};
use utility::{Sample, Utility};

/// Number of intervals that are remembered.
const RING: Ring = Ring(500);
/// Rate before the first interval, which doubles it, Mbit/s.
const FIRST_RATE: f64 = 0.8;
/// Minimum and maximum rate, Mbit/s.
const RATES: (f64, f64) = (0.1, 1024.0);
/// RTT before the first interval has closed, and the replacement of an RTT of more than a second.
const FIRST_RTT: Span = Span::from_ms(100);
const LONG_RTT: Span = Span::from_ms(300);
/// Minimum and maximum number of packets of an interval.
const PACKETS: (f64, f64) = (10.0, 3000.0);
/// Relative change above which the rate moves in steps instead of at once.
const LARGE_CHANGE: f64 = 0.1;
/// Joint loss rate up to which all probes get the same loss rate, and joint loss rate from which on loss decides more
/// carefully.
const LITTLE_LOSS: f64 = 0.01;
const MUCH_LOSS: f64 = 0.05;
/// Difference of lost packets that counts.
const LOST_PACKETS: f64 = 2.0;
/// Maximum number of probing intervals.
const PROBES: usize = 4;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "vivace",
    summary: "PCC-Vivace (NSDI 2018): gradient ascent on a utility of rate, loss and RTT slope",
    parameters: &[
        Parameter::number(
            "latency_coefficient",
            "",
            900.0,
            (0.0, 1e6),
            "Weight of the RTT slope (paper and final program: 900; January 2018: 11330; 0 for none).",
        ),
        Parameter::integer("quantum", "%", 2, (1, 50), "RTT slopes count in whole multiples of this."),
        Parameter::number(
            "loss_coefficient",
            "",
            11.35,
            (0.0, 1e4),
            "Weight of loss above the knee; 1 below.",
        ),
        Parameter::number(
            "loss_knee",
            "",
            0.03,
            (0.0, 1.0),
            "Loss rate from which loss has its full weight.",
        ),
        Parameter::number("throughput_exponent", "", 0.9, (0.1, 1.0), "Exponent of the rate."),
        Parameter::number("theta", "", 1.0, (1e-3, 1e3), "Rate change per unit of gradient."),
        Parameter::number(
            "probe_share",
            "",
            0.05,
            (0.001, 0.5),
            "Smallest distance of the probes, share of the rate.",
        ),
        Parameter::number("bound", "", 0.05, (0.001, 1.0), "Largest change per decision, share of the rate."),
        Parameter::number("bound_step", "", 0.06, (0.0, 1.0), "What each change at the bound adds to it."),
        Parameter::number("min_rate", "Mbit/s", 1.3, (0.1, 1000.0), "Smallest rate to probe around."),
        Parameter::number("min_step", "Mbit/s", 0.5, (0.001, 100.0), "Smallest change of a decision."),
        Parameter::number("emergency_loss", "", 0.5, (0.0, 1.0), "Loss rate above which the rate is halved."),
        Parameter::flag(
            "lte",
            false,
            "Rules of the LTE binary: probes at 25 % below 1 Mbit/s, worst loss of all probes from 5 % on.",
        ),
        Parameter::integer(
            "header_bytes",
            "bytes",
            44,
            (0, 500),
            "Headers that the rate counts beside the payload: IP, UDP, UDT.",
        ),
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| {
        Box::new(Monitored::new(Vivace::new(parameters, start), RING, true))
    }),
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Doubling of the rate; `marked` is the interval whose result is outstanding.
    Start { marked: Option<u32> },
    /// Search: new probes are drawn at the next interval.
    Search,
    /// Probing: probes are sent and recorded.
    Recording,
    /// One large step of the rate to `target`, with the first interval at that rate once it is known.
    Moving { target: f64, interval: Option<u32> },
}

#[derive(Clone, Copy, Debug, Default)]
struct Probe {
    rate: f64,
    is_up: bool,
    result: Option<Sample>,
}

/// Interval whose rate the next one is compared with.
#[derive(Clone, Copy, Debug)]
struct Reference {
    interval: u32,
    rate: f64,
    result: Option<Sample>,
}

#[derive(Debug)]
struct Vivace {
    utility_rule: Utility,
    probe_share: f64,
    min_rate: f64,
    emergency_loss: f64,
    is_lte: bool,
    packet: WirePacket,
    rng: Rng,
    state: State,
    /// Present sending rate, Mbit/s.
    rate: f64,
    /// Base rate of the probes, Mbit/s.
    base_rate: f64,
    step: GradientStep,
    probes: [Probe; PROBES],
    /// Number of `probes` that this decision uses, and number of probes sent.
    probes_used: usize,
    probes_sent: usize,
    first_probe: u32,
    reference: Option<Reference>,
    target_result: Option<Sample>,
    /// True if a decision to go up in spite of loss was postponed once.
    is_double_checking: bool,
    /// Last interval whose result causes no further emergency stop.
    stopped_until: Option<u32>,
    last_utility: f64,
    utility: f64,
    interval_rtt: Span,
}

impl Vivace {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let rule = StepRule {
            theta: parameters.number("theta"),
            last_slope: 8.0,
            early_growth: 1.0,
            late_growth: 0.5,
            early_below: 4.0,
            least: parameters.number("min_step"),
        };
        let boundary = Boundary::new(parameters.number("bound"), parameters.number("bound_step"));
        Self {
            utility_rule: Utility {
                throughput_exponent: parameters.number("throughput_exponent"),
                loss_coefficient: parameters.number("loss_coefficient"),
                loss_knee: parameters.number("loss_knee"),
                latency_coefficient: parameters.number("latency_coefficient"),
                quantum: parameters.number("quantum"),
            },
            probe_share: parameters.number("probe_share"),
            min_rate: parameters.number("min_rate"),
            emergency_loss: parameters.number("emergency_loss"),
            is_lte: parameters.flag("lte"),
            packet: WirePacket::new(parameters, start),
            rng: Rng::new(start.seed, "vivace"),
            state: State::Start { marked: None },
            rate: FIRST_RATE,
            base_rate: FIRST_RATE,
            step: GradientStep::new(rule, boundary),
            probes: [Probe::default(); PROBES],
            probes_used: PROBES,
            probes_sent: 0,
            first_probe: 0,
            reference: None,
            target_result: None,
            is_double_checking: false,
            stopped_until: None,
            last_utility: 0.0,
            utility: 0.0,
            interval_rtt: FIRST_RTT,
        }
    }

    /// Returns the packets of an interval at the present rate: one RTT, as measured earlier.
    fn interval_packets(&self) -> u64 {
        let rtt = if self.interval_rtt > Span::from_secs(1) { LONG_RTT } else { self.interval_rtt };
        let packets = rtt.as_secs_f64() * self.rate * 1e6 / self.packet.bits;
        packets.clamp(PACKETS.0, PACKETS.1) as u64
    }

    fn set_rate(&mut self, rate: f64) {
        self.rate = rate.clamp(RATES.0, RATES.1);
    }

    fn search(&mut self) {
        self.state = State::Search;
    }

    fn begin(&mut self, number: u32) {
        if let State::Moving { target, interval } = self.state {
            if target >= self.min_rate {
                self.base_rate = target.min(RATES.1);
                self.set_rate(target);
                self.state = State::Moving { target, interval: interval.or(Some(number)) };
                return;
            }
            self.base_rate = self.min_rate;
            self.step.reset();
            self.search();
        }
        if self.state == State::Search {
            self.draw_probes(number);
        }
        match self.state {
            State::Start { marked: None } => {
                self.set_rate(2.0 * self.rate);
                self.base_rate = self.rate;
                self.state = State::Start { marked: Some(number) };
            }
            State::Recording if self.probes_sent < self.probes_used => {
                self.set_rate(self.probes[self.probes_sent].rate);
                self.probes_sent += 1;
            }
            State::Recording => {
                self.set_rate(self.base_rate);
                let rate = self.rate;
                self.reference.get_or_insert(Reference { interval: number, rate, result: None });
            }
            _ => {}
        }
    }

    /// Returns half the distance of a pair of probes, as a fraction of the rate.
    fn probe_distance(&self) -> f64 {
        let rate = self.base_rate;
        let floor = if self.is_lte && rate < 1.0 { 0.25 / rate } else { 0.5 / rate };
        floor.max(self.probe_share)
    }

    fn draw_probes(&mut self, number: u32) {
        self.base_rate = self.base_rate.clamp(self.min_rate, RATES.1);
        self.probes_used = if self.step.trend >= 1 { 2 } else { PROBES };
        let distance = self.probe_distance();
        for pair in self.probes.chunks_exact_mut(2) {
            let first_is_up = self.rng.below(2) == 0;
            for (probe, is_up) in pair.iter_mut().zip([first_is_up, !first_is_up]) {
                let factor = if is_up { 1.0 + distance } else { 1.0 - distance };
                let rate = (self.base_rate * factor).clamp(RATES.0, RATES.1);
                *probe = Probe { rate, is_up, result: None };
            }
        }
        self.first_probe = number;
        self.probes_sent = 0;
        self.reference = None;
        self.state = State::Recording;
    }

    /// Halves the rate after a loss of more than half, once for all intervals in flight. Returns true if it did.
    fn stops_for_emergency(&mut self, ended: &Ended) -> bool {
        let is_immune = self.stopped_until.is_some_and(|last| RING.distance(ended.number, last) < RING.0 / 2);
        if !is_immune {
            self.stopped_until = None;
        }
        if is_immune || ended.loss() <= self.emergency_loss {
            return false;
        }
        self.stopped_until = Some(ended.current);
        self.base_rate = (self.base_rate / 2.0).max(self.min_rate);
        self.set_rate(self.base_rate);
        self.search();
        true
    }

    fn decide_between_probes(&mut self) {
        let probes = self.probes;
        let probes = &probes[..self.probes_used];
        if probes.iter().any(|probe| probe.result.is_none()) {
            return;
        }
        let results = || probes.iter().filter_map(|probe| probe.result.map(|sample| (probe, sample)));
        // Little loss counts as chance: all probes get the same loss rate, so that loss cannot decide between them.
        let loss = joint_loss(results().map(|(_, sample)| sample));
        let value = |sample: &Sample| {
            let loss = if loss <= LITTLE_LOSS {
                loss
            } else if self.is_lte && loss >= MUCH_LOSS {
                results().map(|(_, sample)| sample.loss()).fold(0.0, f64::max)
            } else {
                sample.loss()
            };
            self.utility_rule.value(sample, loss)
        };
        let (mut up, mut down) = (ProbeSum::default(), ProbeSum::default());
        let mut decision = 0;
        for pair in probes.chunks_exact(2) {
            let (higher, lower) = if pair[0].is_up { (pair[0], pair[1]) } else { (pair[1], pair[0]) };
            let (Some(high), Some(low)) = (higher.result, lower.result) else { return };
            let (high_value, low_value) = (value(&high), value(&low));
            up.add(high_value, &high, higher.rate);
            down.add(low_value, &low, lower.rate);
            decision += if high_value > low_value { 1 } else { -1 };
        }
        // Clearly fewer losses at the higher rate are chance, or a queue that was draining. So the step up needs a
        // second confirmation.
        if down.lost - up.lost > LOST_PACKETS && decision > 0 && up.lost > 0.0 && loss >= MUCH_LOSS {
            if self.is_double_checking {
                self.step.trend = 2;
            } else {
                decision = 0;
            }
            self.is_double_checking = !self.is_double_checking;
        }
        if decision == 0 {
            self.step.trend = 2;
            self.step.forget_direction();
            self.reference = None;
            self.search();
            return;
        }
        let pairs = (self.probes_used / 2) as f64;
        let change =
            self.step.change((down.value / pairs, down.rate), (up.value / pairs, up.rate), self.base_rate);
        if change / self.base_rate <= LARGE_CHANGE {
            self.base_rate += change;
            self.search();
        } else {
            let from = self.reference.map_or(self.base_rate, |reference| reference.rate);
            self.target_result = None;
            self.state = State::Moving { target: from + change, interval: None };
        }
    }

    fn decide_on_move(&mut self, target: f64, ended: &Ended) {
        let Some(Reference { rate, result: Some(before), .. }) = self.reference else { return };
        let Some(after) = self.target_result else { return };
        let last_change = self.step.previous();
        let value = |sample: &Sample| self.utility_rule.value(sample, sample.loss());
        let change = self.step.change((value(&before), rate), (value(&after), target), self.base_rate);
        // Loss that contradicts the change of the rate is not its effect: search instead of moving further.
        let more_lost = after.lost - before.lost;
        let is_much = more_lost.abs() > LOST_PACKETS || joint_loss([before, after]) >= MUCH_LOSS;
        if more_lost * (target - rate) < 0.0 && is_much {
            self.step.trend = 2;
            self.step.forget_direction();
            self.search();
        } else if change * last_change <= 0.0 {
            self.base_rate += change;
            self.search();
        } else if change / self.base_rate <= LARGE_CHANGE {
            self.base_rate += change;
            self.step.trend = 2;
            self.search();
        } else {
            let next = RING.after(ended.current, 1);
            self.reference = Some(Reference { interval: ended.number, rate: target, result: Some(after) });
            self.target_result = None;
            self.state = State::Moving { target: target + change, interval: Some(next) };
        }
    }
}

/// Sums over the probes on one side of the rate.
#[derive(Clone, Copy, Debug, Default)]
struct ProbeSum {
    value: f64,
    lost: f64,
    rate: f64,
}

impl ProbeSum {
    fn add(&mut self, value: f64, sample: &Sample, rate: f64) {
        self.value += value;
        self.lost += sample.lost;
        self.rate = rate;
    }
}

/// Returns the lost fraction of all packets of `samples`.
fn joint_loss(samples: impl IntoIterator<Item = Sample>) -> f64 {
    let (lost, packets) = samples
        .into_iter()
        .fold((0.0, 0.0), |(lost, packets), sample| (lost + sample.lost, packets + sample.packets));
    if packets > 0.0 { lost / packets } else { 0.0 }
}

impl IntervalScheme for Vivace {
    fn on_interval_start(&mut self, _now: Time, number: u32) -> u64 {
        self.begin(number);
        self.interval_packets()
    }

    fn on_interval_end(&mut self, ended: &Ended) {
        self.interval_rtt = ended.rtt;
        let sample = self.utility_rule.sample(ended);
        self.utility = self.utility_rule.value(&sample, sample.loss());
        if self.stops_for_emergency(ended) {
            return;
        }
        if let Some(reference) = &mut self.reference
            && reference.interval == ended.number
        {
            reference.result = Some(sample);
        }
        match self.state {
            State::Start { marked } if marked == Some(ended.number) => {
                self.state = State::Start { marked: None };
                if self.utility < self.last_utility {
                    self.base_rate /= 2.0;
                    self.search();
                }
                self.last_utility = self.utility;
            }
            State::Recording => {
                let at = RING.distance(self.first_probe, ended.number) as usize;
                if at < self.probes_sent {
                    self.probes[at].result = Some(sample);
                    self.decide_between_probes();
                }
            }
            State::Moving { target, interval } => {
                if interval == Some(ended.number) {
                    self.target_result = Some(sample);
                }
                self.decide_on_move(target, ended);
            }
            _ => {}
        }
    }

    fn rate(&self) -> f64 {
        self.rate
    }

    fn packet(&self) -> WirePacket {
        self.packet
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("rate", "Mbit/s", self.rate);
        sink.put("base_rate", "Mbit/s", self.base_rate);
        sink.put("utility", "", self.utility);
        sink.put("amplifier", "", self.step.amplifier());
        sink.put("interval", "ms", self.interval_rtt.as_ms_f64());
    }
}

#[cfg(test)]
mod tests;
