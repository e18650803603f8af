//! PCC-Allegro as its published program runs it: it tries four rates and keeps the one with the better utility.
//!
//! Source: modong/pcc@1afc958, `sender/app/cc.h`. This is not the algorithm of Dong et al. (NSDI 2015). Its default
//! utility multiplies the paper's by a sigmoid of the RTT's change between monitor intervals and divides by the RTT.
//! `utility = paper` is the program's earlier form. Rates are in Mbit/s on the wire.
//!
//! At the start the rate doubles with every interval *sent* until utility falls. Then it probes: two pairs of intervals
//! at `1 + eps` and `1 - eps` times the rate. If both pairs agree, the rate moves that way, by 1 %, 2 %, 3 % ... per
//! result while utility rises. If not, `eps` grows from 1 to 5 %. Kept as published:
//!
//! - While results are outstanding, the last probe's rate stays.
//! - The second step is unconditional.
//! - Ties count for the lower rate.
//! - Nothing but reports changes the rate, so it also stays during an outage.
//!
//! The reason for pairs: utility also changes for other reasons than the probe, such as other flows and queues that
//! fill or drain. Within a pair the order is random, so such a change favours the higher rate as often as the lower. A
//! single pair would always decide, often by chance; two pairs that disagree prove noise. The reason for a growing
//! `eps`: probes that are too close to each other differ by less than the noise. Wider ones differ by more, but disturb
//! more, so each decision begins with the smallest. (Dong et al., NSDI 2015, "Control algorithm": randomized controlled
//! trials; <https://www.usenix.org/conference/nsdi15/technical-sessions/presentation/dong>.)
//!
//! Expected (`docs/evidence/derivations.md`, PCC and Vivace): 97 % of a smooth link with an empty queue. On links with
//! bursty deliveries a few Mbit/s, because 1 % of RTT between two intervals costs 6 % of utility.

use crate::parts::{Ended, IntervalScheme, Monitored, Ring, WirePacket};
use crate::{AckedPacket, Build, Entry, FieldSink, Parameter, Parameters, Start};
use units::{Rng, Span, Time};

/// Number of intervals that are remembered.
const RING: Ring = Ring(100);
/// Packet gap before the first interval sets a rate, ms.
const FIRST_GAP_MS: f64 = 10.0;
/// RTT before the first sample, ms.
const FIRST_RTT_MS: f64 = 100.0;
/// Time between two RTT measurements of UDT.
const RTT_EXCHANGE: Span = Span::from_ms(10);
/// Number of probing intervals: two pairs.
const PROBES: usize = 4;
/// Utility that the first interval must exceed.
const LEAST_UTILITY: f64 = -10_000.0;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "pcc",
    summary: "PCC-Allegro (modong/pcc@1afc958): rate trials judged by a utility",
    parameters: &[
        Parameter::choice(
            "utility",
            "latency",
            &["latency", "paper"],
            "The program's form with RTT terms, or the paper's without.",
        ),
        Parameter::number(
            "initial_rate",
            "Mbit/s",
            1.0,
            (0.01, 1000.0),
            "Half the rate of the first interval.",
        ),
        Parameter::number(
            "min_rate",
            "Mbit/s",
            0.01,
            (0.001, 1000.0),
            "Smallest rate; the program has none.",
        ),
        Parameter::number(
            "max_rate",
            "Mbit/s",
            10_000.0,
            (1.0, 1e6),
            "Largest rate; the program has none but its processor's.",
        ),
        Parameter::number(
            "step",
            "",
            0.01,
            (1e-4, 0.2),
            "Smallest probe and first step, as a share of the rate.",
        ),
        Parameter::integer(
            "max_guesses",
            "",
            5,
            (1, 20),
            "Undecided probings in a row before the probes shrink to one step.",
        ),
        Parameter::number("loss_threshold", "", 0.05, (0.0, 1.0), "Loss rate that halves the utility."),
        Parameter::number("loss_slope", "", 100.0, (0.0, 1e4), "Steepness of the loss sigmoid."),
        Parameter::number("rtt_slope", "", 10.0, (0.0, 1e4), "Steepness of the sigmoid of the RTT's change."),
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
        Box::new(Monitored::new(Pcc::new(parameters, start), RING, false))
    }),
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Starting,
    /// Probes are being sent, or are drawn at the next interval.
    Probing,
    /// All probes are sent.
    Waiting,
    /// First step of the rate; the result of interval `target` decides nothing yet.
    FirstStep {
        target: u32,
    },
    /// Further steps while results improve.
    Moving {
        target: u32,
    },
}

#[derive(Clone, Copy, Debug, Default)]
struct Probe {
    rate: f64,
    utility: f64,
}

#[derive(Debug)]
struct Pcc {
    is_paper: bool,
    min_rate: f64,
    max_rate: f64,
    step: f64,
    max_guesses: u32,
    loss_threshold: f64,
    loss_slope: f64,
    rtt_slope: f64,
    packet: WirePacket,
    rng: Rng,
    phase: Phase,
    /// Present sending rate, Mbit/s.
    rate: f64,
    /// Base rate of probes and steps, Mbit/s.
    base_rate: f64,
    /// Last accepted interval of the start: number (-1 for none), utility, rate.
    accepted: (i64, f64, f64),
    probes: [Probe; PROBES],
    probes_sent: usize,
    first_probe: u32,
    recorded: usize,
    /// Number of consecutive probings without a decision, with the present one.
    guesses: u32,
    /// Direction of the steps: 1 or -1.
    direction: f64,
    /// Next step as a multiple of `step`.
    intensity: f64,
    moving_utility: f64,
    utility: f64,
    /// RTT of the previous result, microseconds.
    previous_rtt_us: Option<f64>,
    srtt_ms: f64,
    next_exchange: Option<Time>,
    first_sent: Option<Time>,
}

impl Pcc {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let packet = WirePacket::new(parameters, start);
        let max_rate = parameters.number("max_rate");
        let min_rate = parameters.number("min_rate").min(max_rate);
        let initial = parameters.number("initial_rate").clamp(min_rate, max_rate);
        Self {
            is_paper: parameters.choice("utility") == "paper",
            min_rate,
            max_rate,
            step: parameters.number("step"),
            max_guesses: parameters.integer("max_guesses") as u32,
            loss_threshold: parameters.number("loss_threshold"),
            loss_slope: parameters.number("loss_slope"),
            rtt_slope: parameters.number("rtt_slope"),
            packet,
            rng: Rng::new(start.seed, "pcc"),
            phase: Phase::Starting,
            rate: packet.bits / (FIRST_GAP_MS * 1e3),
            base_rate: initial,
            accepted: (-1, LEAST_UTILITY, (2.0 * initial).min(max_rate)),
            probes: [Probe::default(); PROBES],
            probes_sent: 0,
            first_probe: 0,
            recorded: 0,
            guesses: 0,
            direction: 1.0,
            intensity: 1.0,
            moving_utility: 0.0,
            utility: 0.0,
            previous_rtt_us: None,
            srtt_ms: FIRST_RTT_MS,
            next_exchange: None,
            first_sent: None,
        }
    }

    /// Returns the packets of an interval at the present rate (`start_monitor`): 1.5 to 1.7 smoothed RTTs, at random so
    /// that flows do not probe in step. If an RTT has few packets, it is 5 ms.
    fn interval_packets(&mut self) -> u64 {
        let gap_ms = self.packet.bits / (self.rate * 1e3);
        let round_trips = 1.5 + self.rng.below(3) as f64 / 10.0;
        if 1.1 * self.srtt_ms / gap_ms > 10.0 {
            (self.srtt_ms * round_trips / gap_ms) as u64
        } else {
            ((5.0 / gap_ms) as u64).max(10)
        }
    }

    fn begin(&mut self, number: u32) {
        match self.phase {
            Phase::Starting => {
                self.base_rate = (2.0 * self.base_rate).min(self.max_rate);
                self.rate = self.base_rate;
            }
            Phase::Probing => {
                if self.probes_sent == 0 {
                    self.draw_probes(number);
                }
                self.rate = self.probes[self.probes_sent].rate;
                self.probes_sent += 1;
                if self.probes_sent == PROBES {
                    self.phase = Phase::Waiting;
                }
            }
            // The rate stays at the last probe's or the latest step's rate.
            Phase::Waiting | Phase::FirstStep { .. } | Phase::Moving { .. } => {}
        }
    }

    fn draw_probes(&mut self, number: u32) {
        self.guesses = if self.guesses >= self.max_guesses { 1 } else { self.guesses + 1 };
        self.first_probe = number;
        self.recorded = 0;
        let epsilon = f64::from(self.guesses) * self.step;
        for pair in 0..PROBES / 2 {
            let sign = if self.rng.below(2) == 0 { 1.0 } else { -1.0 };
            self.probes[2 * pair].rate = self.within_bounds(self.base_rate * (1.0 + sign * epsilon));
            self.probes[2 * pair + 1].rate = self.within_bounds(self.base_rate * (1.0 - sign * epsilon));
        }
    }

    /// Returns the utility: goodput less loss rate, per RTT. The goodput is damped if loss exceeds its threshold and if
    /// the RTT has grown since the previous interval. The paper has neither of the RTT's terms.
    fn utility(&mut self, ended: &Ended) -> f64 {
        let delivered = (ended.packets - ended.lost) / ended.seconds;
        let lost = ended.lost / ended.seconds;
        let loss_term = 1.0 / (1.0 + libm::exp(self.loss_slope * (ended.loss() - self.loss_threshold)));
        let rtt_us = (ended.rtt.as_ns() as f64 / 1e3).max(1.0);
        let previous_us = self.previous_rtt_us.replace(rtt_us).unwrap_or(rtt_us);
        if self.is_paper {
            return delivered * loss_term - lost;
        }
        let rtt_term = 1.0 / (1.0 + libm::exp(self.rtt_slope * (1.0 - previous_us / rtt_us)));
        (delivered * loss_term * rtt_term - lost) / rtt_us * 1000.0
    }

    fn judge_start(&mut self, ended: &Ended) {
        let number = i64::from(ended.number);
        if number == 0 {
            self.utility /= 2.0;
        }
        let (last, least, rate) = self.accepted;
        // An interval that closes before an earlier one, or worse results, end the start.
        if number - 1 <= last && self.utility > least {
            self.accepted = (number, self.utility, ended.rate);
            return;
        }
        self.base_rate = rate;
        self.rate = rate;
        self.probe();
    }

    fn record(&mut self, ended: &Ended) {
        let at = RING.distance(self.first_probe, ended.number) as usize;
        let Some(probe) = self.probes.get_mut(at) else { return };
        probe.utility = self.utility;
        self.recorded += 1;
        if self.recorded < PROBES {
            return;
        }
        // One pair alone may be noise. If the pairs disagree, the rate stays, and the next probes are further apart.
        let decision: f64 = self.probes.chunks_exact(2).map(|pair| prefers_higher(pair[0], pair[1])).sum();
        if decision == 0.0 {
            self.probe();
            return;
        }
        self.direction = decision.signum();
        self.intensity = 1.0;
        self.change(f64::from(self.guesses / 2 + 1));
        self.guesses = 0;
        self.phase = Phase::FirstStep { target: RING.after(ended.current, 1) };
    }

    /// Makes another step in the same direction, larger than the previous one.
    fn move_on(&mut self, ended: &Ended) {
        self.intensity += 1.0;
        self.change(self.intensity);
        self.phase = Phase::Moving { target: RING.after(ended.current, 1) };
    }

    /// Changes the rate by `steps` in the present direction.
    fn change(&mut self, steps: f64) {
        self.base_rate = self.within_bounds(self.base_rate * (1.0 + steps * self.step * self.direction));
        self.rate = self.base_rate;
    }

    /// Sets the rate to the measured one (with packets of 1500 bytes) if the sender cannot reach its rate above 200
    /// Mbit/s.
    fn resynchronise(&mut self, ended: &Ended) -> bool {
        let measured = ended.packets * 12.0 / ended.seconds / 1000.0;
        if self.base_rate <= measured + 30.0 || self.base_rate <= 200.0 {
            return false;
        }
        self.base_rate = self.within_bounds(measured);
        self.rate = self.base_rate;
        self.guesses = 0;
        self.probe();
        true
    }

    const fn probe(&mut self) {
        self.phase = Phase::Probing;
        self.probes_sent = 0;
        self.recorded = 0;
    }

    fn within_bounds(&self, rate: f64) -> f64 {
        rate.clamp(self.min_rate, self.max_rate)
    }

    /// Updates UDT's smoothed RTT: 7/8 old, 1/8 new, once every 10 ms from the first arrival on. UDT's exchanges need
    /// no reports, so exchanges since the latest sample are made up for.
    fn smooth_rtt(&mut self, now: Time, rtt: Span) {
        let first = self.first_sent.unwrap_or(now) + rtt;
        let next = *self.next_exchange.get_or_insert(first);
        if now < next {
            return;
        }
        let exchanges = 1 + (now - next).as_ns() / RTT_EXCHANGE.as_ns();
        // After a hundred exchanges the old value has no weight left.
        for _ in 0..exchanges.min(100) {
            self.srtt_ms += (rtt.as_ms_f64() - self.srtt_ms) / 8.0;
        }
        self.next_exchange = Some(next + RTT_EXCHANGE * exchanges);
    }
}

/// Returns 1 if the higher of two rates had the higher utility, otherwise -1.
fn prefers_higher(one: Probe, other: Probe) -> f64 {
    let agree = (one.utility > other.utility && one.rate > other.rate)
        || (one.utility < other.utility && one.rate < other.rate);
    if agree { 1.0 } else { -1.0 }
}

impl IntervalScheme for Pcc {
    fn on_interval_start(&mut self, now: Time, number: u32) -> u64 {
        self.first_sent.get_or_insert(now);
        self.begin(number);
        self.interval_packets()
    }

    fn on_interval_end(&mut self, ended: &Ended) {
        self.utility = self.utility(ended);
        match self.phase {
            Phase::Starting => self.judge_start(ended),
            Phase::Probing | Phase::Waiting if self.probes_sent > 0 => self.record(ended),
            Phase::FirstStep { target } if ended.number == target => {
                if self.resynchronise(ended) {
                    return;
                }
                self.moving_utility = self.utility;
                self.move_on(ended);
            }
            Phase::Moving { target } if ended.number == target => {
                if self.resynchronise(ended) {
                    return;
                }
                let improved = self.utility > self.moving_utility;
                self.moving_utility = self.utility;
                if improved {
                    self.move_on(ended);
                } else {
                    self.change(-self.intensity);
                    self.probe();
                }
            }
            _ => {}
        }
    }

    fn on_report(&mut self, now: Time, newest: &AckedPacket) {
        self.smooth_rtt(now, now - newest.sent_at);
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
        sink.put("probe_share", "%", f64::from(self.guesses) * self.step * 100.0);
        sink.put("udt_srtt", "ms", self.srtt_ms);
    }
}

#[cfg(test)]
mod tests;
