//! Counters at the end of a run, as input for the functions of metrics, and quantities shared by several metrics.

use super::acks::AckLinkStats;
use super::completion::Completion;
use super::media::MediaStats;
use crate::inputs::{LinkCounters, SenderCounters};
use crate::meters::{
    Clock, Fate, FiniteTransfers, FlowMeter, Jain, JainSeries, Sampling, Tally, mbps, time_mean, us_to_ms,
};
use crate::statistics::DelaySummary;
use units::{Span, Time};

/// Counters of one flow. `T` is the time of ccperf's means: from the flow's start until the flow stops, is complete, or
/// the run ends.
#[derive(Debug)]
pub(crate) struct KnownFlow<'a> {
    pub(crate) flow: &'a FlowMeter,
    pub(crate) sender: Option<&'a SenderCounters>,
    pub(crate) clock: Clock,
    /// Beginning of `T`.
    pub(crate) from: Time,
    /// End of `T`.
    pub(crate) to: Time,
    /// Stop of the flow, at the latest the end of the run.
    pub(crate) stop: Time,
    /// Time that the corrected convention counts.
    pub(crate) measured: Span,
    /// Delays of the packets delivered in that time.
    pub(crate) delay: Option<DelaySummary>,
    /// Delays of all packets.
    pub(crate) whole: Option<DelaySummary>,
    pub(crate) fate: Fate,
    /// Counters of the time in which all flows are active.
    pub(crate) common: Option<Common>,
    pub(crate) acks: Option<AckLinkStats>,
    pub(crate) media: Option<MediaStats>,
    /// Payload that all flows of this direction delivered in the time that the corrected convention counts, bytes.
    pub(crate) direction_bytes: u64,
    /// Payload that all flows of this direction delivered while all flows are active, bytes.
    pub(crate) common_direction_bytes: u64,
    /// Average capacity of the flow's bottleneck, Mbit/s.
    pub(crate) capacity_mbps: Option<f64>,
    /// Bytes of a full packet on the wire of the bottleneck.
    pub(crate) wire_bytes: f64,
}

/// Counters of a flow while all flows are active.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Common {
    pub(crate) time: Span,
    pub(crate) delay: Option<DelaySummary>,
    /// Fate of the packets; `None` if the log does not tell.
    pub(crate) fate: Option<Fate>,
}

impl KnownFlow<'_> {
    /// Returns the length of `T`.
    pub(crate) fn active(&self) -> Span {
        self.to - self.from
    }

    /// Returns the flow's share of the payload of all flows in its direction.
    pub(crate) fn payload_share(&self) -> Option<f64> {
        (self.direction_bytes > 0).then(|| self.flow.measured_data_bytes as f64 / self.direction_bytes as f64)
    }

    /// Returns the payload rate while all flows are active.
    pub(crate) fn common_mbps(&self) -> Option<f64> {
        mbps(self.flow.common_bytes, self.common?.time)
    }

    /// Returns the flow's share of the payload in its direction while all flows are active.
    pub(crate) fn common_share(&self) -> Option<f64> {
        let (own, all) = (self.flow.common_bytes, self.common_direction_bytes);
        self.common.filter(|_| all > 0).map(|_| own as f64 / all as f64)
    }

    pub(crate) fn delay_min_ms(&self) -> Option<f64> {
        self.whole.map(|whole| us_to_ms(whole.min_us))
    }

    pub(crate) fn delay_mean_ms(&self) -> Option<f64> {
        self.delay.map(|delay| delay.mean_us / 1_000.0)
    }

    /// Returns a delay minus the smallest delay of the run.
    pub(crate) fn above_min_ms(&self, delay_us: f64) -> Option<f64> {
        self.whole.map(|whole| (delay_us - whole.min_us as f64) / 1_000.0)
    }

    /// Returns the rate of payload read over `T`.
    pub(crate) fn throughput_mbps(&self) -> Option<f64> {
        mbps(self.flow.samples.read_bytes, self.active())
    }

    /// Returns a rate as a fraction of the bottleneck's capacity.
    pub(crate) fn of_capacity(&self, mbps: f64) -> Option<f64> {
        self.capacity_mbps.filter(|&capacity| capacity > 0.0).map(|capacity| mbps / capacity)
    }

    pub(crate) fn segments(&self, bytes: f64) -> Option<f64> {
        let segment_bytes = self.flow.info.facts.segment_bytes;
        (segment_bytes > 0).then(|| bytes / f64::from(segment_bytes))
    }

    /// Returns the payload share of a full packet on the wire.
    fn payload_part(&self) -> f64 {
        f64::from(self.flow.info.facts.segment_bytes) / self.wire_bytes
    }

    /// Returns the packets in flight over the bandwidth-delay product as in ccperf's printed values: at the rate of
    /// payload.
    pub(crate) fn utilization_bdp(&self) -> Option<f64> {
        Some(self.in_flight_segments()? / (self.bdp_packets()? * self.payload_part()))
    }

    /// Returns the mean base RTT from `from` to the end of `T`, ms.
    fn base_rtt_ms(&self, from: Time) -> Option<f64> {
        mean_of_steps(&self.flow.info.facts.base_rtt, from, self.to).map(|ns| ns / 1e6)
    }

    /// Returns the bandwidth-delay product in full packets on the wire.
    pub(crate) fn bdp_packets(&self) -> Option<f64> {
        // 1 Mbit/s for 1 ms is 125 bytes.
        let bytes = self.capacity_mbps? * self.base_rtt_ms(self.from)? * 125.0;
        (bytes > 0.0 && self.wire_bytes > 0.0).then(|| bytes / self.wire_bytes)
    }

    /// Returns the mean window.
    pub(crate) fn cwnd_bytes(&self) -> Option<f64> {
        let sender = self.sender?;
        time_mean(sender.cwnd_byte_ns, sender.cwnd_active)
    }

    /// Returns the mean of the bytes in flight.
    pub(crate) fn in_flight_bytes(&self) -> Option<f64> {
        let sender = self.sender?;
        time_mean(sender.in_flight_byte_ns, sender.active)
    }

    pub(crate) fn in_flight_segments(&self) -> Option<f64> {
        self.segments(self.in_flight_bytes()?)
    }

    /// Returns the mean smoothed RTT; `None` without a sample.
    pub(crate) fn srtt_ms(&self) -> Option<f64> {
        let sender = self.sender?;
        time_mean(sender.srtt_ns_ns, sender.srtt_active)
            .filter(|&srtt_ns| srtt_ns > 0.0)
            .map(|srtt_ns| srtt_ns / 1e6)
    }

    /// Returns the mean smoothed RTT minus the mean base RTT over the time with samples.
    pub(crate) fn estimated_queueing_delay_ms(&self) -> Option<f64> {
        let sampled_ns = self.sender?.srtt_active.as_ns().min(self.to.as_ns());
        Some(self.srtt_ms()? - self.base_rtt_ms(Time::from_ns(self.to.as_ns() - sampled_ns))?)
    }

    /// Returns the mean of the sender's delivery-rate samples.
    pub(crate) fn delivery_rate_mbps(&self) -> Option<f64> {
        let sender = self.sender?;
        time_mean(sender.delivery_rate_ns, sender.delivery_rate_active).map(|bps| bps / 1e6)
    }

    pub(crate) fn completion_s(&self) -> Option<f64> {
        if self.flow.info.facts.total_bytes.is_some() {
            let completed = self.sender?.completed?;
            return Some((completed - self.from).as_secs_f64());
        }
        Some(self.active().as_secs_f64())
    }

    /// Returns the mean time from write to read.
    pub(crate) fn read_delay_ms(&self) -> Option<f64> {
        let samples = &self.flow.samples;
        (samples.read_bytes > 0).then(|| samples.waited_byte_ns as f64 / samples.read_bytes as f64 / 1e6)
    }

    /// Returns the mean length of recoveries.
    pub(crate) fn recovery_ms(&self) -> Option<f64> {
        let (count, total) = self.sender?.recoveries?;
        (count > 0).then(|| total.as_ms_f64() / count as f64)
    }
}

/// Counters of all flows together.
#[derive(Debug)]
pub(crate) struct KnownRun<'a> {
    pub(crate) flows: &'a [KnownFlow<'a>],
    pub(crate) links: &'a [LinkCounters],
    pub(crate) sampling: &'a Sampling,
    pub(crate) clock: Clock,
    pub(crate) sent: Tally,
    pub(crate) delivered: Tally,
    /// Delivery opportunities of the link, in a mahimahi log.
    pub(crate) opportunities: &'a Tally,
    /// Delays of the packets that the corrected convention counts.
    pub(crate) delay: Option<DelaySummary>,
    /// 95th percentile of the delays of all packets, us.
    pub(crate) delay_p95_us: Option<i64>,
    pub(crate) fate: Fate,
    /// Payload that the corrected convention counts, and the time that it counts.
    pub(crate) measured_data_bytes: u64,
    pub(crate) measured: Span,
    /// Time in which all flows are active.
    pub(crate) common: Option<(Time, Time)>,
    pub(crate) acks: Option<AckLinkStats>,
    pub(crate) invalid_reason: Option<String>,
    pub(crate) jain: Jain,
    pub(crate) jain_seen: JainSeries,
    pub(crate) jain_active: JainSeries,
    pub(crate) convergence: Option<Span>,
    pub(crate) transfers: FiniteTransfers,
    pub(crate) completions: Vec<Completion>,
}

impl<'a> KnownRun<'a> {
    pub(crate) fn throughput_mbps(&self) -> f64 {
        self.delivered.mean_mbps(self.clock)
    }

    /// Returns the payload rate of all flows while all are active.
    pub(crate) fn common_mbps(&self) -> Option<f64> {
        let (from, to) = self.common?;
        mbps(self.flows.iter().map(|flow| flow.flow.common_bytes).sum(), to - from)
    }

    pub(crate) fn capacity_mbps(&self) -> Option<f64> {
        Some(self.opportunities.mean_mbps(self.clock)).filter(|&capacity| capacity > 0.0)
    }

    pub(crate) fn sample_interval_s(&self) -> Option<f64> {
        let interval = self.sampling.interval;
        (!interval.is_zero()).then(|| interval.as_secs_f64())
    }

    /// Returns the time of means over all flows: from the first start to the last end.
    pub(crate) fn active(&self) -> Span {
        let from = self.flows.iter().map(|flow| flow.from).min().unwrap_or(Time::ZERO);
        let to = self.flows.iter().map(|flow| flow.to).max().unwrap_or(Time::ZERO);
        to - from
    }

    /// Returns the rate of payload that all flows read over that time.
    pub(crate) fn aggregate_mbps(&self) -> Option<f64> {
        mbps(self.flows.iter().map(|flow| flow.flow.samples.read_bytes).sum(), self.active())
    }

    /// Returns the sum of the flows' contributions to the mean over the whole time; `None` if a flow has no value.
    pub(crate) fn sum(&self, value: impl Fn(&KnownFlow<'a>) -> Option<f64>) -> Option<f64> {
        let seconds = self.active().as_secs_f64();
        if seconds <= 0.0 {
            return None;
        }
        let parts = self.flows.iter().map(|flow| Some(value(flow)? * flow.active().as_secs_f64()));
        parts.sum::<Option<f64>>().map(|sum| sum / seconds)
    }
}

/// Returns the link of a direction with the least capacity.
pub(crate) fn bottleneck(links: &[LinkCounters], reverse: bool) -> Option<&LinkCounters> {
    let direction = if reverse { "ack" } else { "data" };
    links
        .iter()
        .filter(|link| link.direction == direction && link.capacity_bits > 0)
        .min_by_key(|link| link.capacity_bits)
}

/// Returns the mean from `from` to `to` of a value that changes in steps, ns; without a duration, the value at that
/// time.
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
        // 40 ms for 100 ms, 70 ms for 200 ms, 50 ms for 100 ms.
        assert_eq!(mean_of_steps(&steps, at(200), at(600)), Some((4.0 + 14.0 + 5.0) * 10.0 / 4.0));
        assert_eq!(mean_of_steps(&steps, at(400), at(400)), Some(70.0));
        assert_eq!(mean_of_steps(&[], at(0), at(1)), None);
    }
}
