//! Statistics of a flow.

use super::acks::AckLinkStats;
use super::definition::Better::{Less, More, Neutral};
use super::definition::Convention::{Ccperf, Corrected, Counter, Pantheon};
use super::definition::OneWay::{Data, Difference};
use super::known::KnownFlow;
use super::media::MediaStats;
use super::needs::Need::{
    Arrivals, DelayDifferences, Drops, Flows, Marks, OneWayDelays, Payload, Reads, RoundTrips, Sendings,
};
use super::row::{group, label, metric, statistics};
use super::sources::{CCPERF, OWN, PANTHEON, RFC5166, RFC7679, RFC7680, RFC9743};
use crate::meters::{byte_loss, mbps, us_to_ms};
use units::Span;

const AVG_DELAY: &str = "nadinelyab/Copa_Reproduction@72499f0, avg_delay.py";

statistics! {
    /// Statistics of one flow.
    FlowStats, "", of KnownFlow<'_> {
        flow: u32 = label("number of the flow") => |known| known.flow.info.flow;
        scheme: String = label("name of the scheme; empty where unknown") => |known| known.flow.info.scheme.clone();
        start_s: f64 = label("planned start, or time of the first record, s") => |known| known.from.as_secs_f64();
        stop_s: f64 = label("planned stop, or end of the run, s") => |known| known.stop.as_secs_f64();
        throughput_mbps: Option<f64> = metric("Mbit/s", More, Pantheon,
            "bits delivered (path overhead included) / (last - first delivery); 0 if these times are equal", PANTHEON)
            .needs(&[Arrivals]) => |known| Some(known.flow.delivered.mean_mbps(known.clock));
        ingress_mbps: Option<f64> = metric("Mbit/s", Neutral, Pantheon,
            "bits sent (path overhead included) / (last - first sending); 0 if these times are equal", PANTHEON)
            .needs(&[Sendings]) => |known| Some(known.flow.sent.mean_mbps(known.clock));
        delay_p95_ms: Option<f64> = metric("ms", Less, Pantheon,
            "of the n sorted one-way delays of all delivered packets, the one at index round(0.95 (n - 1)), halves to \
             even", PANTHEON).across(Data).needs(&[OneWayDelays])
            => |known| known.whole.map(|whole| us_to_ms(whole.p95_us));
        loss_rate: Option<f64> = metric("", Less, Pantheon,
            "1 - bytes delivered / bytes sent, whole log: packets under way at the end are lost, duplicates make it \
             negative", PANTHEON).needs(&[Sendings, Arrivals])
            => |known| byte_loss(&known.flow.sent, &known.flow.delivered);
        acklink: Option<AckLinkStats> = group(AckLinkStats::ROWS) => |known| known.acks.clone();
        goodput_mbps: Option<f64> = metric("Mbit/s", More, Corrected,
            "payload bits new to the receiver / (min(stop, end) - max(start, warm-up)), delivered in that time",
            RFC5166).needs(&[Arrivals, Payload]) => |known| mbps(known.flow.measured_data_bytes, known.measured);
        payload_share: Option<f64> = metric("", Neutral, Corrected,
            "payload of goodput_mbps / the sum of it over all flows that send in the same direction; null if that is \
             zero", OWN).fraction().needs(&[Arrivals, Payload]) => KnownFlow::payload_share;
        packet_loss_rate: Option<f64> = metric("", Less, Corrected,
            "dropped / (dropped + delivered) packets from max(start, warm-up) to min(stop, end); in imported qlogs \
             that have packet_lost: (declared lost and not acknowledged later) / (those + acknowledged); in other \
             logs without drops: not delivered / all of the packets sent from max(start, warm-up) to the flow's \
             largest delay before the end", RFC7680).needs(&[Sendings, Arrivals]) => |known| known.fate.loss_rate();
        competing_goodput_mbps: Option<f64> = metric("Mbit/s", More, Corrected,
            "payload bits new to the receiver delivered from competing_from_s to competing_to_s / that time; null of \
             runs of one flow", RFC5166).needs(&[Arrivals, Payload, Flows]) => KnownFlow::common_mbps;
        competing_share: Option<f64> = metric("", Neutral, Corrected,
            "payload of competing_goodput_mbps / the sum of it over all flows that send in the same direction; null if \
             that is zero", OWN).fraction().needs(&[Arrivals, Payload, Flows]) => KnownFlow::common_share;
        competing_owd_p95_ms: Option<f64> = metric("ms", Less, Corrected,
            "95th percentile of the one-way delays of the packets delivered in that time", RFC7679)
            .across(Data).needs(&[OneWayDelays, Flows])
            => |known| known.common?.delay.map(|delay| us_to_ms(delay.p95_us));
        competing_loss_rate: Option<f64> = metric("", Less, Corrected,
            "dropped / (dropped + delivered) packets in that time; in logs without drops: not delivered / all of the \
             packets sent in it, to the flow's largest delay before the end of the log", RFC7680)
            .needs(&[Sendings, Arrivals, Flows]) => |known| known.common?.fate?.loss_rate();
        owd_mean_ms: Option<f64> = metric("ms", Less, Corrected,
            "mean one-way delay of the packets delivered from max(start, warm-up) to min(stop, end)", RFC7679)
            .across(Data).needs(&[OneWayDelays]) => KnownFlow::delay_mean_ms;
        owd_min_ms: Option<f64> = metric("ms", Less, Corrected, "smallest one-way delay of the whole run", RFC7679)
            .across(Data).needs(&[OneWayDelays]) => KnownFlow::delay_min_ms;
        owd_p50_ms: Option<f64> = metric("ms", Less, Corrected, "median of the delays of owd_mean_ms", RFC7679)
            .across(Data).needs(&[OneWayDelays]) => |known| known.delay.map(|delay| us_to_ms(delay.p50_us));
        owd_p95_ms: Option<f64> = metric("ms", Less, Corrected, "95th percentile of the delays of owd_mean_ms", RFC7679)
            .across(Data).needs(&[OneWayDelays]) => |known| known.delay.map(|delay| us_to_ms(delay.p95_us));
        owd_p99_ms: Option<f64> = metric("ms", Less, Corrected, "99th percentile of the delays of owd_mean_ms", RFC7679)
            .across(Data).needs(&[OneWayDelays]) => |known| known.delay.map(|delay| us_to_ms(delay.p99_us));
        owd_max_ms: Option<f64> = metric("ms", Less, Corrected, "largest of the delays of owd_mean_ms", RFC7679)
            .across(Data).needs(&[OneWayDelays]) => |known| known.delay.map(|delay| us_to_ms(delay.max_us));
        self_inflicted_delay_p95_ms: Option<f64> = metric("ms", Less, Corrected, "owd_p95_ms - owd_min_ms", OWN)
            .across(Difference).needs(&[DelayDifferences]) => |known| known.above_min_ms(known.delay?.p95_us as f64);
        self_inflicted_delay_mean_ms: Option<f64> = metric("ms", Less, Corrected, "owd_mean_ms - owd_min_ms", OWN)
            .across(Difference).needs(&[DelayDifferences]) => |known| known.above_min_ms(known.delay?.mean_us);
        self_inflicted_delay_p10_ms: Option<f64> = metric("ms", Less, Corrected,
            "(10th percentile of the delays of owd_mean_ms) - owd_min_ms",
            OWN).across(Difference).needs(&[DelayDifferences])
            => |known| known.above_min_ms(known.delay?.p10_us as f64);
        queueing_delay_mean_ms: Option<f64> = metric("ms", Less, Counter,
            "mean - smallest one-way delay of all delivered packets of the whole log",
            AVG_DELAY).across(Difference).needs(&[DelayDifferences])
            => |known| known.above_min_ms(known.whole?.mean_us);
        rtt_min_ms: Option<f64> = metric("ms", Less, Corrected,
            "of logs that one end wrote: smallest time from sending a packet to the arrival of what acknowledged it; \
             null in other logs", RFC7679).needs(&[RoundTrips]) => KnownFlow::delay_min_ms;
        rtt_mean_ms: Option<f64> = metric("ms", Less, Corrected,
            "mean of the same times, of what was acknowledged from max(start, warm-up) to min(stop, end)", RFC7679)
            .needs(&[RoundTrips]) => KnownFlow::delay_mean_ms;
        rtt_p50_ms: Option<f64> = metric("ms", Less, Corrected, "median of the times of rtt_mean_ms", RFC7679)
            .needs(&[RoundTrips]) => |known| known.delay.map(|delay| us_to_ms(delay.p50_us));
        rtt_p95_ms: Option<f64> = metric("ms", Less, Corrected, "95th percentile of the times of rtt_mean_ms", RFC7679)
            .needs(&[RoundTrips]) => |known| known.delay.map(|delay| us_to_ms(delay.p95_us));
        rtt_p99_ms: Option<f64> = metric("ms", Less, Corrected, "99th percentile of the times of rtt_mean_ms", RFC7679)
            .needs(&[RoundTrips]) => |known| known.delay.map(|delay| us_to_ms(delay.p99_us));
        packets_sent: Option<u64> = metric("packets", Neutral, Counter, "packets that entered the path", OWN)
            .needs(&[Sendings]) => |known| Some(known.flow.sent.packets);
        packets_delivered: Option<u64> = metric("packets", Neutral, Counter,
            "packets that left the path, duplicates included", OWN).needs(&[Arrivals])
            => |known| Some(known.flow.delivered.packets);
        packets_dropped: Option<u64> = metric("packets", Less, Counter,
            "packets dropped in the path; null in logs that do not tell drops", OWN).needs(&[Sendings, Drops])
            => |known| Some(known.flow.dropped_packets);
        packets_marked: Option<u64> = metric("packets", Neutral, Counter, "packets CE-marked in the path", OWN)
            .needs(&[Marks]) => |known| Some(known.flow.marked_packets);
        packets_in_flight_at_end: Option<u64> = metric("packets", Neutral, Counter,
            "sent - delivered - dropped, at least 0; in imported qlogs that have packet_lost: sent - acknowledged - \
             declared lost; in other logs without drops: sent within the flow's largest delay before the end and not \
             delivered", OWN).needs(&[Sendings, Arrivals]) => |known| Some(known.fate.under_way);
        bytes_sent: Option<u64> = metric("bytes", Neutral, Counter,
            "bytes that entered the path, overhead included", OWN).needs(&[Sendings])
            => |known| Some(known.flow.sent.bytes);
        bytes_delivered: Option<u64> = metric("bytes", Neutral, Counter,
            "bytes that left the path, overhead included", OWN).needs(&[Arrivals])
            => |known| Some(known.flow.delivered.bytes);
        data_bytes_delivered: Option<u64> = metric("bytes", More, Counter,
            "payload bytes new to the receiver; null in logs that do not tell payload", OWN)
            .needs(&[Arrivals, Payload]) => |known| Some(known.flow.data_bytes);
        // Neutral: unreliable transports have none, whatever they lose.
        retransmissions: Option<u64> = metric("packets", Neutral, Counter,
            "packets sent with payload that was sent before (what sets up a connection has none)", CCPERF)
            => |known| known.sender?.retransmissions;
        timeouts: Option<u64> = metric("", Less, Counter,
            "expired retransmission timers, and persistent congestion of QUIC; those of a connection's set-up do not \
             count", CCPERF) => |known| known.sender?.timeouts;
        loss_episodes: Option<u64> = metric("", Less, Counter,
            "recoveries that losses began; those after ECN marks do not count", CCPERF)
            => |known| known.sender?.loss_episodes;
        mean_cwnd_bytes: Option<f64> = metric("bytes", Neutral, Counter,
            "time integral of cwnd / T of mean_throughput_l4, null of schemes without a window; in imported qlogs of \
             congestion_window as last stated / time from the first packet or the first statement, whichever is \
             later, to the last event", CCPERF) => KnownFlow::cwnd_bytes;
        mean_in_flight_bytes: Option<f64> = metric("bytes", Neutral, Counter,
            "time integral of the bytes in flight / T of mean_throughput_l4; in imported qlogs of bytes_in_flight, as \
             mean_cwnd_bytes", CCPERF) => KnownFlow::in_flight_bytes;
        mean_srtt_ms: Option<f64> = metric("ms", Less, Counter,
            "time integral of the smoothed RTT from its first sample to the end of T of mean_throughput_l4 / that \
             time; in imported qlogs of smoothed_rtt as last stated / time from the first acknowledgement or the \
             first statement, whichever is later, to the last event", CCPERF) => KnownFlow::srtt_ms;
        mean_throughput_l4: Option<f64> = metric("Mbit/s", More, Ccperf,
            "payload bits that reached the application in order within T / T; T is the time from the start of the \
             flow until it stops, the last byte of its transfer is acknowledged, or the run ends; where order is not \
             known, payload new to the receiver", CCPERF).needs(&[Arrivals, Payload]) => KnownFlow::throughput_mbps;
        mean_throughput_l7: Option<f64> = metric("Mbit/s", More, Ccperf,
            "payload bits that the application read / T: it reads what is in order at once; null where reads are not \
             known", CCPERF).needs(&[Payload, Reads]) => KnownFlow::throughput_mbps;
        mean_sending_rate_l4: Option<f64> = metric("Mbit/s", Neutral, Ccperf,
            "payload bits of all packets sent, what is sent again included / T", CCPERF).needs(&[Sendings, Payload])
            => |known| mbps(known.flow.samples.sent_payload_bytes, known.active());
        mean_sending_rate_l7: Option<f64> = metric("Mbit/s", Neutral, Ccperf,
            "bits that the sending socket took from the application / T (transport key send_buffer_bytes)", CCPERF)
            => |known| mbps(known.sender?.accepted_bytes?, known.active());
        mean_delivery_rate_l4: Option<f64> = metric("Mbit/s", More, Ccperf,
            "time integral of the sender's latest delivery-rate sample / time since the first", CCPERF)
            => KnownFlow::delivery_rate_mbps;
        mean_cwnd_l4: Option<f64> = metric("segments", Neutral, Ccperf,
            "mean_cwnd_bytes / payload bytes of a full packet", CCPERF) => |known| known.segments(known.cwnd_bytes()?);
        mean_in_flight_l4: Option<f64> = metric("segments", Neutral, Ccperf,
            "mean_in_flight_bytes / payload bytes of a full packet", CCPERF) => KnownFlow::in_flight_segments;
        mean_srtt_l4: Option<f64> = metric("ms", Less, Ccperf, "mean_srtt_ms", CCPERF) => KnownFlow::srtt_ms;
        mean_est_qdelay_l4: Option<f64> = metric("ms", Less, Ccperf,
            "mean_srtt_ms - mean base RTT over the same time; the base RTT is the sum of the fixed delays, without \
             serialization", CCPERF) => KnownFlow::estimated_queueing_delay_ms;
        mean_network_power_l4: Option<f64> = metric("Mbit/s^2", More, Ccperf,
            "mean over the samples of throughput / smoothed RTT at the end of the sample, s", CCPERF)
            .sampled().needs(&[Payload]) => |known| known.flow.samples.network_power.mean();
        mean_utility_pf_l4: Option<f64> = metric("", More, Ccperf,
            "mean over the samples of ln(throughput in Mbit/s), those of zero left out", CCPERF)
            .sampled().needs(&[Payload]) => |known| known.flow.samples.utility_pf.mean();
        mean_utility_mpdf_l4: Option<f64> = metric("s/Mbit", More, Ccperf,
            "mean over the samples of -1 / throughput in Mbit/s, those of zero left out", CCPERF)
            .sampled().needs(&[Payload]) => |known| known.flow.samples.utility_mpdf.mean();
        zero_samples_l4: Option<u64> = metric("samples", Less, Ccperf, "samples of zero throughput", CCPERF)
            .sampled().needs(&[Payload])
            => |known| known.flow.samples.throughput_mbps.mean().map(|_| known.flow.samples.zero_samples);
        mean_utilization_bw_l4: Option<f64> = metric("", More, Ccperf,
            "mean_throughput_l4 / mean capacity of the narrowest link of the direction in the sample intervals, each \
             weighted with the time in it in which the flow was active (over the whole run where none ended \
             meanwhile); null of flows that pass a part of the path", CCPERF).needs(&[Payload])
            => |known| known.of_capacity(known.throughput_mbps()?);
        mean_in_flight_bdp: Option<f64> = metric("", Neutral, Ccperf,
            "mean_in_flight_l4 / BDP in full packets; BDP = mean capacity of mean_utilization_bw_l4 x mean base RTT / \
             8, a packet with headers, path overhead and framing", OWN)
            => |known| Some(known.in_flight_segments()? / known.bdp_packets()?);
        mean_utilization_bdp_l4: Option<f64> = metric("", Neutral, Ccperf,
            "mean_in_flight_bdp x bytes of a full packet / payload bytes: what fits the values that ccperf prints",
            CCPERF) => KnownFlow::utilization_bdp;
        cov_throughput_l4: Option<f64> = metric("", Less, Ccperf,
            "sample standard deviation / mean of the throughput of the samples", CCPERF).sampled().needs(&[Payload])
            => |known| known.flow.samples.throughput_mbps.variation();
        var_throughput_l4: Option<f64> = metric("(Mbit/s)^2", Less, Ccperf,
            "sample variance of the throughput of the samples", CCPERF).sampled().needs(&[Payload])
            => |known| known.flow.samples.throughput_mbps.variance();
        cov_in_flight_l4: Option<f64> = metric("", Less, Ccperf,
            "sample standard deviation / mean of the bytes in flight at the ends of the samples", CCPERF).sampled()
            => |known| known.flow.samples.in_flight_bytes.variation();
        flow_completion_time_l4: Option<f64> = metric("s", Less, Ccperf,
            "start of the flow to the acknowledgement of the last byte of a finite transfer, null if that never came; \
             of other flows the time until they stop", CCPERF) => KnownFlow::completion_s;
        mean_idt_ewma_l4: Option<f64> = metric("ms", Neutral, Ccperf,
            "mean over the ends of the samples of the smoothed time between arrivals of new payload (gain 1/8)",
            CCPERF).sampled() => |known| known.flow.samples.spacing.mean();
        mean_one_way_delay_l7: Option<f64> = metric("ms", Less, Ccperf,
            "mean over the bytes read within T of the time from the application's write to the application's read, in \
             order; written when the sending socket takes it (transport key send_buffer_bytes)", CCPERF)
            .across(Data).needs(&[Reads]) => KnownFlow::read_delay_ms;
        mean_recovery_time_l4: Option<f64> = metric("ms", Less, Ccperf,
            "mean length of those of loss_episodes that are over; null without any", CCPERF) => KnownFlow::recovery_ms;
        total_retransmissions_l4: Option<u64> = metric("segments", Neutral, Ccperf, "retransmissions", CCPERF)
            => |known| known.sender?.retransmissions;
        total_rtos_l4: Option<u64> = metric("", Less, Ccperf, "timeouts", CCPERF) => |known| known.sender?.timeouts;
        starvation_time_s: Option<f64> = metric("s", Less, Corrected,
            "time of the sample intervals in which the throughput was below 1/10 of the fair share; that is the \
             capacity of the narrowest link of the direction / number of flows active in all of the interval; null of \
             applications that limit their rate, and where flows pass different parts of the path", RFC9743)
            .sampled().needs(&[Payload]) => |known| known.flow.samples.starved.map(Span::as_secs_f64);
        time_to_90_s: Option<f64> = metric("s", Less, Corrected,
            "time from the path's last scheduled change to the end of the first sample interval after it in which \
             packets of the flow left the path at 90 % of the fair share or more; if the change took capacity away, \
             in which they were sent at 110 % of it or less instead; null if there was none, and where flows pass \
             different parts of the path", RFC5166).sampled()
            => |known| known.flow.samples.response.to_90.map(Span::as_secs_f64);
        settling_time_s: Option<f64> = metric("s", Less, Corrected,
            "time from the same change to the end of the first sample interval from which on packets left the path at \
             within 20 % of the fair share; null if the last one did not, and where flows pass different parts of the \
             path", RFC5166).sampled() => |known| known.flow.samples.response.settling.map(Span::as_secs_f64);
        media: Option<MediaStats> = group(MediaStats::ROWS) => |known| known.media.clone();
    }
}
