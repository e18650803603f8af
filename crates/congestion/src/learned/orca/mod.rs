//! Orca: every 20 ms a network multiplies the window of CUBIC, which continues in between.
//!
//! Source: Abbasloo et al., "Classic Meets Modern: a Pragmatic Learning-Based Congestion Control for the Internet",
//! SIGCOMM 2020, section 4; Soheil-ab/Orca@cafaf9a3, `src/orca-server-mahimahi.cc`, `rl-module/envwrapper.py`,
//! `rl-module/agent.py`, `linux/linux-4-13-1-orca-0521+c2tcp.patch`. The network sees ten steps of seven values:
//! delivery rate and pacing rate over the maximum delivery rate, losses, RTT samples per packet of window, the length
//! of the step, and the minimum RTT over the smoothed one, plain and with a margin of a quarter. Its answer `a` sets
//! the window to `trunc(100 * 4^a)` percent of the window that was read.
//!
//! The written window is not a limit: CUBIC continues from it with the next ACK. In the kernel's patch `TCP_CWND` sets
//! the window alone; the limit is `TCP_CWND_CAP`, which the program never writes.
//!
//! A step consists of 20 ms of sleep, a wait for an RTT sample, checked every 2 ms, and 10 ms until the answer. Program
//! and agent check for each other's message every 10 ms. The program needs 10 ms, the longer of its two naps, because
//! its check overwrites the message in place (`strtok_r`).
//!
//! The first slow start is CUBIC's, 10 % faster with each check that finds a sample. The agent acts from the end of
//! slow start on. Its history then has nine empty steps (`first_history`), and it cuts the window: the first three
//! answers to a clean full rate multiply to 9 %.
//!
//! Not modelled: the program stops after 1000 steps to evaluate itself.

use crate::acting::Learned;
use crate::agent::Agent;
use crate::network::{Network, Tensors};
use crate::parts::{Answer, Queried};
use crate::policy::{Policy, remember};
use crate::schemes::cubic::Cubic;
use crate::{
    Ack, Build, Control, Controller, Ecn, Entry, FieldSink, Loss, Parameter, Parameters, Sent, Start, Timeout,
};
use units::{Span, Time};

/// Number of steps that the network sees, and of features per step.
const HISTORY: usize = 10;
const FEATURES: usize = 7;
const INPUTS: usize = HISTORY * FEATURES;
/// Maximum pacing rate over the maximum delivery rate.
const MAX_PACING_RATIO: f64 = 10.0;
const LOSS_WEIGHT: f64 = 5.0;
/// RTT over its minimum up to which the delay counts as none.
const DELAY_MARGIN: f64 = 1.25;
/// Time between two checks for an RTT sample.
const LOOK: Span = Span::from_ms(2);
/// Growth per check before the first slow start has ended.
const START_FACTOR: f64 = 1.1;
/// Minimum window, packets.
const MIN_WINDOW: f64 = 4.0;
/// Limit that keeps the numbers finite: the program has no maximum window, and no built-in transport goes beyond this
/// one.
const MAX_WINDOW: f64 = 1e7;

const PARAMETERS: &[Parameter] = &[
    Parameter::needed_file("weights", "The network: safetensors of 70 inputs and one output."),
    Parameter::number("step_ms", "ms", 20.0, (1.0, 1000.0), "Sleep between an answer and the next question."),
    Parameter::number("answer_ms", "ms", 10.0, (0.0, 1000.0), "From a question to its answer."),
    Parameter::choice(
        "first_history",
        "zeros",
        &["zeros", "filled"],
        "What the network sees in the place of steps that were not: zeros, or the first step.",
    ),
    Parameter::flag("paced", true, "One window per smoothed RTT, without Linux's gains."),
];

/// Entry of Orca with external decisions; its file is ignored.
pub(crate) const AGENT: Entry = Entry {
    name: "agent-orca",
    summary: "Orca without its network, decided for from outside",
    parameters: PARAMETERS,
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Agent::new(Orca::new(parameters, start), start))),
};

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "orca",
    summary: "Orca (Soheil-ab/Orca@cafaf9a3): every 20 ms a network multiplies the window of CUBIC",
    parameters: PARAMETERS,
    receiver: None,
    agent: Some(|| AGENT),
    policy: None,
    build: Build::Fallible(|parameters, start| {
        let file = parameters.needed_file("weights", "a file with Orca's network")?;
        let network = Network::new(&Tensors::read("weights", file, &[])?, INPUTS, 1)?;
        Ok(Box::new(Learned { policy: Orca::new(parameters, start), network }))
    }),
};

/// Phase of the program's loop.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Sleep until the next check for an RTT sample.
    Asleep(Time),
    /// Wait for the answer, with the window that was read at its beginning.
    Asked { until: Time, window: f64 },
}

/// Orca without its network.
#[derive(Debug)]
pub(crate) struct Orca {
    step: Span,
    answer: Span,
    is_filled: bool,
    is_paced: bool,
    cubic: Cubic,
    socket: Queried,
    phase: Phase,
    /// True if the first slow start has ended.
    is_acting: bool,
    /// True if the network has seen a step.
    is_begun: bool,
    /// Maximum delivery rate, bytes/s.
    max_rate: f64,
    percent: f64,
    /// Features of the last steps, oldest first.
    observation: [f32; INPUTS],
}

impl Orca {
    pub(crate) fn new(parameters: &Parameters, start: &Start) -> Self {
        let span = |name| Span::from_secs_f64(parameters.number(name) / 1e3);
        Self {
            step: span("step_ms"),
            answer: span("answer_ms"),
            is_filled: parameters.choice("first_history") == "filled",
            is_paced: parameters.flag("paced"),
            cubic: Cubic::linux(start),
            socket: Queried::new(start.now, start.mss_bytes),
            phase: Phase::Asleep(start.now + span("step_ms")),
            is_acting: false,
            is_begun: false,
            max_rate: 0.0,
            percent: 100.0,
            observation: [0.0; INPUTS],
        }
    }

    fn features(&mut self, seen: &Answer) -> [f64; FEATURES] {
        self.max_rate = self.max_rate.max(seen.rate);
        let per_max = |rate: f64| if self.max_rate > 0.0 { rate / self.max_rate } else { 0.0 };
        let window = self.cubic.window();
        let stretch = if seen.srtt_s > 0.0 { seen.min_rtt_s / seen.srtt_s } else { 0.0 };
        [
            per_max(seen.rate),
            per_max(self.socket.pacing_rate(window)).min(MAX_PACING_RATIO),
            LOSS_WEIGHT * per_max(seen.loss),
            seen.rtt_samples / window,
            seen.elapsed_s,
            stretch,
            (DELAY_MARGIN * stretch).min(1.0),
        ]
    }

    fn remember(&mut self, features: [f64; FEATURES]) {
        let times = if self.is_filled && !self.is_begun { HISTORY } else { 1 };
        (0..times).for_each(|_| remember(&mut self.observation, &features));
        self.is_begun = true;
    }

    fn set_window(&mut self, packets: f64) {
        self.cubic.set_window(packets.trunc().clamp(MIN_WINDOW, MAX_WINDOW));
    }

    /// Checks for an RTT sample.
    fn look(&mut self, now: Time) {
        let window = self.cubic.window();
        self.phase = Phase::Asleep(now + LOOK);
        if !self.socket.has_sample() {
            return;
        }
        let seen = self.socket.ask(now);
        if !self.is_acting && self.cubic.ssthresh() >= window {
            self.set_window(START_FACTOR * window);
            return;
        }
        self.is_acting = true;
        let features = self.features(&seen);
        self.remember(features);
        self.phase = Phase::Asked { until: now + self.answer, window };
    }
}

impl Policy for Orca {
    fn inputs(&self) -> usize {
        INPUTS
    }

    fn outputs(&self) -> usize {
        1
    }

    fn on_sent(&mut self, event: &Sent) {
        self.socket.on_sent(event);
        self.cubic.on_sent(event);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.socket.on_ack(ack);
        self.cubic.on_ack(ack);
    }

    fn on_loss(&mut self, event: &Loss<'_>) {
        self.socket.on_loss(event);
        self.cubic.on_loss(event);
    }

    fn on_timeout(&mut self, event: &Timeout) {
        self.socket.on_timeout();
        self.cubic.on_timeout(event);
    }

    fn on_ecn(&mut self, event: &Ecn) {
        self.cubic.on_ecn(event);
    }

    fn observation(&mut self, now: Time) -> Option<&[f32]> {
        if matches!(self.phase, Phase::Asleep(until) if now >= until) {
            self.look(now);
        }
        let is_due = matches!(self.phase, Phase::Asked { until, .. } if now >= until);
        is_due.then_some(self.observation.as_slice())
    }

    fn act(&mut self, now: Time, action: &[f32]) {
        let Phase::Asked { window, .. } = self.phase else { return };
        self.percent = (100.0 * libm::pow(4.0, f64::from(action[0]))).trunc();
        self.set_window(self.percent * window / 100.0);
        self.phase = Phase::Asleep(now + self.step);
    }

    fn control(&self) -> Control {
        let (Phase::Asleep(wake_at) | Phase::Asked { until: wake_at, .. }) = self.phase;
        Control {
            pacing: if self.is_paced { self.socket.paced(self.cubic.window()) } else { None },
            wake_at,
            ..self.cubic.control()
        }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        self.cubic.fields(sink);
        sink.put("percent", "%", self.percent);
        sink.put("max_rate", "Mbit/s", self.max_rate * 8e-6);
        sink.put("acting", "0 no, 1 yes", f64::from(u8::from(self.is_acting)));
    }
}

#[cfg(test)]
mod tests;
