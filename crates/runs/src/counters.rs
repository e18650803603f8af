//! Conversion of the counters of links and senders to the input of the meter.

use crate::tell::full_name;
use crate::{Backend, FlowSpec, RunSpec};
use measure::{
    FlowFacts, FlowInfo, FlowState, LinkCounters, MediaCounters, MeterConfig, SenderCounters, StatedTotals,
    Tells,
};
use path::{Direction, LinkTally};
use transport::{ApplicationSpec, Config, EncoderStats, Sender};
use units::{Rate, Span, Time};

/// Interval of Jain's index over time.
const BIN: Span = Span::from_ms(500);

/// Returns the meter's configuration for a run of `backend` with a valid run spec.
pub fn meter_config(spec: &RunSpec, backend: Backend) -> MeterConfig {
    let flows = spec.flows.iter().enumerate().map(|(index, flow)| FlowInfo {
        flow: index as u32 + 1,
        scheme: flow.scheme.clone(),
        start: flow.start(),
        stop: flow.stop(spec.duration()),
        facts: facts(spec, flow),
    });
    MeterConfig {
        flows: flows.collect(),
        duration: spec.duration(),
        warmup: Span::from_secs_f64(spec.warmup_s),
        bin: BIN,
        jain_window: Span::from_secs_f64(spec.jain_window_s),
        sample_interval: Span::from_secs_f64(spec.sample_interval_s),
        convergence_delta: spec.convergence_delta,
        last_change: last_change(spec),
        tells_reads: backend == Backend::Simulation,
        senders_view: false,
        log_zero: None,
        tells: Tells::default(),
    }
}

/// Returns the time of the path's last change, or `None` if it does not change.
pub fn last_change(spec: &RunSpec) -> Option<Time> {
    spec.path.last_change(Time::ZERO + spec.duration())
}

fn facts(spec: &RunSpec, flow: &FlowSpec) -> FlowFacts {
    // The kernel's segments have the size of the built-in TCP's. The packets of programs are not known in advance.
    let config =
        if flow.is_core() { flow.config().ok() } else { flow.kernel.as_ref().map(|_| Config::tcp()) };
    let sizes =
        config.as_ref().and_then(|config| spec.path.encapsulation().split(config.datagram_bytes()).ok());
    let extra = spec.extra_delay(flow) * 2;
    let base_rtt = spec.subpaths(flow).map(|subpaths| spec.path.base_rtts_within(subpaths));
    FlowFacts {
        segment_bytes: config.as_ref().map_or(0, |config| config.payload_bytes),
        wire_bytes: sizes.map_or(0, Iterator::sum),
        base_rtt: base_rtt.unwrap_or_default().into_iter().map(|(at, rtt)| (at, rtt + extra)).collect(),
        total_bytes: flow.application.total().filter(|_| flow.program.is_none()),
        elastic: matches!(flow.application, ApplicationSpec::Greedy | ApplicationSpec::Fixed { .. })
            && flow.program.is_none(),
        reverse: flow.reverse,
        confined: flow.is_confined(),
    }
}

/// Meter of the narrowest link's capacity in one direction, per sample interval.
#[derive(Clone, Debug, Default)]
pub struct CapacityMeter {
    /// Capacity of each link up to the previous sample, bits.
    before: Vec<u128>,
}

impl CapacityMeter {
    /// Returns the capacity of the sample interval that ends, bits, or `None` without a limit. `links`: counters of
    /// the direction's links.
    pub fn take<'a>(&mut self, links: impl Iterator<Item = &'a LinkTally>) -> Option<u128> {
        let mut narrowest = None;
        for (index, link) in links.enumerate() {
            if self.before.len() <= index {
                self.before.push(0);
            }
            let before = core::mem::replace(&mut self.before[index], link.capacity_bits);
            // A link that is switched off still has a limit: its capacity does not grow.
            if link.capacity_bits > 0 {
                let bits = link.capacity_bits - before;
                narrowest = Some(narrowest.map_or(bits, |least: u128| least.min(bits)));
            }
        }
        narrowest
    }
}

/// Returns the state of a sender at the end of a sample interval.
pub fn flow_state(sender: &Sender) -> FlowState {
    FlowState { in_flight_bytes: sender.in_flight_bytes(), srtt: sender.smoothed_rtt() }
}

/// Returns the counters of all links of a run. The data direction comes first, and the bottleneck at the very start.
pub fn link_counters(data: &Direction, ack: &Direction, spec: &RunSpec) -> Vec<LinkCounters> {
    let (elapsed, watched) = (spec.duration(), last_change(spec).is_some());
    let counters = |direction: &Direction, name: &str| -> Vec<LinkCounters> {
        direction.links().map(|link| counters_of(name, link, elapsed, watched)).collect()
    };
    let mut links = counters(data, "data");
    bottleneck_first(&mut links);
    links.extend(counters(ack, "ack"));
    links
}

/// Moves the limited link with the smallest capacity to the front. The other links keep their order.
fn bottleneck_first(links: &mut [LinkCounters]) {
    let limited = links.iter().enumerate().filter(|(_, link)| link.capacity_bits > 0);
    if let Some((index, _)) = limited.min_by_key(|(_, link)| link.capacity_bits) {
        links[..=index].rotate_right(1);
    }
}

fn counters_of(direction: &str, link: &LinkTally, elapsed: Span, watched: bool) -> LinkCounters {
    LinkCounters {
        name: full_name(direction, &link.name),
        direction: direction.to_owned(),
        elapsed,
        framing_bytes: link.framing_bytes,
        capacity_bits: link.capacity_bits,
        bytes_in: link.bytes_in,
        bytes_out: link.bytes_out,
        packets_in: link.packets_in,
        packets_out: link.packets_out,
        packets_dropped: link.packets_dropped,
        packets_marked: link.packets_marked,
        queue_packet_ns: link.queue_packet_ns,
        queue_byte_ns: link.queue_byte_ns,
        max_queue_packets: link.max_queue_packets,
        max_queue_bytes: link.max_queue_bytes,
        packets_dequeued: link.packets_dequeued,
        queueing_delay_ns: link.queueing_delay_ns,
        max_queueing_delay_ns: link.max_queueing_delay_ns,
        peak_queueing_delay_ns: watched.then_some(link.watched_queueing_delay_ns),
    }
}

/// Returns the counters of sender `index`.
pub fn sender_counters(spec: &RunSpec, index: usize, sender: &Sender) -> SenderCounters {
    let stats = sender.stats();
    SenderCounters {
        flow: index as u32 + 1,
        retransmissions: Some(stats.retransmissions),
        timeouts: Some(stats.timeouts),
        loss_episodes: Some(stats.episodes),
        cwnd_byte_ns: stats.window_byte_ns,
        in_flight_byte_ns: stats.in_flight_byte_ns,
        srtt_ns_ns: stats.srtt_ns_ns,
        delivery_rate_ns: stats.delivery_rate_ns,
        active: stats.active,
        cwnd_active: stats.window_active,
        srtt_active: stats.srtt_active,
        delivery_rate_active: stats.delivery_rate_active,
        recoveries: Some((stats.recoveries, stats.recovery)),
        accepted_bytes: Some(sender.accepted_bytes()),
        completed: stats.completed_at,
        media: sender.encoder_stats().map(|stats| media_counters(&spec.flows[index], &stats)),
        stated: StatedTotals::default(),
    }
}

/// Returns the counters of the encoder of a live `flow`.
pub fn media_counters(flow: &FlowSpec, stats: &EncoderStats) -> MediaCounters {
    let counters = MediaCounters {
        frames: stats.frames,
        frames_skipped: stats.frames_skipped,
        ..MediaCounters::default()
    };
    let ApplicationSpec::Encoder(encoder) = &flow.application else { return counters };
    let at = |seconds| flow.start() + Span::from_secs_f64(seconds);
    let pauses = encoder.pauses.iter().map(|&(from, to)| (at(from), at(to))).collect();
    MediaCounters { max_rate: Rate::from_mbps(encoder.max_rate_mbps), pauses, ..counters }
}
