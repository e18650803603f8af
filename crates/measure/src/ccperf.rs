//! From counters and samples to statistics by ccperf's names (`docs/metrics.md`). What says the same as a counter in
//! another unit is computed from the same integral.

use crate::flow_meter::FlowMeter;
use crate::inputs::{LinkCounters, SenderCounters};
use crate::sampling::Sampling;
use crate::stats::{CcperfFlow, CcperfLink, CcperfNetwork, LinkStats, ResponseStats};
use crate::tally::mbps;
use units::{Span, Time};

/// What a log tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    pub(crate) payload: bool,
    pub(crate) reads: bool,
}

/// One flow and the time its means are over: from its start until it stops, is complete, or the run ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured<'a> {
    pub(crate) flow: &'a FlowMeter,
    pub(crate) sender: Option<&'a SenderCounters>,
    pub(crate) from: Time,
    pub(crate) to: Time,
    /// What its bottleneck could carry on average, Mbit/s.
    capacity_mbps: Option<f64>,
    /// Bytes of a full packet on the wire of its bottleneck.
    wire_bytes: f64,
}

impl<'a> Measured<'a> {
    pub(crate) fn new(
        flow: &'a FlowMeter,
        sender: Option<&'a SenderCounters>,
        links: &[LinkCounters],
        end_ns: u64,
    ) -> Self {
        let stop = Time::from_ns(flow.to_ns.min(end_ns));
        let done = sender.and_then(|sender| sender.completed).or(flow.samples.done_ns.map(Time::from_ns));
        // Which link is the narrowest of a part of the path is not told.
        let link = bottleneck(links, flow.info.facts.reverse).filter(|_| !flow.info.facts.confined);
        let over_the_run = link.and_then(|link| time_mean(link.capacity_bits, link.elapsed));
        Self {
            flow,
            sender,
            from: flow.info.start,
            to: done.map_or(stop, |done| done.min(stop)),
            // bit/ns are 1000 Mbit/s.
            capacity_mbps: flow.samples.capacity_mbps().or(over_the_run.map(|rate| rate * 1_000.0)),
            wire_bytes: f64::from(flow.info.facts.wire_bytes + link.map_or(0, |link| link.framing_bytes)),
        }
    }

    pub(crate) fn active(&self) -> Span {
        self.to - self.from
    }

    fn segments(&self, bytes: f64) -> Option<f64> {
        let segment_bytes = self.flow.info.facts.segment_bytes;
        (segment_bytes > 0).then(|| bytes / f64::from(segment_bytes))
    }

    /// Mean base RTT from `from` to the end of the flow, ms.
    fn base_rtt_ms(&self, from: Time) -> Option<f64> {
        mean_of_steps(&self.flow.info.facts.base_rtt, from, self.to).map(|ns| ns / 1e6)
    }

    /// Bandwidth-delay product, full packets on the wire.
    fn bdp_packets(&self) -> Option<f64> {
        // 1 Mbit/s for 1 ms are 125 bytes.
        let bytes = self.capacity_mbps? * self.base_rtt_ms(self.from)? * 125.0;
        (bytes > 0.0 && self.wire_bytes > 0.0).then(|| bytes / self.wire_bytes)
    }

    /// Mean over the flow's time.
    fn in_flight_segments(&self) -> Option<f64> {
        let sender = self.sender?;
        self.segments(time_mean(sender.in_flight_byte_ns, sender.active)?)
    }

    fn completion_s(&self) -> Option<f64> {
        if self.flow.info.facts.total_bytes.is_some() {
            let completed = self.sender?.completed?;
            return Some((completed - self.from).as_secs_f64());
        }
        Some(self.active().as_secs_f64())
    }

    pub(crate) fn stats(&self, told: Told) -> CcperfFlow {
        let (flow, samples, sender) = (self.flow, &self.flow.samples, self.sender);
        let payload_mbps = |bytes| mbps(bytes, self.active()).filter(|_| told.payload);
        let throughput = payload_mbps(samples.read_bytes);
        // Statistics over samples of a log that tells no payload would be of zeros.
        let sampled = |value: Option<f64>| value.filter(|_| told.payload);
        let has_samples = samples.throughput_mbps.mean().is_some();
        let mean_srtt_ms = sender.and_then(mean_srtt_ms);
        let srtt_from = sender
            .map(|sender| Time::from_ns(self.to.as_ns() - sender.srtt_active.as_ns().min(self.to.as_ns())));
        let in_flight = self.in_flight_segments();
        let of_bdp = self.bdp_packets();
        let payload_part = f64::from(flow.info.facts.segment_bytes) / self.wire_bytes;
        CcperfFlow {
            mean_throughput_l4: throughput,
            mean_throughput_l7: throughput.filter(|_| told.reads),
            mean_sending_rate_l4: payload_mbps(samples.sent_payload_bytes),
            mean_sending_rate_l7: sender
                .and_then(|sender| sender.accepted_bytes)
                .and_then(|bytes| mbps(bytes, self.active())),
            mean_delivery_rate_l4: sender
                .and_then(|sender| time_mean(sender.delivery_rate_ns, sender.delivery_rate_active))
                .map(|bps| bps / 1e6),
            mean_cwnd_l4: sender.and_then(mean_cwnd_bytes).and_then(|bytes| self.segments(bytes)),
            mean_in_flight_l4: in_flight,
            mean_srtt_l4: mean_srtt_ms,
            mean_est_qdelay_l4: mean_srtt_ms
                .zip(srtt_from.and_then(|from| self.base_rtt_ms(from)))
                .map(|(srtt, base)| srtt - base),
            mean_network_power_l4: sampled(samples.network_power.mean()),
            mean_utility_pf_l4: sampled(samples.utility_pf.mean()),
            mean_utility_mpdf_l4: sampled(samples.utility_mpdf.mean()),
            zero_samples_l4: (told.payload && has_samples).then_some(samples.zero_samples),
            mean_utilization_bw_l4: throughput
                .zip(self.capacity_mbps.filter(|&mbps| mbps > 0.0))
                .map(|(throughput, capacity)| throughput / capacity),
            mean_utilization_bdp_l4: in_flight.zip(of_bdp).map(|(segments, packets)| segments / packets),
            mean_utilization_bdp_compat_l4: in_flight
                .zip(of_bdp)
                .map(|(segments, packets)| segments / (packets * payload_part)),
            cov_throughput_l4: sampled(samples.throughput_mbps.variation()),
            var_throughput_l4: sampled(samples.throughput_mbps.variance()),
            cov_in_flight_l4: samples.in_flight_bytes.variation(),
            flow_completion_time_l4: self.completion_s(),
            mean_idt_ewma_l4: samples.spacing.mean(),
            mean_one_way_delay_l7: (told.reads && samples.read_bytes > 0)
                .then(|| samples.waited_byte_ns as f64 / samples.read_bytes as f64 / 1e6),
            mean_recovery_time_l4: sender
                .and_then(|sender| sender.recoveries)
                .filter(|&(count, _)| count > 0)
                .map(|(count, total)| total.as_ms_f64() / count as f64),
            total_retransmissions_l4: sender.and_then(|sender| sender.retransmissions),
            total_rtos_l4: sender.and_then(|sender| sender.timeouts),
        }
    }

    pub(crate) fn response(&self, told: Told) -> ResponseStats {
        let samples = &self.flow.samples;
        ResponseStats {
            starvation_time_s: samples.starved.filter(|_| told.payload).map(Span::as_secs_f64),
            time_to_90_s: samples.response.to_90.map(Span::as_secs_f64),
            settling_time_s: samples.response.settling.map(Span::as_secs_f64),
        }
    }
}

/// The time that means over all flows are over: from the first start to the last end.
pub(crate) fn aggregate_span(flows: &[Measured<'_>]) -> Span {
    let from = flows.iter().map(|flow| flow.from).min().unwrap_or(Time::ZERO);
    let to = flows.iter().map(|flow| flow.to).max().unwrap_or(Time::ZERO);
    to - from
}

/// All flows together.
pub(crate) fn network(flows: &[Measured<'_>], sampling: &Sampling, told: Told) -> CcperfNetwork {
    let span = aggregate_span(flows);
    let seconds = span.as_secs_f64();
    // Sums over the flows of what each contributes to the mean over the whole time; null if one flow's is.
    let sum = |value: &dyn Fn(&Measured<'_>) -> Option<f64>| -> Option<f64> {
        (seconds > 0.0)
            .then(|| {
                flows.iter().map(|flow| Some(value(flow)? * flow.active().as_secs_f64())).sum::<Option<f64>>()
            })?
            .map(|sum| sum / seconds)
    };
    let of_capacity = |flow: &Measured<'_>, value: Option<f64>| {
        Some(value? / flow.capacity_mbps.filter(|&mbps| mbps > 0.0)?)
    };
    let read: u64 = flows.iter().map(|flow| flow.flow.samples.read_bytes).sum();
    let sampled = |value: Option<f64>| value.filter(|_| told.payload);
    CcperfNetwork {
        mean_agg_throughput_l4: sampled(mbps(read, span)),
        mean_agg_in_flight_l4: sum(&|flow| flow.in_flight_segments()),
        mean_agg_utilization_bw_l4: sampled(sum(&|flow| {
            of_capacity(flow, mbps(flow.flow.samples.read_bytes, flow.active()))
        })),
        mean_agg_utilization_bdp_l4: sum(&|flow| Some(flow.in_flight_segments()? / flow.bdp_packets()?)),
        mean_agg_utility_pf_l4: sampled(sampling.utility_pf.mean()),
        mean_agg_utility_mpdf_l4: sampled(sampling.utility_mpdf.mean()),
        mean_jains_fairness_throughput_l4: sampled(sampling.jain.mean()),
        mean_entropy_fairness_throughput_l4: sampled(sampling.entropy.mean()),
        mean_product_fairness_throughput_l4: sampled(sampling.product.mean()),
    }
}

/// One link, of the numbers it has anyway.
pub(crate) fn link(stats: &LinkStats) -> CcperfLink {
    CcperfLink {
        mean_qdisc_delay_l2: stats.mean_queue_delay_ms,
        mean_qdisc_length_l2: stats.mean_queue_packets,
        mean_sending_rate_l1: stats.throughput_mbps,
        total_qdisc_drops_l2: stats.packets_dropped,
    }
}

/// The link of a direction that could carry least.
pub(crate) fn bottleneck(links: &[LinkCounters], reverse: bool) -> Option<&LinkCounters> {
    let direction = if reverse { "ack" } else { "data" };
    links
        .iter()
        .filter(|link| link.direction == direction && link.capacity_bits > 0)
        .min_by_key(|link| link.capacity_bits)
}

/// Mean of a quantity over time from its integral; `None` over no time.
pub(crate) fn time_mean(integral_ns: u128, span: Span) -> Option<f64> {
    (!span.is_zero()).then(|| integral_ns as f64 / span.as_ns() as f64)
}

pub(crate) fn mean_cwnd_bytes(sender: &SenderCounters) -> Option<f64> {
    time_mean(sender.cwnd_byte_ns, sender.cwnd_active)
}

pub(crate) fn mean_srtt_ms(sender: &SenderCounters) -> Option<f64> {
    // Without a single RTT sample there is no smoothed RTT.
    time_mean(sender.srtt_ns_ns, sender.srtt_active)
        .filter(|&srtt_ns| srtt_ns > 0.0)
        .map(|srtt_ns| srtt_ns / 1e6)
}

/// Mean from `from` to `to` of a value that changes in steps, ns; of no time, the value at it.
fn mean_of_steps(steps: &[(Time, Span)], from: Time, to: Time) -> Option<f64> {
    let mut at = steps.iter().take_while(|step| step.0 <= from).last().or(steps.first())?.1;
    if to <= from {
        return Some(at.as_ns() as f64);
    }
    let (mut since, mut sum) = (from, 0.0);
    for &(time, value) in steps.iter().filter(|step| step.0 > from && step.0 < to) {
        sum += (time - since).as_ns() as f64 * at.as_ns() as f64;
        (since, at) = (time, value);
    }
    sum += (to - since).as_ns() as f64 * at.as_ns() as f64;
    Some(sum / (to - from).as_ns() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_in_steps_has_its_time_mean() {
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let steps = [(at(0), Span::from_ns(40)), (at(300), Span::from_ns(70)), (at(500), Span::from_ns(50))];
        assert_eq!(mean_of_steps(&steps, at(0), at(300)), Some(40.0));
        // 40 for 100, 70 for 200, 50 for 100 ms.
        assert_eq!(mean_of_steps(&steps, at(200), at(600)), Some((4.0 + 14.0 + 5.0) * 10.0 / 4.0));
        assert_eq!(mean_of_steps(&steps, at(400), at(400)), Some(70.0));
        assert_eq!(mean_of_steps(&[], at(0), at(1)), None);
    }
}
