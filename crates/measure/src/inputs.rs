//! What a meter is told besides the records.

use units::{Rate, Span, Time};

/// One flow as it was planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowInfo {
    /// Number of the flow in the records.
    pub flow: u32,
    /// Name of its scheme.
    pub scheme: String,
    /// When its application starts; [`Time::NEVER`] for "unknown, with its first record".
    pub start: Time,
    /// When its application stops; [`Time::NEVER`] for "with the run".
    pub stop: Time,
}

/// What to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeterConfig {
    /// The planned flows. Flows that only appear in the records are added: without scheme, from their first record to
    /// the end of the run.
    pub flows: Vec<FlowInfo>,
    /// Planned length of the run, counted from time 0; zero where unknown. A run ends then, or with its last record if
    /// that is later. Pantheon's check of the length needs it.
    pub duration: Span,
    /// Start of the run that the corrected convention leaves out.
    pub warmup: Span,
    /// Interval of Jain's index over time; zero means 500 ms.
    pub bin: Span,
}

/// What one link counted over a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Name of the link.
    pub name: String,
    /// `data` or `ack`.
    pub direction: String,
    /// Time over which the counters ran.
    pub elapsed: Span,
    /// Bits the link could have carried in `elapsed`; 0 for a link without a limit.
    pub capacity_bits: u128,
    /// Bytes offered to the link.
    pub bytes_in: u64,
    /// Bytes the link sent.
    pub bytes_out: u64,
    /// Packets offered to the link.
    pub packets_in: u64,
    /// Packets the link sent.
    pub packets_out: u64,
    /// Packets the link's queue dropped.
    pub packets_dropped: u64,
    /// Packets the link's queue marked.
    pub packets_marked: u64,
    /// Time integral of the queue length, packet ns.
    pub queue_packet_ns: u128,
    /// Time integral of the queue length, byte ns.
    pub queue_byte_ns: u128,
    /// Longest queue, packets.
    pub max_queue_packets: u64,
    /// Longest queue, bytes.
    pub max_queue_bytes: u64,
    /// Sum over the packets that left the queue of their time in it, ns.
    pub queueing_delay_ns: u128,
}

/// What one sender counted over a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Number of the flow.
    pub flow: u32,
    /// Packets sent that carried payload sent before.
    pub retransmissions: u64,
    /// Expired retransmission timers.
    pub timeouts: u64,
    /// Recovery episodes entered.
    pub loss_episodes: u64,
    /// Time integral of cwnd, byte ns.
    pub cwnd_byte_ns: u128,
    /// Time integral of the bytes in flight, byte ns.
    pub in_flight_byte_ns: u128,
    /// Time integral of the smoothed RTT, ns squared.
    pub srtt_ns_ns: u128,
    /// Time over which cwnd and bytes in flight were integrated.
    pub active: Span,
    /// Time over which the smoothed RTT was integrated, that is since its first sample; zero means `active`.
    pub srtt_active: Span,
    /// What the encoder of a live source counted.
    pub media: Option<MediaCounters>,
}

/// What the encoder of a live source counted over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediaCounters {
    /// Frames written.
    pub frames: u64,
    /// Frames skipped because too much was waiting.
    pub frames_skipped: u64,
    /// Highest bitrate of the source.
    pub max_rate: Rate,
}
