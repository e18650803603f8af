//! What controllers in Python are told and what they answer: plain objects, times in s, sizes in bytes, rates in bit/s.

#![allow(clippy::struct_field_names, reason = "events have the names of their kind in them")]

use congestion::{AckedPacket, Start as CoreStart, TimeoutKind};
use plugin::Answer;
use pyo3::prelude::*;
use units::{Span, Time};

/// What a controller is given when its flow begins.
#[pyclass(frozen, get_all, module = "dumbbell.plugins")]
pub(crate) struct Start {
    now_s: f64,
    mss_bytes: u32,
    initial_window_bytes: u64,
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
    number: u64,
    bytes: u32,
    sent_at_s: f64,
    received_at_s: f64,
    one_way_delay_s: f64,
    lost_at_send_bytes: u64,
    in_flight_at_send_bytes: u64,
    retransmission: bool,
    was_lost: bool,
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
        }
    }
}

/// A delivery rate sample.
#[pyclass(frozen, get_all, module = "dumbbell.plugins")]
#[derive(Clone)]
pub(crate) struct RateSample {
    bps: u64,
    delivered_bytes: u64,
    interval_s: f64,
    prior_delivered_bytes: u64,
    lost_bytes: u64,
    in_flight_at_send_bytes: u64,
    app_limited: bool,
}

/// At least one packet was newly acknowledged.
#[pyclass(frozen, module = "dumbbell.plugins")]
pub(crate) struct Ack {
    #[pyo3(get)]
    now_s: f64,
    packets: Vec<AckedPacket>,
    #[pyo3(get)]
    acked_bytes: u64,
    #[pyo3(get)]
    growth_bytes: u64,
    #[pyo3(get)]
    lost_bytes: u64,
    #[pyo3(get)]
    rtt_s: Option<f64>,
    #[pyo3(get)]
    srtt_s: f64,
    #[pyo3(get)]
    rttvar_s: f64,
    #[pyo3(get)]
    min_rtt_s: f64,
    #[pyo3(get)]
    ack_delay_s: f64,
    #[pyo3(get)]
    in_flight_before_bytes: u64,
    #[pyo3(get)]
    in_flight_bytes: u64,
    #[pyo3(get)]
    peak_in_flight_bytes: u64,
    #[pyo3(get)]
    window_limited: bool,
    #[pyo3(get)]
    app_limited: bool,
    #[pyo3(get)]
    delivered_bytes: u64,
    rate: Option<congestion::RateSample>,
    #[pyo3(get)]
    round_start: bool,
    #[pyo3(get)]
    in_recovery: bool,
    #[pyo3(get)]
    next_number: u64,
    queued_bytes: u64,
    #[pyo3(get)]
    queue_delay_s: f64,
}

#[pymethods]
impl Ack {
    #[getter]
    fn packets(&self) -> Vec<Packet> {
        self.packets.iter().map(Packet::from).collect()
    }

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

    #[getter]
    fn queued_bytes(&self) -> Option<u64> {
        Some(self.queued_bytes).filter(|bytes| *bytes != u64::MAX)
    }

    fn may_grow(&self, window_bytes: f64, in_slow_start: bool) -> bool {
        self.window_limited || (in_slow_start && window_bytes < 2.0 * self.peak_in_flight_bytes as f64)
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
            app_limited: event.app_limited,
            delivered_bytes: event.delivered_bytes,
            rate: event.rate,
            round_start: event.round_start,
            in_recovery: event.in_recovery,
            next_number: event.next_number,
            queued_bytes: event.queued_bytes,
            queue_delay_s: event.queue_delay.as_secs_f64(),
        }
    }
}

/// Packets were declared lost.
#[pyclass(frozen, module = "dumbbell.plugins")]
pub(crate) struct Loss {
    #[pyo3(get)]
    now_s: f64,
    packets: Vec<AckedPacket>,
    #[pyo3(get)]
    lost_bytes: u64,
    #[pyo3(get)]
    in_flight_before_bytes: u64,
    #[pyo3(get)]
    in_flight_bytes: u64,
    #[pyo3(get)]
    new_episode: bool,
    #[pyo3(get)]
    srtt_s: f64,
    #[pyo3(get)]
    next_number: u64,
}

#[pymethods]
impl Loss {
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
            srtt_s: event.srtt.as_secs_f64(),
            next_number: event.next_number,
        }
    }
}

/// The retransmission timer expired, or congestion is persistent.
#[pyclass(frozen, get_all, module = "dumbbell.plugins")]
pub(crate) struct Timeout {
    now_s: f64,
    persistent: bool,
    repeated: bool,
    in_flight_before_bytes: u64,
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

/// New CE marks were reported.
#[pyclass(frozen, get_all, module = "dumbbell.plugins")]
pub(crate) struct Ecn {
    now_s: f64,
    ce_packets: u64,
    packets: u64,
    new_episode: bool,
    in_flight_bytes: u64,
    srtt_s: f64,
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
        }
    }
}

/// A packet was sent.
#[pyclass(frozen, get_all, module = "dumbbell.plugins")]
pub(crate) struct Sent {
    now_s: f64,
    number: u64,
    bytes: u32,
    in_flight_bytes: u64,
    retransmission: bool,
    filler: bool,
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
        }
    }
}

/// The encoder of a live source wrote a frame.
#[pyclass(frozen, get_all, module = "dumbbell.plugins")]
pub(crate) struct Frame {
    now_s: f64,
    bytes: u64,
    key: bool,
    queued_bytes: u64,
    queue_delay_s: f64,
}

impl From<&congestion::Frame> for Frame {
    fn from(event: &congestion::Frame) -> Self {
        Self {
            now_s: event.now.as_secs_f64(),
            bytes: event.bytes,
            key: event.key,
            queued_bytes: event.queued_bytes,
            queue_delay_s: event.queue_delay.as_secs_f64(),
        }
    }
}

/// What a controller allows.
#[pyclass(get_all, set_all, module = "dumbbell.plugins")]
pub(crate) struct Control {
    window_bytes: f64,
    pacing_bps: f64,
    burst_bytes: u64,
    wake_at_s: f64,
    media_bps: f64,
    filler_bytes: i64,
}

#[pymethods]
impl Control {
    #[new]
    #[pyo3(signature = (window_bytes, pacing_bps=f64::INFINITY, *, burst_bytes=0, wake_at_s=f64::INFINITY,
                        media_bps=f64::INFINITY, filler_bytes=-1))]
    const fn new(
        window_bytes: f64,
        pacing_bps: f64,
        burst_bytes: u64,
        wake_at_s: f64,
        media_bps: f64,
        filler_bytes: i64,
    ) -> Self {
        Self { window_bytes, pacing_bps, burst_bytes, wake_at_s, media_bps, filler_bytes }
    }
}

impl From<&Control> for Answer {
    fn from(control: &Control) -> Self {
        let wake_at = if control.wake_at_s == f64::INFINITY {
            Time::NEVER
        } else {
            // What is negative or no number becomes 0, which is past and refused as such.
            Time::from_secs_f64(control.wake_at_s.max(0.0))
        };
        Self {
            window_bytes: control.window_bytes,
            pacing_bps: control.pacing_bps,
            burst_bytes: control.burst_bytes,
            wake_at_ns: wake_at.as_ns(),
            media_bps: control.media_bps,
            filler_bytes: control.filler_bytes,
        }
    }
}
