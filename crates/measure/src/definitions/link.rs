//! The metrics of links.

use super::Convention::{Ccperf, Corrected, Counter};
use super::{CCPERF, Convention, Definition, Level, OWN, RFC5166, RFC7928};

const fn link(
    name: &'static str,
    unit: &'static str,
    convention: Convention,
    formula: &'static str,
    source: &'static str,
) -> Definition {
    Definition::new((Level::Link, name, unit), convention, formula, source)
}

/// In the order of the JSON.
pub(super) const METRICS: &[Definition] = &[
    link(
        "capacity_mbps",
        "Mbit/s",
        Counter,
        "bits the link could have carried / elapsed time; null without a limit",
        OWN,
    ),
    link("throughput_mbps", "Mbit/s", Counter, "bits the link sent / elapsed time", OWN),
    link("utilization", "", Counter, "bits the link sent / bits it could have carried", OWN),
    link(
        "mean_queue_packets",
        "packets",
        Counter,
        "time integral of the queue length / elapsed time",
        CCPERF,
    ),
    link("mean_queue_bytes", "bytes", Counter, "time integral of the queue length / elapsed time", CCPERF),
    link("max_queue_packets", "packets", Counter, "longest queue", OWN),
    link("max_queue_bytes", "bytes", Counter, "longest queue", OWN),
    link(
        "mean_queue_delay_ms",
        "ms",
        Counter,
        "sum of the times packets spent in the queue / packets sent",
        CCPERF,
    ),
    link("packets_in", "packets", Counter, "packets offered to the link", OWN),
    link("packets_out", "packets", Counter, "packets the link sent", OWN),
    link("packets_dropped", "packets", Counter, "packets the link's queue dropped", OWN),
    link("packets_marked", "packets", Counter, "packets the link's queue CE-marked", OWN),
    link("ecn_mark_rate", "", Corrected, "packets marked / packets sent", RFC5166),
    link("max_queue_delay_ms", "ms", Corrected, "longest time that a packet spent in the queue", RFC7928),
    link(
        "peak_queue_ms",
        "ms",
        Corrected,
        "the same of the packets that left the queue after the path's last scheduled change; null without a change",
        RFC7928,
    ),
    link("mean_qdisc_delay_l2", "ms", Ccperf, "mean_queue_delay_ms", CCPERF),
    link("mean_qdisc_length_l2", "packets", Ccperf, "mean_queue_packets", CCPERF),
    link("mean_sending_rate_l1", "Mbit/s", Ccperf, "throughput_mbps, framing included", CCPERF),
    link("total_qdisc_drops_l2", "packets", Ccperf, "packets_dropped", CCPERF),
];
