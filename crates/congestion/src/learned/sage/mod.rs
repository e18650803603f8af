//! Sage: about every 10 ms a recurrent network multiplies or divides the window by up to four.
//!
//! Source: Yen, Abbasloo and Chao, "Computers Can Learn from the Heuristic Designs and Master Internet Congestion
//! Control", SIGCOMM 2023; Soheil-ab/sage@eedd2811, `sage_rl/src/sage.cc`, `sage_rl/rl_module/envwapper.py`,
//! `sage_rl/rl_module/tcpactor_evalcrr.py`, `sage_rl/offline/offline_agent.py`, `sage_rl/offline/unplug_networks.py`.
//! The network was trained offline, on the behavior of other schemes. It sees one report of 69 values ([`report`]) and
//! remembers the past in a GRU of 1024 units. It ends in five normal distributions. Their mean `a` between -2 and 2
//! multiplies the window by `2^a` (`a` to three decimals). The multiplied window is not rounded; the kernel gets it
//! rounded up, between 4 and 20000.
//!
//! A report is due 10 ms after the previous one, if the receiver got data since then. The answer comes 10 ms later
//! (`answer_ms`): the agent naps 10 ms after each check, and checks before the next report. The network's own computing
//! time comes on top and is not modelled. One window is paced per smoothed RTT, by Orca's rule
//! (`linux-4-13-1-orca-0521+c2tcp.patch`).
//!
//! The layers are those of google-deepmind/acme@45ce19cc, `acme/tf/networks/continuous.py` and `distributional.py`
//! (Sage asks for dm-acme 0.2.0), and google-deepmind/sonnet@01fffc92, `sonnet/src/recurrent.py`.
//!
//! The kernel below ("TCP Pure") is published without source. Here nothing else changes the window; losses and timeouts
//! do not. Controllers do not see the kernel's counters of packets that arrive out of order. So packets reported by a
//! SACK do not count as unacknowledged, and delivered bytes count as acknowledged.

mod recent;
mod report;

use crate::acting::Learned;
use crate::network::{Layout, Network, Tensors};
use crate::parts::Queried;
use crate::policy::Policy;
use crate::{Ack, Build, Control, Entry, FieldSink, Loss, Parameter, Parameters, Sent, Start, Timeout};
use report::{INPUTS, Reports};
use units::{Span, Time};

/// Maximum action, and the scale of its three decimals.
const MAX_ACTION: f32 = 2.0;
const DECIMALS: f32 = 1000.0;
const FIRST_WINDOW: f64 = 10.0;
const MIN_WINDOW: f64 = 4.0;
const MAX_WINDOW: f64 = 20_000.0;

/// Published checkpoint, `models/ckpt-1.data-00000-of-00001`, by its index.
const LAYOUTS: &[Layout] = &[Layout {
    bytes: 18_207_042,
    layers: "dense layer_norm:0.00001 tanh gru dense layer_norm:0.00001 tanh dense \
             keep dense relu dense add layer_norm:0.00001 keep dense relu dense add layer_norm:0.00001 \
             keep dense swap dense softmax dot",
    tensors: &[
        ("0.kernel", &[69, 256], 15_756_360),
        ("0.bias", &[256], 15_827_016),
        ("1.gain", &[256], 15_828_040),
        ("1.offset", &[256], 15_829_064),
        ("3.input", &[256, 3072], 12),
        ("3.hidden", &[1024, 3072], 3_145_740),
        ("3.bias", &[3072], 15_728_652),
        ("4.kernel", &[1024, 256], 15_830_088),
        ("4.bias", &[256], 16_878_664),
        ("5.gain", &[256], 16_879_688),
        ("5.offset", &[256], 16_880_712),
        ("7.kernel", &[256, 256], 16_885_832),
        ("7.bias", &[256], 17_147_976),
        ("9.kernel", &[256, 256], 17_149_000),
        ("9.bias", &[256], 17_411_144),
        ("11.kernel", &[256, 256], 17_412_168),
        ("11.bias", &[256], 17_674_312),
        ("13.gain", &[256], 16_881_736),
        ("13.offset", &[256], 16_882_760),
        ("15.kernel", &[256, 256], 17_675_336),
        ("15.bias", &[256], 17_937_480),
        ("17.kernel", &[256, 256], 17_938_504),
        ("17.bias", &[256], 18_200_648),
        ("19.gain", &[256], 16_883_784),
        ("19.offset", &[256], 16_884_808),
        // Means of the distributions, and logits of their weights.
        ("21.kernel", &[256, 5], 15_746_080),
        ("21.bias", &[5], 15_751_200),
        ("23.kernel", &[256, 5], 15_740_940),
        ("23.bias", &[5], 15_746_060),
    ],
}];

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "sage",
    summary: "Sage (Soheil-ab/sage@eedd2811): every 10 ms a network multiplies the window by up to four",
    parameters: &[
        Parameter::needed_file(
            "weights",
            "The network: the data file of the published checkpoint, or safetensors of 69 inputs and one output.",
        ),
        Parameter::number("step_ms", "ms", 10.0, (1.0, 1000.0), "Least time between two reports."),
        Parameter::number("answer_ms", "ms", 10.0, (0.0, 1000.0), "From a report to its answer."),
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Fallible(|parameters, start| {
        let file = parameters.needed_file("weights", "a file with Sage's network")?;
        let network = Network::new(&Tensors::read("weights", file, LAYOUTS)?, INPUTS, 1)?;
        Ok(Box::new(Learned { policy: Sage::new(parameters, start), network }))
    }),
};

/// Phase of the program's loop.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Sleep until this time.
    Asleep(Time),
    /// Wait for a delivery.
    Waiting,
    /// Wait for the answer to the report of this time.
    Asked(Time),
}

/// Sage without its network.
#[derive(Debug)]
pub(crate) struct Sage {
    step: Span,
    answer: Span,
    mss_bytes: f64,
    socket: Queried,
    reports: Reports,
    phase: Phase,
    /// Window before rounding, packets.
    window: f64,
    /// Binary logarithm of the window's last factor.
    action: f64,
}

impl Sage {
    pub(crate) fn new(parameters: &Parameters, start: &Start) -> Self {
        let span = |name| Span::from_secs_f64(parameters.number(name) / 1e3);
        Self {
            step: span("step_ms"),
            answer: span("answer_ms"),
            mss_bytes: f64::from(start.mss_bytes.max(1)),
            socket: Queried::new(start.now, start.mss_bytes),
            reports: Reports::new(start.mss_bytes),
            phase: Phase::Asleep(start.now + span("step_ms")),
            window: FIRST_WINDOW,
            action: 0.0,
        }
    }

    /// Returns the window that the kernel received, packets.
    fn written(&self) -> f64 {
        self.window.ceil()
    }
}

impl Policy for Sage {
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
    }

    fn on_loss(&mut self, event: &Loss<'_>) {
        self.socket.on_loss(event);
    }

    fn on_timeout(&mut self, _event: &Timeout) {
        self.socket.on_timeout();
    }

    fn observation(&mut self, now: Time) -> Option<&[f32]> {
        if matches!(self.phase, Phase::Asleep(until) if now >= until) {
            self.phase = Phase::Waiting;
        }
        if self.phase == Phase::Waiting && self.socket.has_delivered() {
            let (seen, window) = (self.socket.ask(now), self.written());
            self.reports.next(&seen, window, self.action);
            self.phase = Phase::Asked(now);
        }
        let is_due = matches!(self.phase, Phase::Asked(asked) if now >= asked + self.answer);
        is_due.then_some(self.reports.latest())
    }

    fn act(&mut self, _now: Time, action: &[f32]) {
        let Phase::Asked(asked) = self.phase else { return };
        let rounded = (action[0].clamp(-MAX_ACTION, MAX_ACTION) * DECIMALS).round_ties_even() / DECIMALS;
        self.action = f64::from(rounded);
        self.window *= libm::exp2(self.action);
        if !(MIN_WINDOW..=MAX_WINDOW).contains(&self.written()) {
            self.window = self.window.clamp(MIN_WINDOW, MAX_WINDOW);
        }
        self.phase = Phase::Asleep(asked + self.step);
    }

    fn control(&self) -> Control {
        let wake_at = match self.phase {
            Phase::Asleep(until) => until,
            Phase::Waiting => Time::NEVER,
            Phase::Asked(asked) => asked + self.answer,
        };
        Control {
            pacing: self.socket.paced(self.written()),
            wake_at,
            ..Control::window((self.written() * self.mss_bytes) as u64)
        }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("cwnd", "packets", self.written());
        sink.put("max_rate", "Mbit/s", self.reports.max_rate());
        sink.put("action", "", self.action);
    }
}

#[cfg(test)]
mod tests;
