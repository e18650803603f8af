//! Statistics of all flows together.

use super::acks::AckLinkStats;
use super::completion::Completion;
use super::definition::Better::{Less, More, Neutral};
use super::definition::Convention::{Ccperf, Corrected, Counter, Pantheon};
use super::definition::OneWay::Data;
use super::known::{KnownFlow, KnownRun};
use super::needs::Need::{Arrivals, Flows, OneWayDelays, Payload, Sendings};
use super::row::{group, label, metric, statistics};
use super::sources::{CCPERF, OWN, PANTHEON, RFC5166, RFC7679, RFC7680, RFC7928};
use crate::meters::{CONVERGENCE_WINDOW, byte_loss, mbps, us_to_ms};
use units::Span;

const VALIDITY: &str = "Pantheon, src/analysis/plot.py";
const JAIN_WINDOWS: &str = "Jain, Chiu, Hawe 1984; windows and flows as nadinelyab/Copa_Reproduction@72499f0, \
    jain_full_experiment.py";
const JAIN_ACTIVE: &str = "Jain, Chiu, Hawe 1984";
const JAIN: &str = "Jain, Chiu, Hawe 1984; over time as ccperf";

statistics! {
    /// Statistics of all flows together.
    NetworkStats, "", of KnownRun<'_> {
        throughput_mbps: Option<f64> = metric("Mbit/s", More, Pantheon,
            "bits delivered of all flows / (last - first delivery over all flows)", PANTHEON).needs(&[Arrivals])
            => |known| Some(known.throughput_mbps());
        ingress_mbps: Option<f64> = metric("Mbit/s", Neutral, Pantheon,
            "bits sent of all flows / (last - first sending over all flows)", PANTHEON).needs(&[Sendings])
            => |known| Some(known.sent.mean_mbps(known.clock));
        delay_p95_ms: Option<f64> = metric("ms", Less, Pantheon, "delay_p95_ms over the packets of all flows", PANTHEON)
            .across(Data).needs(&[OneWayDelays]) => |known| known.delay_p95_us.map(us_to_ms);
        loss_rate: Option<f64> = metric("", Less, Pantheon, "1 - bytes delivered / bytes sent over all flows", PANTHEON)
            .needs(&[Sendings, Arrivals]) => |known| byte_loss(&known.sent, &known.delivered);
        capacity_mbps: Option<f64> = metric("Mbit/s", Neutral, Pantheon,
            "bits of all delivery opportunities / (last - first opportunity), the first one's bits included",
            PANTHEON) => KnownRun::capacity_mbps;
        capacity_utilization: Option<f64> = metric("", More, Pantheon, "throughput_mbps / capacity_mbps", PANTHEON)
            .fraction().needs(&[Arrivals]) => |known| Some(known.throughput_mbps() / known.capacity_mbps()?);
        duration_s: Option<f64> = metric("s", Neutral, Pantheon, "last - first delivery over all flows", PANTHEON)
            .needs(&[Arrivals]) => |known| Some(known.delivered.span_ms(known.clock) / 1_000.0);
        valid: bool = metric("", Neutral, Pantheon,
            "every flow that sent anything received something, and duration_s is at least 0.8 of the planned duration",
            VALIDITY) => |known| known.invalid_reason.is_none();
        invalid_reason: Option<String> = label("why valid is false, one line; null for valid runs")
            => |known| known.invalid_reason.clone();
        acklink: Option<AckLinkStats> = group(AckLinkStats::ROWS) => |known| known.acks.clone();
        goodput_mbps: Option<f64> = metric("Mbit/s", More, Corrected,
            "payload bits of all flows' goodput_mbps / (latest min(stop, end) - earliest max(start, warm-up))",
            RFC5166).needs(&[Arrivals, Payload]) => |known| mbps(known.measured_data_bytes, known.measured);
        packet_loss_rate: Option<f64> = metric("", Less, Corrected,
            "the flows' lost packets / (their lost + delivered packets), each counted as in the flow's \
             packet_loss_rate", RFC7680).needs(&[Sendings, Arrivals]) => |known| known.fate.loss_rate();
        competing_from_s: Option<f64> = label("from when on all flows are active, after the warm-up, s; null of one flow")
            => |known| known.common.map(|(from, _)| from.as_secs_f64());
        competing_to_s: Option<f64> = label("until the first of them stops or is complete, or the run ends, s; null if \
             they are never all active")
            => |known| known.common.map(|(_, to)| to.as_secs_f64());
        competing_goodput_mbps: Option<f64> = metric("Mbit/s", More, Corrected,
            "payload bits of all flows' competing_goodput_mbps / the same time", RFC5166)
            .needs(&[Arrivals, Payload, Flows]) => KnownRun::common_mbps;
        owd_p50_ms: Option<f64> = metric("ms", Less, Corrected,
            "median over the packets of all flows' owd_mean_ms", RFC7679).across(Data).needs(&[OneWayDelays])
            => |known| known.delay.map(|delay| us_to_ms(delay.p50_us));
        owd_p95_ms: Option<f64> = metric("ms", Less, Corrected, "95th percentile over the same packets", RFC7679)
            .across(Data).needs(&[OneWayDelays]) => |known| known.delay.map(|delay| us_to_ms(delay.p95_us));
        owd_p99_ms: Option<f64> = metric("ms", Less, Corrected, "99th percentile over the same packets", RFC7679)
            .across(Data).needs(&[OneWayDelays]) => |known| known.delay.map(|delay| us_to_ms(delay.p99_us));
        jain_index: Option<f64> = metric("", More, Corrected,
            "(sum x)^2 / (n sum x^2), x = payload bytes delivered to each flow while all flows are active, after the \
             warm-up (bytes on the path in logs that do not tell payload); null if never all are active, or nothing \
             was delivered then", JAIN).fraction().needs(&[Arrivals, Flows]) => |known| known.jain.overall;
        jain_index_mean: Option<f64> = metric("", More, Corrected,
            "mean of jain_index over the whole bins (500 ms unless set, from its beginning) of that time in which \
             anything was delivered", JAIN).fraction().needs(&[Arrivals, Flows]) => |known| known.jain.mean;
        jain_seen_p50: Option<f64> = metric("", More, Counter,
            "median over windows of (sum x)^2 / (n sum x^2), x = bytes on the path delivered in the window to each of \
             the n flows that got any; a window of jain_window_s begins with the first delivery after the one before; \
             those with another n than the one before, and the last, are left out. Hides starvation: a flow that gets \
             nothing is not counted", JAIN_WINDOWS).fraction().needs(&[Arrivals, Flows])
            => |known| known.jain_seen.median();
        jain_seen_p05: Option<f64> = metric("", More, Counter,
            "5th percentile (nearest rank) over the same windows", JAIN_WINDOWS).fraction().needs(&[Arrivals, Flows])
            => |known| known.jain_seen.p05();
        jain_active_p50: Option<f64> = metric("", More, Counter,
            "median over windows of the same index, of the n flows whose planned time (to their last byte, if they \
             end) covers the whole window, with or without a delivery; windows begin at multiples of jain_window_s; \
             those in which nothing was delivered are left out", JAIN_ACTIVE).fraction().needs(&[Arrivals, Flows])
            => |known| known.jain_active.median();
        jain_active_p05: Option<f64> = metric("", More, Counter,
            "5th percentile (nearest rank) over the same windows", JAIN_ACTIVE).fraction().needs(&[Arrivals, Flows])
            => |known| known.jain_active.p05();
        jain_window_s: f64 = label("length of the windows of jain_seen_p50 and its like, s")
            => |known| known.jain_active.window_s;
        utilization: Option<f64> = metric("", More, Counter,
            "utilization of links[0], the bottleneck in the data direction", OWN).fraction()
            => |known| known.links.first()?.utilization();
        mean_agg_throughput_l4: Option<f64> = metric("Mbit/s", More, Ccperf,
            "payload bits of all flows' mean_throughput_l4 / (end of the last T - first start)", CCPERF)
            .needs(&[Arrivals, Payload]) => KnownRun::aggregate_mbps;
        mean_agg_in_flight_l4: Option<f64> = metric("segments", Neutral, Ccperf,
            "sum over the flows of the time integral of mean_in_flight_l4 / the same time", CCPERF).needs(&[Arrivals])
            => |known| known.sum(KnownFlow::in_flight_segments);
        mean_agg_utilization_bw_l4: Option<f64> = metric("", More, Ccperf,
            "the same sum of mean_utilization_bw_l4", CCPERF).needs(&[Arrivals, Payload])
            => |known| known.sum(|flow| flow.of_capacity(flow.throughput_mbps()?));
        mean_agg_utilization_bdp_l4: Option<f64> = metric("", Neutral, Ccperf,
            "the same sum of mean_utilization_bdp_l4", CCPERF).needs(&[Arrivals])
            => |known| known.sum(KnownFlow::utilization_bdp);
        mean_agg_utility_pf_l4: Option<f64> = metric("", More, Ccperf,
            "mean over the samples of the sum of ln(throughput in Mbit/s) over the flows active in all of it, zeros \
             left out", CCPERF).sampled().needs(&[Arrivals, Payload]) => |known| known.sampling.utility_pf.mean();
        mean_agg_utility_mpdf_l4: Option<f64> = metric("s/Mbit", More, Ccperf,
            "mean over the samples of the sum of -1 / throughput in Mbit/s over the same flows", CCPERF)
            .sampled().needs(&[Arrivals, Payload]) => |known| known.sampling.utility_mpdf.mean();
        mean_jains_fairness_throughput_l4: Option<f64> = metric("", More, Ccperf,
            "mean over the samples of (sum x)^2 / (n sum x^2), x = throughput of the n flows active in all of the \
             sample", CCPERF).sampled().needs(&[Arrivals, Payload]) => |known| known.sampling.jain.mean();
        mean_entropy_fairness_throughput_l4: Option<f64> = metric("nat", More, Ccperf,
            "mean over the samples of -sum p ln p, p = x / sum x of the same flows", CCPERF)
            .sampled().needs(&[Arrivals, Payload]) => |known| known.sampling.entropy.mean();
        mean_product_fairness_throughput_l4: Option<f64> = metric("(Mbit/s)^n", More, Ccperf,
            "mean over the samples of the product of x of the same flows", CCPERF)
            .sampled().needs(&[Arrivals, Payload]) => |known| known.sampling.product.mean();
        convergence_time_s: Option<f64> = metric("s", Less, Corrected,
            "start of the last flow to the end of the first stretch of convergence_window_s from which on, while all \
             flows are active, every flow's payload read was within convergence_delta of the n-th part; null if the \
             last stretch was not so, and of one flow", RFC5166).sampled().needs(&[Arrivals, Payload])
            => |known| known.convergence.map(Span::as_secs_f64);
        convergence_delta: f64 = label("distance from the fair share, as a fraction of it, that \
             convergence_time_s allows") => |known| known.sampling.convergence.delta();
        convergence_window_s: f64 = label("length of time whose shares convergence_time_s looks at, s")
            => |_| CONVERGENCE_WINDOW.as_secs_f64();
        sample_interval_s: Option<f64> = label("length of the sample intervals that sampled metrics are \
             computed from, s; null without samples") => KnownRun::sample_interval_s;
        fct_mean_s: Option<f64> = metric("s", Less, Corrected,
            "mean flow_completion_time_l4 of the finite transfers that were completed", RFC7928)
            => |known| known.transfers.mean_s();
        fct_p50_s: Option<f64> = metric("s", Less, Corrected, "median of the same times", RFC7928)
            => |known| known.transfers.percentile_s(50.0);
        fct_p95_s: Option<f64> = metric("s", Less, Corrected, "95th percentile of the same times", RFC7928)
            => |known| known.transfers.percentile_s(95.0);
        fct_p99_s: Option<f64> = metric("s", Less, Corrected, "99th percentile of the same times", RFC7928)
            => |known| known.transfers.percentile_s(99.0);
        fct_incomplete: u64 = metric("flows", Less, Counter, "finite transfers that were not completed", RFC7928)
            => |known| known.transfers.incomplete();
        completions: Vec<Completion> = group(Completion::ROWS) => |known| known.completions.clone();
    }
}
