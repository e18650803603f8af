//! The metrics of all flows together.

use super::Better::{Less, More, Neutral};
use super::Convention::{Ccperf, Corrected, Counter, Pantheon};
use super::Level::Network;
use super::OneWay::{Data, Return};
use super::{CCPERF, Definition, OWN, PANTHEON, RFC5166, RFC7679, RFC7680, RFC7928};

const VALIDITY: &str = "Pantheon, src/analysis/plot.py";
const JAIN_WINDOWS: &str = "Jain, Chiu, Hawe 1984; windows and flows as nadinelyab/Copa_Reproduction@72499f0, jain_full_experiment.py";
const JAIN: &str = "Jain, Chiu, Hawe 1984; over time as ccperf";

/// In the order of the JSON.
pub(super) const METRICS: &[Definition] = &[
    Network.metric(
        "throughput_mbps",
        "Mbit/s",
        More,
        Pantheon,
        "bits delivered of all flows / (last - first delivery over all flows)",
        PANTHEON,
    ),
    Network.metric(
        "ingress_mbps",
        "Mbit/s",
        Neutral,
        Pantheon,
        "bits sent of all flows / (last - first sending over all flows)",
        PANTHEON,
    ),
    Network.metric("delay_p95_ms", "ms", Less, Pantheon, "delay_p95_ms over the packets of all flows", PANTHEON).across(Data),
    Network.metric("loss_rate", "", Less, Pantheon, "1 - bytes delivered / bytes sent over all flows", PANTHEON),
    Network.metric(
        "capacity_mbps",
        "Mbit/s",
        Neutral,
        Pantheon,
        "bits of all delivery opportunities / (last - first opportunity), the first one's bits included",
        PANTHEON,
    ),
    Network.metric("capacity_utilization", "", More, Pantheon, "throughput_mbps / capacity_mbps", PANTHEON),
    Network.metric("duration_s", "s", Neutral, Pantheon, "last - first delivery over all flows", PANTHEON),
    Network.metric(
        "valid",
        "",
        Neutral,
        Pantheon,
        "every flow that sent anything received something, and duration_s is at least 0.8 of the planned duration",
        VALIDITY,
    ),
    Network.metric(
        "acklink.throughput_mbps",
        "Mbit/s",
        Neutral,
        Pantheon,
        "throughput_mbps of the return direction",
        PANTHEON,
    ),
    Network.metric("acklink.delay_p95_ms", "ms", Less, Pantheon, "delay_p95_ms of the return direction", PANTHEON).across(Return),
    Network.metric("acklink.loss_rate", "", Less, Pantheon, "loss_rate of the return direction", PANTHEON),
    Network.metric(
        "goodput_mbps",
        "Mbit/s",
        More,
        Corrected,
        "payload bits of all flows' goodput_mbps / (latest min(stop, end) - earliest max(start, warm-up))",
        RFC5166,
    ),
    Network.metric(
        "packet_loss_rate",
        "",
        Less,
        Corrected,
        "the flows' lost packets / (their lost + delivered packets), each counted as in the flow's packet_loss_rate",
        RFC7680,
    ),
    Network.metric("owd_p50_ms", "ms", Less, Corrected, "median over the packets of all flows' owd_mean_ms", RFC7679).across(Data),
    Network.metric("owd_p95_ms", "ms", Less, Corrected, "95th percentile over the same packets", RFC7679).across(Data),
    Network.metric("owd_p99_ms", "ms", Less, Corrected, "99th percentile over the same packets", RFC7679).across(Data),
    Network.metric(
        "jain_index",
        "",
        More,
        Corrected,
        "(sum x)^2 / (n sum x^2), x = payload bytes delivered to each flow while all flows are active, after the warm-up \
         (bytes on the path in logs that do not tell payload); null if never all are active, or nothing was delivered then",
        JAIN,
    ),
    Network.metric(
        "jain_index_mean",
        "",
        More,
        Corrected,
        "mean of jain_index over the whole bins (500 ms unless set, from its beginning) of that time in which anything was delivered",
        JAIN,
    ),
    Network.metric(
        "jain_seen_p50",
        "",
        More,
        Counter,
        "median over windows of (sum x)^2 / (n sum x^2), x = bytes on the path delivered in the window to each of the n flows that got any; a \
         window of jain_window_s begins with the first delivery after the one before; those with another n than the one before, and the last, are \
         left out. Hides starvation: a flow that gets nothing is not counted",
        JAIN_WINDOWS,
    ),
    Network.metric("jain_seen_p05", "", More, Counter, "5th percentile (nearest rank) over the same windows", JAIN_WINDOWS),
    Network.metric(
        "jain_active_p50",
        "",
        More,
        Counter,
        "median over windows of the same index, of the n flows whose planned time (to their last byte, if they end) covers the whole window, with or without \
         a delivery; windows begin at multiples of jain_window_s; those in which nothing was delivered are left out",
        "Jain, Chiu, Hawe 1984",
    ),
    Network.metric("jain_active_p05", "", More, Counter, "5th percentile (nearest rank) over the same windows", "Jain, Chiu, Hawe 1984"),
    Network.metric(
        "utilization",
        "",
        More,
        Counter,
        "utilization of links[0], the bottleneck in the data direction",
        OWN,
    ),
    Network.metric("mean_agg_throughput_l4", "Mbit/s", More, Ccperf, "payload bits of all flows' mean_throughput_l4 / (end of the last T - first start)", CCPERF),
    Network.metric("mean_agg_in_flight_l4", "segments", Neutral, Ccperf, "sum over the flows of the time integral of mean_in_flight_l4 / the same time", CCPERF),
    Network.metric("mean_agg_utilization_bw_l4", "", More, Ccperf, "the same sum of mean_utilization_bw_l4", CCPERF),
    Network.metric("mean_agg_utilization_bdp_l4", "", Neutral, Ccperf, "the same sum of mean_utilization_bdp_l4", CCPERF),
    Network.metric("mean_agg_utility_pf_l4", "", More, Ccperf, "mean over the samples of the sum of ln(throughput in Mbit/s) over the flows active in all of it, zeros left out", CCPERF).sampled(),
    Network.metric("mean_agg_utility_mpdf_l4", "s/Mbit", More, Ccperf, "mean over the samples of the sum of -1 / throughput in Mbit/s over the same flows", CCPERF).sampled(),
    Network.metric("mean_jains_fairness_throughput_l4", "", More, Ccperf, "mean over the samples of (sum x)^2 / (n sum x^2), x = throughput of the n flows active in all of the sample", CCPERF).sampled(),
    Network.metric("mean_entropy_fairness_throughput_l4", "nat", More, Ccperf, "mean over the samples of -sum p ln p, p = x / sum x of the same flows", CCPERF).sampled(),
    Network.metric("mean_product_fairness_throughput_l4", "(Mbit/s)^n", More, Ccperf, "mean over the samples of the product of x of the same flows", CCPERF).sampled(),
    Network.metric("convergence_time_s", "s", Less, Corrected, "start of the last flow to the end of the first stretch of convergence_window_s from which on, while all flows are active, every flow's payload read was within convergence_delta of the n-th part; null if the last stretch was not so, and of one flow", RFC5166).sampled(),
    Network.metric("fct_mean_s", "s", Less, Corrected, "mean flow_completion_time_l4 of the finite transfers that were completed", RFC7928),
    Network.metric("fct_p50_s", "s", Less, Corrected, "median of the same times", RFC7928),
    Network.metric("fct_p95_s", "s", Less, Corrected, "95th percentile of the same times", RFC7928),
    Network.metric("fct_p99_s", "s", Less, Corrected, "99th percentile of the same times", RFC7928),
    Network.metric("fct_incomplete", "flows", Less, Counter, "finite transfers that were not completed", RFC7928),
    Network.metric("completions.flows", "flows", Neutral, Counter, "finite transfers of one size", RFC7928),
    Network.metric("completions.completed", "flows", More, Counter, "those that were completed", RFC7928),
    Network.metric("completions.mean_s", "s", Less, Corrected, "fct_mean_s of one size", RFC7928),
    Network.metric("completions.p50_s", "s", Less, Corrected, "fct_p50_s of one size", RFC7928),
    Network.metric("completions.p95_s", "s", Less, Corrected, "fct_p95_s of one size", RFC7928),
    Network.metric("completions.p99_s", "s", Less, Corrected, "fct_p99_s of one size", RFC7928),
];
