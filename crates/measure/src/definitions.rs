//! What every key of the statistics means: name, unit, convention, formula, source.

use serde::Serialize;

/// The rules a metric follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Convention {
    /// As Pantheon's analysis computes it: whole log, sizes with overhead, packets under way at the end are lost.
    Pantheon,
    /// Payload only, from the end of the warm-up, without packets under way at the end.
    Corrected,
    /// Counted over the whole run, or a time mean of a counted quantity.
    Counter,
}

/// What a metric belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// An entry of `flows`.
    Flow,
    /// An entry of `links`.
    Link,
    /// `network`.
    Network,
}

/// Definition of one metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Definition {
    /// Key in the JSON; `a.b` is key `b` of the object `a`.
    pub name: &'static str,
    /// Unit; empty for plain numbers.
    pub unit: &'static str,
    /// The rules it follows.
    pub convention: Convention,
    /// What it belongs to.
    pub level: Level,
    /// How it is computed.
    pub formula: &'static str,
    /// Where the definition comes from.
    pub source: &'static str,
}

/// A key of the statistics that names or dates something and is no metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Label {
    /// Key in the JSON.
    pub name: &'static str,
    /// What it belongs to.
    pub level: Level,
    /// What it says.
    pub meaning: &'static str,
}

use Convention::{Corrected, Counter, Pantheon};
use Level::{Flow, Link, Network};

const PANTHEON: &str = "Pantheon, src/analysis/tunnel_graph.py";
const VALIDITY: &str = "Pantheon, src/analysis/plot.py";
const OWN: &str = "dumbbell: what Pantheon's metrics lack";
const RFC5166: &str = "RFC 5166";
const RFC7679: &str = "RFC 7679 (delay); percentile by nearest rank as Pantheon's";
const RFC7680: &str = "RFC 7680 (loss); RFC 5166";
const JAIN: &str = "Jain, Chiu, Hawe 1984; over time as ccperf";
const RFC8868: &str = "after RFC 8868 (evaluation of interactive media)";
const FREEZE: &str = "W3C webrtc-stats, freezeCount and totalFreezesDuration";
const CCPERF: &str = "ccperf, as exact time integral";

const fn flow(
    name: &'static str,
    unit: &'static str,
    convention: Convention,
    formula: &'static str,
    source: &'static str,
) -> Definition {
    Definition { name, unit, convention, level: Flow, formula, source }
}

const fn link(
    name: &'static str,
    unit: &'static str,
    formula: &'static str,
    source: &'static str,
) -> Definition {
    Definition { name, unit, convention: Counter, level: Link, formula, source }
}

const fn network(
    name: &'static str,
    unit: &'static str,
    convention: Convention,
    formula: &'static str,
    source: &'static str,
) -> Definition {
    Definition { name, unit, convention, level: Network, formula, source }
}

/// Keys that are no metrics.
pub const LABELS: &[Label] = &[
    Label { name: "flow", level: Flow, meaning: "number of the flow" },
    Label { name: "scheme", level: Flow, meaning: "name of the scheme; empty where unknown" },
    Label { name: "start_s", level: Flow, meaning: "planned start, or time of the first record, s" },
    Label { name: "stop_s", level: Flow, meaning: "planned stop, or end of the run, s" },
    Label { name: "link", level: Link, meaning: "name of the link" },
    Label { name: "direction", level: Link, meaning: "data or ack" },
    Label {
        name: "invalid_reason",
        level: Network,
        meaning: "why valid is false, one line; null for valid runs",
    },
];

/// Every metric, in the order of the JSON.
pub const METRICS: &[Definition] = &[
    flow(
        "throughput_mbps",
        "Mbit/s",
        Pantheon,
        "bits delivered (path overhead included) / (last - first delivery); 0 if these times are equal",
        PANTHEON,
    ),
    flow(
        "ingress_mbps",
        "Mbit/s",
        Pantheon,
        "bits sent (path overhead included) / (last - first sending); 0 if these times are equal",
        PANTHEON,
    ),
    flow(
        "delay_p95_ms",
        "ms",
        Pantheon,
        "of the n sorted one-way delays of all delivered packets, the one at index round(0.95 (n - 1)), halves to even",
        PANTHEON,
    ),
    flow(
        "loss_rate",
        "",
        Pantheon,
        "1 - bytes delivered / bytes sent, whole log: packets under way at the end are lost, duplicates make it negative",
        PANTHEON,
    ),
    flow("acklink.throughput_mbps", "Mbit/s", Pantheon, "throughput_mbps of the return direction", PANTHEON),
    flow("acklink.delay_p95_ms", "ms", Pantheon, "delay_p95_ms of the return direction", PANTHEON),
    flow("acklink.loss_rate", "", Pantheon, "loss_rate of the return direction", PANTHEON),
    flow(
        "goodput_mbps",
        "Mbit/s",
        Corrected,
        "payload bits new to the receiver / (min(stop, end) - max(start, warm-up)), delivered in that time",
        RFC5166,
    ),
    flow(
        "packet_loss_rate",
        "",
        Corrected,
        "dropped / (dropped + delivered) packets from max(start, warm-up) to min(stop, end); in logs without drops: not \
         delivered / all of the packets sent from max(start, warm-up) to the flow's largest delay before the end",
        RFC7680,
    ),
    flow(
        "owd_mean_ms",
        "ms",
        Corrected,
        "mean one-way delay of the packets delivered from max(start, warm-up) to min(stop, end)",
        RFC7679,
    ),
    flow("owd_min_ms", "ms", Corrected, "smallest one-way delay of the whole run", RFC7679),
    flow("owd_p50_ms", "ms", Corrected, "median of the delays of owd_mean_ms", RFC7679),
    flow("owd_p95_ms", "ms", Corrected, "95th percentile of the delays of owd_mean_ms", RFC7679),
    flow("owd_p99_ms", "ms", Corrected, "99th percentile of the delays of owd_mean_ms", RFC7679),
    flow("self_inflicted_delay_p95_ms", "ms", Corrected, "owd_p95_ms - owd_min_ms", OWN),
    flow("self_inflicted_delay_mean_ms", "ms", Corrected, "owd_mean_ms - owd_min_ms", OWN),
    flow("packets_sent", "packets", Counter, "packets that entered the path", OWN),
    flow("packets_delivered", "packets", Counter, "packets that left the path, duplicates included", OWN),
    flow(
        "packets_dropped",
        "packets",
        Counter,
        "packets dropped in the path; null in logs that do not tell drops",
        OWN,
    ),
    flow("packets_marked", "packets", Counter, "packets CE-marked in the path", OWN),
    flow(
        "packets_in_flight_at_end",
        "packets",
        Counter,
        "sent - delivered - dropped, at least 0; in logs without drops: sent within the flow's largest delay before the \
         end and not delivered",
        OWN,
    ),
    flow("bytes_sent", "bytes", Counter, "bytes that entered the path, overhead included", OWN),
    flow("bytes_delivered", "bytes", Counter, "bytes that left the path, overhead included", OWN),
    flow(
        "data_bytes_delivered",
        "bytes",
        Counter,
        "payload bytes new to the receiver; null in logs that do not tell payload",
        OWN,
    ),
    flow("retransmissions", "packets", Counter, "packets sent with payload that was sent before", CCPERF),
    flow("timeouts", "", Counter, "expired retransmission timers", CCPERF),
    flow("loss_episodes", "", Counter, "recovery episodes entered", CCPERF),
    flow("mean_cwnd_bytes", "bytes", Counter, "time integral of cwnd / active time", CCPERF),
    flow(
        "mean_in_flight_bytes",
        "bytes",
        Counter,
        "time integral of the bytes in flight / active time",
        CCPERF,
    ),
    flow(
        "mean_srtt_ms",
        "ms",
        Counter,
        "time integral of the smoothed RTT / time since its first sample",
        CCPERF,
    ),
    flow(
        "media.media_rate_mbps",
        "Mbit/s",
        Corrected,
        "bits of decoded frames / (min(stop, end) - max(start, warm-up)), decoded in that time; a frame is decoded when it is \
         complete and so is every frame it depends on, back to a key frame",
        RFC8868,
    ),
    flow(
        "media.media_utilization",
        "",
        Corrected,
        "media_rate_mbps / min(the source's highest bitrate, capacity of the first link / number of flows)",
        RFC8868,
    ),
    flow(
        "media.frame_delay_p50_ms",
        "ms",
        Corrected,
        "median of the times from capture to decoding",
        RFC8868,
    ),
    flow("media.frame_delay_p95_ms", "ms", Corrected, "95th percentile of the same times", RFC8868),
    flow("media.frame_delay_p99_ms", "ms", Corrected, "99th percentile of the same times", RFC8868),
    flow(
        "media.stalls",
        "",
        Corrected,
        "intervals between decoded frames of at least max(3 a, a + 150 ms), a = mean of the 30 before; the time from the last \
         frame to the end is one too",
        FREEZE,
    ),
    flow("media.stall_time_s", "s", Corrected, "sum of the intervals of stalls", FREEZE),
    flow("media.stall_ratio", "", Corrected, "stall_time_s / (min(stop, end) - max(start, warm-up))", FREEZE),
    flow("media.frames_written", "frames", Counter, "frames the encoder wrote", OWN),
    flow(
        "media.frames_skipped",
        "frames",
        Counter,
        "frames the encoder skipped because too much was waiting",
        OWN,
    ),
    flow("media.frames_decoded", "frames", Counter, "frames that could be decoded", OWN),
    link(
        "capacity_mbps",
        "Mbit/s",
        "bits the link could have carried / elapsed time; null without a limit",
        OWN,
    ),
    link("throughput_mbps", "Mbit/s", "bits the link sent / elapsed time", OWN),
    link("utilization", "", "bits the link sent / bits it could have carried", OWN),
    link("mean_queue_packets", "packets", "time integral of the queue length / elapsed time", CCPERF),
    link("mean_queue_bytes", "bytes", "time integral of the queue length / elapsed time", CCPERF),
    link("max_queue_packets", "packets", "longest queue", OWN),
    link("max_queue_bytes", "bytes", "longest queue", OWN),
    link("mean_queue_delay_ms", "ms", "sum of the times packets spent in the queue / packets sent", CCPERF),
    link("packets_in", "packets", "packets offered to the link", OWN),
    link("packets_out", "packets", "packets the link sent", OWN),
    link("packets_dropped", "packets", "packets the link's queue dropped", OWN),
    link("packets_marked", "packets", "packets the link's queue CE-marked", OWN),
    network(
        "throughput_mbps",
        "Mbit/s",
        Pantheon,
        "bits delivered of all flows / (last - first delivery over all flows)",
        PANTHEON,
    ),
    network(
        "ingress_mbps",
        "Mbit/s",
        Pantheon,
        "bits sent of all flows / (last - first sending over all flows)",
        PANTHEON,
    ),
    network("delay_p95_ms", "ms", Pantheon, "delay_p95_ms over the packets of all flows", PANTHEON),
    network("loss_rate", "", Pantheon, "1 - bytes delivered / bytes sent over all flows", PANTHEON),
    network(
        "capacity_mbps",
        "Mbit/s",
        Pantheon,
        "bits of all delivery opportunities / (last - first opportunity), the first one's bits included",
        PANTHEON,
    ),
    network("capacity_utilization", "", Pantheon, "throughput_mbps / capacity_mbps", PANTHEON),
    network("duration_s", "s", Pantheon, "last - first delivery over all flows", PANTHEON),
    network(
        "valid",
        "",
        Pantheon,
        "every flow sent and received something, and duration_s is at least 0.8 of the planned duration",
        VALIDITY,
    ),
    network(
        "acklink.throughput_mbps",
        "Mbit/s",
        Pantheon,
        "throughput_mbps of the return direction",
        PANTHEON,
    ),
    network("acklink.delay_p95_ms", "ms", Pantheon, "delay_p95_ms of the return direction", PANTHEON),
    network("acklink.loss_rate", "", Pantheon, "loss_rate of the return direction", PANTHEON),
    network(
        "goodput_mbps",
        "Mbit/s",
        Corrected,
        "payload bits of all flows' goodput_mbps / (latest min(stop, end) - earliest max(start, warm-up))",
        RFC5166,
    ),
    network(
        "packet_loss_rate",
        "",
        Corrected,
        "the flows' lost packets / (their lost + delivered packets), each counted as in the flow's packet_loss_rate",
        RFC7680,
    ),
    network("owd_p50_ms", "ms", Corrected, "median over the packets of all flows' owd_mean_ms", RFC7679),
    network("owd_p95_ms", "ms", Corrected, "95th percentile over the same packets", RFC7679),
    network("owd_p99_ms", "ms", Corrected, "99th percentile over the same packets", RFC7679),
    network(
        "jain_index",
        "",
        Corrected,
        "(sum x)^2 / (n sum x^2), x = payload bytes delivered to each flow while all flows are active, after the warm-up \
         (bytes on the path in logs that do not tell payload); null if never all are active",
        JAIN,
    ),
    network(
        "jain_index_mean",
        "",
        Corrected,
        "mean of jain_index over the whole bins (500 ms unless set) of that time in which anything was delivered",
        JAIN,
    ),
    network(
        "utilization",
        "",
        Counter,
        "utilization of the first link, the bottleneck in the data direction",
        OWN,
    ),
];
