//! Indigo: every 10 ms a recurrent network changes the window. The network was trained to imitate an expert that knows
//! the link.
//!
//! Source: Yan et al., "Pantheon: the training ground for Internet congestion-control research", USENIX ATC 2018,
//! section 6; StanfordSNR/indigo@2601c92e, env/sender.py, `dagger/run_sender.py`, dagger/models.py. Each ACK gives
//! three values, each smoothed from the first ACK of a step:
//!
//! - a queueing delay: the RTT less its minimum, which never expires;
//! - a delivery rate: the bytes delivered since the packet left;
//! - a sending rate: the bytes sent since the packet left.
//!
//! The first ACK more than 10 ms after the beginning of a step ends the step. The network then sees the three values,
//! the window and its own last action. It chooses the new window: a half, 10 less, the same, 10 more, or double. There
//! is no pacing and no reaction to losses. Both clocks count whole milliseconds.
//!
//! Expected: on 12 Mbit/s with 30 ms one-way delay and 90,000 bytes of queue, 11.36 Mbit/s and a 95th percentile of the
//! one-way delay of 40.1 ms (facebookresearch/mvfst-rl, issue 15). Expected is also a collapse if the delay jitters by
//! more than a few ms, because the minimum RTT never expires.

use crate::acting::Learned;
use crate::agent::Agent;
use crate::network::{Layout, Network, Tensors, largest};
use crate::parts::{Echoed, smoothed};
use crate::policy::{Policy, windows_after, with_last_action};
use crate::{Ack, Build, Control, Entry, FieldSink, Parameter, Parameters, Sent, Start};
use units::Time;

/// Initial window, packets.
const INITIAL_WINDOW: f64 = 10.0;
const MIN_WINDOW: f64 = 2.0;
/// Limit that keeps the numbers finite: the program has no maximum window, and no built-in transport goes beyond this
/// one.
const MAX_WINDOW: f64 = 1e7;
/// Bytes of a datagram besides the payload, as its sender counts them: sequence number, timestamps and counters.
const HEADER_BYTES: u64 = 36;
/// Divisors of the features: ms, Mbit/s, packets.
const DELAY_UNIT: f64 = 200.0;
const RATE_UNIT: f64 = 200.0;
const WINDOW_UNIT: f64 = 5000.0;
/// Last action that the network sees at its first step.
const FIRST_ACTION: usize = 4;
const ACTIONS: usize = 5;
const FEATURES: usize = 4 + ACTIONS;

/// Published checkpoints: one layer of 32 or 128 units, or two of 256 (September 2017).
const LAYOUTS: &[Layout] = &[
    Layout {
        bytes: 22_168,
        layers: "lstm:1 dense",
        tensors: &[
            ("0.kernel", &[41, 128], 1176),
            ("0.bias", &[128], 664),
            ("1.kernel", &[32, 5], 24),
            ("1.bias", &[5], 4),
        ],
    },
    Layout {
        bytes: 285_208,
        layers: "lstm:1 dense",
        tensors: &[
            ("0.kernel", &[137, 512], 4632),
            ("0.bias", &[512], 2584),
            ("1.kernel", &[128, 5], 24),
            ("1.bias", &[5], 4),
        ],
    },
    Layout {
        bytes: 3_195_928,
        layers: "lstm:1 lstm:1 dense",
        tensors: &[
            ("0.kernel", &[265, 1024], 9240),
            ("0.bias", &[1024], 5144),
            ("1.kernel", &[512, 1024], 1_098_776),
            ("1.bias", &[1024], 1_094_680),
            ("2.kernel", &[256, 5], 24),
            ("2.bias", &[5], 4),
        ],
    },
];

const STEP_MS: Parameter =
    Parameter::number("step_ms", "ms", 10.0, (1.0, 1000.0), "Shortest time between two decisions.");

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "indigo",
    summary: "Indigo (StanfordSNR/indigo@2601c92e): a recurrent network changes the window every 10 ms",
    parameters: &[
        Parameter::needed_file(
            "weights",
            "The network: safetensors of nine inputs and five outputs, or the data file of a published checkpoint.",
        ),
        STEP_MS,
    ],
    receiver: None,
    agent: Some(|| AGENT),
    policy: Some(|parameters, start| Box::new(Indigo::new(parameters, start))),
    build: Build::Fallible(|parameters, start| {
        let file = parameters.needed_file("weights", "a file with Indigo's network")?;
        let network = Network::new(&Tensors::read("weights", file, LAYOUTS)?, FEATURES, ACTIONS)?;
        Ok(Box::new(Learned { policy: Indigo::new(parameters, start), network }))
    }),
};

/// Entry of Indigo with external decisions.
pub(crate) const AGENT: Entry = Entry {
    name: "agent-indigo",
    summary: "Indigo without its network, decided for from outside",
    parameters: &[STEP_MS],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Agent::new(Indigo::new(parameters, start), start))),
};

/// Indigo without its network.
#[derive(Debug)]
struct Indigo {
    step_ms: f64,
    mss_bytes: u64,
    echoed: Echoed,
    window: f64,
    min_rtt_ms: u64,
    step_start_ms: Option<u64>,
    /// Queueing delay in ms, delivery rate and sending rate in Mbit/s, of this step; `None` before the step's first
    /// ACK.
    smoothed: Option<[f64; 3]>,
    /// True if the last ACK ended the step.
    is_due: bool,
    last_action: usize,
    /// Values of `smoothed` at the end of the last step; NaN before.
    seen: [f64; 3],
    observation: [f32; FEATURES],
}

impl Indigo {
    pub(crate) fn new(parameters: &Parameters, start: &Start) -> Self {
        Self {
            step_ms: parameters.number("step_ms"),
            mss_bytes: u64::from(start.mss_bytes.max(1)),
            echoed: Echoed::new(start.now, HEADER_BYTES),
            window: INITIAL_WINDOW,
            min_rtt_ms: u64::MAX,
            step_start_ms: None,
            smoothed: None,
            is_due: false,
            last_action: FIRST_ACTION,
            seen: [f64::NAN; 3],
            observation: [0.0; FEATURES],
        }
    }

    fn on_packet(&mut self, now: Time, number: u64, bytes: u32) {
        let Some(echo) = self.echoed.acked(now, number, bytes) else { return };
        self.min_rtt_ms = self.min_rtt_ms.min(echo.rtt_ms);
        let delay_ms = (echo.rtt_ms - self.min_rtt_ms) as f64;
        self.smoothed = Some(smoothed(self.smoothed, [delay_ms, echo.delivery_mbps, echo.sending_mbps]));
        let now_ms = self.echoed.ms(now);
        let step_start = *self.step_start_ms.get_or_insert(now_ms);
        self.is_due |= (now_ms - step_start) as f64 > self.step_ms;
    }
}

impl Policy for Indigo {
    fn inputs(&self) -> usize {
        FEATURES
    }

    fn outputs(&self) -> usize {
        ACTIONS
    }

    fn on_sent(&mut self, event: &Sent) {
        self.echoed.sent(event.now, event.number, event.bytes);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        ack.packets.iter().for_each(|packet| self.on_packet(ack.now, packet.number, packet.bytes));
    }

    fn observation(&mut self, now: Time) -> Option<&[f32]> {
        if !core::mem::take(&mut self.is_due) {
            return None;
        }
        self.seen = self.smoothed.take()?;
        let [delay, delivery, sending] = self.seen;
        self.step_start_ms = Some(self.echoed.ms(now));
        let seen = [delay / DELAY_UNIT, delivery / RATE_UNIT, sending / RATE_UNIT, self.window / WINDOW_UNIT];
        self.observation = with_last_action(&seen, self.last_action);
        Some(&self.observation)
    }

    fn act(&mut self, _now: Time, action: &[f32]) {
        self.last_action = largest(action);
        self.window = windows_after(self.window)[self.last_action].clamp(MIN_WINDOW, MAX_WINDOW);
    }

    fn control(&self) -> Control {
        Control::window((self.window * self.mss_bytes as f64) as u64)
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        let [delay, delivery, sending] = self.seen;
        sink.put("cwnd", "packets", self.window);
        sink.put("queueing_delay", "ms", delay);
        sink.put("delivery_rate", "Mbit/s", delivery);
        sink.put("sending_rate", "Mbit/s", sending);
        sink.put("action", "", self.last_action as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::File;
    use units::Span;

    fn file(contents: &'static [u8]) -> File {
        File { name: "indigo.data".into(), contents: contents.into() }
    }

    fn network(contents: &'static [u8]) -> Network {
        let tensors = Tensors::read("weights", &file(contents), LAYOUTS).unwrap();
        Network::new(&tensors, FEATURES, ACTIONS).unwrap()
    }

    const RELEASED: &[u8] =
        include_bytes!("../../../../python/dumbbell/catalog/weights/indigo/indigo-1x32.data");
    const NO_CALIB: &[u8] =
        include_bytes!("../../../../python/dumbbell/catalog/weights/indigo/indigo-1x32-no-calib.data");

    /// Returns the network's input for a delay in ms, delivery and sending rate in Mbit/s, window and last action.
    fn seen(delay: f32, delivery: f32, sending: f32, window: f32, last: usize) -> [f32; FEATURES] {
        let mut values =
            [delay / 200.0, delivery / 200.0, sending / 200.0, window / 5000.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        values[4 + last] = 1.0;
        values
    }

    const STEPS: [(f32, f32, f32, f32, usize); 4] = [
        (0.0, 2.8, 3.0, 10.0, 4),
        (0.0, 5.5, 6.0, 20.0, 4),
        (3.5, 11.8, 14.0, 40.0, 4),
        (30.0, 12.0, 12.0, 80.0, 4),
    ];

    #[test]
    fn the_published_networks_say_what_they_said_elsewhere() {
        // Expected values come from an evaluation of the same checkpoints with numpy.
        let expected = [
            [-1.2848, -0.1836, -0.4221, 2.1706, -0.1091],
            [-1.3445, 0.0639, -0.4676, 1.3183, 0.7511],
            [-1.1418, 0.2878, -0.0136, 0.1119, 1.1784],
            [0.5079, 0.6461, 0.3826, -0.9400, -0.1911],
        ];
        let (mut released, mut no_calib) = (network(RELEASED), network(NO_CALIB));
        let mut chosen = Vec::new();
        for ((delay, delivery, sending, window, last), expected) in STEPS.into_iter().zip(expected) {
            let input = seen(delay, delivery, sending, window, last);
            for (found, expected) in released.step(&input).iter().zip(expected) {
                assert!((found - expected).abs() < 1e-4, "{found} {expected}");
            }
            chosen.push(largest(no_calib.step(&input)));
        }
        assert_eq!(chosen, [3, 3, 3, 0]);
    }

    fn policy() -> Indigo {
        let parameters = Parameters::defaults(ENTRY.parameters);
        let start = Start { now: Time::ZERO, mss_bytes: 1400, initial_window_bytes: 14_000, seed: 1 };
        Indigo::new(&parameters, &start)
    }

    fn send(policy: &mut Indigo, ms: u64, number: u64) {
        policy.on_sent(&Sent {
            now: Time::ZERO + Span::from_ms(ms),
            number,
            bytes: 1400,
            in_flight_bytes: 0,
            retransmission: false,
            filler: false,
            frame: 0,
            frame_end: false,
            idle_timeouts: 0,
        });
    }

    fn ack(policy: &mut Indigo, ms: u64, number: u64) {
        policy.on_packet(Time::ZERO + Span::from_ms(ms), number, 1400);
    }

    #[test]
    fn features_are_those_of_the_acknowledgements_of_a_step() {
        let mut policy = policy();
        (0..4).for_each(|number| send(&mut policy, number, number));
        ack(&mut policy, 40, 0);
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        assert_eq!(policy.observation(at(40)), None);
        ack(&mut policy, 50, 1);
        assert_eq!(policy.observation(at(50)), None, "10 ms are not more than 10 ms");
        ack(&mut policy, 51, 2);
        // RTTs are 40, 49 and 49 ms, datagrams have 1436 bytes. 1 to 3 datagrams were delivered since the start; 4, 3
        // and 2 were sent since the acknowledged one left.
        let mbps = |datagrams: f64, ms: f64| 0.008 * 1436.0 * datagrams / ms;
        let smooth = |a: f64, b: f64, c: f64| 0.875 * (0.875 * a + 0.125 * b) + 0.125 * c;
        let seen = [
            smooth(0.0, 9.0, 9.0) / 200.0,
            smooth(mbps(1.0, 40.0), mbps(2.0, 50.0), mbps(3.0, 51.0)) / 200.0,
            smooth(mbps(4.0, 40.0), mbps(3.0, 49.0), mbps(2.0, 49.0)) / 200.0,
            10.0 / 5000.0,
        ];
        let found = policy.observation(at(51)).unwrap().to_vec();
        for (found, expected) in found.iter().zip(seen) {
            assert!((f64::from(*found) - expected).abs() < 1e-7, "{found} {expected}");
        }
        assert_eq!(found[4..], [0.0, 0.0, 0.0, 0.0, 1.0]);
        policy.act(at(51), &[0.0, 0.0, 0.0, 1.0, 0.5]);
        assert_eq!((policy.window, policy.last_action), (20.0, 3));
        assert_eq!(policy.observation(at(51)), None, "once per step");
    }

    #[test]
    fn actions_change_the_window_down_to_two_packets() {
        let mut policy = policy();
        let mut after = |action: usize| {
            let mut scores = [0.0; ACTIONS];
            scores[action] = 1.0;
            policy.act(Time::ZERO, &scores);
            policy.window
        };
        assert_eq!([4, 3, 2, 1, 0, 1].map(&mut after), [20.0, 30.0, 30.0, 20.0, 10.0, 2.0]);
        assert!((0..100).map(|_| after(4)).all(|window| window <= MAX_WINDOW));
    }
}
