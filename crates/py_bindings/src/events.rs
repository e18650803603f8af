//! What controllers in Python are told and what they answer: plain objects, times in s, sizes in bytes, rates in bit/s.

#![allow(clippy::struct_field_names, reason = "events have the names of their kind in them")]

use congestion::{AckedPacket, Start as CoreStart, TimeoutKind};
use plugin::Answer;
use pyo3::prelude::*;
use units::{Span, Time};

/// What a controller is given when its flow begins.
#[pyclass(frozen, get_all, module = "dumbbell.plugins")]
pub(crate) struct Start {
    /// The flow's start, s since the start of the run.
    now_s: f64,
    /// Payload of a full packet, bytes, without headers: what it counts in every window and rate.
    mss_bytes: u32,
    /// The transport's initial window, payload bytes.
    initial_window_bytes: u64,
    /// For whatever is drawn at random.
    seed: u64,
}

impl From<&CoreStart> for Start {
    fn from(start: &CoreStart) -> Self {
        Self {
            now_s: start.now.as_secs_f64(),
            mss_bytes: start.mss_bytes,
            initial_window_bytes: start.initial_window_bytes,
            seed: start.seed,
        }
    }
}

/// One packet that was acknowledged or lost.
#[pyclass(frozen, get_all, module = "dumbbell.plugins")]
pub(crate) struct Packet {
    /// Grows by one with every transmission, never used twice.
    number: u64,
    /// Payload bytes, without headers: what window and pacing count for it.
    bytes: u32,
    /// On the sender's clock.
    sent_at_s: f64,
    /// On the receiver's clock; without meaning in a loss.
    received_at_s: f64,
    /// With the unknown offset of the clocks in it: only differences mean anything.
    one_way_delay_s: f64,
    /// Payload lost on the connection, in all, when it was sent.
    lost_at_send_bytes: u64,
    /// Payload in flight just after it was sent.
    in_flight_at_send_bytes: u64,
    /// Whether it carried data that was sent before.
    retransmission: bool,
    /// Whether it had been declared lost: a spurious loss.
    was_lost: bool,
    /// Whether it arrived marked with CE; False also if the ACK that listed it was lost.
    ce: bool,
}

impl From<&AckedPacket> for Packet {
    fn from(packet: &AckedPacket) -> Self {
        Self {
            number: packet.number,
            bytes: packet.bytes,
            sent_at_s: packet.sent_at.as_secs_f64(),
            received_at_s: packet.received_at.as_secs_f64(),
            one_way_delay_s: packet.one_way_delay_ns() as f64 / 1e9,
            lost_at_send_bytes: packet.lost_at_send_bytes,
            in_flight_at_send_bytes: packet.in_flight_at_send_bytes,
            retransmission: packet.retransmission,
            was_lost: packet.was_lost,
            ce: packet.ce,
        }
    }
}

/// A delivery rate sample.
#[pyclass(frozen, get_all, module = "dumbbell.plugins")]
#[derive(Clone)]
pub(crate) struct RateSample {
    /// Payload bits per second.
    bps: u64,
    /// Payload delivered over the interval.
    delivered_bytes: u64,
    /// The longer of the send and the ACK interval.
    interval_s: f64,
    /// Payload delivered in all when the newest packet was sent.
    prior_delivered_bytes: u64,
    /// Payload lost over the interval.
    lost_bytes: u64,
    /// Payload in flight just after the newest packet was sent.
    in_flight_at_send_bytes: u64,
    /// Whether it was taken while the application limited the sender.
    app_limited: bool,
}

/// At least one packet was newly acknowledged. Every count of bytes is of payload, without headers.
#[pyclass(frozen, module = "dumbbell.plugins")]
pub(crate) struct Ack {
    /// Now, s since the start of the run.
    #[pyo3(get)]
    now_s: f64,
    packets: Vec<AckedPacket>,
    /// Sum of the packets' payload, selectively acknowledged and sent again included.
    #[pyo3(get)]
    acked_bytes: u64,
    /// Payload by which a window grows: `acked_bytes`, or as far as the stream is complete.
    #[pyo3(get)]
    growth_bytes: u64,
    /// Payload declared lost by this ACK; `on_loss` has been called.
    #[pyo3(get)]
    lost_bytes: u64,
    /// RTT of the newest packet; None without a sample.
    #[pyo3(get)]
    rtt_s: Option<f64>,
    /// Smoothed RTT (RFC 6298).
    #[pyo3(get)]
    srtt_s: f64,
    /// RTT variation.
    #[pyo3(get)]
    rttvar_s: f64,
    /// Smallest RTT of the connection's life.
    #[pyo3(get)]
    min_rtt_s: f64,
    /// So long the receiver says to have held the ACK.
    #[pyo3(get)]
    ack_delay_s: f64,
    /// Payload in flight before this ACK.
    #[pyo3(get)]
    in_flight_before_bytes: u64,
    /// Payload in flight now: sent, neither acknowledged nor declared lost.
    #[pyo3(get)]
    in_flight_bytes: u64,
    /// Most payload in flight at any moment since the start of the previous round trip.
    #[pyo3(get)]
    peak_in_flight_bytes: u64,
    /// Whether the window limited sending since the previous round trip.
    #[pyo3(get)]
    window_limited: bool,
    /// Whether the pacer kept packets back since the previous round trip that would have filled the window.
    #[pyo3(get)]
    pacing_limited: bool,
    /// Whether the application had nothing to send, and what was in flight then has not arrived.
    #[pyo3(get)]
    app_limited: bool,
    /// Payload delivered on the connection, in all; each transmission that arrived counts.
    #[pyo3(get)]
    delivered_bytes: u64,
    rate: Option<congestion::RateSample>,
    /// Whether a round trip ended with this ACK.
    #[pyo3(get)]
    round_start: bool,
    /// Whether an episode goes on that a loss or a mark began; False after a timeout. The transport reduces nothing of
    /// the controller's window meanwhile.
    #[pyo3(get)]
    in_recovery: bool,
    /// Number of the next transmission.
    #[pyo3(get)]
    next_number: u64,
    queued_bytes: u64,
    /// So long the oldest frame of a live source has waited.
    #[pyo3(get)]
    queue_delay_s: f64,
    /// The receiver has the stream up to here: TCP's cumulative acknowledgement; 0 where nothing is sent again.
    #[pyo3(get)]
    complete_bytes: u64,
    /// The stream was sent up to here; what is sent again does not count twice.
    #[pyo3(get)]
    sent_bytes: u64,
}

#[pymethods]
impl Ack {
    /// Newly acknowledged packets, in ascending order.
    #[getter]
    fn packets(&self) -> Vec<Packet> {
        self.packets.iter().map(Packet::from).collect()
    }

    /// Delivery rate sample, if there is one.
    #[getter]
    fn rate(&self) -> Option<RateSample> {
        self.rate.map(|rate| RateSample {
            bps: rate.rate.bps(),
            delivered_bytes: rate.delivered_bytes,
            interval_s: rate.interval.as_secs_f64(),
            prior_delivered_bytes: rate.prior_delivered_bytes,
            lost_bytes: rate.lost_bytes,
            in_flight_at_send_bytes: rate.in_flight_at_send_bytes,
            app_limited: rate.app_limited,
        })
    }

    /// Payload written by the application and not sent; None if it always has more.
    #[getter]
    fn queued_bytes(&self) -> Option<u64> {
        Some(self.queued_bytes).filter(|bytes| *bytes != u64::MAX)
    }

    /// Whether a window may grow: it limited sending, or, in slow start, is less than twice what was in flight.
    fn may_grow(&self, window_bytes: f64, in_slow_start: bool) -> bool {
        self.window_limited
            || self.pacing_limited
            || (in_slow_start && window_bytes < 2.0 * self.peak_in_flight_bytes as f64)
    }
}

impl From<&congestion::Ack<'_>> for Ack {
    fn from(event: &congestion::Ack<'_>) -> Self {
        Self {
            now_s: event.now.as_secs_f64(),
            packets: event.packets.to_vec(),
            acked_bytes: event.acked_bytes,
            growth_bytes: event.growth_bytes,
            lost_bytes: event.lost_bytes,
            rtt_s: event.rtt.map(Span::as_secs_f64),
            srtt_s: event.srtt.as_secs_f64(),
            rttvar_s: event.rttvar.as_secs_f64(),
            min_rtt_s: event.min_rtt.as_secs_f64(),
            ack_delay_s: event.ack_delay.as_secs_f64(),
            in_flight_before_bytes: event.in_flight_before_bytes,
            in_flight_bytes: event.in_flight_bytes,
            peak_in_flight_bytes: event.peak_in_flight_bytes,
            window_limited: event.window_limited,
            pacing_limited: event.pacing_limited,
            app_limited: event.app_limited,
            delivered_bytes: event.delivered_bytes,
            rate: event.rate,
            round_start: event.round_start,
            in_recovery: event.in_recovery,
            next_number: event.next_number,
            queued_bytes: event.queued_bytes,
            queue_delay_s: event.queue_delay.as_secs_f64(),
            complete_bytes: event.complete_bytes,
            sent_bytes: event.sent_bytes,
        }
    }
}

/// Packets were declared lost. Comes before the ACK that revealed it. The window is the controller's to reduce: the
/// transport reads it right after `on_loss` has begun an episode, and lets the flight shrink to it (`recovery`).
#[pyclass(frozen, module = "dumbbell.plugins")]
pub(crate) struct Loss {
    /// Now, s since the start of the run.
    #[pyo3(get)]
    now_s: f64,
    packets: Vec<AckedPacket>,
    /// Sum of the packets' payload.
    #[pyo3(get)]
    lost_bytes: u64,
    /// Payload in flight before they were taken out.
    #[pyo3(get)]
    in_flight_before_bytes: u64,
    /// Payload in flight now.
    #[pyo3(get)]
    in_flight_bytes: u64,
    /// Whether it is the first loss of an episode: the controller reduces its window then, once; nobody else does.
    #[pyo3(get)]
    new_episode: bool,
    /// Whether an ACK revealed them, and `on_ack` of it follows at once; otherwise a timer did, or an ACK that
    /// acknowledges nothing new.
    #[pyo3(get)]
    by_ack: bool,
    /// Smoothed RTT.
    #[pyo3(get)]
    srtt_s: f64,
    /// Number of the next transmission.
    #[pyo3(get)]
    next_number: u64,
}

#[pymethods]
impl Loss {
    /// The lost packets, in ascending order.
    #[getter]
    fn packets(&self) -> Vec<Packet> {
        self.packets.iter().map(Packet::from).collect()
    }
}

impl From<&congestion::Loss<'_>> for Loss {
    fn from(event: &congestion::Loss<'_>) -> Self {
        Self {
            now_s: event.now.as_secs_f64(),
            packets: event.packets.to_vec(),
            lost_bytes: event.lost_bytes,
            in_flight_before_bytes: event.in_flight_before_bytes,
            in_flight_bytes: event.in_flight_bytes,
            new_episode: event.new_episode,
            by_ack: event.by_ack,
            srtt_s: event.srtt.as_secs_f64(),
            next_number: event.next_number,
        }
    }
}

/// The retransmission timer expired, and all that was in flight is lost; or congestion is persistent (RFC 9002 7.6), and
/// `on_loss` has told the losses just before. The window is the controller's to set.
#[pyclass(frozen, get_all, module = "dumbbell.plugins")]
pub(crate) struct Timeout {
    /// Now, s since the start of the run.
    now_s: f64,
    /// Whether it is persistent congestion.
    persistent: bool,
    /// Whether nothing was acknowledged since the previous one.
    repeated: bool,
    /// Payload in flight before the losses.
    in_flight_before_bytes: u64,
    /// Number of the next transmission.
    next_number: u64,
}

impl From<&congestion::Timeout> for Timeout {
    fn from(event: &congestion::Timeout) -> Self {
        Self {
            now_s: event.now.as_secs_f64(),
            persistent: event.kind == TimeoutKind::PersistentCongestion,
            repeated: event.repeated,
            in_flight_before_bytes: event.in_flight_before_bytes,
            next_number: event.next_number,
        }
    }
}

/// New CE marks were reported. Comes before the ACK that reports them.
#[pyclass(frozen, get_all, module = "dumbbell.plugins")]
pub(crate) struct Ecn {
    /// Now, s since the start of the run.
    now_s: f64,
    /// Packets newly reported as marked; `Packet.ce` says which.
    ce_packets: u64,
    /// Packets newly reported in all.
    packets: u64,
    /// Whether it is the first mark of a round trip: the controller reduces its window then, nobody else does.
    new_episode: bool,
    /// Payload in flight.
    in_flight_bytes: u64,
    /// Smoothed RTT.
    srtt_s: f64,
    /// When the newest packet left that the same ACK acknowledges: the `sent_time` of RFC 9002 B.7.
    newest_sent_s: f64,
}

impl From<&congestion::Ecn> for Ecn {
    fn from(event: &congestion::Ecn) -> Self {
        Self {
            now_s: event.now.as_secs_f64(),
            ce_packets: event.ce_packets,
            packets: event.packets,
            new_episode: event.new_episode,
            in_flight_bytes: event.in_flight_bytes,
            srtt_s: event.srtt.as_secs_f64(),
            newest_sent_s: event.newest_sent_at.as_secs_f64(),
        }
    }
}

/// A packet was sent.
#[pyclass(frozen, get_all, module = "dumbbell.plugins")]
pub(crate) struct Sent {
    /// Now, s since the start of the run.
    now_s: f64,
    /// Grows by one with every transmission.
    number: u64,
    /// Payload bytes, without headers: what window and pacing count for it.
    bytes: u32,
    /// Payload in flight, this packet included.
    in_flight_bytes: u64,
    /// Whether it carries data that was sent before.
    retransmission: bool,
    /// Whether it carries no data of the application.
    filler: bool,
    /// The frame of a live source that its payload is of (`Frame.number`); 0: none.
    frame: u32,
    /// Whether the frame ends with this packet.
    frame_end: bool,
    /// Retransmission timeouts since the packet before, with nothing in flight; 0 where the transport lets no window decay.
    idle_timeouts: u32,
}

impl From<&congestion::Sent> for Sent {
    fn from(event: &congestion::Sent) -> Self {
        Self {
            now_s: event.now.as_secs_f64(),
            number: event.number,
            bytes: event.bytes,
            in_flight_bytes: event.in_flight_bytes,
            retransmission: event.retransmission,
            filler: event.filler,
            frame: event.frame,
            frame_end: event.frame_end,
            idle_timeouts: event.idle_timeouts,
        }
    }
}

/// The encoder of a live source wrote a frame.
#[pyclass(frozen, get_all, module = "dumbbell.plugins")]
pub(crate) struct Frame {
    /// Now, s since the start of the run.
    now_s: f64,
    /// Its payload bytes.
    bytes: u64,
    /// Whether it is a key frame.
    key: bool,
    /// Payload that waits to be sent, this frame included.
    queued_bytes: u64,
    /// So long the oldest frame of that has waited.
    queue_delay_s: f64,
    /// Its number, from 1: the one that `Sent.frame` names.
    number: u32,
}

impl From<&congestion::Frame> for Frame {
    fn from(event: &congestion::Frame) -> Self {
        Self {
            now_s: event.now.as_secs_f64(),
            bytes: event.bytes,
            key: event.key,
            queued_bytes: event.queued_bytes,
            queue_delay_s: event.queue_delay.as_secs_f64(),
            number: event.number,
        }
    }
}

/// What a controller allows. Values that cannot be end the run with a line that says so.
#[pyclass(get_all, set_all, module = "dumbbell.plugins")]
pub(crate) struct Control {
    /// Most payload in flight, sent again and fillers included, headers not: 1 to 2^32 bytes, or infinite with pacing.
    /// During an episode the transport's `recovery` says which window counts (docs/how-to/plugins.md).
    window_bytes: f64,
    /// Payload bits per second, headers not counted: 1 to 10^12, or infinite: as fast as the window opens.
    pacing_bps: f64,
    /// Most payload that leaves back to back when pacing; 0: one packet.
    burst_bytes: u64,
    /// When to call `on_wake`: 1 us from now or later, or infinite.
    wake_at_s: f64,
    /// Payload bits per second that a live encoder is to produce; infinite: what follows from window and pacing.
    media_bps: f64,
    /// Payload counted for packets without data, sent when there is no other; -1: none.
    filler_bytes: i64,
    /// A frame of a live source of which nothing was sent for so long is dropped whole, and a key frame asked for;
    /// infinite: none is. One that has begun to leave is finished.
    max_frame_wait_s: f64,
    /// True if the controller itself limits the sender: rate samples of packets sent then are marked `app_limited`.
    app_limited: bool,
}

#[pymethods]
impl Control {
    #[new]
    #[pyo3(signature = (window_bytes, pacing_bps=f64::INFINITY, *, burst_bytes=0, wake_at_s=f64::INFINITY,
                        media_bps=f64::INFINITY, filler_bytes=-1, max_frame_wait_s=f64::INFINITY, app_limited=false))]
    #[expect(clippy::too_many_arguments, reason = "all but the first are named, and have a default")]
    const fn new(
        window_bytes: f64,
        pacing_bps: f64,
        burst_bytes: u64,
        wake_at_s: f64,
        media_bps: f64,
        filler_bytes: i64,
        max_frame_wait_s: f64,
        app_limited: bool,
    ) -> Self {
        Self {
            window_bytes,
            pacing_bps,
            burst_bytes,
            wake_at_s,
            media_bps,
            filler_bytes,
            max_frame_wait_s,
            app_limited,
        }
    }
}

impl From<&Control> for Answer {
    fn from(control: &Control) -> Self {
        // What is negative or no number becomes 0: as a time it is past, and refused as such.
        let ns = |seconds: f64| {
            if seconds == f64::INFINITY { u64::MAX } else { Time::from_secs_f64(seconds.max(0.0)).as_ns() }
        };
        Self {
            window_bytes: control.window_bytes,
            pacing_bps: control.pacing_bps,
            burst_bytes: control.burst_bytes,
            wake_at_ns: ns(control.wake_at_s),
            media_bps: control.media_bps,
            filler_bytes: control.filler_bytes,
            max_frame_wait_ns: ns(control.max_frame_wait_s),
            app_limited: control.app_limited,
        }
    }
}
