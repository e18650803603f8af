//! From the counters of links and senders to what the meter takes.

use crate::RunSpec;
use measure::{FlowInfo, LinkCounters, MediaCounters, MeterConfig, SenderCounters};
use path::{Direction, LinkStats};
use transport::{ApplicationSpec, EncoderStats, Sender};
use units::{Rate, Span};

/// Interval of Jain's index over time.
const BIN: Span = Span::from_ms(500);

/// `data/bottleneck` and the like.
pub(crate) fn link_name(direction: &str, link: &str) -> String {
    format!("{direction}/{link}")
}

/// What the meter has to know of a run.
pub fn meter_config(spec: &RunSpec) -> MeterConfig {
    let flows = spec.flows.iter().enumerate().map(|(index, flow)| FlowInfo {
        flow: index as u32 + 1,
        scheme: flow.scheme.clone(),
        start: flow.start(),
        stop: flow.stop(spec.duration()),
    });
    MeterConfig {
        flows: flows.collect(),
        duration: spec.duration(),
        warmup: Span::from_secs_f64(spec.warmup_s),
        bin: BIN,
    }
}

/// The counters of all links of a run, those of the data direction first, the bottleneck before all.
pub fn link_counters(data: &Direction, ack: &Direction, elapsed: Span) -> Vec<LinkCounters> {
    let counters = |direction: &Direction, name: &str| -> Vec<LinkCounters> {
        direction.links().map(|link| counters_of(name, link, elapsed)).collect()
    };
    let mut links = counters(data, "data");
    bottleneck_first(&mut links);
    links.extend(counters(ack, "ack"));
    links
}

/// The link that could carry least comes first; the others keep their order. Links without a limit come after it.
fn bottleneck_first(links: &mut [LinkCounters]) {
    let limited = links.iter().enumerate().filter(|(_, link)| link.capacity_bits > 0);
    if let Some((index, _)) = limited.min_by_key(|(_, link)| link.capacity_bits) {
        links[..=index].rotate_right(1);
    }
}

fn counters_of(direction: &str, link: &LinkStats, elapsed: Span) -> LinkCounters {
    LinkCounters {
        name: link_name(direction, &link.name),
        direction: direction.to_owned(),
        elapsed,
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
        queueing_delay_ns: link.queueing_delay_ns,
    }
}

/// What the sender of flow number `index` counted.
pub fn sender_counters(spec: &RunSpec, index: usize, sender: &Sender) -> SenderCounters {
    let stats = sender.stats();
    SenderCounters {
        flow: index as u32 + 1,
        retransmissions: stats.retransmissions,
        timeouts: stats.timeouts,
        loss_episodes: stats.episodes,
        cwnd_byte_ns: stats.window_byte_ns,
        in_flight_byte_ns: stats.in_flight_byte_ns,
        srtt_ns_ns: stats.srtt_ns_ns,
        active: stats.active,
        srtt_active: stats.active,
        media: sender.encoder_stats().map(|stats| media_counters(&spec.flows[index].application, &stats)),
    }
}

/// What the encoder of a live `application` counted.
pub fn media_counters(application: &ApplicationSpec, stats: &EncoderStats) -> MediaCounters {
    let max_rate = match application {
        ApplicationSpec::Encoder(encoder) => Rate::from_mbps(encoder.max_rate_mbps),
        _ => Rate::ZERO,
    };
    MediaCounters { frames: stats.frames, frames_skipped: stats.frames_skipped, max_rate }
}
