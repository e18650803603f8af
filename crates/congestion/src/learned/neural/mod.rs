//! Custom policies: a line of words ([`Description`]) defines the inputs, the action and the decision times, and a
//! network decides.
//!
//! The line is in the metadata of the weight file, under `policy`, beside `layers`. An agent has it in the file of its
//! parameter `policy`. So a policy that was trained in an environment is one file, and acts alike with real packets. A
//! timer ends steps by time and by RTT: an ACK that arrives at the same instant counts before it. The observation
//! contains the last steps, the oldest first. Before the first step it contains empty steps.

mod description;
mod sights;

use crate::acting::Learned;
use crate::agent::Agent;
use crate::network::{Network, Tensors, largest};
use crate::policy::{Policy, windows_after};
use crate::steps::{StepValues, Steps};
use crate::{
    Ack, Build, Control, Ecn, Entry, FieldSink, Loss, Parameter, Parameters, STEP_FIELDS, Sent, Start,
    Timeout,
};
use core::str::from_utf8;
use description::{Action, Description, Step};
pub use sights::{SIGHTS, Sight};
use units::{Rate, Span, Time};

/// Key of the metadata that holds the line.
const POLICY: &str = "policy";
/// Length of a step by RTT before the first RTT.
const FIRST_STEP: Span = Span::from_ms(100);
/// Minimum length of a step.
const LEAST_STEP: Span = Span::from_us(100);
const LEAST_MBPS: f64 = 0.01;
const LEAST_PACKETS: f64 = 2.0;
const ACTIONS: usize = 5;

const START_MBPS: Parameter = Parameter::number(
    "start_mbps",
    "Mbit/s",
    0.0,
    (0.0, 100_000.0),
    "Rate before the first decision; 0: as the policy says.",
);

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "neural",
    summary: "A policy of one's own: a network from a file that says what it sees, does and when",
    parameters: &[
        Parameter::needed_file(
            "weights",
            "The network: safetensors with `layers` and `policy` in its metadata.",
        ),
        START_MBPS,
    ],
    receiver: None,
    agent: Some(|| AGENT),
    policy: None,
    build: Build::Fallible(|parameters, start| {
        let file = parameters.needed_file("weights", "a file with a network and its policy")?;
        let tensors = Tensors::read("weights", file, &[])?;
        let line = tensors.metadata(POLICY)?;
        let description = Description::parse(line).map_err(|refusal| tensors.place(refusal))?;
        let policy = Neural::new(description, parameters, start);
        let network = Network::new(&tensors, policy.inputs(), policy.outputs())?;
        Ok(Box::new(Learned { policy, network }))
    }),
};

/// Entry of a custom policy without its network.
pub(crate) const AGENT: Entry = Entry {
    name: "agent-neural",
    summary: "A policy of one's own that is decided for from outside",
    parameters: &[
        Parameter::needed_file("policy", "The line that says what it sees, does and when."),
        START_MBPS,
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Fallible(|parameters, start| {
        let file = parameters.needed_file("policy", "a line of words KEY=VALUE")?;
        let line = from_utf8(&file.contents)
            .map_err(|error| strict_input::Refusal::of_key("policy", error.to_string()))?;
        Ok(Box::new(Agent::new(Neural::new(Description::parse(line)?, parameters, start), start)))
    }),
};

/// Custom policy without its network.
#[derive(Debug)]
pub(crate) struct Neural {
    description: Description,
    mss_bytes: f64,
    steps: Steps,
    /// Counters of the step that ended last.
    values: StepValues,
    rate_mbps: f64,
    window_packets: f64,
    /// End of the step, if time ends it; [`Time::NEVER`] before the first event.
    ends: Time,
    /// True if the step's time is over and the policy waits for an ACK.
    is_overdue: bool,
    is_due: bool,
    /// Decision that has no effect yet, with the time of its effect.
    decided: Option<(Time, f64)>,
    /// Last action, from -1 to 1.
    last_action: f64,
    observation: Vec<f32>,
}

impl Neural {
    fn new(description: Description, parameters: &Parameters, start: &Start) -> Self {
        let given = parameters.number("start_mbps");
        let mut policy = Self {
            mss_bytes: f64::from(start.mss_bytes.max(1)),
            steps: Steps::new(start.now),
            values: [0.0; STEP_FIELDS.len()],
            rate_mbps: if given > 0.0 { given } else { description.start_mbps },
            window_packets: description.start_packets,
            ends: Time::NEVER,
            is_overdue: false,
            is_due: false,
            decided: None,
            last_action: 0.0,
            observation: Vec::with_capacity(description.sees.len() * description.history),
            description,
        };
        policy.rate_mbps = policy.rate_mbps.min(policy.description.most_mbps);
        let nothing = [0.0; STEP_FIELDS.len()];
        let history = policy.description.history;
        let sees = policy.description.sees.clone();
        let step = policy.step(&nothing);
        let seen: Vec<f32> = sees.iter().map(|sight| sight.of(&step)).collect();
        policy.observation = seen.repeat(history);
        policy
    }

    fn step<'a>(&self, values: &'a [f64; STEP_FIELDS.len()]) -> sights::Step<'a> {
        let window_packets = if self.is_paced() { 0.0 } else { self.window_packets };
        sights::Step { values, mss_bytes: self.mss_bytes, window_packets, last_action: self.last_action }
    }

    const fn is_paced(&self) -> bool {
        matches!(self.description.action, Action::RateMult(_))
    }

    /// Sets the end of the step that begins at `now`.
    fn plan(&mut self, now: Time) {
        let length = match self.description.step {
            Step::TimeMs(ms) => Span::from_secs_f64(ms / 1e3),
            Step::Rtt(share) => self.steps.mean_rtt().map_or(FIRST_STEP, |rtt| rtt.mul_f64(share)),
            Step::Acks(_) => Span::MAX,
        };
        self.ends = if length == Span::MAX { Time::NEVER } else { now + length.max(LEAST_STEP) };
        self.is_overdue = false;
    }

    /// Begins the first step with the first event.
    fn begin(&mut self, now: Time) {
        if self.ends == Time::NEVER && !matches!(self.description.step, Step::Acks(_)) {
            self.plan(now);
        }
    }

    fn take_effect(&mut self, value: f64) {
        match self.description.action {
            Action::RateMult(size) => {
                let factor = if value >= 0.0 { 1.0 + size * value } else { 1.0 / (1.0 - size * value) };
                self.rate_mbps = (self.rate_mbps * factor).clamp(LEAST_MBPS, self.description.most_mbps);
            }
            Action::CwndMult2(size) => self.set_window(self.window_packets * libm::exp2(size * value)),
            Action::Indigo5 => self.set_window(windows_after(self.window_packets)[(value as usize).min(4)]),
        }
    }

    fn set_window(&mut self, packets: f64) {
        self.window_packets = packets.clamp(LEAST_PACKETS, self.description.most_packets.max(LEAST_PACKETS));
    }
}

impl Policy for Neural {
    fn inputs(&self) -> usize {
        self.observation.len()
    }

    fn outputs(&self) -> usize {
        if self.description.action == Action::Indigo5 { ACTIONS } else { 1 }
    }

    fn on_established(&mut self, now: Time, _rtt: Span) {
        self.begin(now);
    }

    fn on_sent(&mut self, event: &Sent) {
        self.begin(event.now);
        self.steps.on_sent(event);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.steps.on_ack(ack);
        let acks = self.steps.acks();
        self.is_due |= match self.description.step {
            Step::Acks(count) => acks >= count as f64,
            Step::TimeMs(_) | Step::Rtt(_) => self.is_overdue && acks > 0.0,
        };
    }

    fn on_loss(&mut self, event: &Loss<'_>) {
        self.steps.on_loss(event);
    }

    fn on_timeout(&mut self, event: &Timeout) {
        self.steps.on_timeout(event);
    }

    fn on_ecn(&mut self, event: &Ecn) {
        self.steps.on_ecn(event);
    }

    fn on_wake(&mut self, now: Time) {
        if let Some((_, value)) = self.decided.take_if(|(at, _)| *at <= now) {
            self.take_effect(value);
        }
        if self.ends <= now && !self.is_overdue {
            self.is_overdue = true;
            self.is_due |= !self.description.require_ack || self.steps.acks() > 0.0;
        }
    }

    fn observation(&mut self, now: Time) -> Option<&[f32]> {
        if !core::mem::take(&mut self.is_due) {
            return None;
        }
        let control = self.control();
        self.values = *self.steps.close(now, &control);
        let values = self.values;
        let width = self.description.sees.len();
        self.observation.rotate_left(width);
        let step = self.step(&values);
        let places = self.observation.len() - width;
        for (place, sight) in self.observation[places..].iter_mut().zip(&self.description.sees) {
            *place = sight.of(&step);
        }
        self.plan(now);
        Some(&self.observation)
    }

    fn act(&mut self, now: Time, action: &[f32]) {
        let value = match self.description.action {
            Action::Indigo5 => largest(action) as f64,
            // A value that is not a number changes nothing.
            _ => action.first().map_or(0.0, |value| f64::from(*value).clamp(-1.0, 1.0)),
        };
        let value = if value.is_nan() { 0.0 } else { value };
        self.last_action = if self.description.action == Action::Indigo5 { value / 2.0 - 1.0 } else { value };
        if let Some((_, earlier)) = self.decided.take() {
            self.take_effect(earlier);
        }
        if self.description.delay_ms > 0.0 {
            self.decided = Some((now + Span::from_secs_f64(self.description.delay_ms / 1e3), value));
        } else {
            self.take_effect(value);
        }
    }

    fn control(&self) -> Control {
        let ends = if self.is_overdue { Time::NEVER } else { self.ends };
        let wake_at = self.decided.map_or(ends, |(at, _)| ends.min(at));
        if self.is_paced() {
            let pacing = Some(Rate::from_mbps(self.rate_mbps));
            Control { pacing, wake_at, ..Control::window(u64::MAX) }
        } else {
            Control { wake_at, ..Control::window((self.window_packets * self.mss_bytes) as u64) }
        }
    }

    fn values(&self) -> Option<&StepValues> {
        Some(&self.values)
    }

    fn end(&mut self, now: Time) {
        if now > self.steps.began() {
            self.values = *self.steps.close(now, &self.control());
        }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        if self.is_paced() {
            sink.put("rate", "Mbit/s", self.rate_mbps);
        } else {
            sink.put("cwnd", "packets", self.window_packets);
        }
        sink.put("action", "", self.last_action);
    }
}

#[cfg(test)]
mod tests;
