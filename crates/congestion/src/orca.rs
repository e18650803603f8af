//! Orca: every 20 ms a network multiplies the window of CUBIC, which goes on in between.
//!
//! Source: Abbasloo et al., "Classic Meets Modern: a Pragmatic Learning-Based Congestion Control for the Internet", SIGCOMM
//! 2020, section 4; Soheil-ab/Orca@cafaf9a3, `src/orca-server-mahimahi.cc`, `rl-module/envwrapper.py`, `rl-module/agent.py`,
//! `linux/linux-4-13-1-orca-0521+c2tcp.patch`. The network sees ten steps of seven values: delivery rate and pacing rate over
//! the largest delivery rate, losses, RTT samples per packet of window, the length of the step, and by how much the RTT
//! exceeds its minimum. Its answer `a` sets the window to `trunc(100 * 4^a)` percent of what it was when it was read.
//!
//! The program also writes that window as the most that CUBIC may grow to (`clamped`). Taken by its word this leaves CUBIC
//! nothing to do but to reduce, and since packets are truncated a window of 7 never becomes 8 at 105 %: a flow that begins at
//! 4 Mbit/s stays there. The paper's CUBIC grows between the writes, which is the default here.
//!
//! A step is 20 ms of sleep, a wait for an RTT sample, and a wait for the agent, which looks every 10 ms.
//!
//! The first slow start is CUBIC's, 10 % faster with each step; the agent acts from its end on. It then sees nine steps that
//! were not (`first_history`), and cuts: the first three answers of a clean full rate multiply to 9 %.
//!
//! Not here: the program stops after 1000 steps to evaluate itself.

use crate::agent::Agent;
use crate::cubic::Cubic;
use crate::network::{Network, Tensors};
use crate::parts::{Answer, Queried};
use crate::policy::{Learned, Policy};
use crate::{
    Ack, Build, Control, Controller, Ecn, Entry, FieldSink, Loss, Parameter, Parameters, Sent, Start, Timeout,
};
use units::{Rate, Span, Time};

/// Steps that the network sees, and what it sees of each.
const HISTORY: usize = 10;
const FEATURES: usize = 7;
const INPUTS: usize = HISTORY * FEATURES;
/// Largest pacing rate over the largest delivery rate.
const MAX_PACING_RATIO: f64 = 10.0;
const LOSS_WEIGHT: f64 = 5.0;
/// RTT over its minimum up to which there is no delay.
const DELAY_MARGIN: f64 = 1.25;
/// Growth per step before the first slow start has ended.
const START_FACTOR: f64 = 1.1;
/// Smallest window, packets.
const MIN_WINDOW: f64 = 4.0;
/// The program has no largest window; beyond this one no transport of ours goes.
const MAX_WINDOW: f64 = 1e7;

const PARAMETERS: &[Parameter] = &[
    Parameter::needed_file("weights", "The network: safetensors of 70 inputs and one output."),
    Parameter::number("step_ms", "ms", 20.0, (1.0, 1000.0), "Sleep between two questions."),
    Parameter::number(
        "poll_ms",
        "ms",
        10.0,
        (0.0, 1000.0),
        "How often the agent looks whether there is a question; 0 answers at once.",
    ),
    Parameter::choice(
        "first_history",
        "zeros",
        &["zeros", "filled"],
        "What the network sees in the place of steps that were not: zeros, or the first step.",
    ),
    Parameter::flag("clamped", false, "What is written is also the most that CUBIC may grow to."),
    Parameter::flag("paced", true, "One window per smoothed RTT, without Linux's gains."),
];

/// Orca that is decided for from outside: its file is not looked at.
pub(crate) const AGENT: Entry = Entry {
    name: "agent-orca",
    summary: "Orca without its network, decided for from outside",
    parameters: PARAMETERS,
    receiver: None,
    build: Build::Function(|parameters, start| Box::new(Agent::new(Orca::new(parameters, start), start))),
};

/// Registry entry.
pub(crate) const ENTRY: Entry = Entry {
    name: "orca",
    summary: "Orca (Soheil-ab/Orca@cafaf9a3): every 20 ms a network multiplies the window of CUBIC",
    parameters: PARAMETERS,
    receiver: None,
    build: Build::Fallible(|parameters, start| {
        let file = parameters.needed_file("weights", "a file with Orca's network")?;
        let network = Network::new(&Tensors::read("weights", file, &[])?, INPUTS, 1)?;
        Ok(Box::new(Learned { policy: Orca::new(parameters, start), network }))
    }),
};

/// What the program is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Until then.
    Asleep(Time),
    /// For an RTT sample.
    Waiting,
    /// The agent will look then; the window was this when it was read.
    Asked { until: Time, window: f64 },
}

/// Orca without its network.
#[derive(Debug)]
pub(crate) struct Orca {
    step: Span,
    poll: Span,
    is_filled: bool,
    is_clamped: bool,
    is_paced: bool,
    cubic: Cubic,
    /// Most packets that CUBIC may grow to.
    clamp: f64,
    start: Time,
    socket: Queried,
    phase: Phase,
    /// Whether the first slow start has ended.
    is_acting: bool,
    /// Whether the network has seen a step.
    is_begun: bool,
    /// Largest delivery rate, bytes/s.
    max_rate: f64,
    percent: f64,
    /// Oldest step first.
    observation: [f32; INPUTS],
}

impl Orca {
    pub(crate) fn new(parameters: &Parameters, start: &Start) -> Self {
        let span = |name| Span::from_secs_f64(parameters.number(name) / 1e3);
        Self {
            step: span("step_ms"),
            poll: span("poll_ms"),
            is_filled: parameters.choice("first_history") == "filled",
            is_clamped: parameters.flag("clamped"),
            is_paced: parameters.flag("paced"),
            cubic: Cubic::linux(start),
            clamp: MAX_WINDOW,
            start: start.now,
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
            per_max(self.socket.pacing(window)).min(MAX_PACING_RATIO),
            LOSS_WEIGHT * per_max(seen.loss),
            seen.rtt_samples / window,
            seen.elapsed_s,
            stretch,
            (DELAY_MARGIN * stretch).min(1.0),
        ]
    }

    fn remember(&mut self, features: [f64; FEATURES]) {
        let row = features.map(|feature| feature as f32);
        if self.is_filled && !self.is_begun {
            self.observation.as_chunks_mut().0.fill(row);
        } else {
            self.observation.copy_within(FEATURES.., 0);
            self.observation[INPUTS - FEATURES..].copy_from_slice(&row);
        }
        self.is_begun = true;
    }

    /// The next time at which the agent looks.
    fn next_poll(&self, now: Time) -> Time {
        if self.poll.is_zero() {
            return now;
        }
        let polls = (now - self.start).as_ns().div_ceil(self.poll.as_ns());
        self.start + self.poll * polls
    }

    fn set_window(&mut self, now: Time, packets: f64) {
        let window = packets.clamp(MIN_WINDOW, MAX_WINDOW);
        if self.is_clamped {
            self.clamp = window;
        }
        self.cubic.set_window(window);
        self.phase = Phase::Asleep(now + self.step);
    }

    /// An RTT sample is there, and the program awake.
    fn query(&mut self, now: Time) {
        let window = self.cubic.window();
        if !self.is_acting && self.cubic.ssthresh() >= window {
            self.socket.ask(now);
            // Slow start goes on growing until the next step: nothing clamps it yet.
            self.cubic.set_window((START_FACTOR * window).trunc().clamp(1.0, MAX_WINDOW));
            self.phase = Phase::Asleep(now + self.step);
            return;
        }
        self.is_acting = true;
        let seen = self.socket.ask(now);
        let features = self.features(&seen);
        self.remember(features);
        self.phase = Phase::Asked { until: self.next_poll(now), window };
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
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.socket.on_ack(ack);
        self.cubic.on_ack(ack);
        if self.cubic.window() > self.clamp {
            self.cubic.set_window(self.clamp);
        }
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
            self.phase = Phase::Waiting;
        }
        if self.phase == Phase::Waiting && self.socket.has_sample() {
            self.query(now);
        }
        let is_due = matches!(self.phase, Phase::Asked { until, .. } if now >= until);
        is_due.then_some(self.observation.as_slice())
    }

    fn act(&mut self, now: Time, action: &[f32]) {
        let Phase::Asked { window, .. } = self.phase else { return };
        self.percent = (100.0 * libm::pow(4.0, f64::from(action[0]))).trunc();
        self.set_window(now, (self.percent * window / 100.0).trunc());
    }

    fn control(&self) -> Control {
        let pacing = self.socket.pacing(self.cubic.window());
        let is_paced = self.is_paced && pacing > 0.0;
        let wake_at = match self.phase {
            Phase::Asleep(until) | Phase::Asked { until, .. } => until,
            Phase::Waiting => Time::NEVER,
        };
        Control {
            pacing: is_paced.then(|| Rate::from_bps_f64((8.0 * pacing).max(1.0))),
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
