//! The statistics of a run as they are stored. Field names are the keys of the JSON; every one is defined in
//! [`METRICS`](crate::METRICS) or [`LABELS`](crate::LABELS). `None` (null) is "not defined" or "the log does not tell".

use serde::Serialize;

/// Everything about one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunStats {
    /// In order of flow numbers.
    pub flows: Vec<FlowStats>,
    /// In the driver's order; the first is the bottleneck in the data direction.
    pub links: Vec<LinkStats>,
    /// Over all flows.
    pub network: NetworkStats,
}

/// The return direction, in the Pantheon convention.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "documented in METRICS, the one definition of each number")]
pub struct AckLinkStats {
    pub throughput_mbps: f64,
    pub delay_p95_ms: Option<f64>,
    pub loss_rate: Option<f64>,
}

/// A flow of a live source.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "documented in METRICS, the one definition of each number")]
pub struct MediaStats {
    pub media_rate_mbps: Option<f64>,
    pub media_utilization: Option<f64>,
    pub frame_delay_p50_ms: Option<f64>,
    pub frame_delay_p95_ms: Option<f64>,
    pub frame_delay_p99_ms: Option<f64>,
    pub stalls: u64,
    pub stall_time_s: f64,
    pub stall_ratio: Option<f64>,
    pub frames_written: u64,
    pub frames_skipped: u64,
    pub frames_decoded: u64,
}

/// One flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "documented in METRICS, the one definition of each number")]
pub struct FlowStats {
    pub flow: u32,
    pub scheme: String,
    pub start_s: f64,
    pub stop_s: f64,
    pub throughput_mbps: f64,
    pub ingress_mbps: f64,
    pub delay_p95_ms: Option<f64>,
    pub loss_rate: Option<f64>,
    pub acklink: Option<AckLinkStats>,
    pub goodput_mbps: Option<f64>,
    pub packet_loss_rate: Option<f64>,
    pub owd_mean_ms: Option<f64>,
    pub owd_min_ms: Option<f64>,
    pub owd_p50_ms: Option<f64>,
    pub owd_p95_ms: Option<f64>,
    pub owd_p99_ms: Option<f64>,
    pub self_inflicted_delay_p95_ms: Option<f64>,
    pub self_inflicted_delay_mean_ms: Option<f64>,
    pub packets_sent: u64,
    pub packets_delivered: u64,
    pub packets_dropped: Option<u64>,
    pub packets_marked: u64,
    pub packets_in_flight_at_end: u64,
    pub bytes_sent: u64,
    pub bytes_delivered: u64,
    pub data_bytes_delivered: Option<u64>,
    pub retransmissions: Option<u64>,
    pub timeouts: Option<u64>,
    pub loss_episodes: Option<u64>,
    pub mean_cwnd_bytes: Option<f64>,
    pub mean_in_flight_bytes: Option<f64>,
    pub mean_srtt_ms: Option<f64>,
    pub media: Option<MediaStats>,
}

/// One link.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "documented in METRICS, the one definition of each number")]
pub struct LinkStats {
    pub link: String,
    pub direction: String,
    pub capacity_mbps: Option<f64>,
    pub throughput_mbps: Option<f64>,
    pub utilization: Option<f64>,
    pub mean_queue_packets: Option<f64>,
    pub mean_queue_bytes: Option<f64>,
    pub max_queue_packets: u64,
    pub max_queue_bytes: u64,
    pub mean_queue_delay_ms: Option<f64>,
    pub packets_in: u64,
    pub packets_out: u64,
    pub packets_dropped: u64,
    pub packets_marked: u64,
}

/// All flows together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "documented in METRICS, the one definition of each number")]
pub struct NetworkStats {
    pub throughput_mbps: f64,
    pub ingress_mbps: f64,
    pub delay_p95_ms: Option<f64>,
    pub loss_rate: Option<f64>,
    pub capacity_mbps: Option<f64>,
    pub capacity_utilization: Option<f64>,
    pub duration_s: f64,
    pub valid: bool,
    pub invalid_reason: Option<String>,
    pub acklink: Option<AckLinkStats>,
    pub goodput_mbps: Option<f64>,
    pub packet_loss_rate: Option<f64>,
    pub owd_p50_ms: Option<f64>,
    pub owd_p95_ms: Option<f64>,
    pub owd_p99_ms: Option<f64>,
    pub jain_index: Option<f64>,
    pub jain_index_mean: Option<f64>,
    pub utilization: Option<f64>,
}
