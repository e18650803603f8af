//! `SCReAM` version 2: a reference window that grows about linearly and yields to loss, marks and queueing delay, and the
//! bitrate that it lets a live encoder produce.
//!
//! Source: draft-ietf-ccwg-rfc8298bis-screamv2. Congestion is, in this order: loss
//! (times 0.7), ECN marks (L4S: by the share of marked packets; classic: times 0.8), and "virtual marks" once the
//! averaged queueing delay is above half its target of 60 ms. At most one reaction per min(25 ms, srtt); growth is one
//! segment per RTT plus, long after congestion, 2 % of the window, and slows down near the window of the last
//! congestion. The encoder gets what the window carries per RTT, less overhead, less a margin of at least 1.2.
//!
//! Where the draft leaves room: losses of one flight count once; the smoothed RTT is the transport's, the time for which
//! the receiver holds its reports included; the window begins at the start rate times the first RTT (as in libwebrtc);
//! an application that is not an encoder is only paced and windowed; a timeout counts as a loss.
//!
//! Expected: 30 to 60 ms of queueing delay and more than 90 % of the link if the encoder can fill it.

mod delay;
mod marks;
mod media;

use crate::{
    Ack, Build, Control, Controller, Ecn, Entry, FieldSink, Frame, Loss, Parameter, Parameters, Start,
    Timeout,
};
use delay::QueueDelay;
use marks::MarkShare;
use media::Media;
use units::{Span, Time};

/// RTT below which the dynamics no longer speed up (`VIRTUAL_RTT`).
const VIRTUAL_RTT: Span = Span::from_ms(25);
/// Smallest RTT that is computed with.
const LEAST_RTT: Span = Span::from_ms(1);
/// Least share of the growth and of the reaction to marks near the window of the last congestion.
const LEAST_INFLECTION_SCALE: f64 = 0.25;

/// Registry entry.
pub(crate) const ENTRY: Entry = Entry {
    name: "scream",
    summary: "SCReAM version 2 for live encoders (draft-ietf-ccwg-rfc8298bis-screamv2)",
    parameters: &[
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
        Parameter::number("beta_loss", "", 0.7, (0.1, 1.0), "Window factor after a loss (BETA_LOSS)."),
        Parameter::number(
            "beta_ecn",
            "",
            0.8,
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
            3000.0,
            (100.0, 1e9),
            "Smallest reference window (MIN_REF_WND).",
        ),
        Parameter::number(
            "mul_increase",
            "",
            0.02,
            (0.0, 1.0),
            "Multiplicative growth per RTT long after congestion (MUL_INCREASE_FACTOR).",
        ),
        Parameter::number(
            "post_congestion_rtts",
            "RTT",
            100.0,
            (0.0, 10_000.0),
            "Time until multiplicative growth is back after loss or marks (POST_CONGESTION_DELAY_RTT).",
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
            1.5,
            (1.0, 100.0),
            "The window grows up to this multiple of what was in flight (BYTES_IN_FLIGHT_HEAD_ROOM; libwebrtc: 1.1).",
        ),
        Parameter::number(
            "window_overhead",
            "",
            3.0,
            (1.0, 100.0),
            "Bytes in flight allowed, relative to the reference window (REF_WND_OVERHEAD_MAX).",
        ),
        Parameter::number(
            "rate_margin",
            "",
            1.2,
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
            4.0,
            (1.0, 10.0),
            "The same at the highest bitrate; rises from 80 % of it on.",
        ),
        Parameter::number(
            "drain_after_s",
            "s",
            20.0,
            (0.0, 1e6),
            "The target is halved for 5 RTT after the queueing delay stayed above a quarter of its target this long; 0: never (libwebrtc: 20).",
        ),
    ],
    receiver: None,
    build: Build::Function(|parameters, start| Box::new(Scream::new(parameters, start))),
};

#[derive(Debug)]
struct Scream {
    constants: Constants,
    /// Reference window, bytes.
    ref_wnd: f64,
    /// The same at the last congestion that followed an increase, bytes.
    inflection: Option<f64>,
    increased: bool,
    /// `None` before the first feedback.
    srtt: Option<Span>,
    delay: QueueDelay,
    marks: MarkShare,
    media: Media,
    /// Loss or mark that waits for its reaction.
    pending: Pending,
    /// Losses of packets below this number belong to an event that was counted.
    loss_floor: u64,
    congested_at: Option<Time>,
    reacted_at: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Constants {
    start_rate_bps: f64,
    qdelay_target: f64,
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

/// What was reported since the last reaction.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    loss: bool,
    mark: bool,
    /// Packets marked by the ACK that is being processed.
    marked_now: u64,
}

impl Scream {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let mss = f64::from(start.mss_bytes.max(1));
        let constants = Constants {
            start_rate_bps: parameters.number("start_rate_mbps") * 1e6,
            qdelay_target: parameters.number("qdelay_target_ms") / 1e3,
            beta_loss: parameters.number("beta_loss"),
            beta_ecn: parameters.number("beta_ecn"),
            is_l4s: parameters.choice("ecn") == "l4s",
            min_ref_wnd: parameters.number("min_ref_wnd_bytes").max(mss),
            mul_increase: parameters.number("mul_increase"),
            post_congestion_rtts: parameters.number("post_congestion_rtts"),
            inflection_scale: parameters.number("inflection_scale"),
            in_flight_headroom: parameters.number("in_flight_headroom"),
            window_overhead: parameters.number("window_overhead"),
            mss,
            initial_window: start.initial_window_bytes,
        };
        Self {
            ref_wnd: constants.min_ref_wnd,
            inflection: None,
            increased: false,
            srtt: None,
            delay: QueueDelay::new(constants.qdelay_target, parameters.number("drain_after_s")),
            marks: MarkShare::default(),
            media: Media::new(parameters, mss),
            pending: Pending::default(),
            loss_floor: 0,
            congested_at: None,
            reacted_at: None,
            constants,
        }
    }

    /// Share of the full dynamics at the present distance from the last congested window, 0.1 to 1.
    fn inflection_scale(&self) -> f64 {
        let Some(inflection) = self.inflection else { return 1.0 };
        let distance = self.constants.inflection_scale * (self.ref_wnd - inflection) / inflection;
        (distance * distance).clamp(0.1, 1.0)
    }

    /// Virtual marks: 0 up to half of the delay target, 1 from the target on.
    fn virtual_marking(&self) -> f64 {
        let half = self.constants.qdelay_target / 2.0;
        ((self.delay.average_s() - half) / half).clamp(0.0, 1.0)
    }

    /// Reduces the window if there is congestion and the last reaction is long enough ago.
    fn react(&mut self, now: Time, srtt: Span, scale: f64, peak_in_flight: f64) {
        let elapsed = self.reacted_at.map(|at| now - at);
        if elapsed.is_some_and(|elapsed| elapsed < srtt.min(VIRTUAL_RTT)) {
            return;
        }
        // The draft's gains are per virtual RTT: above it there are several reactions per RTT.
        let per_reaction = (srtt.as_secs_f64() / VIRTUAL_RTT.as_secs_f64()).max(1.0);
        let virtual_marking = self.virtual_marking();
        let before = self.ref_wnd;
        let factor = if self.pending.loss {
            self.constants.beta_loss
        } else if self.pending.mark && !self.constants.is_l4s {
            self.constants.beta_ecn
        } else if self.pending.mark {
            let mut backoff = self.marks.alpha() / 2.0 / per_reaction;
            if self.delay.latest_s() < self.constants.qdelay_target / 4.0 {
                backoff *= scale.max(LEAST_INFLECTION_SCALE);
            }
            let long = srtt.max(VIRTUAL_RTT).mul_f64(self.constants.post_congestion_rtts);
            if elapsed.is_none_or(|elapsed| elapsed > long) {
                self.ref_wnd = self.ref_wnd.min(peak_in_flight);
            }
            1.0 - backoff
        } else if virtual_marking > 0.0 {
            1.0 - virtual_marking / 2.0 / per_reaction
        } else {
            return;
        };
        self.pending = Pending::default();
        if self.increased || self.inflection.is_none() {
            self.inflection = Some(before);
            self.increased = false;
        }
        self.ref_wnd = (self.ref_wnd * factor).max(self.constants.min_ref_wnd);
        self.reacted_at = Some(now);
    }

    fn increase(&mut self, now: Time, srtt: Span, scale: f64, acked: f64, peak_in_flight: f64) {
        let constants = &self.constants;
        let ratio = (constants.mss / self.ref_wnd).min(1.0);
        let long = srtt.max(VIRTUAL_RTT).as_secs_f64() * constants.post_congestion_rtts;
        let calm =
            self.congested_at.map_or(1.0, |at| ((now - at).as_secs_f64() / long.max(1e-9)).clamp(0.0, 1.0));
        let multiplicative = 1.0 + constants.mul_increase * self.ref_wnd / constants.mss * calm * scale;
        let step = acked
            * ratio
            * (srtt.as_secs_f64() / VIRTUAL_RTT.as_secs_f64()).min(1.0)
            * scale.max(LEAST_INFLECTION_SCALE)
            * multiplicative;
        let allowed = constants.mss + constants.in_flight_headroom * peak_in_flight;
        if self.ref_wnd + step <= allowed && !self.media.is_at_maximum() {
            self.ref_wnd += step;
            self.increased = true;
        }
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
        let srtt = ack.srtt.max(LEAST_RTT);
        if self.srtt.is_none() {
            let bytes = self.constants.start_rate_bps / 8.0 * srtt.as_secs_f64();
            self.ref_wnd = bytes.max(self.constants.min_ref_wnd);
        }
        self.srtt = Some(srtt);
        let least = ack.packets.iter().map(crate::AckedPacket::one_way_delay_ns).min().unwrap_or_default();
        self.delay.add(ack.now, newest.one_way_delay_ns(), least, srtt.min(VIRTUAL_RTT));
        if self.delay.take_drain(ack.now) {
            self.media.drain(ack.now, srtt);
        }
        let packets = ack.packets.len() as u64;
        let marked = self.pending.marked_now.min(packets);
        self.pending.marked_now = 0;
        self.marks.add(ack.now, srtt, packets, marked);
        if self.pending.loss || self.pending.mark {
            self.congested_at = Some(ack.now);
        }
        let scale = self.inflection_scale();
        let peak_in_flight = ack.peak_in_flight_bytes as f64;
        self.react(ack.now, srtt, scale, peak_in_flight);
        let unmarked = ack.acked_bytes as f64 * (packets - marked) as f64 / packets as f64;
        self.increase(ack.now, srtt, scale, unmarked, peak_in_flight);
        self.update_target(ack.now);
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if loss.packets.last().is_some_and(|newest| newest.number >= self.loss_floor) {
            self.loss_floor = loss.next_number;
            self.pending.loss = true;
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
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

    fn on_frame(&mut self, frame: &Frame) {
        self.media.on_frame(frame);
        self.update_target(frame.now);
    }

    fn control(&self) -> Control {
        let window = if self.srtt.is_some() {
            (self.ref_wnd * self.constants.window_overhead) as u64
        } else {
            self.constants.initial_window
        };
        Control {
            pacing: Some(self.media.pacing()),
            media_rate: Some(self.media.target()),
            ..Control::window(window.max(self.constants.mss as u64))
        }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("ref_wnd", "bytes", self.ref_wnd);
        sink.put("ref_wnd_i", "bytes", self.inflection.unwrap_or(self.ref_wnd));
        sink.put("qdelay", "ms", self.delay.latest_s() * 1e3);
        sink.put("qdelay_avg", "ms", self.delay.average_s() * 1e3);
        sink.put("l4s_alpha", "", self.marks.alpha());
        sink.put("target_rate", "Mbit/s", self.media.target().mbps());
        sink.put("rate_adjust", "", self.media.rate_adjust());
    }
}

#[cfg(test)]
mod tests;
