//! The metrics of links.

use super::Better::{Less, More, Neutral};
use super::Convention::{Ccperf, Corrected, Counter};
use super::Level::Link;
use super::{CCPERF, Definition, OWN, RFC5166, RFC7928};

/// In the order of the JSON.
pub(super) const METRICS: &[Definition] = &[
    Link.metric(
        "capacity_mbps",
        "Mbit/s",
        Neutral,
        Counter,
        "bits the link could have carried / elapsed time; null without a limit",
        OWN,
    ),
    Link.metric("throughput_mbps", "Mbit/s", More, Counter, "bits the link sent / elapsed time", OWN),
    Link.metric("utilization", "", More, Counter, "bits the link sent / bits it could have carried", OWN),
    Link.metric(
        "mean_queue_packets",
        "packets",
        Less,
        Counter,
        "time integral of the queue length / elapsed time",
        CCPERF,
    ),
    Link.metric("mean_queue_bytes", "bytes", Less, Counter, "time integral of the queue length / elapsed time", CCPERF),
    Link.metric("max_queue_packets", "packets", Less, Counter, "longest queue that lasted", OWN),
    Link.metric("max_queue_bytes", "bytes", Less, Counter, "longest queue that lasted", OWN),
    Link.metric(
        "mean_queue_delay_ms",
        "ms",
        Less,
        Counter,
        "mean time in the queue of the packets that left it towards the link",
        CCPERF,
    ),
    Link.metric("packets_in", "packets", Neutral, Counter, "packets offered to the link", OWN),
    Link.metric("packets_out", "packets", Neutral, Counter, "packets the link sent", OWN),
    Link.metric("packets_dropped", "packets", Less, Counter, "packets the link's queue dropped", OWN),
    Link.metric("packets_marked", "packets", Neutral, Counter, "packets the link's queue CE-marked", OWN),
    Link.metric("ecn_mark_rate", "", Neutral, Corrected, "packets marked / packets sent", RFC5166),
    Link.metric("max_queue_delay_ms", "ms", Less, Corrected, "longest time that a packet spent in the queue", RFC7928),
    Link.metric(
        "peak_queue_ms",
        "ms",
        Less,
        Corrected,
        "the same of the packets that left the queue after the path's last scheduled change; null without a change",
        RFC7928,
    ),
    Link.metric("mean_qdisc_delay_l2", "ms", Less, Ccperf, "mean_queue_delay_ms", CCPERF),
    Link.metric("mean_qdisc_length_l2", "packets", Less, Ccperf, "mean_queue_packets", CCPERF),
    Link.metric("mean_sending_rate_l1", "Mbit/s", Neutral, Ccperf, "throughput_mbps, framing included", CCPERF),
    Link.metric("total_qdisc_drops_l2", "packets", Less, Ccperf, "packets_dropped", CCPERF),
];
