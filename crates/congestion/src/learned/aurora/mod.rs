//! Aurora: a small network changes the sending rate after each monitor interval.
//!
//! Source: Jay et al., "A Deep Reinforcement Learning Perspective on Internet Congestion Control", ICML 2019, section
//! 4; PCCproject/PCC-RL@64bea6ee, `src/common/sender_obs.py`, `src/gym/network_sim.py`, `src/udt-plugins/testing`. An
//! interval lasts half of the mean RTT of the interval before; the first two last one and a half RTTs. The network sees
//! three values of each interval: the growth of the RTT within the interval, per second; the mean RTT over the minimum
//! mean of any interval; and the sending rate over the receive rate. It sees the last ten intervals. Its answer `a`
//! multiplies the rate by `1 + delta a`, or divides it by `1 - delta a` if `a` is below zero. There is no window.
//!
//! The values of an interval count the events during it: departures, and acknowledgements of packets that left before
//! or in it.
//!
//! The authors' program and simulator differ; switches select between them, and `docs/schemes/aurora.md` describes the
//! effects. With `recv_rate = mi` an interval of fewer than about eleven packets looks like a full queue, because the
//! rate counts one packet less than arrived.

use crate::acting::Learned;
use crate::agent::Agent;
use crate::network::{Layout, Network, Tensors};
use crate::parts::Halves;
use crate::policy::Policy;
use crate::{Ack, Build, Control, Entry, FieldSink, Parameter, Parameters, Sent, Start};
use units::{Rate, Span, Time};

/// Number of intervals that the network sees, and of features per interval.
const HISTORY: usize = 10;
const FEATURES: usize = 3;
const INPUTS: usize = HISTORY * FEATURES;
/// Features in place of the intervals before the first one.
const QUIET: [f32; FEATURES] = [0.0, 1.0, 1.0];
/// Sending rate over the receive rate above which the ratio counts as unknown.
const MAX_RATIO: f64 = 1000.0;
/// Number of first intervals, which have no RTT of an earlier interval, and their length in RTTs.
const FIRST_INTERVALS: u64 = 2;
const FIRST_ROUND_TRIPS: f64 = 1.5;
const ROUND_TRIPS: f64 = 0.5;
/// RTT before the first sample, without a handshake.
const UNKNOWN_RTT: Span = Span::from_ms(100);
/// Minimum interval. The sources have none, but a path without delay would end intervals without pause.
const MIN_INTERVAL: Span = Span::from_us(100);

/// Published checkpoints (`base_10hist_model`, `icml_paper_model`): 30 inputs, layers of 32 and 16.
const LAYOUTS: &[Layout] = &[Layout {
    bytes: 24_736,
    layers: "dense tanh dense tanh dense",
    tensors: &[
        ("0.kernel", &[30, 32], 200),
        ("0.bias", &[32], 72),
        ("2.kernel", &[32, 16], 4104),
        ("2.bias", &[16], 4040),
        ("4.kernel", &[16, 1], 8),
        ("4.bias", &[1], 0),
    ],
}];

const PARAMETERS: &[Parameter] = &[
    Parameter::needed_file(
        "weights",
        "The network: safetensors of 30 inputs and one output, or the data file of a published checkpoint.",
    ),
    Parameter::number(
        "delta",
        "",
        0.05,
        (0.001, 1.0),
        "Share of the rate that an action of 1 adds: 0.05 in the program, 0.025 in the simulator.",
    ),
    Parameter::choice(
        "recv_rate",
        "ack_span",
        &["ack_span", "mi"],
        "Time of the receive rate: from the first to the last ACK, or, as in the simulator, the whole interval.",
    ),
    Parameter::choice(
        "send_rate",
        "rate",
        &["rate", "undivided"],
        "What is compared with the receive rate: a rate, or bits, as networks before July 2019 learned it.",
    ),
    Parameter::number("initial_rate", "Mbit/s", 6.0, (0.001, 1e5), "First rate."),
    Parameter::number("min_rate", "Mbit/s", 0.5, (0.001, 1e5), "Smallest rate."),
    Parameter::number("max_rate", "Mbit/s", 300.0, (0.001, 1e5), "Largest rate."),
];

/// Entry of Aurora with external decisions; its file is ignored.
pub(crate) const AGENT: Entry = Entry {
    name: "agent-aurora",
    summary: "Aurora without its network, decided for from outside",
    parameters: PARAMETERS,
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Agent::new(Aurora::new(parameters, start), start))),
};

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "aurora",
    summary: "Aurora (PCCproject/PCC-RL@64bea6ee): a network changes the rate after each monitor interval",
    parameters: PARAMETERS,
    receiver: None,
    agent: Some(|| AGENT),
    policy: None,
    build: Build::Fallible(|parameters, start| {
        let file = parameters.needed_file("weights", "a file with Aurora's network")?;
        let network = Network::new(&Tensors::read("weights", file, LAYOUTS)?, INPUTS, 1)?;
        Ok(Box::new(Learned { policy: Aurora::new(parameters, start), network }))
    }),
};

/// Counters of a monitor interval.
#[derive(Debug)]
struct Interval {
    start: Time,
    end: Time,
    sent_bytes: u64,
    acked_bytes: u64,
    /// Times of the first and the last ACK.
    acked: Option<(Time, Time)>,
    /// RTTs in the order of their arrival, s.
    rtts: Halves,
}

impl Interval {
    /// Returns the receive rate, bit/s. One packet of `mss_bytes` is not counted, because a time span needs two
    /// packets.
    fn receive_rate(&self, now: Time, mss_bytes: u64, is_whole: bool) -> f64 {
        let time = if is_whole {
            now - self.start
        } else {
            self.acked.map_or(Span::ZERO, |(first, last)| last - first)
        };
        if time.is_zero() {
            return 0.0;
        }
        (self.acked_bytes as f64 - mss_bytes as f64) * 8.0 / time.as_secs_f64()
    }
}

/// Aurora without its network.
#[derive(Debug)]
pub(crate) struct Aurora {
    delta: f64,
    is_whole: bool,
    is_undivided: bool,
    min_rate: f64,
    max_rate: f64,
    mss_bytes: u64,
    /// Sending rate, Mbit/s.
    rate: f64,
    rtt: Span,
    interval: Interval,
    /// Number of intervals that ended.
    ended: u64,
    /// Minimum mean RTT of an interval, s.
    min_rtt: Option<f64>,
    action: f32,
    /// Features of the last intervals, oldest first.
    observation: [f32; INPUTS],
}

impl Aurora {
    pub(crate) fn new(parameters: &Parameters, start: &Start) -> Self {
        let max_rate = parameters.number("max_rate");
        let min_rate = parameters.number("min_rate").min(max_rate);
        let mut observation = [0.0; INPUTS];
        observation.as_chunks_mut().0.fill(QUIET);
        Self {
            delta: parameters.number("delta"),
            is_whole: parameters.choice("recv_rate") == "mi",
            is_undivided: parameters.choice("send_rate") == "undivided",
            min_rate,
            max_rate,
            mss_bytes: u64::from(start.mss_bytes.max(1)),
            rate: parameters.number("initial_rate").clamp(min_rate, max_rate),
            rtt: UNKNOWN_RTT,
            interval: Interval {
                start: start.now,
                end: Time::NEVER,
                sent_bytes: 0,
                acked_bytes: 0,
                acked: None,
                rtts: Halves::new(),
            },
            ended: 0,
            min_rtt: None,
            action: 0.0,
            observation,
        }
    }

    fn begin(&mut self, now: Time) {
        let round_trips = if self.ended < FIRST_INTERVALS { FIRST_ROUND_TRIPS } else { ROUND_TRIPS };
        let interval = &mut self.interval;
        (interval.start, interval.end) = (now, now + self.rtt.mul_f64(round_trips).max(MIN_INTERVAL));
        (interval.sent_bytes, interval.acked_bytes, interval.acked) = (0, 0, None);
        interval.rtts.clear();
    }

    /// Returns the features of the interval that ends: RTT growth per second, RTT over its minimum, and sending over
    /// receive rate.
    fn features(&mut self, now: Time) -> [f64; FEATURES] {
        let seconds = (now - self.interval.start).as_secs_f64();
        let rtt = self.interval.rtts.mean();
        self.min_rtt = match (self.min_rtt, rtt.filter(|rtt| *rtt > 0.0)) {
            (Some(least), Some(rtt)) => Some(least.min(rtt)),
            (least, rtt) => least.or(rtt),
        };
        let inflation = if seconds > 0.0 { self.interval.rtts.growth() / seconds } else { 0.0 };
        let ratio = self.min_rtt.map_or(1.0, |least| rtt.unwrap_or(0.0) / least);
        let sent_bits = 8.0 * self.interval.sent_bytes as f64;
        let sent = match (self.is_undivided, seconds > 0.0) {
            (true, _) => sent_bits,
            (false, true) => sent_bits / seconds,
            (false, false) => 0.0,
        };
        let received = self.interval.receive_rate(now, self.mss_bytes, self.is_whole);
        let is_known = received > 0.0 && sent < MAX_RATIO * received;
        [inflation, ratio, if is_known { sent / received } else { 1.0 }]
    }
}

impl Policy for Aurora {
    fn inputs(&self) -> usize {
        INPUTS
    }

    fn outputs(&self) -> usize {
        1
    }

    fn on_established(&mut self, _now: Time, rtt: Span) {
        self.rtt = rtt;
    }

    fn on_sent(&mut self, event: &Sent) {
        if !self.interval.end.is_finite() {
            self.begin(event.now);
        }
        self.interval.sent_bytes += u64::from(event.bytes);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        if ack.packets.is_empty() {
            return;
        }
        let interval = &mut self.interval;
        let (first, _) = *interval.acked.get_or_insert((ack.now, ack.now));
        interval.acked = Some((first, ack.now));
        interval.acked_bytes += ack.acked_bytes;
        for packet in ack.packets {
            interval.rtts.push((ack.now - packet.sent_at).as_secs_f64());
        }
    }

    fn observation(&mut self, now: Time) -> Option<&[f32]> {
        if now < self.interval.end {
            return None;
        }
        let features = self.features(now);
        self.observation.copy_within(FEATURES.., 0);
        for (place, feature) in self.observation[INPUTS - FEATURES..].iter_mut().zip(features) {
            *place = feature as f32;
        }
        self.ended += 1;
        if let Some(rtt) = self.interval.rtts.mean() {
            self.rtt = Span::from_secs_f64(rtt);
        }
        self.begin(now);
        Some(&self.observation)
    }

    fn act(&mut self, _now: Time, action: &[f32]) {
        self.action = action[0];
        let step = self.delta * f64::from(self.action);
        let rate = if step >= 0.0 { self.rate * (1.0 + step) } else { self.rate / (1.0 - step) };
        self.rate = rate.clamp(self.min_rate, self.max_rate);
    }

    fn control(&self) -> Control {
        Control {
            pacing: Some(Rate::from_mbps(self.rate)),
            wake_at: self.interval.end,
            ..Control::window(u64::MAX)
        }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        let [inflation, ratio, sent] = [3, 2, 1].map(|back| f64::from(self.observation[INPUTS - back]));
        sink.put("rate", "Mbit/s", self.rate);
        sink.put("latency_inflation", "", inflation);
        sink.put("latency_ratio", "", ratio);
        sink.put("send_ratio", "", sent);
        sink.put("action", "", f64::from(self.action));
    }
}

#[cfg(test)]
mod tests;
