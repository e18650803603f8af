//! Bandwidth estimators for calls: at the receiver a network says every 60 ms what the path carries, and the encoder gets it.
//!
//! Source: the ACM `MMSys` 2024 grand challenge, microsoft/RL4BandwidthEstimationChallenge@fcf857c5, README.md: fifteen
//! features, each of the five last intervals of 60 ms and of 600 ms, newest first. The receiver sends its estimate back with
//! every decision. What the challenge leaves to the service is ours:
//! - rates count whole datagrams, and the encoder gets the share of the estimate that is payload;
//! - the delay of the first packet counts as 200 ms, and others by how much they differ from it: the scalings of the published
//!   networks end at 200 ms for the smallest delay seen, and their unit is taken off delays;
//! - our encoder sends no audio, and no packet counts as such; in the calls of the challenge 42 % are audio, which is the mean
//!   that the baseline's scaling takes off (`audio_share`);
//! - an interval without packets has zeros but for the smallest delay seen;
//! - packets leave at 2.5 times the encoder's rate, as libwebrtc M150 paces (`modules/congestion_controller/goog_cc`).
//!
//! All three published networks were made with this interface: [`crate::learned::teams_bwe`], [`crate::learned::ten_tms`], [`crate::learned::farc`].

mod received;

use crate::network::{Network, Tensors};
use crate::{
    Ack, Arrived, Build, Control, Controller, Entry, FieldSink, Parameter, Parameters, ReceiverHalf,
};
use received::{INPUTS, Received};
use strict_input::Refusal;
use units::{Rate, Span, Time};

/// Between two decisions.
const STEP: Span = Span::from_ms(60);
/// Pacing rate over the encoder's.
const PACING_FACTOR: f64 = 2.5;

const PARAMETERS: &[Parameter] = &[
    Parameter::needed_file("weights", "The network: safetensors of 150 inputs."),
    Parameter::number("initial_rate_mbps", "Mbit/s", 0.3, (0.01, 1e5), "Rate before the first estimate."),
    Parameter::number("min_rate_mbps", "Mbit/s", 0.01, (0.001, 1e5), "Lowest rate."),
    Parameter::number("max_rate_mbps", "Mbit/s", 8.0, (0.001, 1e5), "Highest rate."),
    Parameter::number("audio_share", "", 0.0, (0.0, 1.0), "Share of packets that count as audio."),
];

/// What tells one estimator from another.
pub(crate) trait Estimates {
    const NAME: &'static str;
    const SUMMARY: &'static str;
    /// Of the network.
    const OUTPUTS: usize;
    /// Whether it sees which packets are audio.
    const SEES_AUDIO: bool = true;

    /// What the network's outputs mean, bit/s.
    fn bps(outputs: &[f32]) -> f64;
}

/// Its registry entry.
pub(crate) const fn entry<E: Estimates>() -> Entry {
    Entry {
        name: E::NAME,
        summary: E::SUMMARY,
        parameters: if E::SEES_AUDIO { PARAMETERS } else { PARAMETERS.split_at(PARAMETERS.len() - 1).0 },
        receiver: Some(|parameters, _start| {
            let audio = if E::SEES_AUDIO { parameters.number("audio_share") } else { 0.0 };
            let (network, received) = (network::<E>(parameters)?, Received::new(audio));
            Ok(Box::new(Estimator { network, bps: E::bps, received, next: Time::NEVER }))
        }),
        agent: None,
        policy: None,
        build: Build::Fallible(|parameters, _start| {
            network::<E>(parameters)?;
            Ok(Box::new(EstimateFollower::new(parameters)))
        }),
    }
}

fn network<E: Estimates>(parameters: &Parameters) -> Result<Network, Refusal> {
    let file = parameters.needed_file("weights", "a file with the estimator's network")?;
    Network::new(&Tensors::read("weights", file, &[])?, INPUTS, E::OUTPUTS)
}

/// What an ACK says: the estimate in bit/s, and which share of a datagram is payload.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Report {
    bps: f32,
    payload_share: f32,
}

impl Report {
    fn read(feedback: &[u8]) -> Option<Self> {
        let &[bps, payload_share] = feedback.as_chunks().0 else { return None };
        let report = Self { bps: f32::from_le_bytes(bps), payload_share: f32::from_le_bytes(payload_share) };
        (report.bps.is_finite() && report.payload_share.is_finite()).then_some(report)
    }

    fn write(self, feedback: &mut Vec<u8>) {
        feedback.extend_from_slice(&self.bps.to_le_bytes());
        feedback.extend_from_slice(&self.payload_share.to_le_bytes());
    }
}

/// The receiver: sees packets, estimates.
#[derive(Debug)]
struct Estimator {
    network: Network,
    /// What the network's outputs mean, bit/s.
    bps: fn(&[f32]) -> f64,
    received: Received,
    next: Time,
}

impl ReceiverHalf for Estimator {
    fn on_packet(&mut self, event: &Arrived) {
        if !self.next.is_finite() {
            self.next = event.now + STEP;
        }
        self.received.add(event);
    }

    fn next_timer(&self) -> Time {
        self.next
    }

    fn write_feedback(&mut self, now: Time, feedback: &mut Vec<u8>) {
        // ACKs that leave for other reasons bring nothing.
        if now < self.next {
            return;
        }
        self.next = now + STEP;
        let observation = self.received.observation();
        let bps = (self.bps)(self.network.step(observation)) as f32;
        Report { bps, payload_share: self.received.payload_share() }.write(feedback);
    }
}

/// The sender: sends at the rate that the receiver estimated.
#[derive(Debug)]
struct EstimateFollower {
    min_bps: f64,
    max_bps: f64,
    /// The newest estimate, bit/s; `None` before the first.
    estimate: Option<f64>,
    /// The encoder's rate, bit/s.
    rate: f64,
}

impl EstimateFollower {
    fn new(parameters: &Parameters) -> Self {
        let max_bps = parameters.number("max_rate_mbps") * 1e6;
        let min_bps = (parameters.number("min_rate_mbps") * 1e6).min(max_bps);
        let rate = (parameters.number("initial_rate_mbps") * 1e6).clamp(min_bps, max_bps);
        Self { min_bps, max_bps, estimate: None, rate }
    }
}

impl Controller for EstimateFollower {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        if let Some(report) = Report::read(ack.feedback) {
            let estimate = f64::from(report.bps);
            self.estimate = Some(estimate);
            self.rate = (estimate * f64::from(report.payload_share)).clamp(self.min_bps, self.max_bps);
        }
    }

    fn control(&self) -> Control {
        Control {
            pacing: Some(Rate::from_bps_f64(PACING_FACTOR * self.rate)),
            media_rate: Some(Rate::from_bps_f64(self.rate)),
            ..Control::window(u64::MAX)
        }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("rate", "Mbit/s", self.rate / 1e6);
        sink.put("estimate", "Mbit/s", self.estimate.unwrap_or(0.0) / 1e6);
    }
}

#[cfg(test)]
pub(crate) mod tests;
