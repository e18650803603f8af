//! From counters to statistics.

use crate::ack_direction::AckDirection;
use crate::ccperf::{self, Measured, Told, mean_cwnd_bytes, mean_srtt_ms, time_mean};
use crate::completions::Completions;
use crate::consistency::contradiction;
use crate::convergence;
use crate::flow_meter::FlowMeter;
use crate::histogram::DelayHistogram;
use crate::inputs::{LinkCounters, SenderCounters};
use crate::ledger::Fate;
use crate::meter::RunMeter;
use crate::stated;
use crate::stats::{CcperfLink, FlowStats, LinkStats, NetworkStats, RunStats};
use crate::tally::{Clock, Tally, byte_loss, mbps, us_to_ms};
use crate::untold;
use units::{Span, Time};

/// A run must deliver over at least this part of its planned length to be valid (StanfordSNR/pantheon@23e738c,
/// `src/analysis/plot.py`).
const MIN_VALID_PART: f64 = 0.8;
/// Pantheon's percentile of delays (`tunnel_graph.py`).
const PANTHEON_PERCENT: f64 = 95.0;

/// What a log tells and when it ends.
#[derive(Clone, Copy, Debug)]
struct Scope {
    end_ns: u64,
    last_record_ns: u64,
    tells_drops: bool,
    tells_payload: bool,
    clock: Clock,
}

/// Sums over the flows.
#[derive(Debug, Default)]
struct Sums {
    sent: Tally,
    delivered: Tally,
    /// Delays within the corrected convention's time.
    delay: DelayHistogram,
    /// Delays of the other packets.
    other_delay: DelayHistogram,
    ack: AckDirection,
    fate: Fate,
    measured_data_bytes: u64,
}

impl RunMeter {
    /// The statistics of the run. `links` and `senders` are what the driver counted; a log that comes without them
    /// has null in their place.
    pub fn finish(mut self, links: &[LinkCounters], senders: &[SenderCounters]) -> RunStats {
        self.begin_awaited();
        run_stats(self, links, senders)
    }
}

/// The statistics of a run.
fn run_stats(mut meter: RunMeter, links: &[LinkCounters], senders: &[SenderCounters]) -> RunStats {
    let clock = meter.log_zero.map_or(Clock::Exported, |zero| Clock::Logged(zero.as_ns()));
    let scope = Scope {
        clock,
        end_ns: meter.end_ns(),
        last_record_ns: meter.last_record_ns,
        // A driver that counts at its links also logs what they drop.
        tells_drops: meter.drops_seen || !links.is_empty(),
        tells_payload: meter.payload_seen || meter.flows.iter().all(|flow| flow.delivered.packets == 0),
    };
    let jain = meter.fairness.clone().finish(scope.end_ns, &mut meter.flows);
    let [jain_seen, jain_active] = meter.jain.clone().map(|windows| windows.finish(scope.end_ns));
    meter.flows.sort_by_key(|flow| flow.info.flow);
    let mut totals = Sums::default();
    let measured = measured_span(&meter.flows, &scope);
    let invalid_reason = invalid_reason(&meter, clock);
    let shares_mbps = [false, true].map(|reverse| {
        let flows = meter.flows.iter().filter(|flow| flow.info.facts.reverse == reverse).count();
        ccperf::bottleneck(links, reverse)
            .and_then(|link| time_mean(link.capacity_bits, link.elapsed))
            .map(|bits_per_ns| bits_per_ns * 1_000.0 / flows as f64)
    });
    let sender_of = |flow: &FlowMeter| senders.iter().find(|sender| sender.flow == flow.info.flow);
    let mut flows = Vec::with_capacity(meter.flows.len());
    let payload_bytes = [false, true].map(|reverse| {
        let flows = meter.flows.iter().filter(|flow| flow.info.facts.reverse == reverse);
        flows.map(|flow| flow.measured_data_bytes).sum::<u64>()
    });
    for flow in &mut meter.flows {
        let share_mbps = shares_mbps[usize::from(flow.info.facts.reverse)];
        flows.push(flow_stats(flow, sender_of(flow), &scope, share_mbps, &mut totals));
    }
    let measured_flows: Vec<Measured<'_>> =
        meter.flows.iter().map(|flow| Measured::new(flow, sender_of(flow), links, scope.end_ns)).collect();
    let told = Told { payload: scope.tells_payload, reads: meter.tells_reads };
    let mut completions = Completions::default();
    for (stats, flow) in flows.iter_mut().zip(&measured_flows) {
        stats.ccperf = flow.stats(told);
        stats.response = flow.response(told);
        let FlowMeter { measured_data_bytes: own, info, .. } = flow.flow;
        let all = payload_bytes[usize::from(info.facts.reverse)];
        stats.payload_share = (told.payload && all > 0).then(|| *own as f64 / all as f64);
        completions.flow(&flow.flow.info, flow.sender.and_then(|sender| sender.completed));
    }
    let links: Vec<_> = links.iter().map(link_stats).collect();
    totals.delivered.begin(meter.first_delivery_ns);
    totals.ack.begin(meter.first_ack_delivery_ns);
    let owd = totals.delay.summary();
    totals.delay.merge(&totals.other_delay);
    let mut all_delay = totals.delay;
    let throughput_mbps = totals.delivered.mean_mbps(clock);
    let capacity_mbps = Some(meter.opportunities.mean_mbps(clock)).filter(|&capacity| capacity > 0.0);
    let network = NetworkStats {
        throughput_mbps: Some(throughput_mbps),
        ingress_mbps: Some(totals.sent.mean_mbps(clock)),
        delay_p95_ms: all_delay.percentile_us(PANTHEON_PERCENT).map(us_to_ms),
        loss_rate: byte_loss(&totals.sent, &totals.delivered),
        capacity_mbps,
        capacity_utilization: capacity_mbps.map(|capacity| throughput_mbps / capacity),
        duration_s: Some(totals.delivered.span_ms(clock) / 1_000.0),
        valid: invalid_reason.is_none(),
        invalid_reason,
        acklink: totals.ack.stats(clock),
        goodput_mbps: mbps(totals.measured_data_bytes, measured).filter(|_| scope.tells_payload),
        packet_loss_rate: loss_rate(totals.fate),
        owd_p50_ms: owd.map(|owd| us_to_ms(owd.p50_us)),
        owd_p95_ms: owd.map(|owd| us_to_ms(owd.p95_us)),
        owd_p99_ms: owd.map(|owd| us_to_ms(owd.p99_us)),
        jain_index: jain.overall,
        jain_index_mean: jain.mean,
        jain_seen_p50: jain_seen.median(),
        jain_seen_p05: jain_seen.p05(),
        jain_active_p50: jain_active.median(),
        jain_active_p05: jain_active.p05(),
        jain_window_s: jain_active.window_s,
        utilization: links.first().and_then(|link| link.utilization),
        ccperf: ccperf::network(&measured_flows, &meter.sampling, told),
        convergence_time_s: meter
            .sampling
            .convergence
            .time(&meter.flows)
            .filter(|_| scope.tells_payload)
            .map(Span::as_secs_f64),
        convergence_delta: meter.sampling.convergence.delta(),
        convergence_window_s: convergence::WINDOW.as_secs_f64(),
        sample_interval_s: (!meter.sampling.interval.is_zero())
            .then(|| meter.sampling.interval.as_secs_f64()),
        transfers: completions.stats(),
    };
    let mut stats = RunStats { flows, links, network, contradiction: None };
    let sampled: Vec<_> = meter.flows.iter().map(|flow| flow.samples.throughput_mbps.mean()).collect();
    let active_s: Vec<_> = measured_flows.iter().map(|flow| flow.active().as_secs_f64()).collect();
    let aggregate_s = ccperf::aggregate_span(&measured_flows).as_secs_f64();
    stats.contradiction = contradiction(&stats, &sampled, &active_s, aggregate_s);
    untold::take_out(&mut stats, meter.tells);
    if !meter.tells.arrivals {
        stated::put_in(&mut stats, senders);
    }
    stats
}

fn flow_stats(
    flow: &mut FlowMeter,
    sender: Option<&SenderCounters>,
    scope: &Scope,
    share_mbps: Option<f64>,
    totals: &mut Sums,
) -> FlowStats {
    let (active, stop) = (active_span(flow, scope), Time::from_ns(flow.to_ns.min(scope.end_ns)));
    let media = std::mem::take(&mut flow.media);
    let owd = flow.delay.summary();
    let delivered = flow.delay.count();
    totals.delay.merge(&flow.delay);
    totals.other_delay.merge(&flow.other_delay);
    flow.delay.merge(&flow.other_delay);
    let whole = flow.delay.summary();
    let fate = fate(flow, scope, delivered, whole.map_or(0, |whole| whole.max_us));
    let min_us = whole.map(|whole| whole.min_us);
    let above_min = |us: f64| min_us.map(|min_us| (us - min_us as f64) / 1_000.0);
    totals.add(flow, fate);
    FlowStats {
        flow: flow.info.flow,
        scheme: flow.info.scheme.clone(),
        start_s: flow.info.start.as_secs_f64(),
        stop_s: stop.as_secs_f64(),
        throughput_mbps: Some(flow.delivered.mean_mbps(scope.clock)),
        ingress_mbps: Some(flow.sent.mean_mbps(scope.clock)),
        delay_p95_ms: whole.map(|whole| us_to_ms(whole.p95_us)),
        loss_rate: byte_loss(&flow.sent, &flow.delivered),
        acklink: flow.ack.stats(scope.clock),
        goodput_mbps: mbps(flow.measured_data_bytes, active).filter(|_| scope.tells_payload),
        packet_loss_rate: loss_rate(fate),
        owd_mean_ms: owd.map(|owd| owd.mean_us / 1_000.0),
        owd_min_ms: min_us.map(us_to_ms),
        owd_p50_ms: owd.map(|owd| us_to_ms(owd.p50_us)),
        owd_p95_ms: owd.map(|owd| us_to_ms(owd.p95_us)),
        owd_p99_ms: owd.map(|owd| us_to_ms(owd.p99_us)),
        self_inflicted_delay_p95_ms: owd.and_then(|owd| above_min(owd.p95_us as f64)),
        self_inflicted_delay_mean_ms: owd.and_then(|owd| above_min(owd.mean_us)),
        queueing_delay_mean_ms: whole.map(|whole| (whole.mean_us - whole.min_us as f64) / 1_000.0),
        packets_sent: Some(flow.sent.packets),
        packets_delivered: Some(flow.delivered.packets),
        packets_dropped: scope.tells_drops.then_some(flow.dropped_packets),
        packets_marked: Some(flow.marked_packets),
        packets_in_flight_at_end: Some(fate.under_way),
        bytes_sent: Some(flow.sent.bytes),
        bytes_delivered: Some(flow.delivered.bytes),
        data_bytes_delivered: scope.tells_payload.then_some(flow.data_bytes),
        retransmissions: sender.and_then(|sender| sender.retransmissions),
        timeouts: sender.and_then(|sender| sender.timeouts),
        loss_episodes: sender.and_then(|sender| sender.loss_episodes),
        mean_cwnd_bytes: sender.and_then(mean_cwnd_bytes),
        mean_in_flight_bytes: sender.and_then(|sender| time_mean(sender.in_flight_byte_ns, sender.active)),
        mean_srtt_ms: sender.and_then(mean_srtt_ms),
        media: sender
            .and_then(|sender| sender.media.as_ref())
            .map(|counters| media.stats(counters, active, stop, share_mbps)),
        ..FlowStats::default()
    }
}

impl Sums {
    fn add(&mut self, flow: &FlowMeter, fate: Fate) {
        self.sent.merge(&flow.sent);
        self.delivered.merge(&flow.delivered);
        self.ack.merge(&flow.ack);
        self.fate.lost += fate.lost;
        self.fate.delivered += fate.delivered;
        self.measured_data_bytes += flow.measured_data_bytes;
    }
}

/// What became of a flow's packets: from its drops or, where the log does not tell them, from what its sender declared
/// lost or, if it declared nothing, from when it sent what. `delivered` packets arrived within the corrected convention's
/// time.
fn fate(flow: &FlowMeter, scope: &Scope, delivered: u64, max_delay_us: i64) -> Fate {
    if let Some(declared) = flow.declared.as_ref().filter(|_| !scope.tells_drops) {
        let gone = flow.delivered.packets + declared.open();
        return Fate {
            lost: declared.measured(),
            delivered,
            under_way: flow.sent.packets.saturating_sub(gone),
        };
    }
    if !scope.tells_drops {
        let max_delay_ns = u64::try_from(max_delay_us).unwrap_or(0).saturating_mul(1_000);
        return flow.ledger.fate(scope.last_record_ns.saturating_sub(max_delay_ns));
    }
    let gone = flow.delivered.packets + flow.dropped_packets;
    Fate { lost: flow.measured_dropped_packets, delivered, under_way: flow.sent.packets.saturating_sub(gone) }
}

fn loss_rate(fate: Fate) -> Option<f64> {
    let decided = fate.lost + fate.delivered;
    (decided > 0).then(|| fate.lost as f64 / decided as f64)
}

/// The time of a flow that the corrected convention counts.
fn active_span(flow: &FlowMeter, scope: &Scope) -> Span {
    Span::from_ns(flow.to_ns.min(scope.end_ns).saturating_sub(flow.from_ns))
}

/// ... of all flows, from the earliest start to the latest stop.
fn measured_span(flows: &[FlowMeter], scope: &Scope) -> Span {
    let from_ns = flows.iter().map(|flow| flow.from_ns).min().unwrap_or(0);
    let to_ns = flows.iter().map(|flow| flow.to_ns.min(scope.end_ns)).max().unwrap_or(0);
    Span::from_ns(to_ns.saturating_sub(from_ns))
}

fn link_stats(link: &LinkCounters) -> LinkStats {
    let per_time = |integral_ns| time_mean(integral_ns, link.elapsed);
    let has_capacity = link.capacity_bits > 0;
    let ms = |ns: u64| ns as f64 / 1e6;
    let mut stats = LinkStats {
        link: link.name.clone(),
        direction: link.direction.clone(),
        capacity_mbps: per_time(link.capacity_bits).map(|rate| rate * 1_000.0).filter(|_| has_capacity),
        throughput_mbps: mbps(link.bytes_out, link.elapsed),
        utilization: has_capacity.then(|| (link.bytes_out * 8) as f64 / link.capacity_bits as f64),
        mean_queue_packets: per_time(link.queue_packet_ns),
        mean_queue_bytes: per_time(link.queue_byte_ns),
        max_queue_packets: link.max_queue_packets,
        max_queue_bytes: link.max_queue_bytes,
        mean_queue_delay_ms: (link.packets_dequeued > 0)
            .then(|| link.queueing_delay_ns as f64 / link.packets_dequeued as f64 / 1e6),
        packets_in: link.packets_in,
        packets_out: link.packets_out,
        packets_dropped: link.packets_dropped,
        packets_marked: link.packets_marked,
        ecn_mark_rate: (link.packets_out > 0).then(|| link.packets_marked as f64 / link.packets_out as f64),
        max_queue_delay_ms: ms(link.max_queueing_delay_ns),
        peak_queue_ms: link.peak_queueing_delay_ns.map(ms),
        ccperf: CcperfLink::default(),
    };
    stats.ccperf = ccperf::link(&stats);
    stats
}

/// Why Pantheon would not count the run, if so (`plot.py`, `parse_tunnel_log`).
fn invalid_reason(meter: &RunMeter, clock: Clock) -> Option<String> {
    let mut delivered = Tally::default();
    meter.flows.iter().for_each(|flow| delivered.merge(&flow.delivered));
    if delivered.packets == 0 {
        return Some("no packet arrived".into());
    }
    delivered.begin(meter.first_delivery_ns);
    // A flow that is not in the log does not exist for Pantheon, and packets without a flow number are no flow to it.
    for flow in meter.flows.iter().filter(|flow| flow.has_data_records() && flow.info.flow != 0) {
        let number = flow.info.flow;
        if flow.delivered.packets == 0 {
            return Some(format!("no packet of flow {number} arrived"));
        }
        if flow.sent.packets == 0 {
            return Some(format!("packets of flow {number} arrived, and none was sent"));
        }
    }
    let (seconds, planned) = (delivered.span_ms(clock) / 1_000.0, meter.duration.as_secs_f64());
    (seconds < MIN_VALID_PART * planned).then(|| {
        format!("packets arrived over {seconds:.3} s, less than {MIN_VALID_PART} of the planned {planned} s")
    })
}
