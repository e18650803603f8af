//! Google Congestion Control as in libwebrtc, which Chromium uses for its media.
//!
//! Source: libwebrtc M150 (branch-head 7871), `modules/congestion_controller/goog_cc/goog_cc_network_control.cc` and
//! its parts; not the Kalman filter of draft-ietf-rmcat-gcc. The receiver reports each packet's arrival time. The
//! delay-based estimate (`delay_based.rs`) follows the growth of delays, the loss-based one (`loss_based.rs`) the
//! losses. The target is the smaller of both (`send_side.rs`). Probes (`probing.rs`, `clusters.rs`) find capacity that
//! the encoder does not use. The pacer (`pacer.rs`) sends at a little more than the target. The encoder gets the target
//! less the rate of retransmissions (`protection.rs`), and still less while too much is in flight (`pushback.rs`).
//!
//! Everything here counts IP datagrams, as libwebrtc does. Windows and rates of the transport count payload, so
//! `overhead_bytes` is needed. Rates are bit/s.
//!
//! Expected (`docs/evidence/derivations.md`): on 4 Mbit/s, 50 ms: above 80 % within 5 s, 85 to 95 % used, 10 to 40 ms
//! of queue. Loss-based flows in deep buffers starve it, but never completely.

mod acked_rate;
mod aimd;
mod alr;
mod arrival;
mod clusters;
mod delay_based;
mod feedback;
mod loss_based;
mod loss_model;
mod numbers;
mod pacer;
mod probing;
mod protection;
mod pushback;
mod send_side;
mod settings;
mod trendline;

#[cfg(test)]
mod tests;

use crate::{
    Ack, AckedPacket, Build, Control, Controller, Entry, FieldSink, Frame, Loss, Parameters, Sent, Start,
};
use acked_rate::AckedRate;
use alr::Alr;
use clusters::Clusters;
use delay_based::DelayBased;
use feedback::Feedback;
use loss_based::LossState;
use numbers::ms;
use pacer::Pacer;
use probing::{Limit, Probing};
use protection::Protection;
use pushback::Pushback;
use send_side::SendSide;
use settings::PARAMETERS;
use trendline::Usage;
use units::{Rate, Span, Time};

/// Time between two updates of the state without feedback.
const PROCESS_INTERVAL: Span = ms(25);
/// Resolution of arrival times in feedback, ns.
const ARRIVAL_NS: u64 = 250_000;
/// Minimum result of a probe, as a fraction of the receive rate.
const PROBE_FLOOR: f64 = 0.85;
/// Maximum rate without an overall maximum, bit/s.
const NO_MAX: f64 = 1e9;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "gcc",
    summary: "Google Congestion Control of libwebrtc M150: trendline filter, AIMD, probing, loss model",
    parameters: PARAMETERS,
    receiver: Some(|parameters, _| Ok(Box::new(Feedback::new(parameters)))),
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Gcc::new(parameters, start))),
};

#[derive(Debug)]
struct Gcc {
    mss_bytes: u32,
    overhead_bytes: u32,
    pads_after_loss: bool,
    delay_based: DelayBased,
    acked_rate: AckedRate,
    send_side: SendSide,
    probing: Probing,
    clusters: Clusters,
    alr: Alr,
    pacer: Pacer,
    protection: Protection,
    pushback: Pushback,
    /// Latest acknowledged rate, bit/s.
    acked: Option<f64>,
    rtt: Span,
    /// Number of packets that the present feedback reports as lost.
    lost: u64,
    /// Packets that the present feedback reports as received, in the order of arrival.
    received: Vec<AckedPacket>,
    process_at: Time,
}

impl Gcc {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let min = parameters.number("min_rate_kbps") * 1e3;
        let set_max = parameters.number("max_rate_mbps") * 1e6;
        let max = if set_max > 0.0 { set_max.max(min) } else { NO_MAX };
        let start_rate = (parameters.number("start_rate_kbps") * 1e3).clamp(min, max);
        let probe_max = if set_max > 0.0 { max } else { f64::INFINITY };
        let mut probing = Probing::new(parameters, start_rate, probe_max);
        let mut clusters = Clusters::new();
        clusters.add(start.now, probing.start(start.now));
        Self {
            mss_bytes: start.mss_bytes.max(1),
            overhead_bytes: parameters.integer("overhead_bytes") as u32,
            pads_after_loss: parameters.number("loss_padding_s") > 0.0,
            delay_based: DelayBased::new(parameters, start_rate, min),
            acked_rate: AckedRate::new(),
            send_side: SendSide::new(parameters, start_rate, min, max),
            probing,
            clusters,
            alr: Alr::new(start_rate),
            pacer: Pacer::new(parameters, start.now),
            protection: Protection::new(start.now),
            pushback: Pushback::new(parameters, start_rate),
            acked: None,
            rtt: Span::ZERO,
            lost: 0,
            received: Vec::with_capacity(1024),
            process_at: start.now + PROCESS_INTERVAL,
        }
    }

    /// Returns the bytes of a packet's IP datagram.
    fn datagram_bytes(&self, bytes: u32) -> f64 {
        f64::from(bytes) + f64::from(self.overhead_bytes)
    }

    /// Returns the payload's fraction of a full packet.
    fn payload_share(&self, payload_bytes: f64) -> f64 {
        payload_bytes / (payload_bytes + f64::from(self.overhead_bytes))
    }

    /// Takes the newly received packets with the resolution of feedback. Returns the RTT without the wait for the
    /// report.
    fn collect(&mut self, ack: &Ack<'_>) -> Option<Span> {
        self.received.clear();
        for packet in ack.packets {
            let arrival_ns = packet.received_at.as_ns();
            let received_at = Time::from_ns(arrival_ns - arrival_ns % ARRIVAL_NS);
            self.received.push(AckedPacket { received_at, ..*packet });
        }
        self.received.sort_unstable_by_key(|packet| (packet.received_at, packet.number));
        let latest = self.received.last()?.received_at;
        let rtts = self.received.iter().map(|packet| {
            let waited = latest - packet.received_at;
            (ack.now - packet.sent_at).saturating_sub(waited)
        });
        rtts.min()
    }

    /// Returns the result of a probe in this feedback, bit/s.
    fn probe_result(&mut self) -> Option<f64> {
        let mut result = None;
        for packet in &self.received {
            let bytes = f64::from(packet.bytes) + f64::from(self.overhead_bytes);
            let found = self.clusters.on_received(packet.number, packet.sent_at, packet.received_at, bytes);
            result = found.or(result);
        }
        let floor = self.acked.map_or(0.0, |acked| self.delay_based.rate().min(PROBE_FLOOR * acked));
        result.map(|rate| rate.max(floor))
    }

    /// Passes on the target, which may have changed.
    fn on_target(&mut self, now: Time) {
        let target = self.send_side.target();
        self.alr.set_target(target);
        self.pushback.update(target);
        let probes = self.probing.set_estimate(now, target, self.limit());
        self.clusters.add(now, probes);
    }

    fn limit(&self) -> Limit {
        if self.delay_based.usage() != Usage::Normal || self.send_side.is_rtt_above_limit() {
            return Limit::Congested;
        }
        match self.send_side.loss_state() {
            LossState::DelayBased => Limit::DelayBased,
            LossState::Increasing if !self.pads_after_loss => Limit::LossBasedIncreasing,
            LossState::Decreasing | LossState::Increasing => Limit::Congested,
        }
    }
}

impl Controller for Gcc {
    fn on_sent(&mut self, event: &Sent) {
        let bytes = self.datagram_bytes(event.bytes);
        if !event.filler {
            self.clusters.begin(event.now);
            self.pacer.on_sent(event.now, event.bytes);
        }
        self.clusters.on_sent(event.number, bytes);
        self.alr.on_sent(event.now, bytes);
        self.protection.on_sent(event.now, bytes, event.retransmission);
        self.send_side.on_sent(event.now);
        self.pushback.on_sent(event.now, event.number, bytes);
        self.pushback.update(self.send_side.target());
    }

    fn on_frame(&mut self, event: &Frame) {
        self.pacer.set_queue(event.now, event.queued_bytes, event.queue_delay);
        self.clusters.begin(event.now);
    }

    fn on_loss(&mut self, event: &Loss<'_>) {
        // The losses belong to the feedback that `on_ack` gets next.
        for packet in event.packets {
            let bytes = self.datagram_bytes(packet.bytes);
            let observations = self.send_side.loss_based.observations();
            observations.on_missing(packet.number, packet.sent_at, bytes);
            self.lost += 1;
        }
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        let now = ack.now;
        self.pacer.set_queue(now, ack.queued_bytes, ack.queue_delay);
        let Some(rtt) = self.collect(ack) else { return };
        self.rtt = rtt;
        self.pacer.on_feedback();
        self.pushback.on_report(now, ack.packets);
        let lost = std::mem::take(&mut self.lost);
        self.send_side.on_report(now, rtt, ack.packets.len() as u64 + lost, lost);
        self.probing.set_alr(now, self.alr.since());
        self.delay_based.begin_report(now, rtt);
        for packet in &self.received {
            let bytes = f64::from(packet.bytes) + f64::from(self.overhead_bytes);
            self.acked_rate.add(packet.sent_at, packet.received_at, bytes);
            self.delay_based.on_received(now, packet.sent_at, packet.received_at);
            let observations = self.send_side.loss_based.observations();
            observations.on_received(packet.number, packet.sent_at, bytes, packet.was_lost);
        }
        self.acked = self.acked_rate.rate();
        let probe = self.probe_result();
        let news = self.delay_based.end_report(now, self.acked, probe);
        if news.updated {
            self.send_side.set_delay_based(self.delay_based.rate(), news.from_probe);
        }
        self.send_side.update_loss_based(now, self.acked, self.alr.since().is_some());
        if news.updated {
            self.on_target(now);
        }
        if news.recovered {
            let probes = self.probing.on_recovery(now);
            self.clusters.add(now, probes);
        }
        self.pushback.set_window();
    }

    fn on_wake(&mut self, now: Time) {
        self.process_at = now + PROCESS_INTERVAL;
        self.send_side.update(now);
        self.protection.advance(now);
        self.probing.set_alr(now, self.alr.since());
        let probes = self.probing.process(now);
        self.clusters.add(now, probes);
        self.pushback.set_window();
        self.on_target(now);
    }

    fn control(&self) -> Control {
        let target = self.send_side.target();
        let probe = self.clusters.rate();
        let is_trying = self.pads_after_loss && self.send_side.loss_state() == LossState::Increasing;
        let allowance = self.pacer.allowance(target, probe, is_trying.then(|| self.pushback.pushed()));
        let full_bytes = f64::from(self.mss_bytes);
        let filler_bytes = allowance
            .filler_bytes
            .map(|bytes| (bytes - f64::from(self.overhead_bytes)).round().clamp(1.0, full_bytes));
        let sent_next_bytes = filler_bytes.filter(|_| self.pacer.is_empty()).unwrap_or(full_bytes);
        let share = self.payload_share(sent_next_bytes);
        let media_rate = target * self.payload_share(full_bytes) * (1.0 - self.protection.share());
        Control {
            pacing: Some(Rate::from_bps_f64((allowance.rate * share).max(1.0))),
            burst_bytes: (allowance.burst_bytes * share) as u64,
            wake_at: self.process_at,
            media_rate: Some(Rate::from_bps_f64(self.pushback.encoder_rate(media_rate))),
            filler_bytes: filler_bytes.map(|bytes| bytes as u32),
            ..Control::window(u64::MAX)
        }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        let mbps = |rate: f64| rate / 1e6;
        sink.put("target", "Mbit/s", mbps(self.send_side.target()));
        sink.put("pushed_target", "Mbit/s", mbps(self.pushback.pushed()));
        sink.put("delay_based", "Mbit/s", mbps(self.delay_based.rate()));
        sink.put("loss_based", "Mbit/s", mbps(self.send_side.loss_based_rate().unwrap_or(0.0)));
        sink.put("acked_rate", "Mbit/s", mbps(self.acked.unwrap_or(0.0)));
        sink.put("link_capacity", "Mbit/s", mbps(self.delay_based.capacity().unwrap_or(0.0)));
        sink.put("probe_rate", "Mbit/s", mbps(self.clusters.rate().unwrap_or(0.0)));
        sink.put("trend", "ms", self.delay_based.trendline().trend_ms());
        sink.put("threshold", "ms", self.delay_based.trendline().threshold_ms());
        let usage = match self.delay_based.usage() {
            Usage::Underuse => -1.0,
            Usage::Normal => 0.0,
            Usage::Overuse => 1.0,
        };
        sink.put("usage", "-1 underuse, 0 normal, 1 overuse", usage);
        let loss_state = match self.send_side.loss_state() {
            LossState::DelayBased => 0.0,
            LossState::Decreasing => 1.0,
            LossState::Increasing => 2.0,
        };
        sink.put("loss_state", "0 delay-based, 1 decreasing, 2 increasing", loss_state);
        sink.put("average_loss", "", self.send_side.loss_based.average_loss());
        sink.put("inherent_loss", "", self.send_side.loss_based.inherent_loss());
        sink.put("application_limited", "0 no, 1 yes", f64::from(u8::from(self.alr.since().is_some())));
        sink.put("outstanding", "bytes", self.pushback.outstanding_bytes());
        sink.put("rtt", "ms", self.rtt.as_ms_f64());
    }
}
