//! NADA: one composite signal of delay, loss and marks, in units of delay, decides a live encoder's rate.
//!
//! Source: RFC 8698 and its authors' ns-3 code (cisco/ns3-rmcat@adb3f8e,
//! `model/congestion-control/nada-controller.cc`). Every 100 ms of feedback gives a reference rate. While there is
//! neither loss nor queue the rate jumps above the received rate ("accelerated ramp-up"). Otherwise it follows two
//! values: the distance of the signal `x` from `x_ref * max_rate / rate`, and the change of the signal. With recent
//! losses queueing delay is warped down, so that NADA does not starve next to loss-based flows.
//!
//! Choices that the sources leave open:
//!
//! - An update comes with the first feedback at least half an interval after the last. An update after a pause counts
//!   for at most `tau`.
//! - The encoder gets somewhat less than the reference rate, and the pacer somewhat more, depending on the sender's
//!   queue (RFC 8698 4.3, at most 5 % as in the code).
//! - Marks count as in the RFC; the code has none. Rates are payload; nothing but pacing limits sending.
//!
//! Expected: alone the link's rate, at `x_ref * max_rate / rate` of queueing delay; equal shares among flows of the
//! same `max_rate`.

mod losses;
mod received;

use crate::parts::FrameClock;
use crate::{
    Ack, Build, Control, Controller, Ecn, Entry, FieldSink, Frame, Loss, Parameter, Parameters, Start,
};
use losses::Losses;
use received::Received;
use units::{Rate, Span, Time};

/// Filtering delay in the gain of accelerated ramp-up (`DFILT`), ms.
const FILTER_DELAY_MS: f64 = 120.0;
/// Maximum queueing delay that ramp-up may cause (`QBOUND`), ms.
const QUEUE_BOUND_MS: f64 = 50.0;
/// Maximum gain of ramp-up (`GAMMA_MAX`).
const GAMMA_MAX: f64 = 0.5;
/// Queueing delay that still counts as no queue (`QEPS`), ms.
const QUEUE_EPSILON_MS: f64 = 10.0;
/// Queueing delay above which the delay is warped (`QTH`), ms.
const WARP_FROM_MS: f64 = 50.0;
/// Decay of warped delay (`LAMBDA`).
const WARP_DECAY: f64 = 0.5;
/// Number of loss intervals after which losses are forgotten (`MULTILOSS`).
const LOSS_MEMORY: f64 = 7.0;
/// Penalty of losses at `plr_ref` (`DLOSS`), ms.
const LOSS_PENALTY_MS: f64 = 10.0;
/// Penalty of marks at [`MARK_REFERENCE`] (`DMARK`), ms.
const MARK_PENALTY_MS: f64 = 2.0;
/// Marking ratio of that penalty (`PMRREF`).
const MARK_REFERENCE: f64 = 0.01;
/// Maximum signal (`XMAX`), ms.
const MAX_SIGNAL_MS: f64 = 500.0;
/// Maximum part by which the sender's queue reduces the encoder's rate and raises the pacing rate.
const MAX_BUFFER_SHARE: f64 = 0.05;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "nada",
    summary: "NADA for live encoders (RFC 8698)",
    parameters: &[
        Parameter::number("min_rate_mbps", "Mbit/s", 0.15, (0.001, 1e5), "Lowest and first rate (RMIN)."),
        Parameter::number(
            "max_rate_mbps",
            "Mbit/s",
            1.5,
            (0.001, 1e5),
            "Highest rate; the queueing delay at equilibrium is x_ref times this over the rate (RMAX).",
        ),
        Parameter::number("priority", "", 1.0, (0.01, 100.0), "Weight against other flows (PRIO)."),
        Parameter::number("x_ref_ms", "ms", 10.0, (0.1, 1000.0), "Signal at the highest rate (XREF)."),
        Parameter::number("kappa", "", 0.5, (0.0, 10.0), "Gain of the gradual update (KAPPA)."),
        Parameter::number("eta", "", 2.0, (0.0, 100.0), "Weight of the signal's change (ETA)."),
        Parameter::number("tau_ms", "ms", 500.0, (10.0, 10_000.0), "Time scale of the update (TAU)."),
        Parameter::number(
            "interval_ms",
            "ms",
            100.0,
            (1.0, 5000.0),
            "Time between updates (DELTA); the receiver's reports come with the transport's ack_delay_ms.",
        ),
        Parameter::number(
            "window_ms",
            "ms",
            500.0,
            (10.0, 10_000.0),
            "Observation window of receive rate, losses and delays (LOGWIN).",
        ),
        Parameter::number("plr_ref", "", 0.01, (1e-4, 1.0), "Loss ratio of the nominal penalty (PLRREF)."),
        Parameter::number("alpha", "", 0.1, (0.001, 1.0), "Weight of a new loss or mark ratio (ALPHA)."),
        Parameter::number(
            "beta",
            "",
            0.1,
            (0.0, 10.0),
            "How much the sender's queue moves encoder and pacing rate apart (BETA_V = BETA_S; 0 in the code).",
        ),
        Parameter::flag(
            "quirk_first_packet",
            false,
            "An update knows only the first packet of the report it comes with, as in the code; the others wait for the next.",
        ),
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Nada::new(parameters, start))),
};

#[derive(Debug)]
struct Nada {
    constants: Constants,
    received: Received,
    losses: Losses,
    clock: FrameClock,
    marked: u64,
    packets: u64,
    mark_ratio: f64,
    /// Reference rate, bit/s.
    rate: f64,
    /// Composite signal, ms.
    signal: f64,
    is_ramping: bool,
    first_packet_only: bool,
    /// Reduction of the encoder's rate and increase of the pacing rate due to the sender's queue, bit/s.
    buffer_share: f64,
    updated_at: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Constants {
    min_bps: f64,
    max_bps: f64,
    priority: f64,
    x_ref_ms: f64,
    kappa: f64,
    eta: f64,
    tau_ms: f64,
    interval: Span,
    plr_ref: f64,
    alpha: f64,
    beta: f64,
}

impl Nada {
    fn new(parameters: &Parameters, _start: &Start) -> Self {
        let span = |name| Span::from_secs_f64(parameters.number(name) / 1e3);
        let max_bps = parameters.number("max_rate_mbps") * 1e6;
        let constants = Constants {
            min_bps: (parameters.number("min_rate_mbps") * 1e6).min(max_bps),
            max_bps,
            priority: parameters.number("priority"),
            x_ref_ms: parameters.number("x_ref_ms"),
            kappa: parameters.number("kappa"),
            eta: parameters.number("eta"),
            tau_ms: parameters.number("tau_ms"),
            interval: span("interval_ms"),
            plr_ref: parameters.number("plr_ref"),
            alpha: parameters.number("alpha"),
            beta: parameters.number("beta"),
        };
        Self {
            received: Received::new(span("window_ms")),
            losses: Losses::new(span("window_ms")),
            clock: FrameClock::default(),
            marked: 0,
            packets: 0,
            mark_ratio: 0.0,
            rate: constants.min_bps,
            signal: 0.0,
            is_ramping: true,
            first_packet_only: parameters.flag("quirk_first_packet"),
            buffer_share: 0.0,
            updated_at: None,
            constants,
        }
    }

    /// Returns the queueing delay for the signal. While losses are recent it is warped: another flow may be filling a
    /// deep queue, and must not take the whole rate.
    fn perceived_delay(&self, delay_ms: f64) -> f64 {
        let warped = if delay_ms <= WARP_FROM_MS {
            delay_ms
        } else {
            WARP_FROM_MS * libm::exp(-WARP_DECAY * (delay_ms - WARP_FROM_MS) / WARP_FROM_MS)
        };
        let Some((current, average)) = self.losses.intervals() else { return delay_ms };
        let forgotten = ((current - LOSS_MEMORY * average) / average).clamp(0.0, 1.0);
        forgotten * delay_ms + (1.0 - forgotten) * warped
    }

    fn update(&mut self, now: Time, queued_bytes: u64) {
        let elapsed = self.updated_at.map_or(self.constants.interval, |at| now - at);
        self.updated_at = Some(now);
        let delay_ms = self.received.queue_delay_ms();
        let packets = core::mem::take(&mut self.packets);
        let marked = core::mem::take(&mut self.marked).min(packets);
        let loss_ratio = self.losses.update(now, self.received.packets(), self.constants.alpha);
        let mark_ratio = if packets > 0 { marked as f64 / packets as f64 } else { 0.0 };
        self.mark_ratio += self.constants.alpha * (mark_ratio - self.mark_ratio);
        let losses = loss_ratio / self.constants.plr_ref;
        let marks = self.mark_ratio / MARK_REFERENCE;
        let penalty = LOSS_PENALTY_MS * losses * losses + MARK_PENALTY_MS * marks * marks;
        let previous = self.signal;
        self.signal = (self.perceived_delay(delay_ms) + penalty).min(MAX_SIGNAL_MS);
        self.is_ramping =
            !self.losses.in_window() && self.received.largest_queue_delay_ms() < QUEUE_EPSILON_MS;
        if self.is_ramping {
            self.ramp_up();
        } else {
            self.follow(elapsed.as_ms_f64().min(self.constants.tau_ms), previous);
        }
        self.rate = self.rate.clamp(self.constants.min_bps, self.constants.max_bps);
        self.share_buffer(queued_bytes);
    }

    fn ramp_up(&mut self) {
        let reaction_ms = self.received.rtt_ms() + self.constants.interval.as_ms_f64() + FILTER_DELAY_MS;
        let gain = (QUEUE_BOUND_MS / reaction_ms).min(GAMMA_MAX);
        self.rate = self.rate.max((1.0 + gain) * self.received.rate_bps());
    }

    fn follow(&mut self, elapsed_ms: f64, previous: f64) {
        let Constants { priority, x_ref_ms, max_bps, kappa, eta, tau_ms, .. } = self.constants;
        let offset = self.signal - priority * x_ref_ms * max_bps / self.rate;
        let change = self.signal - previous;
        let step = kappa * (elapsed_ms / tau_ms) * (offset / tau_ms) + kappa * eta * (change / tau_ms);
        self.rate -= step * self.rate;
    }

    /// Computes the part of the rate by which the sender's queue reduces the encoder's rate and raises the pacing rate
    /// (RFC 8698 4.3).
    fn share_buffer(&mut self, queued_bytes: u64) {
        let frames_per_s = self.clock.period_s().map_or(0.0, |period| 1.0 / period);
        // A source that always has more has no queue to drain.
        let queued = if queued_bytes == u64::MAX { 0.0 } else { queued_bytes as f64 };
        self.buffer_share =
            (self.constants.beta * 8.0 * queued * frames_per_s).min(MAX_BUFFER_SHARE * self.rate);
    }
}

impl Controller for Nada {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        let elapsed = self.updated_at.map(|at| ack.now - at);
        // The authors' code has a mistake here: each packet of a report asks for an update, and the first one gets it.
        let is_early =
            self.first_packet_only && elapsed.is_none_or(|elapsed| elapsed >= self.constants.interval);
        for (place, packet) in ack.packets.iter().enumerate() {
            self.received.add(ack.now, packet);
            self.losses.acknowledged(packet.number);
            self.packets += 1;
            if is_early && place == 0 {
                self.update(ack.now, ack.queued_bytes);
            }
        }
        let is_due = elapsed.is_none_or(|elapsed| elapsed >= self.constants.interval / 2);
        if is_due && !is_early && !ack.packets.is_empty() {
            self.update(ack.now, ack.queued_bytes);
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        self.losses.add(loss);
    }

    fn on_ecn(&mut self, ecn: &Ecn) {
        self.marked += ecn.ce_packets;
    }

    fn on_frame(&mut self, frame: &Frame) {
        self.clock.tick(frame.now);
    }

    fn control(&self) -> Control {
        let pacing = (self.rate + self.buffer_share).min(self.constants.max_bps);
        let media = (self.rate - self.buffer_share).max(self.constants.min_bps);
        Control {
            pacing: Some(Rate::from_bps_f64(pacing)),
            media_rate: Some(Rate::from_bps_f64(media)),
            ..Control::window(u64::MAX)
        }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("ref_rate", "Mbit/s", self.rate / 1e6);
        sink.put("signal", "ms", self.signal);
        sink.put("qdelay", "ms", self.received.queue_delay_ms());
        sink.put("receive_rate", "Mbit/s", self.received.rate_bps() / 1e6);
        sink.put("loss_ratio", "", self.losses.ratio());
        sink.put("ramp_up", "0 no, 1 yes", f64::from(u8::from(self.is_ramping)));
    }
}

#[cfg(test)]
mod tests;
