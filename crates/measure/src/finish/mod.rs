//! Computation of a run's statistics: from counters to the input of the [`definitions`](crate::definitions).

mod consistency;
mod stated_totals;

use self::consistency::contradiction;
use crate::definitions::{
    AckLinkStats, Common, Completion, FlowStats, KnownFlow, KnownRun, LinkStats, LogTells, MediaStats,
    NetworkStats, RunStats, bottleneck,
};
use crate::inputs::{LinkCounters, SenderCounters};
use crate::meters::{AckDirection, Clock, Completions, Fate, FlowMeter, PANTHEON_PERCENT, RunMeter, Tally};
use crate::statistics::{DelayHistogram, DelaySummary};
use units::{Span, Time};

/// Minimum share of its planned length over which a valid run delivers (StanfordSNR/pantheon@23e738c,
/// `src/analysis/plot.py`).
const MIN_VALID_PART: f64 = 0.8;

/// Contents and end of a log.
#[derive(Clone, Copy, Debug)]
struct Scope {
    end_ns: u64,
    last_record_ns: u64,
    /// Time in which all flows are active, if there are several flows and such a time.
    common: Option<(Time, Time)>,
    log: LogTells,
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

/// Summaries of a flow. Computing them changes the flow's counters, which are only read afterwards.
#[derive(Debug)]
struct FlowSummaries {
    delay: Option<DelaySummary>,
    whole: Option<DelaySummary>,
    fate: Fate,
    common: Option<Common>,
    acks: Option<AckLinkStats>,
    media: Option<MediaStats>,
}

impl RunMeter {
    /// Returns the statistics of the run. `links` and `senders` are the driver's counters; without them the log's
    /// statistics have null in their place.
    pub fn finish(mut self, links: &[LinkCounters], senders: &[SenderCounters]) -> RunStats {
        self.begin_awaited();
        run_stats(self, links, senders)
    }
}

/// Returns the statistics of a run.
fn run_stats(mut meter: RunMeter, links: &[LinkCounters], senders: &[SenderCounters]) -> RunStats {
    let clock = meter.log_zero.map_or(Clock::Exported, |zero| Clock::Logged(zero.as_ns()));
    let log = LogTells {
        tells: meter.tells,
        // A driver that counts at its links also logs their drops.
        drops: meter.drops_seen || !links.is_empty(),
        payload: meter.payload_seen || meter.flows.iter().all(|flow| flow.delivered.packets == 0),
        reads: meter.tells_reads,
    };
    let common = meter.fairness.common(meter.end_ns()).filter(|_| meter.flows.len() > 1);
    let scope = Scope { clock, end_ns: meter.end_ns(), last_record_ns: meter.last_record_ns, common, log };
    let jain = meter.fairness.clone().finish(scope.end_ns, &mut meter.flows);
    let [jain_seen, jain_active] = meter.jain.clone().map(|windows| windows.finish(scope.end_ns));
    meter.flows.sort_by_key(|flow| flow.info.flow);
    let measured = measured_span(&meter.flows, &scope);
    let invalid_reason = invalid_reason(&meter, clock);
    let sender_of = |flow: &FlowMeter| senders.iter().find(|sender| sender.flow == flow.info.flow);
    let shares_mbps = [false, true].map(|reverse| fair_share_mbps(&meter.flows, links, reverse));
    let direction_bytes = [false, true].map(|reverse| {
        let flows = || meter.flows.iter().filter(|flow| flow.info.facts.reverse == reverse);
        [
            flows().map(|flow| flow.measured_data_bytes).sum::<u64>(),
            flows().map(|flow| flow.common_bytes).sum::<u64>(),
        ]
    });
    let (mut totals, mut completions) = (Sums::default(), Completions::default());
    let mut summaries = Vec::with_capacity(meter.flows.len());
    for flow in &mut meter.flows {
        let (sender, share_mbps) = (sender_of(flow), shares_mbps[usize::from(flow.info.facts.reverse)]);
        summaries.push(FlowSummaries::of(flow, sender, &scope, share_mbps, &mut totals));
        completions.flow(&flow.info, sender.and_then(|sender| sender.completed));
    }
    let of_flows = meter.flows.iter().zip(summaries);
    let known_flows: Vec<_> = of_flows
        .map(|(flow, summaries)| {
            let bytes = direction_bytes[usize::from(flow.info.facts.reverse)];
            known_flow(flow, summaries, sender_of(flow), links, &scope, bytes)
        })
        .collect();
    totals.delivered.begin(meter.first_delivery_ns);
    totals.ack.begin(meter.first_ack_delivery_ns);
    let delay = totals.delay.summary();
    totals.delay.merge(&totals.other_delay);
    let (transfers, by_size) = completions.finish();
    let run = KnownRun {
        flows: &known_flows,
        links,
        sampling: &meter.sampling,
        clock,
        sent: totals.sent,
        delivered: totals.delivered,
        opportunities: &meter.opportunities,
        delay,
        delay_p95_us: totals.delay.percentile_us(PANTHEON_PERCENT),
        fate: totals.fate,
        measured_data_bytes: totals.measured_data_bytes,
        measured,
        common,
        acks: AckLinkStats::where_told(&totals.ack.known(clock), log),
        invalid_reason,
        jain,
        jain_seen,
        jain_active,
        convergence: meter.sampling.convergence.time(&meter.flows),
        transfers,
        completions: by_size.iter().map(|transfers| Completion::of(transfers, log)).collect(),
    };
    let mut stats = RunStats {
        flows: known_flows.iter().map(|flow| FlowStats::of(flow, log)).collect(),
        links: links.iter().map(|link| LinkStats::of(link, log)).collect(),
        network: NetworkStats::of(&run, log),
        contradiction: None,
    };
    let sampled: Vec<_> = meter.flows.iter().map(|flow| flow.samples.throughput_mbps.mean()).collect();
    let active_s: Vec<_> = known_flows.iter().map(|flow| flow.active().as_secs_f64()).collect();
    stats.contradiction = contradiction(&stats, &sampled, &active_s, run.active().as_secs_f64());
    if !meter.tells.arrivals {
        stated_totals::put_in(&mut stats, senders);
    }
    stats
}

/// Returns the narrowest link's capacity per flow in a direction, Mbit/s.
fn fair_share_mbps(flows: &[FlowMeter], links: &[LinkCounters], reverse: bool) -> Option<f64> {
    let flows = flows.iter().filter(|flow| flow.info.facts.reverse == reverse).count();
    let link = bottleneck(links, reverse)?;
    link.capacity_mbps().map(|mbps| mbps / flows as f64)
}

impl FlowSummaries {
    /// Summarizes `flow`, and adds its counters to `totals`.
    fn of(
        flow: &mut FlowMeter,
        sender: Option<&SenderCounters>,
        scope: &Scope,
        share_mbps: Option<f64>,
        totals: &mut Sums,
    ) -> Self {
        let media = std::mem::take(&mut flow.media);
        let common = scope.common.map(|common| Common::of(flow, scope, common));
        flow.delay.merge(&core::mem::take(&mut flow.common_delay));
        let delay = flow.delay.summary();
        let delivered = flow.delay.count();
        totals.delay.merge(&flow.delay);
        totals.other_delay.merge(&flow.other_delay);
        flow.delay.merge(&flow.other_delay);
        let whole = flow.delay.summary();
        let fate = fate(flow, scope, delivered, whole.map_or(0, |whole| whole.max_us));
        totals.add(flow, fate);
        Self {
            delay,
            whole,
            fate,
            common,
            acks: AckLinkStats::where_told(&flow.ack.known(scope.clock), scope.log),
            media: sender.and_then(|sender| sender.media.as_ref()).map(|counters| {
                let known = media.known(counters, active_span(flow, scope), stop(flow, scope), share_mbps);
                MediaStats::of(&known, scope.log)
            }),
        }
    }
}

fn known_flow<'a>(
    flow: &'a FlowMeter,
    summaries: FlowSummaries,
    sender: Option<&'a SenderCounters>,
    links: &[LinkCounters],
    scope: &Scope,
    [direction_bytes, common_direction_bytes]: [u64; 2],
) -> KnownFlow<'a> {
    let stop = stop(flow, scope);
    let completion = sender.and_then(|sender| sender.completed).or(flow.samples.done_ns.map(Time::from_ns));
    // On a part of the path the narrowest link is unknown.
    let link = bottleneck(links, flow.info.facts.reverse).filter(|_| !flow.info.facts.confined);
    let FlowSummaries { delay, whole, fate, common, acks, media } = summaries;
    KnownFlow {
        flow,
        sender,
        clock: scope.clock,
        from: flow.info.start,
        to: completion.map_or(stop, |completion| completion.min(stop)),
        stop,
        measured: active_span(flow, scope),
        delay,
        whole,
        fate,
        common,
        acks,
        media,
        direction_bytes,
        common_direction_bytes,
        capacity_mbps: flow.samples.capacity_mbps().or_else(|| link?.capacity_mbps()),
        wire_bytes: f64::from(flow.info.facts.wire_bytes + link.map_or(0, |link| link.framing_bytes)),
    }
}

impl Common {
    /// Summarizes `flow`, of which no [`FlowSummaries`] was taken yet.
    fn of(flow: &mut FlowMeter, scope: &Scope, (from, to): (Time, Time)) -> Self {
        let delay = flow.common_delay.summary();
        let lost = match (scope.log.drops, &flow.declared) {
            (true, _) => Some(Fate {
                lost: flow.common_dropped_packets,
                delivered: flow.common_delay.count(),
                under_way: 0,
            }),
            (false, Some(_)) => None,
            (false, None) => {
                let longest_us = delay.map_or(0, |delay| u64::try_from(delay.max_us).unwrap_or(0));
                let limit_ns = scope.last_record_ns.saturating_sub(longest_us.saturating_mul(1_000));
                Some(flow.ledger.fate_from(from.as_ns(), limit_ns.min(to.as_ns())))
            }
        };
        Self { time: to - from, delay, fate: lost }
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

/// Returns the fate of a flow's packets. The sources are its drops or, if the log does not tell them, its sender's
/// declared losses or, without declarations, the times of sending. `delivered` packets arrived within the corrected
/// convention's time.
fn fate(flow: &FlowMeter, scope: &Scope, delivered: u64, max_delay_us: i64) -> Fate {
    if let Some(declared) = flow.declared.as_ref().filter(|_| !scope.log.drops) {
        let not_in_flight = flow.delivered.packets + declared.open();
        return Fate {
            lost: declared.measured_losses(),
            delivered,
            under_way: flow.sent.packets.saturating_sub(not_in_flight),
        };
    }
    if !scope.log.drops {
        let max_delay_ns = u64::try_from(max_delay_us).unwrap_or(0).saturating_mul(1_000);
        return flow.ledger.fate(scope.last_record_ns.saturating_sub(max_delay_ns));
    }
    let not_in_flight = flow.delivered.packets + flow.dropped_packets;
    Fate {
        lost: flow.measured_dropped_packets,
        delivered,
        under_way: flow.sent.packets.saturating_sub(not_in_flight),
    }
}

/// Returns the stop of a flow, at the latest the end of the run.
fn stop(flow: &FlowMeter, scope: &Scope) -> Time {
    Time::from_ns(flow.to_ns.min(scope.end_ns))
}

/// Returns the time of a flow that the corrected convention counts.
fn active_span(flow: &FlowMeter, scope: &Scope) -> Span {
    Span::from_ns(flow.to_ns.min(scope.end_ns).saturating_sub(flow.from_ns))
}

/// Returns the counted time of all flows, from the earliest start to the latest stop.
fn measured_span(flows: &[FlowMeter], scope: &Scope) -> Span {
    let from_ns = flows.iter().map(|flow| flow.from_ns).min().unwrap_or(0);
    let to_ns = flows.iter().map(|flow| flow.to_ns.min(scope.end_ns)).max().unwrap_or(0);
    Span::from_ns(to_ns.saturating_sub(from_ns))
}

/// Returns the reason why Pantheon would not count the run, if any (`plot.py`, `parse_tunnel_log`).
fn invalid_reason(meter: &RunMeter, clock: Clock) -> Option<String> {
    let mut delivered = Tally::default();
    meter.flows.iter().for_each(|flow| delivered.merge(&flow.delivered));
    if delivered.packets == 0 {
        return Some("no packet arrived".into());
    }
    delivered.begin(meter.first_delivery_ns);
    // For Pantheon a flow outside the log does not exist, and packets without a flow number belong to no flow.
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
