//! `SCReAM` version 2: a reference window that grows about linearly and yields to loss, marks and queueing delay. The
//! window determines the bitrate of a live encoder.
//!
//! Source: the authors' program (EricssonResearch/scream@c8f84c3, `code/ScreamV2Tx.cpp`, `ScreamV2TxStream.cpp`, with
//! the arguments from `scream_sender.cpp`) and draft-ietf-ccwg-rfc8298bis-screamv2. Congestion is, in this order:
//!
//! - loss (times 0.7), once more than 1 % are lost or there is a queue;
//! - ECN marks (L4S: by the fraction of marked packets; classic: times a factor);
//! - "virtual marks", once the averaged queueing delay is above half its target of 60 ms.
//!
//! There is at most one reaction per min(30 ms, srtt). Growth is one segment per RTT plus, long after congestion, 5 %
//! of the window. It is less near the window of the last congestion and while the queueing delay varies. The encoder
//! gets the window per RTT, less overhead, less a margin.
//!
//! Program and draft agree in structure. The draft has other constants and calls some of the program's parts optional;
//! `form = draft` and the scheme `scream-draft` follow it. Choices here:
//!
//! - An application that is not an encoder is only paced and windowed.
//! - The maximum flight covers the last two round trips, as the transport reports it; the program uses 50 to 100 ms.
//! - A frame that is queued for too long stays; the program empties its queue after 200 ms.
//! - The program detects losses late (`late.rs`): `loss_delay_packets`.
//!
//! Expected: 30 to 60 ms of queueing delay at most and most of the link if the encoder can fill it.

mod acked;
mod bound;
mod delay;
mod form;
mod jitter;
mod late;
mod losses;
mod marks;
mod media;
mod rtt;

use crate::{
    Ack, Build, Control, Controller, Ecn, Entry, FieldSink, Frame, Loss, Parameter, Parameters, Sent, Start,
    Timeout,
};
use acked::AckedRate;
use bound::Peak;
use delay::{DelayOptions, QueueDelay};
use form::Form;
use late::LateLosses;
use losses::LossShare;
use marks::MarkShare;
use media::Media;
use rtt::SlowRtt;
use units::{Span, Time};

/// RTT below which growth no longer speeds up (`VIRTUAL_RTT`).
const VIRTUAL_RTT: Span = Span::from_ms(25);
/// Minimum RTT in computations.
const LEAST_RTT: Span = Span::from_ms(1);
/// Minimum scale of the growth and of the reaction to marks near the window of the last congestion.
const LEAST_INFLECTION_SCALE: f64 = 0.25;
/// Minimum scale of the growth while the queueing delay varies, and of the reaction to marks.
const LEAST_JITTER_GROWTH: f64 = 0.1;
const LEAST_JITTER_BACKOFF: f64 = 0.25;
/// Scale of a reaction while the target is well below the acknowledged rate (`BACKOFF_SCALE_LOW_TARGET_RATE`).
const LOW_TARGET_SCALE: f64 = 0.25;
/// Number of RTTs without a reaction after which the first mark reduces the window to the maximum flight.
const STALE_RTTS: u64 = 100;
/// Window over bytes in flight while the queueing delay varies most (`REF_WND_OVERHEAD_MIN`).
const MIN_WINDOW_OVERHEAD: f64 = 1.5;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "scream",
    summary: "SCReAM version 2 for live encoders: its authors' program, or draft-ietf-ccwg-rfc8298bis-screamv2",
    parameters: &[
        Parameter::choice(
            "form",
            "program",
            &["program", "draft"],
            "What program and draft do differently and no other parameter says.",
        ),
        Parameter::number("min_rate_mbps", "Mbit/s", 0.064, (0.001, 1e5), "Lowest target bitrate."),
        Parameter::number("start_rate_mbps", "Mbit/s", 1.0, (0.001, 1e5), "Target bitrate before feedback."),
        Parameter::number("max_rate_mbps", "Mbit/s", 100.0, (0.001, 1e5), "Highest target bitrate."),
        Parameter::number(
            "qdelay_target_ms",
            "ms",
            60.0,
            (1.0, 1000.0),
            "Queueing delay at which the reaction is strongest; it begins at half of it (QDELAY_TARGET_LO).",
        ),
        Parameter::number(
            "loss_threshold",
            "",
            0.01,
            (0.0, 1.0),
            "Averaged share of lost packets up to which losses are ignored while the queue is short (LOSS_RATE_THRESHOLD); 0: none are.",
        ),
        Parameter::integer(
            "loss_delay_packets",
            "packets",
            512,
            (0, 4096),
            "A loss is known when a packet so much later was acknowledged, or one that waited 30 ms longer for sending; 0: at once.",
        ),
        Parameter::flag(
            "jitter_scaling",
            true,
            "Less growth and less in flight while the queueing delay varies (REDUCE_JITTER).",
        ),
        Parameter::number(
            "acked_margin",
            "",
            0.8,
            (0.0, 1.0),
            "Reactions are a quarter while the target is below this share of the acknowledged rate (ACKED_BITRATE_MARGIN); 0: never.",
        ),
        Parameter::number("beta_loss", "", 0.7, (0.1, 1.0), "Window factor after a loss (BETA_LOSS)."),
        Parameter::number(
            "beta_ecn",
            "",
            0.7,
            (0.1, 1.0),
            "Window factor after a mark with `ecn = classic` (BETA_ECN).",
        ),
        Parameter::choice(
            "ecn",
            "l4s",
            &["l4s", "classic"],
            "Reaction to marks: by their share, or a fixed factor.",
        ),
        Parameter::number(
            "min_ref_wnd_bytes",
            "bytes",
            0.0,
            (0.0, 1e9),
            "Smallest reference window (MIN_REF_WND); 0: two packets.",
        ),
        Parameter::number(
            "mul_increase",
            "",
            0.05,
            (0.0, 1.0),
            "Multiplicative growth per RTT long after congestion (MUL_INCREASE_FACTOR).",
        ),
        Parameter::number(
            "post_congestion_rtts",
            "RTT",
            200.0,
            (0.0, 10_000.0),
            "Time until multiplicative growth is back after congestion (POST_CONGESTION_DELAY_RTT).",
        ),
        Parameter::number(
            "inflection_scale",
            "",
            8.0,
            (0.1, 100.0),
            "How narrow the region of slow growth around the last congested window is (libwebrtc: 2).",
        ),
        Parameter::number(
            "in_flight_headroom",
            "",
            2.0,
            (1.0, 100.0),
            "The window grows up to this multiple of what was in flight (BYTES_IN_FLIGHT_HEAD_ROOM; libwebrtc: 1.1).",
        ),
        Parameter::number(
            "window_overhead",
            "",
            5.0,
            (1.0, 100.0),
            "Bytes in flight allowed, relative to the reference window (REF_WND_OVERHEAD_MAX); at full jitter 1.5.",
        ),
        Parameter::number(
            "rate_margin",
            "",
            1.1,
            (1.0, 10.0),
            "The target bitrate stays below window / RTT by this factor (libwebrtc: 1).",
        ),
        Parameter::number(
            "pacing_headroom",
            "",
            1.5,
            (1.0, 10.0),
            "Pacing rate relative to the target bitrate (PACKET_PACING_HEADROOM; libwebrtc: 1.1).",
        ),
        Parameter::number(
            "relaxed_pacing",
            "",
            1.0,
            (1.0, 10.0),
            "The same at the highest bitrate, if more; rises from 80 % of it on.",
        ),
        Parameter::number(
            "adaptive_pacing",
            "",
            1.5,
            (1.0, 10.0),
            "Frames that are too large, or wait, are paced up to this factor faster.",
        ),
        Parameter::number(
            "drain_after_s",
            "s",
            0.0,
            (0.0, 1e6),
            "The target is halved for 5 RTT after the queueing delay stayed above a quarter of its target this long; 0: never (libwebrtc: 20).",
        ),
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Scream::new(parameters, start))),
};

#[derive(Debug)]
struct Scream {
    constants: Constants,
    form: Form,
    /// Reference window, bytes.
    ref_wnd: f64,
    /// Reference window at the last congestion that followed an increase, bytes.
    inflection: Option<f64>,
    increased: bool,
    slow_rtt: SlowRtt,
    /// Smoothed RTT; `None` before the first feedback.
    srtt: Option<Span>,
    delay: QueueDelay,
    marks: MarkShare,
    losses: LossShare,
    media: Media,
    acked_rate: AckedRate,
    peak: Peak,
    /// Loss or mark that waits for its reaction.
    pending: Pending,
    /// Number below which losses belong to an event that was already counted.
    loss_floor: u64,
    late: LateLosses,
    /// Bytes that the window grows for at its next update.
    grown_for: f64,
    updated_at: Time,
    /// True if a frame was written since the latest update.
    frame_written: bool,
    congested_at: Option<Time>,
    reacted_at: Option<Time>,
    /// True if the window is larger than the flight allows.
    is_application_limited: bool,
}

#[derive(Clone, Copy, Debug)]
struct Constants {
    start_rate_bps: f64,
    qdelay_target: f64,
    acked_margin: f64,
    beta_loss: f64,
    beta_ecn: f64,
    is_l4s: bool,
    min_ref_wnd: f64,
    mul_increase: f64,
    post_congestion_rtts: f64,
    inflection_scale: f64,
    in_flight_headroom: f64,
    window_overhead: f64,
    mss: f64,
    initial_window: u64,
}

/// Congestion reported since the last reaction.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    loss: bool,
    mark: bool,
    /// Number of packets marked by the present ACK.
    marked_now: u64,
    /// Bytes lost by the present ACK, which the program counts as arrived.
    lost_now: u64,
}

impl Scream {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let mss = f64::from(start.mss_bytes.max(1));
        let form = if parameters.choice("form") == "draft" { form::DRAFT } else { form::PROGRAM };
        let min_ref_wnd = match parameters.number("min_ref_wnd_bytes") {
            0.0 => 2.0 * mss,
            bytes => bytes.max(mss),
        };
        let constants = Constants {
            start_rate_bps: parameters.number("start_rate_mbps") * 1e6,
            qdelay_target: parameters.number("qdelay_target_ms") / 1e3,
            acked_margin: parameters.number("acked_margin"),
            beta_loss: parameters.number("beta_loss"),
            beta_ecn: parameters.number("beta_ecn"),
            is_l4s: parameters.choice("ecn") == "l4s",
            min_ref_wnd,
            mul_increase: parameters.number("mul_increase"),
            post_congestion_rtts: parameters.number("post_congestion_rtts"),
            inflection_scale: parameters.number("inflection_scale"),
            in_flight_headroom: parameters.number("in_flight_headroom"),
            window_overhead: parameters.number("window_overhead"),
            mss,
            initial_window: start.initial_window_bytes,
        };
        let options = DelayOptions {
            target_s: constants.qdelay_target,
            drain_after_s: parameters.number("drain_after_s"),
            slow_minimum: form.slow_minimum,
            jitter: parameters.flag("jitter_scaling"),
            rounds_arrivals: form.rounds_arrivals,
        };
        let mut scream = Self {
            ref_wnd: constants.min_ref_wnd,
            inflection: None,
            increased: false,
            slow_rtt: SlowRtt::new(start.now),
            srtt: None,
            delay: QueueDelay::new(options, start.now),
            marks: MarkShare::new(form.initial_alpha),
            losses: LossShare::new(parameters.number("loss_threshold")),
            media: Media::new(parameters, form.media, mss),
            acked_rate: AckedRate::default(),
            peak: Peak::default(),
            pending: Pending::default(),
            loss_floor: 0,
            late: LateLosses::new(parameters.integer("loss_delay_packets").unsigned_abs()),
            grown_for: 0.0,
            updated_at: start.now,
            frame_written: false,
            congested_at: form.starts_congested.then_some(start.now),
            reacted_at: None,
            is_application_limited: false,
            constants,
            form,
        };
        if let Some(span) = form.start_span {
            scream.start_window(span);
        }
        scream
    }

    /// Sets the window to the start rate for `span`.
    fn start_window(&mut self, span: Span) {
        let bytes = self.constants.start_rate_bps / 8.0 * span.as_secs_f64();
        self.ref_wnd = bytes.max(self.constants.min_ref_wnd);
    }

    /// Returns the minimum time between two reactions.
    fn reaction_interval(&self, srtt: Span) -> Span {
        srtt.min(self.form.reaction_interval)
    }

    /// Returns the number of reaction intervals in an RTT, at least 1; each reaction is scaled down by it.
    fn reactions_per_rtt(&self, srtt: Span) -> f64 {
        (srtt.as_secs_f64() / self.form.reaction_interval.as_secs_f64()).max(1.0)
    }

    /// Returns the scale of the dynamics at the present distance from the last congested window, 0.1 to 1.
    fn inflection_scale(&self) -> f64 {
        let Some(inflection) = self.inflection else { return 1.0 };
        let distance = self.constants.inflection_scale * (self.ref_wnd - inflection) / inflection;
        (distance * distance).clamp(0.1, 1.0)
    }

    /// Returns the virtual marking: 0 up to half of the delay target, 1 from the target on.
    fn virtual_marking(&self) -> f64 {
        let half = self.constants.qdelay_target / 2.0;
        ((self.delay.average_s() - half) / half).clamp(0.0, 1.0)
    }

    /// Returns the scale of a reaction: when the RTT has just grown, the target is already low.
    fn undershoot_scale(&self) -> f64 {
        let is_low = self.media.target_bps() < self.constants.acked_margin * self.acked_rate.bps();
        if is_low { LOW_TARGET_SCALE } else { 1.0 }
    }

    /// Reduces the window if there is congestion and the last reaction is long enough ago; returns true if it did.
    fn react(&mut self, now: Time, srtt: Span, scale: f64, peak_in_flight: f64) -> bool {
        let elapsed = self.reacted_at.map(|at| now - at);
        let is_early = elapsed.is_some_and(|elapsed| elapsed < self.reaction_interval(srtt));
        if is_early && !(self.pending.loss && self.form.loss_after_rtt) {
            return false;
        }
        let per_rtt = self.reactions_per_rtt(srtt);
        let virtual_marking = self.virtual_marking();
        let before = self.ref_wnd;
        let factor = if self.pending.loss {
            self.constants.beta_loss
        } else if self.pending.mark && !self.constants.is_l4s {
            self.constants.beta_ecn
        } else if self.pending.mark {
            let mut backoff = self.marks.alpha() / 2.0 / per_rtt * self.undershoot_scale();
            if self.delay.latest_s() < self.constants.qdelay_target / 4.0 {
                backoff *= scale.max(LEAST_INFLECTION_SCALE);
                backoff *= self.delay.jitter_scale().max(LEAST_JITTER_BACKOFF);
            }
            let long = srtt.max(VIRTUAL_RTT) * STALE_RTTS;
            if elapsed.is_none_or(|elapsed| elapsed > long) {
                self.ref_wnd = self.ref_wnd.min(peak_in_flight);
            }
            1.0 - backoff
        } else if virtual_marking > 0.0 {
            let again = if self.form.strict_delay { per_rtt } else { 1.0 };
            1.0 - virtual_marking / 2.0 / per_rtt / again * self.undershoot_scale()
        } else {
            return false;
        };
        if self.form.strict_delay {
            self.congested_at = Some(now);
        }
        self.pending = Pending::default();
        if self.increased || self.inflection.is_none() {
            self.inflection = Some(before);
            self.increased = false;
        }
        self.ref_wnd = (self.ref_wnd * factor).max(self.constants.min_ref_wnd);
        self.reacted_at = Some(now);
        true
    }

    /// Grows the window for the bytes acknowledged without a mark since the latest update.
    fn increase(&mut self, now: Time, srtt: Span, scale: f64, peak_in_flight: f64) {
        let acked = core::mem::take(&mut self.grown_for);
        let constants = &self.constants;
        let ratio = (constants.mss / self.ref_wnd).min(1.0);
        let long = srtt.max(self.form.min_recovery_rtt).as_secs_f64() * constants.post_congestion_rtts;
        let calm =
            self.congested_at.map_or(1.0, |at| ((now - at).as_secs_f64() / long.max(1e-9)).clamp(0.0, 1.0));
        let multiplicative = 1.0 + constants.mul_increase * self.ref_wnd / constants.mss * calm * scale;
        let step = acked
            * ratio
            * (srtt.as_secs_f64() / VIRTUAL_RTT.as_secs_f64()).min(1.0)
            * scale.max(LEAST_INFLECTION_SCALE)
            * self.delay.jitter_scale().max(LEAST_JITTER_GROWTH)
            * multiplicative;
        let allowed = constants.mss + constants.in_flight_headroom * peak_in_flight;
        self.is_application_limited = allowed < self.ref_wnd;
        if self.ref_wnd + step <= allowed && !self.media.is_at_maximum() {
            self.ref_wnd += step;
            self.increased = true;
        }
    }

    /// Bounds the window near the highest bitrate. A window above the maximum flight would become a queue at
    /// congestion.
    fn bound_at_maximum(&mut self, now: Time, srtt: Span, peak_in_flight: f64) {
        if self.peak.add(now, peak_in_flight)
            && let Some(needed) = self.media.window_at_maximum(srtt)
        {
            self.ref_wnd = self.ref_wnd.min(needed.max(self.peak.get())).max(self.constants.min_ref_wnd);
        }
    }

    /// Updates the smoothed RTT of a report; returns it.
    fn smooth_rtt(&mut self, ack: &Ack<'_>) -> Span {
        let srtt = match ack.rtt {
            Some(rtt) if self.form.slow_rtt => {
                self.slow_rtt.add(ack.now, rtt, self.is_application_limited);
                self.slow_rtt.get()
            }
            _ if self.form.slow_rtt => self.slow_rtt.get(),
            _ => ack.srtt,
        };
        let srtt = srtt.max(LEAST_RTT);
        if self.srtt.is_none() && self.form.start_span.is_none() {
            self.start_window(srtt);
        }
        self.srtt = Some(srtt);
        srtt
    }

    /// Returns true if a loss needs a reaction. Few losses without a queue do not, nor does a loss right after a
    /// reaction.
    fn is_congestion(&self, now: Time) -> bool {
        let is_queued = self.delay.average_s() > self.constants.qdelay_target / 4.0;
        let is_early = self.form.loss_after_rtt
            && self.reacted_at.is_some_and(|at| now - at <= self.srtt.unwrap_or(VIRTUAL_RTT));
        !is_early && (is_queued || self.losses.is_congestion())
    }

    fn notice_loss(&mut self, now: Time, next_number: u64, is_new: bool) {
        if is_new && self.is_congestion(now) {
            self.loss_floor = next_number;
            self.pending.loss = true;
        }
        self.losses.add(true, self.ref_wnd / self.constants.mss);
    }

    fn update_target(&mut self, now: Time) {
        if let Some(srtt) = self.srtt {
            self.media.update(now, self.ref_wnd, srtt);
        }
    }
}

impl Controller for Scream {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        let Some(newest) = ack.packets.last() else { return };
        let numbers = ack.packets.iter().map(|packet| packet.number);
        for _ in 0..self.late.on_acked(numbers, newest.number) {
            self.notice_loss(ack.now, ack.next_number, true);
        }
        let srtt = self.smooth_rtt(ack);
        self.delay.add(ack.now, ack.packets, ack.ack_delay, self.reaction_interval(srtt), srtt);
        if self.delay.take_drain(ack.now) {
            self.media.drain(ack.now, srtt);
        }
        for _ in ack.packets {
            self.losses.add(false, self.ref_wnd / self.constants.mss);
        }
        let packets = ack.packets.len() as u64;
        let marked = self.pending.marked_now.min(packets);
        let lost = core::mem::take(&mut self.pending.lost_now);
        self.pending.marked_now = 0;
        self.marks.add(ack.now, srtt, packets, marked);
        let arrived = ack.acked_bytes + if self.form.loss_after_rtt { lost } else { 0 };
        self.acked_rate.add(ack.now, arrived);
        self.grown_for += arrived as f64 * (packets - marked) as f64 / packets as f64;
        if self.pending.loss || self.pending.mark {
            self.congested_at = Some(ack.now);
        }
        let scale = self.inflection_scale();
        let peak_in_flight = ack.peak_in_flight_bytes as f64;
        if self.form.bounds_at_maximum {
            self.bound_at_maximum(ack.now, srtt, peak_in_flight);
        }
        let reacted = self.react(ack.now, srtt, scale, peak_in_flight);
        let is_due = ack.now - self.updated_at > self.reaction_interval(srtt);
        if reacted || is_due || self.frame_written || !self.form.updates_at_intervals {
            (self.updated_at, self.frame_written) = (ack.now, false);
            self.increase(ack.now, srtt, scale, peak_in_flight);
            self.update_target(ack.now);
        }
        self.pending.mark &= !self.form.forgets_marks;
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        self.pending.lost_now += loss.lost_bytes;
        let is_new = self.form.loss_after_rtt
            || loss.packets.last().is_some_and(|newest| newest.number >= self.loss_floor);
        for packet in loss.packets {
            if self.late.is_on() {
                self.late.on_lost(packet.number);
            } else {
                self.notice_loss(loss.now, loss.next_number, is_new);
            }
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if self.form.loss_after_rtt {
            return;
        }
        self.loss_floor = timeout.next_number;
        self.pending.loss = true;
        self.congested_at = Some(timeout.now);
        self.reacted_at = None;
        let srtt = self.srtt.unwrap_or(VIRTUAL_RTT);
        self.react(timeout.now, srtt, 1.0, self.ref_wnd);
        self.update_target(timeout.now);
    }

    fn on_ecn(&mut self, ecn: &Ecn) {
        self.pending.mark = true;
        self.pending.marked_now += ecn.ce_packets;
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.late.on_sent(sent.now, sent.number, u64::from(sent.bytes));
    }

    fn on_frame(&mut self, frame: &Frame) {
        self.late.on_frame(frame.now, frame.bytes);
        self.media.on_frame(frame);
        self.frame_written = true;
        self.update_target(frame.now);
    }

    fn control(&self) -> Control {
        let window = if self.srtt.is_some() || self.form.start_span.is_some() {
            let spare = (self.constants.window_overhead - MIN_WINDOW_OVERHEAD).max(0.0);
            let least = self.constants.window_overhead.min(MIN_WINDOW_OVERHEAD);
            (self.ref_wnd * (least + spare * self.delay.jitter_scale())) as u64
        } else {
            self.constants.initial_window
        };
        let is_paced = self.srtt.is_some() || !self.form.paces_after_report;
        Control {
            pacing: is_paced.then(|| self.media.pacing()),
            media_rate: Some(self.media.target()),
            ..Control::window(window.max(self.constants.mss as u64))
        }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("ref_wnd", "bytes", self.ref_wnd);
        sink.put("ref_wnd_i", "bytes", self.inflection.unwrap_or(self.ref_wnd));
        sink.put("qdelay", "ms", self.delay.latest_s() * 1e3);
        sink.put("qdelay_avg", "ms", self.delay.average_s() * 1e3);
        sink.put("jitter_scale", "", self.delay.jitter_scale());
        sink.put("loss_share", "", self.losses.share());
        sink.put("l4s_alpha", "", self.marks.alpha());
        sink.put("target_rate", "Mbit/s", self.media.target().mbps());
        sink.put("rate_adjust", "", self.media.rate_adjust());
    }
}

#[cfg(test)]
mod tests;
