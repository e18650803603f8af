//! PCC Proteus: a sender that competes (primary), one that yields (scavenger), and one that changes between the two.
//!
//! Source: PCCproject/PCC-Uspace@30c2cfe (master, 2020), `src/pcc`; Meng et al., SIGCOMM 2020. Monitor intervals last
//! one minimum RTT and until there are four RTT samples. Modes are those of PCC-Expr. STARTING doubles while the
//! utility grows. PROBING compares pairs of intervals 5 % above and below the rate. DECISION MADE makes steps along the
//! gradient while utility grows. The primary's utility is Vivace's. The scavenger's utility also falls with the
//! deviation of the RTT, which competition causes before it causes queues. The module `noise` separates noise from real
//! changes of the RTT.
//!
//! Not modelled: the condition on more than four intervals that are not useful, because this machine never has two; and
//! the exit from STARTING by RTT, because its published threshold of 100 RTTs disables it.
//!
//! Expected: a scavenger yields to CUBIC and BBR (abstract of the paper; the tests here require 80 % of the link, more
//! than one primary gets against another), and fills the link when alone.

mod noise;
mod settings;
#[cfg(test)]
mod tests;

use crate::parts::{Boundary, Interval, IntervalTerms, MonitorTimed, Round, RttSample};
use crate::{Ack, Build, Control, Controller, Entry, FieldSink, Loss, Parameters, Sent, Start, Timeout};
use noise::{NoiseFilter, Signal};
use settings::{PARAMETERS, Role, Settings};
use units::{Rate, Rng, Span, Time};

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "proteus",
    summary: "PCC Proteus (PCCproject/PCC-Uspace@30c2cfe; Meng et al. 2020): Vivace's successor, with a role that yields",
    parameters: PARAMETERS,
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Proteus::new(parameters, start))),
};

/// Rate change in Mbit/s per unit of gradient: the source computes in multiples of 2^20 bit/s.
const THETA: f64 = 1.048_576 * 1.048_576;
/// Exponent by which steps in the same direction grow.
const AMPLIFIER_EXPONENT: f64 = 1.2;
/// Maximum step as a fraction of the rate, and its growth with each step that hits it.
const BOUND: f64 = 0.05;
const BOUND_GROWTH: f64 = 0.05;
/// Number of pairs of probes of a primary and of a scavenger.
const PRIMARY_PAIRS: usize = 3;
const SCAVENGER_PAIRS: usize = 2;
/// Number of RTT samples that an interval needs.
const LEAST_SAMPLES: usize = 4;
/// Fraction of reliable samples up to which an interval is doubled.
const RELIABLE_SHARE: f64 = 0.8;
/// Base of the first rate: shorter RTTs scale it up.
const INITIAL_RTT: Span = Span::from_ms(100);
/// Change of the spacing of ACKs, as a multiple of the usual one, that makes RTTs unreliable.
const BURST_RATIO: f64 = 50.0;
/// Packet whose transfer time belongs to an interval's duration, bytes.
const PACKET_BYTES: f64 = 1500.0;
/// Maximum rate, for paths without a limit, Mbit/s.
const MAX_RATE: f64 = 1e5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Starting,
    Probing,
    DecisionMade,
}

/// Rate of an interval, Mbit/s, and the resulting utility.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    rate: f64,
    utility: f64,
}

/// Previous ACK. The time between it and its successor decides whether its RTT is reliable.
#[derive(Debug, Default)]
struct PendingAck {
    /// Number and bytes of its packets.
    packets: Vec<(u64, u64)>,
    rtt: Span,
    srtt: Span,
    /// Time since the ACK before it.
    interval: Span,
}

#[derive(Debug)]
struct Proteus {
    settings: Settings,
    payload_share: f64,
    rng: Rng,
    mode: Mode,
    /// True if the flow now decides as a scavenger.
    is_scavenging: bool,
    /// Central rate, Mbit/s.
    rate: f64,
    probed_up: bool,
    /// Direction of the latest decision.
    goes_up: bool,
    /// Number of rounds in the present mode.
    rounds: u32,
    boundary: Boundary,
    latest: Outcome,
    noise: NoiseFilter,
    signal: Signal,
    srtt: Span,
    min_rtt: Span,
    /// Length of the present interval; the next field is true if it was doubled.
    length: Span,
    is_doubled: bool,
    monitor: MonitorTimed,
    pending: PendingAck,
    acked_at: Option<Time>,
    /// Usual ratio of successive ACK spacings; zero before the first.
    spacing_ratio: f64,
    /// True if ACKs come in a burst, which makes their RTTs unreliable.
    is_burst: bool,
}

impl Proteus {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let settings = Settings::new(parameters);
        let payload_bytes = f64::from(start.mss_bytes.max(1));
        Self {
            payload_share: payload_bytes / (payload_bytes + settings.header_bytes as f64),
            rng: Rng::new(start.seed, "proteus"),
            mode: Mode::Starting,
            is_scavenging: settings.role == Role::Scavenger,
            rate: settings.initial_rate,
            probed_up: false,
            goes_up: true,
            rounds: 1,
            boundary: Boundary::new(BOUND, BOUND_GROWTH),
            latest: Outcome::default(),
            noise: NoiseFilter::default(),
            signal: Signal::default(),
            srtt: Span::ZERO,
            min_rtt: Span::ZERO,
            length: Span::ZERO,
            is_doubled: false,
            monitor: MonitorTimed::default(),
            pending: PendingAck::default(),
            acked_at: None,
            spacing_ratio: 0.0,
            is_burst: false,
            settings,
        }
    }

    fn probes(&self) -> usize {
        2 * if self.is_scavenging { SCAVENGER_PAIRS } else { PRIMARY_PAIRS }
    }

    /// Returns true if the packet that leaves at `now` begins an interval.
    fn begins_interval(&mut self, now: Time) -> bool {
        let Some(current) = self.monitor.current() else { return true };
        if self.srtt.is_zero() {
            return false;
        }
        if self.monitor.useful() == 0 {
            return true;
        }
        let has_ended = current.terms.is_useful
            && current.reliable_samples >= LEAST_SAMPLES
            && now - current.first_sent_at >= self.length;
        if !has_ended {
            return false;
        }
        let share = current.reliable_samples as f64 / current.samples.len() as f64;
        if share > RELIABLE_SHARE || self.is_doubled {
            return true;
        }
        self.length = self.length * 2;
        self.is_doubled = true;
        false
    }

    fn open(&mut self, now: Time) {
        let wanted = if self.mode == Mode::Probing { self.probes() } else { 1 };
        let is_useful = !self.srtt.is_zero() && self.monitor.useful() < wanted;
        let is_probe = is_useful && self.mode == Mode::Probing;
        let rate = if is_probe { self.next_probe() } else { self.rate };
        (self.length, self.is_doubled) = (self.min_rtt, false);
        let is_starting = self.mode == Mode::Starting;
        self.monitor.open(now, IntervalTerms { rate, is_useful, is_starting, rtt: self.srtt, end: now });
    }

    /// Returns the rate of the next probe. The first probe of a pair is above or below by chance; the second is the
    /// opposite.
    fn next_probe(&mut self) -> f64 {
        let is_first = self.monitor.useful().is_multiple_of(2);
        self.probed_up = if is_first { self.rng.chance(0.5) } else { !self.probed_up };
        self.probe_rate(self.probed_up)
    }

    fn probe_rate(&self, up: bool) -> f64 {
        self.rate * if up { 1.0 + self.settings.probe } else { 1.0 - self.settings.probe }
    }

    /// Counts the previous ACK. The present one came `interval` after it, with `rtt`.
    fn settle_pending(&mut self, interval: Span, rtt: Span) {
        let pending = core::mem::take(&mut self.pending);
        for &(number, bytes) in &pending.packets {
            let Some(holder) = self.monitor.useful_with(number) else { continue };
            if is_complete(holder) {
                continue;
            }
            let is_reliable = self.is_reliable(&pending, interval, rtt);
            self.monitor.on_acked(bytes, RttSample { number, rtt: pending.rtt, is_reliable });
        }
        self.pending = pending;
        self.pending.packets.clear();
    }

    /// Returns true if RTTs are reliable. They are unreliable after a jump of the ACKs' spacing, until they are below
    /// their average again.
    fn is_reliable(&mut self, pending: &PendingAck, interval: Span, rtt: Span) -> bool {
        if pending.interval.is_zero() {
            return false;
        }
        let (one, other) = (whole_us(pending.interval), whole_us(interval));
        let ratio = one.max(other) / one.min(other);
        if self.spacing_ratio == 0.0 {
            self.spacing_ratio = ratio;
        }
        let was_burst = self.is_burst;
        if ratio > BURST_RATIO * self.spacing_ratio {
            self.is_burst = true;
        } else if was_burst && rtt > pending.rtt && pending.rtt < pending.srtt {
            self.is_burst = false;
        }
        self.spacing_ratio += 0.1 * (ratio - self.spacing_ratio);
        !self.is_burst && !was_burst
    }

    fn conclude(&mut self) {
        match self.monitor.round(is_complete) {
            Round::Waiting => {}
            Round::Void => self.monitor.end_round(),
            Round::Complete => {
                let mut outcomes = [Outcome::default(); 2 * PRIMARY_PAIRS];
                let mut count = 0;
                // The filter learns from each interval in turn, so the intervals are borrowed from `self`.
                let monitor = core::mem::take(&mut self.monitor);
                for (interval, outcome) in monitor.useful_intervals().zip(&mut outcomes) {
                    *outcome = Outcome { rate: interval.terms.rate, utility: self.utility(interval) };
                    count += 1;
                }
                self.monitor = monitor;
                self.decide(&outcomes[..count]);
                self.monitor.end_round();
            }
        }
    }

    /// Returns the utility `X^0.9 - X (b g + c L + d dev)`, X in Mbit/s; the last term only for scavengers.
    fn utility(&mut self, interval: &Interval) -> f64 {
        let packet_us = PACKET_BYTES * 8.0 / interval.terms.rate;
        let duration_us = interval.sending_time().as_secs_f64() * 1e6 + packet_us;
        let x = interval.sent_bytes as f64 * 8.0 / duration_us;
        self.signal = self.noise.judge(interval, packet_us);
        let Signal { mut gradient, mut deviation_us } = self.signal;
        if interval.terms.is_starting {
            deviation_us = 0.0;
            if gradient < 1000.0 / duration_us {
                gradient = 0.0;
            }
        }
        let settings = &self.settings;
        let yields = match settings.role {
            Role::Primary => false,
            Role::Scavenger => true,
            Role::Hybrid => x >= settings.switching_rate,
        };
        let deviation_cost = if yields { settings.deviation_coefficient * deviation_us } else { 0.0 };
        let cost = settings.latency_coefficient * gradient.max(0.0)
            + settings.loss_coefficient * interval.loss()
            + deviation_cost;
        libm::pow(x, settings.exponent) - x * cost
    }

    fn decide(&mut self, outcomes: &[Outcome]) {
        let Some(&first) = outcomes.first() else { return };
        match self.mode {
            Mode::Starting if first.utility > self.latest.utility => {
                self.rate = (2.0 * self.rate).min(MAX_RATE);
                self.latest = first;
                self.rounds += 1;
            }
            Mode::Starting => {
                self.rate /= 2.0;
                self.enter(Mode::Probing);
            }
            Mode::Probing => self.decide_probing(outcomes),
            Mode::DecisionMade => {
                let is_better = first.utility > self.latest.utility;
                let is_higher = first.rate > self.latest.rate;
                let is_equal = first.utility == self.latest.utility || first.rate == self.latest.rate;
                let gain = (first.utility - self.latest.utility).abs();
                let distance = (first.rate - self.latest.rate).abs();
                if !is_equal && (is_better == is_higher) == self.goes_up {
                    self.rounds += 1;
                    let step = self.step(gain, distance);
                    self.take_step(step);
                    self.latest = first;
                } else {
                    self.rounds = 1;
                    let step = self.step(gain, distance);
                    self.step_back(step);
                }
            }
        }
    }

    fn decide_probing(&mut self, outcomes: &[Outcome]) {
        match self.vote(outcomes) {
            None => self.rounds += 1,
            Some(up) => {
                let agreeing = || outcomes.chunks_exact(2).filter(|pair| is_up_better(pair) == up);
                if let Some(pair) = agreeing().next_back() {
                    self.latest = if pair[0].utility > pair[1].utility { pair[0] } else { pair[1] };
                }
                let gain: f64 = agreeing().map(|pair| (pair[0].utility - pair[1].utility).abs()).sum();
                let distance = (outcomes[0].rate - outcomes[1].rate).abs();
                self.goes_up = up;
                self.rate = self.probe_rate(up);
                self.boundary.reset();
                self.rounds = 1;
                let step = self.step(gain / (outcomes.len() / 2) as f64, distance);
                self.take_step(step);
            }
        }
        let has_tried = self.rounds > 1 || self.mode == Mode::DecisionMade;
        if has_tried && self.rate <= self.settings.min_rate {
            self.rate = self.settings.min_rate;
            self.boundary.reset();
            self.enter(Mode::Starting);
        }
    }

    /// Returns the direction that the pairs of probes indicate, or `None` if they are not clear enough. A primary goes
    /// up on a majority and down only if all agree; a scavenger does the opposite.
    fn vote(&self, outcomes: &[Outcome]) -> Option<bool> {
        let pairs = self.probes() / 2;
        if outcomes.len() < 2 * pairs {
            return None;
        }
        let up = outcomes.chunks_exact(2).filter(|pair| is_up_better(pair)).count();
        let down = pairs - up;
        let is_clear = if self.is_scavenging {
            down > pairs / 2 || up == pairs
        } else {
            up > pairs / 2 || down == pairs
        };
        is_clear.then_some(up > down)
    }

    /// Returns the size of the next step, Mbit/s: gradient times confidence, within the bound.
    fn step(&mut self, gain: f64, distance: f64) -> f64 {
        let gradient = if distance > 0.0 { gain / distance } else { 0.0 };
        let amplifier = if self.mode == Mode::DecisionMade {
            libm::pow(f64::from(self.rounds.div_ceil(2)), AMPLIFIER_EXPONENT)
        } else {
            1.0
        };
        let bounded = self.boundary.limit(THETA * gradient * amplifier, self.rate);
        bounded.max(self.settings.min_step)
    }

    fn take_step(&mut self, step: f64) {
        self.rate = (self.rate + if self.goes_up { step } else { -step }).min(MAX_RATE);
        if self.rate < self.settings.min_rate {
            self.rate = self.settings.min_rate;
            self.boundary.reset();
            self.enter(Mode::Probing);
        } else {
            self.mode = Mode::DecisionMade;
        }
    }

    fn step_back(&mut self, step: f64) {
        self.rate += if self.goes_up { -step } else { step };
        if self.rate < self.settings.min_rate {
            self.rate = self.settings.min_rate;
            self.boundary.reset();
        }
        if self.settings.role == Role::Hybrid {
            self.is_scavenging = self.probe_rate(true) > self.settings.switching_rate;
        }
        self.enter(Mode::Probing);
    }

    fn enter(&mut self, mode: Mode) {
        (self.mode, self.rounds) = (mode, 1);
    }

    /// Adds an RTT. The first RTT scales the first rate: shorter paths start faster.
    fn note_rtt(&mut self, rtt: Span) {
        if self.srtt.is_zero() {
            (self.srtt, self.min_rtt) = (rtt, rtt);
            if rtt < INITIAL_RTT {
                let scale = INITIAL_RTT.as_secs_f64() / rtt.max(Span::from_ns(1)).as_secs_f64();
                self.rate = (self.rate * scale).min(MAX_RATE);
            }
        }
        self.srtt = (self.srtt * 7 + rtt) / 8;
        self.min_rtt = self.min_rtt.min(rtt);
    }
}

/// Returns true if every packet is accounted for and enough RTTs are reliable.
fn is_complete(interval: &Interval) -> bool {
    interval.reliable_samples >= LEAST_SAMPLES && interval.is_accounted_for()
}

/// Returns true if the higher of a pair's rates has more utility.
fn is_up_better(pair: &[Outcome]) -> bool {
    let (one, other) = (pair[0], pair[1]);
    if one.utility > other.utility { one.rate > other.rate } else { one.rate < other.rate }
}

/// Returns the whole microseconds of `span`, as the source's clock counts them. The minimum is one, so that ratios are
/// finite.
fn whole_us(span: Span) -> f64 {
    (span.as_ns() / 1000).max(1) as f64
}

impl Controller for Proteus {
    fn on_sent(&mut self, sent: &Sent) {
        if self.begins_interval(sent.now) {
            self.open(sent.now);
        }
        self.monitor.on_sent(sent.now, sent.number, u64::from(sent.bytes) + self.settings.header_bytes);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        let interval = self.acked_at.map_or(Span::ZERO, |at| ack.now - at);
        self.acked_at = Some(ack.now);
        let rtt = ack.rtt.unwrap_or(self.srtt);
        self.note_rtt(rtt);
        self.settle_pending(interval, rtt);
        let header_bytes = self.settings.header_bytes;
        let packets = ack.packets.iter().filter(|packet| !packet.was_lost);
        self.pending
            .packets
            .extend(packets.map(|packet| (packet.number, u64::from(packet.bytes) + header_bytes)));
        (self.pending.rtt, self.pending.srtt, self.pending.interval) = (rtt, self.srtt, interval);
        self.conclude();
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        for packet in loss.packets {
            self.monitor.on_lost(packet.number, u64::from(packet.bytes) + self.settings.header_bytes);
        }
        self.conclude();
    }

    fn on_timeout(&mut self, _timeout: &Timeout) {
        self.monitor.on_all_lost();
        self.conclude();
    }

    fn control(&self) -> Control {
        let rate = self.monitor.current().map_or(self.rate, |current| current.terms.rate);
        let pacing = Rate::from_bps_f64((rate * 1e6 * self.payload_share).max(1.0));
        Control { pacing: Some(pacing), ..Control::window(u64::MAX) }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        let sending = self.monitor.current().map_or(self.rate, |current| current.terms.rate);
        sink.put("rate", "Mbit/s", self.rate);
        sink.put("sending_rate", "Mbit/s", sending);
        sink.put("utility", "", self.latest.utility);
        sink.put("rtt_gradient", "", self.signal.gradient);
        sink.put("rtt_deviation", "us", self.signal.deviation_us);
        sink.put("scavenging", "0 no, 1 yes", f64::from(u8::from(self.is_scavenging)));
        sink.put("mode", "0 starting, 1 probing, 2 decision made", f64::from(self.mode as u8));
    }
}
