//! `SCReAM` version 1: a self-clocked window with a delay target of 100 ms, and an encoder rate that climbs slowly.
//!
//! Source: RFC 8298 as coded in EricssonResearch/scream@c3370fd (June 2017), `code/ScreamTx.cpp`, the library that
//! Pantheon measured. In fast start the window grows by the acknowledged bytes. Afterwards it grows by `mss / cwnd` of
//! them times the distance to the delay target, and shrinks above the target. A trend of the delay (lag-one correlation
//! of its last second) ends fast start. The maximum flight of the last five seconds bounds the window. The encoder's
//! rate follows separately, every 200 ms, at no more than `ramp_up_kbps_per_s`.
//!
//! Mapping of its events to the transport's:
//!
//! - Reports, at most one per 5 ms, are the ACKs; arrival and departure times count in whole ms as on its wire.
//! - A packet is lost 20 ms (of sending time) behind the newest acknowledged one. The transport decides, and lost bytes
//!   then count as acknowledged.
//! - The queue of packets that wait too long is not cleared: the encoder skips frames instead (`skip_queue_ms`).
//! - The 200 ms without a packet that open the window are the controller's timer.
//! - "Bytes in flight" of the last seconds are taken after sending (high) and after reports (low).
//!
//! Expected: with Pantheon's arguments a constant 200 kbit/s on any path; with the intended ones about 5.5 Mbit/s after
//! 30 s.

mod delay;
mod media;
mod rates;
mod reports;
mod window;

use crate::{
    Ack, Build, Control, Controller, Entry, FieldSink, Frame, Loss, Parameter, Parameters, Sent, Start,
    Timeout,
};
use delay::DelayTrend;
use media::MediaRate;
use rates::RateMeter;
use reports::Reports;
use units::{Rate, Span, Time};
use window::{Round, Window};

/// Time without a packet after which the window opens for one.
const SEND_TIMEOUT: Span = Span::from_ms(200);
/// Minimum rate that the pacing is computed from, bit/s (`kMinimumBandwidth`).
const LEAST_BANDWIDTH_BPS: f64 = 5000.0;
/// Fraction of the delay target from which on packets are paced.
const PACED_FROM: f64 = 0.1;
/// Minimum RTT in computations.
const LEAST_RTT: Span = Span::from_ms(1);
/// Bitrate of an encoder of Pantheon's after the library's loss signal, bit/s.
const REPAIR_BPS: u64 = 1000;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "scream-v1",
    summary: "SCReAM version 1 for live encoders (RFC 8298 as coded in 2017)",
    parameters: &[
        Parameter::number("min_rate_kbps", "kbit/s", 64.0, (1.0, 1e8), "Lowest target bitrate."),
        Parameter::number("start_rate_kbps", "kbit/s", 64.0, (1.0, 1e8), "Target bitrate at the start."),
        Parameter::number("max_rate_kbps", "kbit/s", 100_000.0, (1.0, 1e8), "Highest target bitrate."),
        Parameter::number(
            "ramp_up_kbps_per_s",
            "kbit/s/s",
            200.0,
            (0.0, 1e8),
            "Fastest rise of the target bitrate, which is also at most half of it per second (kRampUpSpeed).",
        ),
        Parameter::number(
            "max_rtp_queue_delay_ms",
            "ms",
            100.0,
            (0.0, 1e5),
            "The target does not rise while the sender's queue is older (kMaxRtpQueueDelay).",
        ),
        Parameter::number(
            "tx_queue_size_factor",
            "",
            0.2,
            (0.0, 10.0),
            "How much of the sender's queue is taken off the target (kTxQueueSizeFactor).",
        ),
        Parameter::number(
            "queue_delay_guard",
            "",
            0.1,
            (0.0, 10.0),
            "How much the delay's trend lowers the target (kQueueDelayGuard).",
        ),
        Parameter::number(
            "loss_event_rate_scale",
            "",
            0.9,
            (0.1, 1.0),
            "Factor on the target bitrate after a loss (kLossEventRateScale).",
        ),
        Parameter::number(
            "queue_delay_target_ms",
            "ms",
            100.0,
            (1.0, 1e4),
            "Queueing delay to keep (kQueueDelayTargetMin).",
        ),
        Parameter::number("loss_beta", "", 0.6, (0.1, 1.0), "Window factor after a loss (kLossBeta)."),
        Parameter::number(
            "gain_up",
            "",
            1.0,
            (0.0, 100.0),
            "Window growth below the delay target (kGainUp).",
        ),
        Parameter::number(
            "gain_down",
            "",
            2.0,
            (0.0, 100.0),
            "Window reduction above the delay target (kGainDown).",
        ),
        Parameter::number(
            "pacing_headroom",
            "",
            1.5,
            (1.0, 100.0),
            "Pacing rate relative to window / RTT (kPacketPacingHeadRoom).",
        ),
        Parameter::flag(
            "quirk_repair_frame",
            false,
            "Pantheon's client takes the library's loss signal for a bitrate: the next frame is nearly empty.",
        ),
        Parameter::flag(
            "quirk_one_packet_per_event",
            false,
            "Pantheon's client sends one packet at each frame and each report: a pacing gap below 1 ms stops its timer.",
        ),
    ],
    receiver: Some(|_, _| Ok(Box::new(Reports::default()))),
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(ScreamV1::new(parameters, start))),
};

#[derive(Debug)]
struct ScreamV1 {
    pacing_headroom: f64,
    /// Bytes of a full packet. The library starts at two segments of 100 bytes, but a full packet may leave
    /// nevertheless.
    packet_bytes: u64,
    has_repair_quirk: bool,
    sends_one_per_event: bool,
    /// True if a packet has left since the last frame or report.
    has_sent: bool,
    window: Window,
    delay: DelayTrend,
    rates: RateMeter,
    media: MediaRate,
    rtt: SmoothedRtt,
    in_flight: u64,
    /// Pacing rate; `None` while packets leave unpaced.
    pacing: Option<Rate>,
    last_sent: Option<Time>,
    /// True if the window is open for one packet after a pause.
    opened: bool,
    /// True if losses wait for the next report.
    loss_pending: bool,
    lost_bytes: u64,
    last_loss_event: Option<Time>,
    /// True if the next frame must be nearly empty.
    repair: bool,
}

/// RTT with two smoothing stages: per report, and once per round trip.
#[derive(Clone, Copy, Debug, Default)]
struct SmoothedRtt {
    short: Span,
    smoothed: Span,
    updated_at: Time,
}

impl SmoothedRtt {
    fn add(&mut self, now: Time, rtt: Span) {
        if self.short.is_zero() {
            (self.short, self.smoothed, self.updated_at) = (rtt, rtt, now);
            return;
        }
        self.short = (self.short * 7 + rtt) / 8;
        if now - self.updated_at > self.short {
            self.smoothed = (self.smoothed * 7 + self.short) / 8;
            self.updated_at = now;
        }
    }

    fn get(self) -> Span {
        self.smoothed.max(LEAST_RTT)
    }
}

impl ScreamV1 {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let target_s = parameters.number("queue_delay_target_ms") / 1e3;
        Self {
            pacing_headroom: parameters.number("pacing_headroom"),
            packet_bytes: u64::from(start.mss_bytes),
            has_repair_quirk: parameters.flag("quirk_repair_frame"),
            sends_one_per_event: parameters.flag("quirk_one_packet_per_event"),
            has_sent: false,
            window: Window::new(parameters, start.now),
            delay: DelayTrend::new(target_s, start.now),
            rates: RateMeter::new(start.now),
            media: MediaRate::new(parameters),
            rtt: SmoothedRtt::default(),
            in_flight: 0,
            pacing: None,
            last_sent: None,
            opened: false,
            loss_pending: false,
            lost_bytes: 0,
            last_loss_event: None,
            repair: false,
        }
    }

    /// Returns true if losses reported since the last event form a new event: at most one per smoothed RTT.
    fn take_loss_event(&mut self, now: Time) -> bool {
        let is_event = core::mem::take(&mut self.loss_pending)
            && self.last_loss_event.is_none_or(|at| now - at > self.rtt.get());
        if is_event {
            self.last_loss_event = Some(now);
            self.repair = self.has_repair_quirk;
            self.media.on_loss_event();
        }
        is_event
    }

    fn update_rates(&mut self, now: Time) {
        if self.rates.update(now) {
            self.media.on_rates(&self.rates);
        }
    }

    fn update_pacing(&mut self) {
        let bandwidth = (self.window.bytes() * 8.0 / self.rtt.get().as_secs_f64()).max(LEAST_BANDWIDTH_BPS);
        self.pacing = (self.delay.average_fraction() > PACED_FROM)
            .then(|| Rate::from_bps_f64(self.pacing_headroom * bandwidth));
    }
}

impl Controller for ScreamV1 {
    fn on_sent(&mut self, sent: &Sent) {
        self.in_flight = sent.in_flight_bytes;
        self.last_sent = Some(sent.now);
        self.opened = false;
        self.has_sent = true;
        self.window.on_sent(sent);
        self.rates.sent(u64::from(sent.bytes));
        self.update_rates(sent.now);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.has_sent = false;
        let Some(newest) = ack.packets.last() else { return };
        self.in_flight = ack.in_flight_bytes;
        // The wire format carries whole milliseconds.
        let ms = |time: Time| (time.as_ns() / 1_000_000) as i64;
        let one_way_ms = ms(newest.received_at) - ms(newest.sent_at);
        self.rtt.add(ack.now, ack.now - newest.sent_at);
        self.rates.acked(ack.acked_bytes);
        self.update_rates(ack.now);
        let loss_event = self.take_loss_event(ack.now);
        let is_slot_over = self.delay.add(ack.now, one_way_ms);
        let late: u64 =
            ack.packets.iter().filter(|packet| packet.was_lost).map(|packet| u64::from(packet.bytes)).sum();
        let newly_acked = (ack.acked_bytes - late + core::mem::take(&mut self.lost_bytes)) as f64;
        let reduction = self.window.on_report(&Round {
            now: ack.now,
            newly_acked,
            in_flight: ack.in_flight_bytes as f64,
            delay: self.delay.latest_s(),
            trend: self.delay.trend(),
            srtt: self.rtt.get(),
            sent_bps: self.rates.sent_bps(),
            rate_bps: self.rates.sent_bps().max(self.rates.acked_bps()),
            loss_event,
        });
        self.media.on_window_reduced(reduction);
        if is_slot_over {
            self.update_pacing();
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        self.in_flight = loss.in_flight_bytes;
        self.lost_bytes += loss.lost_bytes;
        self.loss_pending = true;
    }

    fn on_timeout(&mut self, _timeout: &Timeout) {
        (self.in_flight, self.has_sent) = (0, false);
        self.loss_pending = true;
    }

    fn on_wake(&mut self, now: Time) {
        if self.last_sent.is_some_and(|sent| now - sent >= SEND_TIMEOUT) {
            self.opened = true;
        }
    }

    fn on_frame(&mut self, frame: &Frame) {
        (self.repair, self.has_sent) = (false, false);
        self.media.on_frame(frame, &self.rates, &self.window, self.delay.trend());
        self.rates.encoded(frame.bytes);
        self.update_rates(frame.now);
    }

    fn control(&self) -> Control {
        let allowance = if self.delay.is_below_target() { self.window.mss() } else { 0.0 };
        let mut window_bytes = ((self.window.bytes() + allowance) as u64).max(self.packet_bytes);
        let mut wake_at = self.last_sent.map_or(Time::NEVER, |sent| sent + SEND_TIMEOUT);
        if self.opened {
            window_bytes = window_bytes.max(self.in_flight + self.packet_bytes);
            wake_at = Time::NEVER;
        }
        if self.sends_one_per_event && self.has_sent && !self.opened {
            window_bytes = self.in_flight.max(1);
        }
        let media_rate = if self.repair { Rate::from_bps(REPAIR_BPS) } else { self.media.encoder_rate() };
        Control {
            pacing: self.pacing,
            wake_at,
            media_rate: Some(media_rate),
            ..Control::window(window_bytes)
        }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("cwnd", "bytes", self.window.bytes());
        sink.put("fast_start", "0 no, 1 yes", f64::from(u8::from(self.window.is_fast_start())));
        sink.put("qdelay", "ms", self.delay.latest_s() * 1e3);
        sink.put("qdelay_trend", "", self.delay.trend());
        sink.put("target_rate", "Mbit/s", self.media.target_bps() / 1e6);
    }
}

#[cfg(test)]
mod tests;
