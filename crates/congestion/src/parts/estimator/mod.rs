//! Bandwidth estimators for calls. Every 60 ms a network at the receiver estimates the path's bandwidth, and the
//! encoder gets the estimate.
//!
//! Source: the ACM `MMSys` 2024 grand challenge, microsoft/RL4BandwidthEstimationChallenge@fcf857c5, README.md: fifteen
//! features, each of the five last intervals of 60 ms and of 600 ms, newest first. The receiver sends its estimate back
//! with every decision. The challenge leaves some choices to the service; dumbbell's are:
//!
//! - Rates count whole datagrams. The encoder gets the payload's share of the estimate.
//! - The delay of the first packet counts as 200 ms, and others by their difference from it. The reason is the scaling
//!   of the published networks: it ends at 200 ms for the minimum delay, and it subtracts 200 ms from delays.
//! - The encoder here sends no audio, and no packet counts as audio. In the calls of the challenge 42 % are audio,
//!   which is the mean that the baseline's scaling subtracts (`audio_share`).
//! - An interval without packets has zeros except for the minimum delay.
//! - Packets leave at 2.5 times the encoder's rate, as libwebrtc M150 paces (`modules/congestion_controller/goog_cc`).
//!
//! All three published networks use this interface: [`crate::learned::teams_bwe`], [`crate::learned::ten_tms`],
//! [`crate::learned::farc`].

mod received;

use crate::network::{Network, Tensors};
use crate::{
    Ack, Arrived, Build, Control, Controller, Entry, FieldSink, Parameter, Parameters, ReceiverHalf,
};
use received::{INPUTS, Received};
use strict_input::Refusal;
use units::{Rate, Span, Time};

/// Time between two decisions.
const STEP: Span = Span::from_ms(60);
/// Pacing rate as a multiple of the encoder's rate.
const PACING_FACTOR: f64 = 2.5;

const PARAMETERS: &[Parameter] = &[
    Parameter::needed_file("weights", "The network: safetensors of 150 inputs."),
    Parameter::number("initial_rate_mbps", "Mbit/s", 0.3, (0.01, 1e5), "Rate before the first estimate."),
    Parameter::number("min_rate_mbps", "Mbit/s", 0.01, (0.001, 1e5), "Lowest rate."),
    Parameter::number("max_rate_mbps", "Mbit/s", 8.0, (0.001, 1e5), "Highest rate."),
    Parameter::number("audio_share", "", 0.0, (0.0, 1.0), "Share of packets that count as audio."),
];

/// Properties of one estimator.
pub(crate) trait Estimates {
    const NAME: &'static str;
    const SUMMARY: &'static str;
    /// Number of the network's outputs.
    const OUTPUTS: usize;
    /// True if the network sees the audio flags of packets.
    const SEES_AUDIO: bool = true;

    /// Converts the network's outputs to bit/s.
    fn bps(outputs: &[f32]) -> f64;
}

/// Returns the estimator's entry of the registry.
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

/// Contents of an ACK's feedback: the estimate in bit/s, and the payload's share of a datagram.
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

/// Receiver, which sees the packets and estimates.
#[derive(Debug)]
struct Estimator {
    network: Network,
    /// Conversion of the network's outputs to bit/s.
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
        // An ACK that leaves for another reason carries no estimate.
        if now < self.next {
            return;
        }
        self.next = now + STEP;
        let observation = self.received.observation();
        let bps = (self.bps)(self.network.step(observation)) as f32;
        Report { bps, payload_share: self.received.payload_share() }.write(feedback);
    }
}

/// Sender, which sends at the rate that the receiver estimated.
#[derive(Debug)]
struct EstimateFollower {
    min_bps: f64,
    max_bps: f64,
    /// Newest estimate, bit/s; `None` before the first.
    estimate: Option<f64>,
    /// Rate of the encoder, bit/s.
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
