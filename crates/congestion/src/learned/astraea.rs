//! Astraea: every 20 ms a network changes the window by at most 2.5 %.
//!
//! Source: Liao et al., "Towards Fair and Efficient Learning-based Congestion Control", `EuroSys` 2024, section 4;
//! xudongliao/astraea-open-source@becc7cfe, `python/agent`, `python/infer.py`, `src/inference`, `kernel/tcp-astraea`.
//! The network sees five steps of ten values: delivery rate, mean and smoothed RTT, window and pacing rate over their
//! maximum or minimum, the maximum rate and the minimum RTT themselves, losses, and packets and retransmissions in
//! flight over the window. Its answer `a` multiplies the window by `1 + 0.025 a`, rounded up, or divides it by `1 -
//! 0.025 a`, rounded down. Nothing else changes the window: the authors' kernel module also bypasses Linux's recovery.
//! One window is paced per smoothed RTT.
//!
//! The published network answers near 1 below a queue of about half a BDP and near -1 above it. So an oscillation of
//! 2.5 % per step is its normal behavior.

use crate::acting::Learned;
use crate::network::{Layout, Network, Tensors};
use crate::parts::{Answer, Queried};
use crate::policy::{Policy, remember};
use crate::{Ack, Build, Control, Entry, FieldSink, Loss, Parameter, Parameters, Sent, Start, Timeout};
use units::{Span, Time};

/// Number of steps that the network sees, and of features per step.
const HISTORY: usize = 5;
const FEATURES: usize = 10;
const INPUTS: usize = HISTORY * FEATURES;
/// Fraction of the window that an action of 1 adds.
const DELTA: f64 = 0.025;
/// Maximum value of the clipped features.
const CLIP: f64 = 2.0;
/// Units of the maximum rate (bytes/s) and of the minimum RTT (s).
const RATE_UNIT: f64 = 1e7;
const RTT_UNIT_S: f64 = 0.5;
/// Assumed size of a packet in the window's rate, bits, and divisor of the window.
const SEGMENT_BITS: f64 = 1460.0 * 8.0;
const WINDOW_UNIT: f64 = 10.0;
/// Limits that keep a flow active and its numbers finite; the module has no minimum and no maximum window.
const MIN_WINDOW: f64 = 1.0;
const MAX_WINDOW: f64 = 1e7;

/// Published checkpoint, in `models/exported`.
const LAYOUTS: &[Layout] = &[Layout {
    bytes: 1_364_512,
    layers: "dense batch_norm:0.001 leaky_relu:0.2 dense batch_norm:0.001 leaky_relu:0.2 dense batch_norm:0.001 \
             leaky_relu:0.2 dense tanh",
    tensors: &[
        ("0.kernel", &[50, 256], 6660),
        ("0.bias", &[256], 5636),
        ("1.beta", &[256], 0),
        ("1.mean", &[256], 1024),
        ("1.variance", &[256], 2048),
        ("3.kernel", &[256, 128], 58_372),
        ("3.bias", &[128], 57_860),
        ("4.beta", &[128], 3072),
        ("4.mean", &[128], 3584),
        ("4.variance", &[128], 4096),
        ("6.kernel", &[128, 64], 189_700),
        ("6.bias", &[64], 189_444),
        ("7.beta", &[64], 4608),
        ("7.mean", &[64], 4864),
        ("7.variance", &[64], 5120),
        ("9.kernel", &[64, 1], 5380),
        ("9.bias", &[1], 5376),
    ],
}];

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "astraea",
    summary: "Astraea (xudongliao/astraea-open-source@becc7cfe): every 20 ms a network changes the window by at most 2.5 %",
    parameters: &[
        Parameter::needed_file(
            "weights",
            "The network: safetensors of 50 inputs and one output, or the data file of the published checkpoint.",
        ),
        Parameter::number("step_ms", "ms", 20.0, (1.0, 1000.0), "Time between two decisions."),
        Parameter::choice(
            "server",
            "python",
            &["python", "cpp"],
            "Whose features: the agent in Python, or the inference server in C++, which computes two of them differently.",
        ),
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Fallible(|parameters, start| {
        let file = parameters.needed_file("weights", "a file with Astraea's network")?;
        let network = Network::new(&Tensors::read("weights", file, LAYOUTS)?, INPUTS, 1)?;
        Ok(Box::new(Learned { policy: Astraea::new(parameters, start), network }))
    }),
};

/// Astraea without its network.
#[derive(Debug)]
pub(crate) struct Astraea {
    step: Span,
    is_cpp: bool,
    mss_bytes: f64,
    /// Window, packets.
    window: f64,
    socket: Queried,
    next: Time,
    /// Maximum mean delivery rate of a step, bytes/s.
    max_rate: f64,
    action: f32,
    /// Oldest step first.
    observation: [f32; INPUTS],
}

impl Astraea {
    pub(crate) fn new(parameters: &Parameters, start: &Start) -> Self {
        let step = Span::from_secs_f64(parameters.number("step_ms") / 1e3);
        let mss_bytes = f64::from(start.mss_bytes.max(1));
        Self {
            step,
            is_cpp: parameters.choice("server") == "cpp",
            mss_bytes,
            window: (start.initial_window_bytes as f64 / mss_bytes).clamp(MIN_WINDOW, MAX_WINDOW),
            socket: Queried::new(start.now, start.mss_bytes),
            next: start.now + step,
            max_rate: 0.0,
            action: 0.0,
            observation: [0.0; INPUTS],
        }
    }

    fn features(&mut self, seen: &Answer) -> [f64; FEATURES] {
        self.max_rate = self.max_rate.max(seen.rate);
        let per_max = |rate: f64| if self.max_rate > 0.0 { rate / self.max_rate } else { 0.0 };
        let per_min = |rtt: f64| if seen.min_rtt_s > 0.0 { (rtt / seen.min_rtt_s).min(CLIP) } else { CLIP };
        let window = if seen.min_rtt_s > 0.0 { self.window * SEGMENT_BITS / seen.min_rtt_s } else { 0.0 };
        let rate = match (self.max_rate > 0.0, self.is_cpp) {
            (false, _) => 0.5,
            (true, false) => per_max(seen.rate),
            // The server divides the step's rate by the same rate.
            (true, true) => 1.0,
        };
        let retransmitted = if self.is_cpp { seen.packets_out.max(1.0) } else { self.window };
        [
            rate,
            seen.rtt_s.map_or(CLIP, per_min),
            per_min(seen.srtt_s),
            (per_max(window) / WINDOW_UNIT).min(CLIP),
            self.max_rate / RATE_UNIT,
            seen.min_rtt_s / RTT_UNIT_S,
            per_max(seen.loss),
            seen.packets_out / self.window,
            per_max(self.socket.pacing_rate(self.window)).min(CLIP),
            seen.retransmitted / retransmitted,
        ]
    }
}

impl Policy for Astraea {
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
        if now < self.next {
            return None;
        }
        self.next = now + self.step;
        let seen = self.socket.ask(now);
        let features = self.features(&seen);
        remember(&mut self.observation, &features);
        Some(&self.observation)
    }

    fn act(&mut self, _now: Time, action: &[f32]) {
        self.action = action[0];
        let step = DELTA * f64::from(self.action);
        let window = if step >= 0.0 {
            (self.window * (1.0 + step)).ceil()
        } else {
            (self.window / (1.0 - step)).floor()
        };
        self.window = window.clamp(MIN_WINDOW, MAX_WINDOW);
    }

    fn control(&self) -> Control {
        Control {
            pacing: self.socket.paced(self.window),
            wake_at: self.next,
            ..Control::window((self.window * self.mss_bytes) as u64)
        }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("cwnd", "packets", self.window);
        sink.put("max_rate", "Mbit/s", self.max_rate * 8e-6);
        sink.put("action", "", f64::from(self.action));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::File;
    use crate::parts::State;

    fn policy(server: &str) -> Astraea {
        let mut parameters = Parameters::defaults(ENTRY.parameters);
        parameters.set("server", server).unwrap();
        let start = Start { now: Time::ZERO, mss_bytes: 1460, initial_window_bytes: 14_600, seed: 1 };
        Astraea::new(&parameters, &start)
    }

    /// State of a link of 48 Mbit/s and 20 ms with a window of one BDP.
    const AT_BDP: Answer = Answer {
        elapsed_s: 0.02,
        rate: 6e6,
        rtt_s: Some(0.02),
        rtt_samples: 80.0,
        loss: 0.0,
        srtt_s: 0.02,
        min_rtt_s: 0.02,
        packets_out: 82.0,
        retransmitted: 8.2,
        newest_rate: 6e6,
        sent_bytes: 0.0,
        delivered_bytes: 0.0,
        rttvar_s: 0.0,
        missing: 0.0,
        state: State::Open,
    };

    #[test]
    fn features_are_those_of_either_server() {
        let bdp = 6e6 * 0.02 / 1460.0;
        for (server, rate, retransmitted) in [("python", 0.5, 0.1), ("cpp", 1.0, 0.1)] {
            let mut policy = policy(server);
            (policy.window, policy.max_rate) = (bdp, 12e6);
            let found = policy.features(&AT_BDP);
            let expected = [rate, 1.0, 1.0, 0.4, 1.2, 0.04, 0.0, 1.0, 0.0, retransmitted];
            for (k, (found, expected)) in found.into_iter().zip(expected).enumerate() {
                assert!((found - expected).abs() < 3e-3, "{server} {k}: {found} {expected}");
            }
        }
        let mut fresh = policy("cpp");
        let none = Answer { rate: 0.0, rtt_s: None, srtt_s: 0.0, min_rtt_s: 0.0, ..AT_BDP };
        let found = fresh.features(&none);
        assert_eq!([found[0], found[1], found[2], found[3]], [0.5, 2.0, 2.0, 0.0]);
        // With half of the window in flight the two servers disagree about retransmissions.
        let half = Answer { packets_out: 40.0, retransmitted: 4.0, ..AT_BDP };
        let of = |server: &str| {
            let mut policy = policy(server);
            policy.window = 80.0;
            policy.features(&half)[9]
        };
        assert_eq!((of("python"), of("cpp")), (0.05, 0.1));
    }

    #[test]
    fn actions_round_away_from_the_window() {
        let mut policy = policy("python");
        let mut after = |window: f64, action: f32| {
            policy.window = window;
            policy.act(Time::ZERO, &[action]);
            policy.window
        };
        assert_eq!([after(10.0, 1.0), after(10.0, 0.0), after(100.0, 0.1)], [11.0, 10.0, 101.0]);
        assert_eq!([after(10.0, -1.0), after(1.0, -1.0), after(1000.0, -1.0)], [9.0, 1.0, 975.0]);
    }

    #[test]
    fn the_checkpoint_is_read_by_its_layout() {
        // All values are zero except the variances of one and the last bias.
        let mut floats = vec![0.0_f32; 1_364_512 / 4];
        for (first, units) in [(2048, 256), (4096, 128), (5120, 64)] {
            floats[first / 4..first / 4 + units].fill(1.0);
        }
        floats[5376 / 4] = 0.5;
        let contents: Vec<u8> = floats.iter().flat_map(|value| value.to_le_bytes()).collect();
        let file = File { name: "model.data".into(), contents: contents.into() };
        let mut network =
            Network::new(&Tensors::read("weights", &file, LAYOUTS).unwrap(), INPUTS, 1).unwrap();
        assert!((f64::from(network.step(&[1.0; INPUTS])[0]) - libm::tanh(0.5)).abs() < 1e-6);
    }
}
