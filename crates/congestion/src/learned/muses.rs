//! Muses: Indigo with a larger network, other features of the link, and pacing.
//!
//! Source: StanfordSNR/indigo@b8d5019b, env/sender.py (model 25, which Pantheon ran in September 2018). Every second
//! datagram is acknowledged; an acknowledgement counts two. The network sees the RTT (smoothed over the flow), the
//! queueing delay as a fraction of the minimum RTT, sending and delivery rate, the loss rate since the last step, the
//! window and its own last action. It chooses the new window: a half, 10 less, the same, 10 more, or double; 10 to
//! 12,500 packets. A window leaves within a minimum RTT, in bursts of 0.5 ms. A sender that sent nothing for an RTT
//! sends one packet even if the window is full.
//!
//! Expected: it fills links of 100 and 1000 Mbit/s, the training links, and most of their queue. The expert that it
//! imitates keeps 80 % of the queue occupied.

use crate::acting::Learned;
use crate::network::{Layout, Network, Tensors, largest};
use crate::parts::{Echoed, smoothed};
use crate::policy::{Policy, windows_after, with_last_action};
use crate::{Ack, Build, Control, Entry, FieldSink, Parameter, Parameters, Sent, Start};
use units::{Rate, Span, Time};

/// Initial and minimum window, and maximum window; packets.
const MIN_WINDOW: f64 = 10.0;
const MAX_WINDOW: f64 = 12_500.0;
/// Bytes of a datagram besides the payload: sequence number, timestamps and counters.
const HEADER_BYTES: u64 = 28;
/// Divisors of the features: ms, Mbit/s, packets.
const RTT_UNIT: f64 = 300.0;
const RATE_UNIT: f64 = 1000.0;
const WINDOW_UNIT: f64 = 12_500.0;
/// Time between two bursts.
const BURST: Span = Span::from_us(500);
/// Time without departures, before the first RTT, after which one packet leaves.
const FIRST_SILENCE: Span = Span::from_ms(10);
/// Last action that the network sees at its first step.
const FIRST_ACTION: usize = 4;
const ACTIONS: usize = 5;
const FEATURES: usize = 6 + ACTIONS;

/// Layers of model 25.
const LAYOUTS: &[Layout] = &[Layout {
    bytes: 3_204_120,
    layers: "lstm:1 lstm:1 dense",
    tensors: &[
        ("0.kernel", &[267, 1024], 9240),
        ("0.bias", &[1024], 5144),
        ("1.kernel", &[512, 1024], 1_106_968),
        ("1.bias", &[1024], 1_102_872),
        ("2.kernel", &[256, 5], 24),
        ("2.bias", &[5], 4),
    ],
}];

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "muses",
    summary: "Muses (StanfordSNR/indigo@b8d5019b): Indigo with loss among its features, pacing and a window of at least 10",
    parameters: &[
        Parameter::needed_file(
            "weights",
            "The network: safetensors of eleven inputs and five outputs, or the data file of the published checkpoint.",
        ),
        Parameter::number("step_ms", "ms", 10.0, (1.0, 1000.0), "Shortest time between two decisions."),
    ],
    receiver: None,
    agent: None,
    policy: Some(|parameters, start| Box::new(Muses::new(parameters, start))),
    build: Build::Fallible(|parameters, start| {
        let file = parameters.needed_file("weights", "a file with Muses' network")?;
        let network = Network::new(&Tensors::read("weights", file, LAYOUTS)?, FEATURES, ACTIONS)?;
        Ok(Box::new(Learned { policy: Muses::new(parameters, start), network }))
    }),
};

/// Muses without its network.
#[derive(Debug)]
struct Muses {
    step_ms: f64,
    mss_bytes: u64,
    echoed: Echoed,
    window: f64,
    min_rtt_ms: u64,
    /// RTT smoothed over the flow, ms.
    rtt_ms: Option<[f64; 1]>,
    /// Queueing delay in ms, sending and delivery rate in Mbit/s, of this step; `None` before the step's first ACK.
    smoothed: Option<[f64; 3]>,
    step_start_ms: u64,
    /// Values at the end of the last step: bytes delivered, and bytes sent before the packet that was acknowledged
    /// then.
    delivered_at_step: u64,
    sent_at_step: u64,
    /// Bytes sent before the packet that was acknowledged last.
    sent_before: u64,
    is_due: bool,
    in_flight_bytes: u64,
    last_sent: Time,
    /// True if one packet may leave although the window is full.
    may_send_one: bool,
    last_action: usize,
    /// Queueing delay, rates and loss rate that the network saw last; NaN before.
    seen: [f64; 4],
    observation: [f32; FEATURES],
}

impl Muses {
    pub(crate) fn new(parameters: &Parameters, start: &Start) -> Self {
        Self {
            step_ms: parameters.number("step_ms"),
            mss_bytes: u64::from(start.mss_bytes.max(1)),
            echoed: Echoed::new(start.now, HEADER_BYTES),
            window: MIN_WINDOW,
            min_rtt_ms: u64::MAX,
            rtt_ms: None,
            smoothed: None,
            step_start_ms: 0,
            delivered_at_step: 0,
            sent_at_step: 0,
            sent_before: 0,
            is_due: false,
            in_flight_bytes: 0,
            last_sent: start.now,
            may_send_one: false,
            last_action: FIRST_ACTION,
            seen: [f64::NAN; 4],
            observation: [0.0; FEATURES],
        }
    }

    /// Handles the datagram that an acknowledgement echoes.
    fn on_echo(&mut self, now: Time, number: u64, bytes: u32) {
        let Some(echo) = self.echoed.acked(now, number, bytes) else { return };
        let rtt_ms = echo.rtt_ms.max(1);
        self.min_rtt_ms = self.min_rtt_ms.min(rtt_ms);
        self.rtt_ms = Some(smoothed(self.rtt_ms, [rtt_ms as f64]));
        let delay_ms = (rtt_ms - self.min_rtt_ms) as f64;
        self.smoothed = Some(smoothed(self.smoothed, [delay_ms, echo.sending_mbps, echo.delivery_mbps]));
        self.sent_before = echo.sent_before_bytes;
        self.is_due |= (self.echoed.ms(now) - self.step_start_ms) as f64 > self.step_ms;
    }

    /// Returns the loss rate of the packets sent since the last step's end, and begins to count for the next step.
    fn take_loss(&mut self) -> f64 {
        let delivered_bytes = self.echoed.delivered_bytes();
        let delivered = (delivered_bytes - self.delivered_at_step) as f64;
        let sent = self.sent_before.saturating_sub(self.sent_at_step) as f64;
        (self.delivered_at_step, self.sent_at_step) = (delivered_bytes, self.sent_before);
        if sent > 0.0 { (1.0 - delivered / sent).max(0.0) } else { 0.0 }
    }

    /// Returns the time without departures after which one packet leaves even if the window is full.
    fn silence(&self) -> Span {
        self.rtt_ms.map_or(FIRST_SILENCE, |[ms]| Span::from_secs_f64(ms / 1e3))
    }
}

impl Policy for Muses {
    fn inputs(&self) -> usize {
        FEATURES
    }

    fn outputs(&self) -> usize {
        ACTIONS
    }

    fn on_sent(&mut self, event: &Sent) {
        self.echoed.sent(event.now, event.number, event.bytes);
        (self.in_flight_bytes, self.last_sent, self.may_send_one) = (event.in_flight_bytes, event.now, false);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.in_flight_bytes = ack.in_flight_bytes;
        if let Some((echoed, others)) = ack.packets.split_last() {
            for packet in others {
                self.echoed.delivered(packet.number, packet.bytes);
            }
            self.on_echo(ack.now, echoed.number, echoed.bytes);
        }
    }

    fn on_wake(&mut self, now: Time) {
        self.may_send_one |= now >= self.last_sent + self.silence();
    }

    fn observation(&mut self, now: Time) -> Option<&[f32]> {
        if !core::mem::take(&mut self.is_due) {
            return None;
        }
        let ([rtt_ms], [delay_ms, sending, delivery]) = (self.rtt_ms?, self.smoothed.take()?);
        self.step_start_ms = self.echoed.ms(now);
        let loss = self.take_loss();
        self.seen = [delay_ms, sending, delivery, loss];
        let scaled = [
            rtt_ms / RTT_UNIT,
            delay_ms / self.min_rtt_ms as f64,
            sending / RATE_UNIT,
            delivery / RATE_UNIT,
            loss,
            self.window / WINDOW_UNIT,
        ];
        self.observation = with_last_action(&scaled, self.last_action);
        Some(&self.observation)
    }

    fn act(&mut self, _now: Time, action: &[f32]) {
        self.last_action = largest(action);
        self.window = windows_after(self.window)[self.last_action].clamp(MIN_WINDOW, MAX_WINDOW);
    }

    fn control(&self) -> Control {
        let mut window_bytes = (self.window * self.mss_bytes as f64) as u64;
        if self.may_send_one {
            window_bytes = window_bytes.max(self.in_flight_bytes + self.mss_bytes);
        }
        let mut control = Control::window(window_bytes);
        if self.rtt_ms.is_some() {
            let rate = Rate::from_bps_f64(
                (self.window * self.mss_bytes as f64 * 8e3 / self.min_rtt_ms as f64).max(1.0),
            );
            (control.pacing, control.burst_bytes) = (Some(rate), rate.bytes_in(BURST));
        }
        if !self.may_send_one {
            control.wake_at = self.last_sent + self.silence();
        }
        control
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        let [delay_ms, sending, delivery, loss] = self.seen;
        sink.put("cwnd", "packets", self.window);
        sink.put("smoothed_rtt", "ms", self.rtt_ms.map_or(f64::NAN, |[ms]| ms));
        sink.put("queueing_delay", "ms", delay_ms);
        sink.put("sending_rate", "Mbit/s", sending);
        sink.put("delivery_rate", "Mbit/s", delivery);
        sink.put("loss", "", loss);
        sink.put("action", "", self.last_action as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Muses {
        let start = Start { now: Time::ZERO, mss_bytes: 1364, initial_window_bytes: 13_640, seed: 1 };
        Muses::new(&Parameters::defaults(ENTRY.parameters), &start)
    }

    const fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    fn send(policy: &mut Muses, ms: u64, number: u64) {
        policy.on_sent(&Sent {
            now: at(ms),
            number,
            bytes: 1364,
            in_flight_bytes: 1364 * number,
            retransmission: false,
            filler: false,
            frame: 0,
            frame_end: false,
            idle_timeouts: 0,
        });
    }

    #[test]
    fn features_are_those_of_every_second_datagram_and_of_what_was_lost() {
        let mut policy = policy();
        (0..8).for_each(|number| send(&mut policy, number, number));
        // Packets 0 and 1 arrive, 2 and 3 are lost, 4 and 5 arrive.
        policy.echoed.delivered(0, 1364);
        policy.on_echo(at(41), 1, 1364);
        assert!(policy.observation(at(41)).is_some(), "the first step began with the flow");
        policy.act(at(41), &[0.0, 0.0, 1.0, 0.0, 0.0]);
        policy.echoed.delivered(4, 1364);
        policy.on_echo(at(52), 5, 1364);
        let found = policy.observation(at(52)).unwrap().to_vec();
        // RTTs are 40 and 47 ms. 5 datagrams were sent before number 5, and one before number 1; of the 4 between them
        // 2 were delivered.
        let mbps = |datagrams: f64, ms: f64| 0.008 * 1392.0 * datagrams / ms;
        let seen = [
            (0.875 * 40.0 + 0.125 * 47.0) / 300.0,
            7.0 / 40.0,
            mbps(3.0, 47.0) / 1000.0,
            mbps(4.0, 52.0) / 1000.0,
            0.5,
            10.0 / 12_500.0,
        ];
        for (found, expected) in found.iter().zip(seen) {
            assert!((f64::from(*found) - expected).abs() < 1e-7, "{found} {expected}");
        }
        assert_eq!(found[6..], [0.0, 0.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn the_window_stays_between_10_and_12500_packets_and_leaves_within_a_smallest_rtt() {
        let mut policy = policy();
        assert_eq!(policy.control().pacing, None);
        send(&mut policy, 0, 0);
        policy.on_echo(at(100), 0, 1364);
        let mut after = |action: usize| {
            let mut scores = [0.0; ACTIONS];
            scores[action] = 1.0;
            policy.act(at(100), &scores);
            policy.window
        };
        assert_eq!([0, 1, 3, 4].map(&mut after), [10.0, 10.0, 20.0, 40.0]);
        assert_eq!((0..20).map(|_| after(4)).last(), Some(12_500.0));
        let rate = policy.control().pacing.unwrap();
        assert_eq!(rate, Rate::from_bps(12_500 * 1364 * 80));
        assert_eq!(policy.control().burst_bytes, rate.bytes_in(BURST));
    }

    #[test]
    fn one_packet_leaves_after_an_rtt_without_any() {
        let mut policy = policy();
        (0..20).for_each(|number| send(&mut policy, 3, number));
        assert_eq!(policy.control().wake_at, at(13), "10 ms before the first RTT");
        policy.on_wake(at(13));
        let control = policy.control();
        assert_eq!((control.window_bytes, control.wake_at), (20 * 1364, Time::NEVER));
        send(&mut policy, 13, 20);
        assert_eq!(policy.control().window_bytes, 10 * 1364);
    }
}
