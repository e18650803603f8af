//! The statistics of a run as they are stored. Field names are the keys of the JSON; every one is defined in
//! [`metrics`](crate::metrics) or [`LABELS`](crate::LABELS). `None` (null) is "not defined" or "the log does not tell".

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
    /// How the numbers contradict each other, if they do: a defect, not a result.
    #[serde(skip)]
    pub contradiction: Option<String>,
}

/// The return direction, in the Pantheon convention.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "documented in metrics(), the one definition of each number")]
pub struct AckLinkStats {
    pub throughput_mbps: f64,
    pub delay_p95_ms: Option<f64>,
    pub loss_rate: Option<f64>,
}

/// A flow of a live source.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "documented in metrics(), the one definition of each number")]
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
#[allow(missing_docs, reason = "documented in metrics(), the one definition of each number")]
pub struct FlowStats {
    pub flow: u32,
    pub scheme: String,
    pub start_s: f64,
    pub stop_s: f64,
    pub throughput_mbps: Option<f64>,
    pub ingress_mbps: Option<f64>,
    pub delay_p95_ms: Option<f64>,
    pub loss_rate: Option<f64>,
    pub acklink: Option<AckLinkStats>,
    pub goodput_mbps: Option<f64>,
    pub payload_share: Option<f64>,
    pub packet_loss_rate: Option<f64>,
    pub owd_mean_ms: Option<f64>,
    pub owd_min_ms: Option<f64>,
    pub owd_p50_ms: Option<f64>,
    pub owd_p95_ms: Option<f64>,
    pub owd_p99_ms: Option<f64>,
    pub self_inflicted_delay_p95_ms: Option<f64>,
    pub self_inflicted_delay_mean_ms: Option<f64>,
    pub queueing_delay_mean_ms: Option<f64>,
    pub rtt_min_ms: Option<f64>,
    pub rtt_mean_ms: Option<f64>,
    pub rtt_p50_ms: Option<f64>,
    pub rtt_p95_ms: Option<f64>,
    pub rtt_p99_ms: Option<f64>,
    pub packets_sent: Option<u64>,
    pub packets_delivered: Option<u64>,
    pub packets_dropped: Option<u64>,
    pub packets_marked: Option<u64>,
    pub packets_in_flight_at_end: Option<u64>,
    pub bytes_sent: Option<u64>,
    pub bytes_delivered: Option<u64>,
    pub data_bytes_delivered: Option<u64>,
    pub retransmissions: Option<u64>,
    pub timeouts: Option<u64>,
    pub loss_episodes: Option<u64>,
    pub mean_cwnd_bytes: Option<f64>,
    pub mean_in_flight_bytes: Option<f64>,
    pub mean_srtt_ms: Option<f64>,
    #[serde(flatten)]
    pub ccperf: CcperfFlow,
    #[serde(flatten)]
    pub response: ResponseStats,
    pub media: Option<MediaStats>,
}

/// One flow, by ccperf's names.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "documented in metrics(), the one definition of each number")]
pub struct CcperfFlow {
    pub mean_throughput_l4: Option<f64>,
    pub mean_throughput_l7: Option<f64>,
    pub mean_sending_rate_l4: Option<f64>,
    pub mean_sending_rate_l7: Option<f64>,
    pub mean_delivery_rate_l4: Option<f64>,
    pub mean_cwnd_l4: Option<f64>,
    pub mean_in_flight_l4: Option<f64>,
    pub mean_srtt_l4: Option<f64>,
    pub mean_est_qdelay_l4: Option<f64>,
    pub mean_network_power_l4: Option<f64>,
    pub mean_utility_pf_l4: Option<f64>,
    pub mean_utility_mpdf_l4: Option<f64>,
    pub zero_samples_l4: Option<u64>,
    pub mean_utilization_bw_l4: Option<f64>,
    pub mean_utilization_bdp_l4: Option<f64>,
    pub mean_utilization_bdp_compat_l4: Option<f64>,
    pub cov_throughput_l4: Option<f64>,
    pub var_throughput_l4: Option<f64>,
    pub cov_in_flight_l4: Option<f64>,
    pub flow_completion_time_l4: Option<f64>,
    pub mean_idt_ewma_l4: Option<f64>,
    pub mean_one_way_delay_l7: Option<f64>,
    pub mean_recovery_time_l4: Option<f64>,
    pub total_retransmissions_l4: Option<u64>,
    pub total_rtos_l4: Option<u64>,
}

/// How one flow fares beside others and after changes of the path.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "documented in metrics(), the one definition of each number")]
pub struct ResponseStats {
    pub starvation_time_s: Option<f64>,
    pub time_to_90_s: Option<f64>,
    pub settling_time_s: Option<f64>,
}

/// One link.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "documented in metrics(), the one definition of each number")]
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
    pub ecn_mark_rate: Option<f64>,
    pub max_queue_delay_ms: f64,
    pub peak_queue_ms: Option<f64>,
    #[serde(flatten)]
    pub ccperf: CcperfLink,
}

/// One link, by ccperf's names.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "documented in metrics(), the one definition of each number")]
pub struct CcperfLink {
    pub mean_qdisc_delay_l2: Option<f64>,
    pub mean_qdisc_length_l2: Option<f64>,
    pub mean_sending_rate_l1: Option<f64>,
    pub total_qdisc_drops_l2: u64,
}

/// All flows together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "documented in metrics(), the one definition of each number")]
pub struct NetworkStats {
    pub throughput_mbps: Option<f64>,
    pub ingress_mbps: Option<f64>,
    pub delay_p95_ms: Option<f64>,
    pub loss_rate: Option<f64>,
    pub capacity_mbps: Option<f64>,
    pub capacity_utilization: Option<f64>,
    pub duration_s: Option<f64>,
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
    pub jain_seen_p50: Option<f64>,
    pub jain_seen_p05: Option<f64>,
    pub jain_active_p50: Option<f64>,
    pub jain_active_p05: Option<f64>,
    pub jain_window_s: f64,
    pub utilization: Option<f64>,
    #[serde(flatten)]
    pub ccperf: CcperfNetwork,
    pub convergence_time_s: Option<f64>,
    pub convergence_delta: f64,
    pub convergence_window_s: f64,
    pub sample_interval_s: Option<f64>,
    #[serde(flatten)]
    pub transfers: TransferStats,
}

/// All flows together, by ccperf's names.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "documented in metrics(), the one definition of each number")]
pub struct CcperfNetwork {
    pub mean_agg_throughput_l4: Option<f64>,
    pub mean_agg_in_flight_l4: Option<f64>,
    pub mean_agg_utilization_bw_l4: Option<f64>,
    pub mean_agg_utilization_bdp_l4: Option<f64>,
    pub mean_agg_utility_pf_l4: Option<f64>,
    pub mean_agg_utility_mpdf_l4: Option<f64>,
    pub mean_jains_fairness_throughput_l4: Option<f64>,
    pub mean_entropy_fairness_throughput_l4: Option<f64>,
    pub mean_product_fairness_throughput_l4: Option<f64>,
}

/// Completion times of the flows whose applications end.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "documented in metrics(), the one definition of each number")]
pub struct TransferStats {
    pub fct_mean_s: Option<f64>,
    pub fct_p50_s: Option<f64>,
    pub fct_p95_s: Option<f64>,
    pub fct_p99_s: Option<f64>,
    pub fct_incomplete: u64,
    pub completions: Vec<Completion>,
}

/// The same of the flows of one size.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "documented in metrics(), the one definition of each number")]
pub struct Completion {
    pub bytes: u64,
    pub flows: u64,
    pub completed: u64,
    pub mean_s: Option<f64>,
    pub p50_s: Option<f64>,
    pub p95_s: Option<f64>,
    pub p99_s: Option<f64>,
}
