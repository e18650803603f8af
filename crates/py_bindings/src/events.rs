//! Events for controllers in Python and their answers: plain objects, times in s, sizes in bytes, rates in bit/s.

#![allow(clippy::struct_field_names, reason = "events have the names of their kind in them")]

use congestion::{AckedPacket, Start as CoreStart, TimeoutKind};
use plugin::Answer;
use pyo3::prelude::*;
use units::{Span, Time};

/// Start of a flow.
#[pyclass(frozen, get_all, module = "dumbbell.plugins")]
pub(crate) struct Start {
    /// Start of the flow, s since the start of the run.
    now_s: f64,
    /// Payload of a full packet, bytes, without headers: the unit of every window and rate.
    mss_bytes: u32,
    /// Initial window of the transport, payload bytes.
    initial_window_bytes: u64,
    /// Seed for random draws.
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

/// Packet that was acknowledged or lost.
#[pyclass(frozen, get_all, module = "dumbbell.plugins")]
pub(crate) struct Packet {
    /// Transmission number, which grows by one with every transmission and is never reused.
    number: u64,
    /// Payload bytes, without headers, as counted in window and pacing.
    bytes: u32,
    /// Send time on the sender's clock, s.
    sent_at_s: f64,
    /// Arrival time on the receiver's clock, s; meaningless in a loss.
    received_at_s: f64,
    /// One-way delay plus the unknown clock offset, s. Only differences are meaningful.
    one_way_delay_s: f64,
    /// Total payload lost on the connection when the packet was sent, bytes.
    lost_at_send_bytes: u64,
    /// Payload in flight just after the packet was sent, bytes.
    in_flight_at_send_bytes: u64,
    /// True if the packet carried data that was sent before.
    retransmission: bool,
    /// True if the packet had been declared lost: a spurious loss.
    was_lost: bool,
    /// True if the packet arrived marked with CE; False also if the ACK that listed it was lost.
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

/// Delivery rate sample.
#[pyclass(frozen, get_all, module = "dumbbell.plugins")]
#[derive(Clone)]
pub(crate) struct RateSample {
    /// Delivery rate, payload bits per second.
    bps: u64,
    /// Payload delivered over the interval, bytes.
    delivered_bytes: u64,
    /// Longer of the send interval and the ACK interval, s.
    interval_s: f64,
    /// Total payload delivered when the newest packet was sent, bytes.
    prior_delivered_bytes: u64,
    /// Payload lost over the interval, bytes.
    lost_bytes: u64,
    /// Payload in flight just after the newest packet was sent, bytes.
    in_flight_at_send_bytes: u64,
    /// True if the application limited the sender during the sample.
    app_limited: bool,
}

/// Acknowledgment of at least one new packet. Every count of bytes is of payload, without headers.
#[pyclass(frozen, module = "dumbbell.plugins")]
pub(crate) struct Ack {
    /// Current time, s since the start of the run.
    #[pyo3(get)]
    now_s: f64,
    packets: Vec<AckedPacket>,
    /// Sum of the packets' payload, bytes, including selectively acknowledged and retransmitted packets.
    #[pyo3(get)]
    acked_bytes: u64,
    /// Payload by which a window grows, bytes: `acked_bytes`, or only the complete part of the stream.
    #[pyo3(get)]
    growth_bytes: u64,
    /// Payload declared lost by this ACK, bytes; `on_loss` has been called.
    #[pyo3(get)]
    lost_bytes: u64,
    /// RTT of the newest packet, s; None without a sample.
    #[pyo3(get)]
    rtt_s: Option<f64>,
    /// Smoothed RTT (RFC 6298), s.
    #[pyo3(get)]
    srtt_s: f64,
    /// RTT variation, s.
    #[pyo3(get)]
    rttvar_s: f64,
    /// Minimum RTT of the connection, s.
    #[pyo3(get)]
    min_rtt_s: f64,
    /// Time for which the receiver reports to have held the ACK, s.
    #[pyo3(get)]
    ack_delay_s: f64,
    /// Payload in flight before this ACK, bytes.
    #[pyo3(get)]
    in_flight_before_bytes: u64,
    /// Payload in flight now, bytes: sent, neither acknowledged nor declared lost.
    #[pyo3(get)]
    in_flight_bytes: u64,
    /// Maximum payload in flight since the start of the previous round trip, bytes.
    #[pyo3(get)]
    peak_in_flight_bytes: u64,
    /// True if the window limited sending since the previous round trip.
    #[pyo3(get)]
    window_limited: bool,
    /// True if, since the previous round trip, the pacer delayed packets that would have filled the window.
    #[pyo3(get)]
    pacing_limited: bool,
    /// True if the application had nothing to send, and the packets in flight at that moment have not arrived.
    #[pyo3(get)]
    app_limited: bool,
    /// Total payload delivered on the connection, bytes; each transmission that arrived counts.
    #[pyo3(get)]
    delivered_bytes: u64,
    rate: Option<congestion::RateSample>,
    /// True if a round trip ended with this ACK.
    #[pyo3(get)]
    round_start: bool,
    /// True during an episode that a loss or a mark began; False after a timeout. The transport reduces nothing of
    /// the controller's window during the episode.
    #[pyo3(get)]
    in_recovery: bool,
    /// Number of the next transmission.
    #[pyo3(get)]
    next_number: u64,
    queued_bytes: u64,
    /// Waiting time of a live source's oldest frame, s.
    #[pyo3(get)]
    queue_delay_s: f64,
    /// End of the stream's complete part at the receiver, bytes: TCP's cumulative acknowledgment. 0 without
    /// retransmissions.
    #[pyo3(get)]
    complete_bytes: u64,
    /// End of the stream's sent part, bytes; retransmissions do not count twice.
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

    /// Delivery rate sample, or None.
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

    /// Payload written by the application and not sent, bytes; None if it always has more.
    #[getter]
    fn queued_bytes(&self) -> Option<u64> {
        Some(self.queued_bytes).filter(|bytes| *bytes != u64::MAX)
    }

    /// Return True if a window may grow: it limited sending, or, in slow start, is less than twice the peak in
    /// flight.
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

/// Declaration of packets as lost, before the ACK that revealed the loss.
///
/// The controller reduces the window. The transport reads the window right after `on_loss` has begun an episode, and
/// lets the flight shrink to it (`recovery`).
#[pyclass(frozen, module = "dumbbell.plugins")]
pub(crate) struct Loss {
    /// Current time, s since the start of the run.
    #[pyo3(get)]
    now_s: f64,
    packets: Vec<AckedPacket>,
    /// Sum of the packets' payload, bytes.
    #[pyo3(get)]
    lost_bytes: u64,
    /// Payload in flight before the loss, bytes.
    #[pyo3(get)]
    in_flight_before_bytes: u64,
    /// Payload in flight now, bytes.
    #[pyo3(get)]
    in_flight_bytes: u64,
    /// True at the first loss of an episode: the controller reduces its window then, once; nobody else does.
    #[pyo3(get)]
    new_episode: bool,
    /// True if an ACK revealed the loss, and its `on_ack` follows at once; False after a timer, or an ACK that
    /// acknowledges nothing new.
    #[pyo3(get)]
    by_ack: bool,
    /// Smoothed RTT, s.
    #[pyo3(get)]
    srtt_s: f64,
    /// Number of the next transmission.
    #[pyo3(get)]
    next_number: u64,
}

#[pymethods]
impl Loss {
    /// Lost packets, in ascending order.
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

/// Expiry of the retransmission timer, or persistent congestion (RFC 9002 7.6).
///
/// At an expiry all packets in flight are lost. At persistent congestion `on_loss` has reported the losses just
/// before. The controller sets the window.
#[pyclass(frozen, get_all, module = "dumbbell.plugins")]
pub(crate) struct Timeout {
    /// Current time, s since the start of the run.
    now_s: f64,
    /// True at persistent congestion.
    persistent: bool,
    /// True if nothing was acknowledged since the previous timeout.
    repeated: bool,
    /// Payload in flight before the losses, bytes.
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

/// Report of new CE marks, before the ACK that reports them.
#[pyclass(frozen, get_all, module = "dumbbell.plugins")]
pub(crate) struct Ecn {
    /// Current time, s since the start of the run.
    now_s: f64,
    /// Packets newly reported as marked; `Packet.ce` identifies them.
    ce_packets: u64,
    /// All newly reported packets.
    packets: u64,
    /// True at the first mark of a round trip: the controller reduces its window then, nobody else does.
    new_episode: bool,
    /// Payload in flight, bytes.
    in_flight_bytes: u64,
    /// Smoothed RTT, s.
    srtt_s: f64,
    /// Send time of the newest packet that the ACK acknowledges, s: the `sent_time` of RFC 9002 B.7.
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

/// Transmission of a packet.
#[pyclass(frozen, get_all, name = "Sent", module = "dumbbell.plugins")]
pub(crate) struct SentPacket {
    /// Current time, s since the start of the run.
    now_s: f64,
    /// Transmission number, which grows by one with every transmission.
    number: u64,
    /// Payload bytes, without headers, as counted in window and pacing.
    bytes: u32,
    /// Payload in flight, including this packet, bytes.
    in_flight_bytes: u64,
    /// True if the packet carries data that was sent before.
    retransmission: bool,
    /// True if the packet carries no data of the application.
    filler: bool,
    /// Frame of a live source in the payload (`Frame.number`); 0: none.
    frame: u32,
    /// True if the frame ends with this packet.
    frame_end: bool,
    /// Retransmission timeouts since the previous packet, with nothing in flight; 0 if the transport does not let a
    /// window decay.
    idle_timeouts: u32,
}

impl From<&congestion::Sent> for SentPacket {
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

/// Frame that the encoder of a live source wrote.
#[pyclass(frozen, get_all, module = "dumbbell.plugins")]
pub(crate) struct Frame {
    /// Current time, s since the start of the run.
    now_s: f64,
    /// Payload of the frame, bytes.
    bytes: u64,
    /// True for a key frame.
    key: bool,
    /// Payload that waits to be sent, including this frame, bytes.
    queued_bytes: u64,
    /// Waiting time of the oldest waiting frame, s.
    queue_delay_s: f64,
    /// Number of the frame, from 1, as in `Sent.frame`.
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

/// Limits set by a controller. An impossible value ends the run with an error.
#[pyclass(get_all, set_all, module = "dumbbell.plugins")]
pub(crate) struct Control {
    /// Maximum payload in flight, bytes, including retransmissions and fillers, headers not: 1 to 2^32, or infinite
    /// with pacing. During an episode the transport's `recovery` determines the window (docs/reference/controllers.md).
    window_bytes: f64,
    /// Pacing rate, payload bits per second, headers not counted: 1 to 10^12, or infinite: as fast as the window
    /// opens.
    pacing_bps: f64,
    /// Maximum payload sent back to back when pacing, bytes; 0: one packet.
    burst_bytes: u64,
    /// Time of the next `on_wake`, s: at least 1 us from now, or infinite.
    wake_at_s: f64,
    /// Target rate of a live encoder, payload bits per second; infinite: derived from window and pacing.
    media_bps: f64,
    /// Payload counted for packets without data, bytes, which are sent if there is no other packet; -1: none.
    filler_bytes: i64,
    /// Maximum waiting time of a live source's frame, s; infinite: no limit.
    ///
    /// A frame of which nothing was sent by then is dropped, and a key frame requested. A frame that has begun to
    /// leave is finished.
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
        // A negative value or NaN becomes 0, a past time that is refused.
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
