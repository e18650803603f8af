//! The metrics of flows.

use super::Convention::{Ccperf, Corrected, Counter, Pantheon};
use super::Level::Flow;
use super::{CCPERF, Definition, OWN, PANTHEON, RFC5166, RFC7679, RFC7680, RFC9743};

const RFC8868: &str = "after RFC 8868 (evaluation of interactive media)";
const FREEZE: &str = "W3C webrtc-stats, freezeCount and totalFreezesDuration";

/// In the order of the JSON.
pub(super) const METRICS: &[Definition] = &[
    Flow.metric(
        "throughput_mbps",
        "Mbit/s",
        Pantheon,
        "bits delivered (path overhead included) / (last - first delivery); 0 if these times are equal",
        PANTHEON,
    ),
    Flow.metric(
        "ingress_mbps",
        "Mbit/s",
        Pantheon,
        "bits sent (path overhead included) / (last - first sending); 0 if these times are equal",
        PANTHEON,
    ),
    Flow.metric(
        "delay_p95_ms",
        "ms",
        Pantheon,
        "of the n sorted one-way delays of all delivered packets, the one at index round(0.95 (n - 1)), halves to even",
        PANTHEON,
    ),
    Flow.metric(
        "loss_rate",
        "",
        Pantheon,
        "1 - bytes delivered / bytes sent, whole log: packets under way at the end are lost, duplicates make it negative",
        PANTHEON,
    ),
    Flow.metric("acklink.throughput_mbps", "Mbit/s", Pantheon, "throughput_mbps of the return direction", PANTHEON),
    Flow.metric("acklink.delay_p95_ms", "ms", Pantheon, "delay_p95_ms of the return direction", PANTHEON),
    Flow.metric("acklink.loss_rate", "", Pantheon, "loss_rate of the return direction", PANTHEON),
    Flow.metric(
        "goodput_mbps",
        "Mbit/s",
        Corrected,
        "payload bits new to the receiver / (min(stop, end) - max(start, warm-up)), delivered in that time",
        RFC5166,
    ),
    Flow.metric(
        "packet_loss_rate",
        "",
        Corrected,
        "dropped / (dropped + delivered) packets from max(start, warm-up) to min(stop, end); in imported qlogs that have \
         packet_lost: (declared lost and not acknowledged later) / (those + acknowledged); in other logs without drops: not \
         delivered / all of the packets sent from max(start, warm-up) to the flow's largest delay before the end",
        RFC7680,
    ),
    Flow.metric(
        "owd_mean_ms",
        "ms",
        Corrected,
        "mean one-way delay of the packets delivered from max(start, warm-up) to min(stop, end)",
        RFC7679,
    ),
    Flow.metric("owd_min_ms", "ms", Corrected, "smallest one-way delay of the whole run", RFC7679),
    Flow.metric("owd_p50_ms", "ms", Corrected, "median of the delays of owd_mean_ms", RFC7679),
    Flow.metric("owd_p95_ms", "ms", Corrected, "95th percentile of the delays of owd_mean_ms", RFC7679),
    Flow.metric("owd_p99_ms", "ms", Corrected, "99th percentile of the delays of owd_mean_ms", RFC7679),
    Flow.metric("self_inflicted_delay_p95_ms", "ms", Corrected, "owd_p95_ms - owd_min_ms", OWN),
    Flow.metric("self_inflicted_delay_mean_ms", "ms", Corrected, "owd_mean_ms - owd_min_ms", OWN),
    Flow.metric("packets_sent", "packets", Counter, "packets that entered the path", OWN),
    Flow.metric("packets_delivered", "packets", Counter, "packets that left the path, duplicates included", OWN),
    Flow.metric(
        "packets_dropped",
        "packets",
        Counter,
        "packets dropped in the path; null in logs that do not tell drops",
        OWN,
    ),
    Flow.metric("packets_marked", "packets", Counter, "packets CE-marked in the path", OWN),
    Flow.metric(
        "packets_in_flight_at_end",
        "packets",
        Counter,
        "sent - delivered - dropped, at least 0; in imported qlogs that have packet_lost: sent - acknowledged - declared \
         lost; in other logs without drops: sent within the flow's largest delay before the end and not delivered",
        OWN,
    ),
    Flow.metric("bytes_sent", "bytes", Counter, "bytes that entered the path, overhead included", OWN),
    Flow.metric("bytes_delivered", "bytes", Counter, "bytes that left the path, overhead included", OWN),
    Flow.metric(
        "data_bytes_delivered",
        "bytes",
        Counter,
        "payload bytes new to the receiver; null in logs that do not tell payload",
        OWN,
    ),
    Flow.metric("retransmissions", "packets", Counter, "packets sent with payload that was sent before (what sets up a connection has none)", CCPERF),
    Flow.metric("timeouts", "", Counter, "expired retransmission timers, and persistent congestion of QUIC; those of a connection's set-up do not count", CCPERF),
    Flow.metric("loss_episodes", "", Counter, "recoveries that losses began; those after ECN marks do not count", CCPERF),
    Flow.metric(
        "mean_cwnd_bytes",
        "bytes",
        Counter,
        "time integral of cwnd / T of mean_throughput_l4, null of schemes without a window; in imported qlogs of congestion_window as last stated / time from the first \
         packet or the first statement, whichever is later, to the last event",
        CCPERF,
    ),
    Flow.metric(
        "mean_in_flight_bytes",
        "bytes",
        Counter,
        "time integral of the bytes in flight / T of mean_throughput_l4; in imported qlogs of bytes_in_flight, as mean_cwnd_bytes",
        CCPERF,
    ),
    Flow.metric(
        "mean_srtt_ms",
        "ms",
        Counter,
        "time integral of the smoothed RTT from its first sample to the end of T of mean_throughput_l4 / that time; in imported qlogs of smoothed_rtt as last stated \
         / time from the first acknowledgement or the first statement, whichever is later, to the last event",
        CCPERF,
    ),
    Flow.metric("mean_throughput_l4", "Mbit/s", Ccperf, "payload bits that reached the application in order within T / T; T is the time from the start of the flow until it stops, the last byte of its transfer is acknowledged, or the run ends; where order is not known, payload new to the receiver", CCPERF),
    Flow.metric("mean_throughput_l7", "Mbit/s", Ccperf, "payload bits that the application read / T: it reads what is in order at once; null where reads are not known", CCPERF),
    Flow.metric("mean_sending_rate_l4", "Mbit/s", Ccperf, "payload bits of all packets sent, what is sent again included / T", CCPERF),
    Flow.metric("mean_sending_rate_l7", "Mbit/s", Ccperf, "bits that the sending socket took from the application / T (transport key send_buffer_bytes)", CCPERF),
    Flow.metric("mean_delivery_rate_l4", "Mbit/s", Ccperf, "time integral of the sender's latest delivery-rate sample / time since the first", CCPERF),
    Flow.metric("mean_cwnd_l4", "segments", Ccperf, "mean_cwnd_bytes / payload bytes of a full packet", CCPERF),
    Flow.metric("mean_in_flight_l4", "segments", Ccperf, "mean_in_flight_bytes / payload bytes of a full packet", CCPERF),
    Flow.metric("mean_srtt_l4", "ms", Ccperf, "mean_srtt_ms", CCPERF),
    Flow.metric("mean_est_qdelay_l4", "ms", Ccperf, "mean_srtt_ms - mean base RTT over the same time; the base RTT is the sum of the fixed delays, without serialization", CCPERF),
    Flow.metric("mean_network_power_l4", "Mbit/s^2", Ccperf, "mean over the samples of throughput / smoothed RTT at the end of the sample, s", CCPERF).sampled(),
    Flow.metric("mean_utility_pf_l4", "", Ccperf, "mean over the samples of ln(throughput in Mbit/s), those of zero left out", CCPERF).sampled(),
    Flow.metric("mean_utility_mpdf_l4", "s/Mbit", Ccperf, "mean over the samples of -1 / throughput in Mbit/s, those of zero left out", CCPERF).sampled(),
    Flow.metric("zero_samples_l4", "samples", Ccperf, "samples of zero throughput", CCPERF).sampled(),
    Flow.metric("mean_utilization_bw_l4", "", Ccperf, "mean_throughput_l4 / mean capacity of the narrowest link of the direction in the sample intervals, each weighted with the time in it in which the flow was active (over the whole run where none ended meanwhile); null of flows that pass a part of the path", CCPERF),
    Flow.metric("mean_utilization_bdp_l4", "", Ccperf, "mean_in_flight_l4 / BDP in full packets; BDP = mean capacity of mean_utilization_bw_l4 x mean base RTT / 8, a packet with headers, path overhead and framing", CCPERF),
    Flow.metric("mean_utilization_bdp_compat_l4", "", Ccperf, "mean_in_flight_l4 / (BDP in full packets x payload bytes / bytes of a full packet): what fits the values that ccperf prints", CCPERF),
    Flow.metric("cov_throughput_l4", "", Ccperf, "sample standard deviation / mean of the throughput of the samples", CCPERF).sampled(),
    Flow.metric("var_throughput_l4", "(Mbit/s)^2", Ccperf, "sample variance of the throughput of the samples", CCPERF).sampled(),
    Flow.metric("cov_in_flight_l4", "", Ccperf, "sample standard deviation / mean of the bytes in flight at the ends of the samples", CCPERF).sampled(),
    Flow.metric("flow_completion_time_l4", "s", Ccperf, "start of the flow to the acknowledgement of the last byte of a finite transfer, null if that never came; of other flows the time until they stop", CCPERF),
    Flow.metric("mean_idt_ewma_l4", "ms", Ccperf, "mean over the ends of the samples of the smoothed time between arrivals of new payload (gain 1/8)", CCPERF).sampled(),
    Flow.metric("mean_one_way_delay_l7", "ms", Ccperf, "mean over the bytes read within T of the time from the application's write to the application's read, in order; written when the sending socket takes it (transport key send_buffer_bytes)", CCPERF),
    Flow.metric("mean_recovery_time_l4", "ms", Ccperf, "mean length of those of loss_episodes that are over; null without any", CCPERF),
    Flow.metric("total_retransmissions_l4", "segments", Ccperf, "retransmissions", CCPERF),
    Flow.metric("total_rtos_l4", "", Ccperf, "timeouts", CCPERF),
    Flow.metric("starvation_time_s", "s", Corrected, "time of the sample intervals in which the throughput was below 1/10 of the fair share; that is the capacity of the narrowest link of the direction / number of flows active in all of the interval; null of applications that limit their rate, and where flows pass different parts of the path", RFC9743).sampled(),
    Flow.metric("time_to_90_s", "s", Corrected, "time from the path's last scheduled change to the end of the first sample interval after it in which packets of the flow left the path at 90 % of the fair share or more; if the change took capacity away, in which they were sent at 110 % of it or less instead; null if there was none, and where flows pass different parts of the path", RFC5166).sampled(),
    Flow.metric("settling_time_s", "s", Corrected, "time from the same change to the end of the first sample interval from which on packets left the path at within 20 % of the fair share; null if the last one did not, and where flows pass different parts of the path", RFC5166).sampled(),
    Flow.metric(
        "media.media_rate_mbps",
        "Mbit/s",
        Corrected,
        "bits of decoded frames / (min(stop, end) - max(start, warm-up) - planned pauses in between), decoded in that time; a \
         frame is decoded when it is complete and so is every frame it depends on, back to a key frame",
        RFC8868,
    ),
    Flow.metric(
        "media.media_utilization",
        "",
        Corrected,
        "media_rate_mbps / min(the source's highest bitrate, mean capacity of the narrowest link of the direction / number of \
         flows in that direction)",
        RFC8868,
    ),
    Flow.metric(
        "media.frame_delay_p50_ms",
        "ms",
        Corrected,
        "median of the times from capture to decoding",
        RFC8868,
    ),
    Flow.metric("media.frame_delay_p95_ms", "ms", Corrected, "95th percentile of the same times", RFC8868),
    Flow.metric("media.frame_delay_p99_ms", "ms", Corrected, "99th percentile of the same times", RFC8868),
    Flow.metric(
        "media.stalls",
        "",
        Corrected,
        "intervals between decoded frames, less planned pauses, of at least max(3 a, a + 150 ms), a = mean of the (up to) 30 \
         before, that end from max(start, warm-up) to min(stop, end); the time from the last frame to the end is one too, \
         and without any frame all of the time",
        FREEZE,
    ),
    Flow.metric("media.stall_time_s", "s", Corrected, "sum of the intervals of stalls", FREEZE),
    Flow.metric("media.stall_ratio", "", Corrected, "stall_time_s / the time of media_rate_mbps", FREEZE),
    Flow.metric("media.frames_written", "frames", Counter, "frames the encoder wrote", OWN),
    Flow.metric(
        "media.frames_skipped",
        "frames",
        Counter,
        "frames the encoder skipped because too much was waiting",
        OWN,
    ),
    Flow.metric("media.frames_decoded", "frames", Counter, "frames that could be decoded", OWN),
];
