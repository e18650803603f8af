//! What a meter is told besides the records.

use serde::{Deserialize, Serialize};
use units::{Rate, Span, Time};

/// One flow as it was planned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowInfo {
    /// Number of the flow in the records.
    pub flow: u32,
    /// Name of its scheme.
    pub scheme: String,
    /// When its application starts; [`Time::NEVER`] for "unknown, with its first record".
    pub start: Time,
    /// When its application stops; [`Time::NEVER`] for "with the run".
    pub stop: Time,
    /// What else is known of it.
    pub facts: FlowFacts,
}

/// What a driver knows of a flow in advance; nothing is known of imported ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowFacts {
    /// Payload of a full packet, bytes: the segment that windows are counted in. 0 where unknown.
    pub segment_bytes: u32,
    /// The same packet on the path, overhead included, bytes.
    pub wire_bytes: u32,
    /// Round-trip time without queues and serialization, and from when on; empty where unknown.
    pub base_rtt: Vec<(Time, Span)>,
    /// Bytes of its application, if that ends.
    pub total_bytes: Option<u64>,
    /// Whether its application takes whatever rate it gets, until it ends.
    pub elastic: bool,
    /// Whether its data takes the ACK direction of the path.
    pub reverse: bool,
    /// Whether it passes a part of the path only: nobody has the same fair share then.
    pub confined: bool,
}

/// What to measure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeterConfig {
    /// The planned flows. Flows that only appear in the records are added: without scheme, from their first record to
    /// the end of the run.
    pub flows: Vec<FlowInfo>,
    /// Planned length of the run, counted from time 0; zero where unknown. A run ends then, or with its last record if
    /// that is later. Pantheon's check of the length needs it.
    pub duration: Span,
    /// In a log from elsewhere, where its own zero is: Pantheon's formulas then compute with its times as logged, to the last
    /// bit. If not, with whole µs.
    pub log_zero: Option<Time>,
    /// Start of the run that the corrected convention leaves out.
    pub warmup: Span,
    /// Interval of Jain's index over time; zero means 500 ms.
    pub bin: Span,
    /// Length of the windows of Jain's index by [`ActiveRule`](crate::ActiveRule); zero means 100 ms.
    pub jain_window: Span,
    /// Interval between samples; zero without any.
    pub sample_interval: Span,
    /// How far from its fair share a flow may be, as a fraction of it, and count as converged; zero means 0.2.
    pub convergence_delta: f64,
    /// When the path changes for the last time, if it does.
    pub last_change: Option<Time>,
    /// Whether the driver says what applications read ([`RunMeter::read`](crate::RunMeter::read)); if not, payload new to
    /// the receiver counts as read.
    pub tells_reads: bool,
    /// Whether the log is a sender's view, in which a packet is delivered when it is acknowledged and may be declared lost
    /// before that; the first declaration says that they are told. If not, declarations are not looked at.
    pub senders_view: bool,
    /// What the records tell. What they do not tell is null in the statistics.
    pub tells: Tells,
}

/// What the records of a log tell; those of a driver tell everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tells {
    /// What was sent.
    pub sendings: bool,
    /// What arrived.
    pub arrivals: bool,
    /// Which packets arrived with a CE mark.
    pub marks: bool,
    /// Which packets are of which flow.
    pub flows: bool,
    /// What the delay of a delivery is.
    pub delay: Delay,
}

impl Default for Tells {
    fn default() -> Self {
        Self { sendings: true, arrivals: true, marks: true, flows: true, delay: Delay::OneWay }
    }
}

/// What the delay of a delivery is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delay {
    /// The time from sending to arrival.
    #[default]
    OneWay,
    /// The same plus a constant that nobody knows: clocks that disagree.
    AboveSmallest,
    /// The time from sending to the arrival of the acknowledgement.
    RoundTrip,
    /// Nothing.
    Unknown,
}

/// What a sender or a receiver stated in totals about a flow, in a log without records of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedTotals {
    /// Payload that arrived, bytes, and the time in which it did.
    pub payload: Option<(u64, Span)>,
    /// Packets sent, and those of them that were lost.
    pub packets: Option<(u64, u64)>,
}

/// What applications of a flow read at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// Number of the flow.
    pub flow: u32,
    /// When.
    pub at: Time,
    /// Bytes, in order.
    pub bytes: u64,
    /// Sum over the bytes of the time since they were written, byte ns.
    pub waited_byte_ns: u128,
}

/// The state of a run at the end of a sample interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample<'a> {
    /// When; the interval starts with the sample before.
    pub at: Time,
    /// In the order of the planned flows; missing where unknown.
    pub flows: &'a [Option<FlowState>],
    /// What the narrowest link of the data and of the ACK direction could have carried in the interval, bits; `None`
    /// without a limit.
    pub capacity_bits: [Option<u128>; 2],
}

/// The state of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowState {
    /// Bytes in flight.
    pub in_flight_bytes: u64,
    /// Smoothed RTT, once there is one.
    pub srtt: Option<Span>,
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
    /// Bytes that the link adds to every packet; in `bytes_in` and `bytes_out`.
    pub framing_bytes: u32,
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
    /// Packets that left the queue towards the link, and ...
    pub packets_dequeued: u64,
    /// ... the sum of the times that they spent in it, ns.
    pub queueing_delay_ns: u128,
    /// Longest time in the queue, ns.
    pub max_queueing_delay_ns: u64,
    /// The same of the packets that left it after the path's last change; `None` without a change.
    pub peak_queueing_delay_ns: Option<u64>,
}

/// What one sender counted over a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenderCounters {
    /// Number of the flow.
    pub flow: u32,
    /// Packets sent that carried payload sent before; `None` where unknown.
    pub retransmissions: Option<u64>,
    /// Expired retransmission timers; `None` where unknown.
    pub timeouts: Option<u64>,
    /// Recovery episodes that losses began; `None` where unknown.
    pub loss_episodes: Option<u64>,
    /// Time integral of cwnd, byte ns.
    pub cwnd_byte_ns: u128,
    /// Time integral of the bytes in flight, byte ns.
    pub in_flight_byte_ns: u128,
    /// Time integral of the smoothed RTT, ns squared.
    pub srtt_ns_ns: u128,
    /// Integral of the delivery rate over time, bit/s * ns.
    pub delivery_rate_ns: u128,
    /// Time over which the bytes in flight were integrated.
    pub active: Span,
    /// Time over which cwnd was integrated: that in which there was one.
    pub cwnd_active: Span,
    /// Time over which the smoothed RTT was integrated, that is since its first sample.
    pub srtt_active: Span,
    /// Time over which the delivery rate was integrated, that is since its first sample.
    pub delivery_rate_active: Span,
    /// Loss episodes that are over and how long they took together; `None` where unknown.
    pub recoveries: Option<(u64, Span)>,
    /// Bytes that the sending socket took from the application; `None` where unknown.
    pub accepted_bytes: Option<u64>,
    /// When the last byte of a finite transfer was acknowledged.
    pub completed: Option<Time>,
    /// What the encoder of a live source counted.
    pub media: Option<MediaCounters>,
    /// Totals of a log without records.
    pub stated: StatedTotals,
}

/// What the encoder of a live source counted over a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediaCounters {
    /// Frames written.
    pub frames: u64,
    /// Frames skipped because too much was waiting.
    pub frames_skipped: u64,
    /// Highest bitrate of the source.
    pub max_rate: Rate,
    /// When it was paused by plan: beginning and end of each pause, in time order.
    pub pauses: Vec<(Time, Time)>,
}
