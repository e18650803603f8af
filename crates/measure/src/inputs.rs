//! Inputs of a meter besides the records.

use serde::{Deserialize, Serialize};
use units::{Rate, Span, Time};

/// One planned flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowInfo {
    /// Number of the flow in the records.
    pub flow: u32,
    /// Name of the scheme.
    pub scheme: String,
    /// Start of the application; [`Time::NEVER`]: unknown, with the first record.
    pub start: Time,
    /// Stop of the application; [`Time::NEVER`]: at the end of the run.
    pub stop: Time,
    /// Further facts.
    pub facts: FlowFacts,
}

/// Facts that a driver knows about a flow in advance; the defaults mean unknown, as in imported logs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowFacts {
    /// Payload of a full packet, bytes: the unit of windows. 0 if unknown.
    pub segment_bytes: u32,
    /// Size of this packet on the path, overhead included, bytes.
    pub wire_bytes: u32,
    /// Round-trip times without queues and serialization, with the times from which they hold; empty if unknown.
    pub base_rtt: Vec<(Time, Span)>,
    /// Total bytes of the application, if it ends.
    pub total_bytes: Option<u64>,
    /// True if the application uses any rate that it gets, until it ends.
    pub elastic: bool,
    /// True if the flow's data take the ACK direction of the path.
    pub reverse: bool,
    /// True if the flow passes only a part of the path: fair shares then differ between flows.
    pub confined: bool,
}

/// Configuration of a meter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeterConfig {
    /// Planned flows. Other flows in the records are added: without scheme, from their first record to the end of the
    /// run.
    pub flows: Vec<FlowInfo>,
    /// Planned length of the run, counted from time 0; zero if unknown. A run ends after this time, or with its last
    /// record if that is later. Pantheon's check of the length needs the value.
    pub duration: Span,
    /// Zero of an imported log's clock, if the log is imported. Pantheon's formulas then use the logged times exactly,
    /// to the last bit. `None`: they use whole µs.
    pub log_zero: Option<Time>,
    /// Beginning of the run that the corrected convention leaves out.
    pub warmup: Span,
    /// Interval of Jain's index over time; zero means 500 ms.
    pub bin: Span,
    /// Length of the windows of Jain's index by [`ActiveRule`](crate::ActiveRule); zero means 100 ms.
    pub jain_window: Span,
    /// Interval between samples; zero without any.
    pub sample_interval: Span,
    /// Maximum distance of a converged flow from its fair share, as a fraction of the share; zero means 0.2.
    pub convergence_delta: f64,
    /// Time of the path's last change, if any.
    pub last_change: Option<Time>,
    /// True if the driver reports the bytes that applications read ([`RunMeter::read`](crate::RunMeter::read)); if not,
    /// payload new to the receiver counts as read.
    pub tells_reads: bool,
    /// True if the log is a sender's view: a packet is delivered when it is acknowledged, and may be declared lost
    /// before that. The first declaration shows that the log contains declarations. False: declarations are ignored.
    pub senders_view: bool,
    /// Contents of the records. Statistics without the needed contents are null.
    pub tells: Tells,
}

/// Contents of a log's records; a driver's records contain everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tells {
    /// True if the records contain the sent packets.
    pub sendings: bool,
    /// True if the records contain the arrived packets.
    pub arrivals: bool,
    /// True if the records mark packets that arrived with CE.
    pub marks: bool,
    /// True if the records tell the flow of each packet.
    pub flows: bool,
    /// Meaning of a delivery's delay.
    pub delay: Delay,
}

impl Default for Tells {
    fn default() -> Self {
        Self { sendings: true, arrivals: true, marks: true, flows: true, delay: Delay::OneWay }
    }
}

/// Meaning of a delivery's delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delay {
    /// The time from sending to arrival.
    #[default]
    OneWay,
    /// The time from sending to arrival, plus an unknown constant: clocks that disagree.
    AboveSmallest,
    /// The time from sending to the arrival of the acknowledgement.
    RoundTrip,
    /// No meaning.
    Unknown,
}

/// Totals of a flow that a sender or a receiver stated, in a log without records of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedTotals {
    /// Payload that arrived, bytes, and the time in which it arrived.
    pub payload: Option<(u64, Span)>,
    /// Packets sent, and packets lost.
    pub packets: Option<(u64, u64)>,
}

/// Data of a flow that applications read at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// Number of the flow.
    pub flow: u32,
    /// Time of the read.
    pub at: Time,
    /// Bytes read, in order.
    pub bytes: u64,
    /// Sum over the bytes of the time since they were written, byte ns.
    pub waited_byte_ns: u128,
}

/// The state of a run at the end of a sample interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample<'a> {
    /// End of the interval, which starts with the previous sample.
    pub at: Time,
    /// States in the order of the planned flows; `None` if unknown.
    pub flows: &'a [Option<FlowState>],
    /// Bits that the narrowest link of the data direction and of the ACK direction could have carried in the interval;
    /// `None` without a limit.
    pub capacity_bits: [Option<u128>; 2],
}

/// The state of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowState {
    /// Bytes in flight.
    pub in_flight_bytes: u64,
    /// Smoothed RTT; `None` before the first sample.
    pub srtt: Option<Span>,
}

/// Counters of one link over a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Name of the link.
    pub name: String,
    /// `data` or `ack`.
    pub direction: String,
    /// Time over which the counters ran.
    pub elapsed: Span,
    /// Bytes that the link adds to every packet; included in `bytes_in` and `bytes_out`.
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
    /// Packets that left the queue towards the link.
    pub packets_dequeued: u64,
    /// Sum of the times that these packets spent in the queue, ns.
    pub queueing_delay_ns: u128,
    /// Longest time in the queue, ns.
    pub max_queueing_delay_ns: u64,
    /// Longest time in the queue of packets that left it after the path's last change, ns; `None` without a change.
    pub peak_queueing_delay_ns: Option<u64>,
}

/// Counters of one sender over a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenderCounters {
    /// Number of the flow.
    pub flow: u32,
    /// Packets sent that carried payload sent before; `None` where unknown.
    pub retransmissions: Option<u64>,
    /// Expired retransmission timers; `None` where unknown.
    pub timeouts: Option<u64>,
    /// Recovery episodes that began with losses; `None` if unknown.
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
    /// Time over which cwnd was integrated: the time with a window.
    pub cwnd_active: Span,
    /// Time over which the smoothed RTT was integrated: since its first sample.
    pub srtt_active: Span,
    /// Time over which the delivery rate was integrated: since its first sample.
    pub delivery_rate_active: Span,
    /// Number and total duration of the ended loss episodes; `None` if unknown.
    pub recoveries: Option<(u64, Span)>,
    /// Bytes that the sending socket took from the application; `None` where unknown.
    pub accepted_bytes: Option<u64>,
    /// Time at which the last byte of a finite transfer was acknowledged.
    pub completed: Option<Time>,
    /// Counters of a live source's encoder.
    pub media: Option<MediaCounters>,
    /// Totals of a log without records.
    pub stated: StatedTotals,
}

/// Counters of a live source's encoder over a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediaCounters {
    /// Frames written.
    pub frames: u64,
    /// Frames skipped because too much data was waiting.
    pub frames_skipped: u64,
    /// Highest bitrate of the source.
    pub max_rate: Rate,
    /// Planned pauses: beginning and end of each, in time order.
    pub pauses: Vec<(Time, Time)>,
}
