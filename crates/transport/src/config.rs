//! Configuration of TCP-like, QUIC-like and plain datagram transports.

use crate::ecn::{EcnMode, EcnValidation};
use crate::receiver_behavior::ReceiverBehavior;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::Span;

/// Timer over outstanding packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimerKind {
    /// TCP's retransmission timeout (RFC 6298): everything outstanding is lost.
    Rto,
    /// QUIC's probe timeout (RFC 9002 6.2): probes, and persistent congestion.
    Pto,
    /// After a fixed time without any ACK, all packets in flight are forgotten and the controller gets a timeout
    /// (genericCC).
    Silence,
    /// No timer: only later acknowledgements declare outstanding packets lost.
    None,
}

/// Sign that a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossDetection {
    /// Acknowledgements of later packet numbers, or time; retransmissions count like other packets (RFC 9002 6.1,
    /// and RACK in TCP).
    Packet,
    /// Acknowledgements of segments above it by sequence (RFC 6675). Only a timeout detects a lost retransmission. RTT
    /// samples come from segments that were sent once and acknowledged in order.
    Sequence,
    /// Acknowledgements of segments above it by 16-bit number, from a mark on that some first numbers put out of reach
    /// (libutp).
    Utp,
    /// Only the time since it was sent: `time_threshold` RTTs and four variations (UDT in
    /// PCCproject/PCC-Uspace@30c2cfe, `src/core/core.cpp`).
    Age,
}

impl LossDetection {
    /// Returns true if ACKs report the point up to which all data arrived, and losses are holes below that.
    pub(crate) const fn is_cumulative(self) -> bool {
        matches!(self, Self::Sequence | Self::Utp)
    }
}

/// Adaptation of loss detection to packets that arrive late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reordering {
    /// No adaptation (RFC 9002 6.1; quinn, s2n-quic, picoquic).
    Fixed,
    /// The packet threshold rises to the largest observed distance of a late packet (RFC 9002 6.1.1, a MAY; Google's
    /// quiche; Cloudflare's up to 20).
    Distance,
    /// RACK (RFC 8985 6.2): three packets above a hole make a loss until the first late packet. From then on only time
    /// counts, and its window grows with each round that had a false loss. A `time_threshold` of 0 makes it `fixed`.
    Rack,
}

/// ACKs that restart the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimerRestart {
    /// Every ACK that acknowledges something new.
    Any,
    /// ACKs that complete more of the stream; in a loss episode only the first one (RFC 6582 4, "impatient").
    FirstPartial,
}

/// Limit on sending during a loss episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reduction {
    /// Proportional rate reduction down to the controller's window (RFC 6937, safe-ACK bound of RFC 9937).
    Prr,
    /// Proportional rate reduction of ns-3.41 (`src/internet/model/tcp-prr-recovery.cc`): 32-bit products, slow start
    /// only after a retransmission has arrived.
    PrrNs3,
    /// The controller's window at once.
    Immediate,
}

/// Part of the RTO that the minimum RTO applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RtoFloor {
    /// To the whole timeout (RFC 6298).
    Total,
    /// To the variation term, as Linux does: RTO = srtt + max(floor, 4 * rttvar).
    Variation,
}

/// Treatment of a window that is not a whole number of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WindowRounding {
    /// A packet may leave if it fits completely.
    Down,
    /// A packet may leave while anything of the window is left (genericCC).
    Up,
}

/// Configuration of one flow's transport. Times are in ms, sizes in bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = partial)]
pub struct Config {
    /// Name of the profile that gives the other values their defaults: `linux-like` (also called `tcp`), `linux`,
    /// `linux-offload`, `ns3-compat`, `quic` or `datagram`.
    pub profile: String,
    /// Payload bytes of a full packet: the segment size that windows and rates count.
    #[schemars(range(min = 1, max = 65_000))]
    pub payload_bytes: u32,
    /// Size of the application's messages: no packet carries bytes of two. 0: it writes a stream without messages.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub message_bytes: u32,
    /// Header bytes of a data packet: IP, transport, options.
    #[schemars(range(min = 0, max = 500))]
    pub header_bytes: u32,
    /// IP datagram size of a pure ACK.
    #[schemars(range(min = 1, max = 65_000))]
    pub ack_bytes: u32,
    /// Additional ACK bytes for each range beyond the first.
    pub ack_range_bytes: u32,
    /// Additional ACK bytes of the option if there is such a range.
    pub ack_option_bytes: u32,
    /// Lost payload is sent again.
    pub reliable: bool,
    /// The connection is set up before data leave.
    pub handshake: bool,
    /// Round trips that connection set-up takes.
    #[schemars(range(min = 1, max = 10))]
    pub handshake_rounds: u32,
    /// Time without an answer after which the handshake packet is retransmitted; 0: when the timer expires.
    #[schemars(range(min = 0, max = 600_000))]
    pub handshake_repeat_ms: f64,
    /// Maximum number of packets before an ACK.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub ack_every: u32,
    /// Maximum delay of an ACK.
    #[schemars(range(min = 0, max = 10_000))]
    pub ack_delay_ms: f64,
    /// Tick of the delayed-ACK timer, which expires one tick after the end of the delay, as in Linux since v4.8
    /// (`kernel/time/timer.c`, `calc_index`; a tick is 4 ms if `HZ` is 250); 0: the timer expires exactly on time.
    #[schemars(range(min = 0, max = 1000))]
    pub ack_tick_ms: f64,
    /// Number of packets at the start that are acknowledged one by one (Linux v5.15, `net/ipv4/tcp_input.c`:
    /// `TCP_MAX_QUICKACKS`, 16).
    #[schemars(range(min = 0, max = 1_000_000))]
    pub quick_acks: u32,
    /// Send an ACK at once for a packet out of order; off: only by count and time, and on request of the scheme's
    /// receiver half.
    pub ack_on_gap: bool,
    /// Send an ACK at once for a packet with a CE mark (RFC 9000 section 13.2.1); off: by count and time, as in TCP.
    pub ack_on_ce: bool,
    /// Maximum number of packet ranges in an ACK (TCP: the cumulative point and its SACK blocks).
    #[schemars(range(min = 1, max = 1024))]
    pub ack_ranges: usize,
    /// Selective acknowledgement; off: only data below the first hole are acknowledged.
    pub sack: bool,
    /// Number of packets that an ACK can name, beginning with the second one after the first missing packet (uTP: a
    /// mask of 30). Later packets are acknowledged when the missing packet has arrived. 0: any number.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub sack_packets: u32,
    /// Sign that a packet was lost.
    pub loss_detection: LossDetection,
    /// With `utp`: the number that the connection's first packet has; none: drawn for each run.
    pub first_number: Option<u16>,
    /// Packets acknowledged above one that counts as lost.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub packet_threshold: u64,
    /// Time after which a packet is lost once a later one is acknowledged, as a multiple of the RTT; 0 turns it off. By
    /// age no acknowledgement is needed. With `rack` the part beyond 1 is a share of the smallest RTT.
    #[schemars(range(min = 0, max = 100))]
    pub time_threshold: f64,
    /// Adaptation of the two thresholds to packets that arrive late.
    pub reordering: Reordering,
    /// Undo an episode if all its losses turn out to have arrived. Undo a timeout if a packet sent before it arrives
    /// (RFC 3522, RFC 4015, RFC 9438 4.9).
    pub undo: bool,
    /// While nothing is in flight windows are halved for each retransmission timeout, down to the initial window, by
    /// controllers that follow the kernel (RFC 5681 4.1; Linux's `tcp_slow_start_after_idle`).
    pub restart_window: bool,
    /// New data may leave on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Clock tick of the timestamps that RTTs are taken from; 0: exact.
    #[schemars(range(min = 0, max = 1000))]
    pub timestamp_ms: f64,
    /// The controller is given the smoothed RTT for every sample, as in ns-3 before 3.43.
    pub smoothed_samples: bool,
    /// Windows grow by bytes as the stream is completed, and by none with ACKs that report a hole; off: as they arrive.
    pub cumulative_growth: bool,
    /// Timer over outstanding packets.
    pub timer: TimerKind,
    /// ACKs that restart the timer.
    pub timer_restart: TimerRestart,
    /// Timeout before the first RTT sample; with `silence` the fixed timeout.
    #[schemars(range(min = 1, max = 600_000))]
    pub timeout_initial_ms: f64,
    /// Smallest timeout.
    #[schemars(range(min = 0, max = 600_000))]
    pub timeout_min_ms: f64,
    /// Largest timeout after backing off.
    #[schemars(range(min = 1, max = 6_000_000))]
    pub timeout_max_ms: f64,
    /// Part of the timeout that `timeout_min_ms` applies to.
    pub timeout_floor: RtoFloor,
    /// Interval between checks of the timer, which expires at the next check; 0: exactly on time.
    #[schemars(range(min = 0, max = 600_000))]
    pub timeout_check_ms: f64,
    /// With `rto`: outside of recovery one probe, two RTTs after the latest departure or ACK, before the timeout itself
    /// (RFC 8985 7.2); it carries new data or, without any, the latest again (7.3).
    pub tail_loss_probe: bool,
    /// Limit on sending during a loss episode.
    pub recovery: Reduction,
    /// Initial window, packets.
    #[schemars(range(min = 1, max = 100_000))]
    pub initial_window: u32,
    /// Maximum bytes in flight regardless of the controller: receive window and socket buffers.
    #[schemars(range(min = 1))]
    pub max_window_bytes: u64,
    /// Bytes that the sending socket holds until they are acknowledged: applications write ahead into it. 0: no buffer;
    /// applications write only when data may be sent.
    #[schemars(range(min = 0, max = 1_000_000_000_000_u64))]
    pub send_buffer_bytes: u64,
    /// Most bytes above the first that is missing at the receiver (TCP's receive window); 0: any number.
    pub receive_window_bytes: u64,
    /// Linux's sysctl of that name: smallest, first and largest memory of a sending socket, which grows with the
    /// window. The smallest has no effect without memory pressure. All 0: `send_buffer_bytes` alone counts.
    pub tcp_wmem: [u64; 3],
    /// Linux's sysctl of that name: smallest, first and largest memory of a receiving socket. Data behind a hole
    /// occupies memory; the window is half of the memory that is free. If first and largest are equal, the size is
    /// fixed, as by `SO_RCVBUF`, which Linux doubles. All 0: `receive_window_bytes` alone counts.
    pub tcp_rmem: [u64; 3],
    /// Memory that one full packet occupies in a socket (`truesize` of an skb); 0: worked out from `payload_bytes`.
    pub skb_truesize_bytes: u64,
    /// Treatment of a fractional window.
    pub window_rounding: WindowRounding,
    /// For controllers without a pacing rate: pace at this multiple of window / srtt; 0 sends unpaced.
    #[schemars(range(min = 0, max = 100))]
    pub pacing_gain: f64,
    /// Linux's pacing of TCP, by the queueing discipline `fq` or in a socket that began with BBR. Controllers without a
    /// pacing rate are paced from the 11th packet on. The rate is 2 windows per srtt while the window is below half of
    /// the slow start threshold, else 1.2 windows (Linux v5.15, `net/ipv4/tcp_input.c`, `tcp_update_pacing_rate`).
    pub fq: bool,
    /// Segmentation offload: data that would leave in this time at the pacing rate leave at once; 0: packets leave one
    /// by one.
    #[schemars(range(min = 0, max = 1000))]
    pub burst_ms: f64,
    /// Maximum payload bytes of such a burst.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub burst_bytes: u64,
    /// Quirk of genericCC: the ACK that opens a full window releases the next packet one pacing gap later.
    pub quirk_pace_after_block: bool,
    /// Quirk of Remy and genericCC: a new pacing rate also applies to the packet that already waits.
    pub quirk_pace_by_latest: bool,
    /// Quirk of Linux before 4.13 without the `fq` queueing discipline: the sender ignores the controller's pacing rate
    /// and uses only its window (Linux v4.11, `net/ipv4/tcp_bbr.c`, whose first comment asks for `fq`).
    pub quirk_unpaced: bool,
    /// One packet leaves regardless of the window after this time without any event; 0 turns it off.
    #[schemars(range(min = 0, max = 60_000))]
    pub keepalive_ms: f64,
    /// ECN codepoint of data packets.
    pub ecn: EcnMode,
    /// Test that the path carries that codepoint; after a failure packets are not ECN-capable.
    pub ecn_validation: EcnValidation,
    /// Behavior of the receiver: `honest`, or a table with a `kind`.
    #[serde(deserialize_with = "ReceiverBehavior::read")]
    #[schemars(schema_with = "ReceiverBehavior::schema_of_either")]
    pub receiver: ReceiverBehavior,
}

/// Maximum payload of a packet, which fits an IP datagram with any headers.
pub(crate) const MAX_PAYLOAD_BYTES: u32 = 65_000;

/// Names of the profiles.
const PROFILES: [&str; 7] = ["linux-like", "tcp", "linux", "linux-offload", "ns3-compat", "quic", "datagram"];
/// Linux's `tcp_wmem` on machines with 4 GiB of memory or more (Linux v5.15, `net/ipv4/tcp.c`, `tcp_init`).
const TCP_WMEM: [u64; 3] = [4096, 16_384, 4_194_304];
/// Linux's `tcp_rmem` on such machines.
const TCP_RMEM: [u64; 3] = [4096, 131_072, 6_291_456];
/// Packets that Linux acknowledges one by one at the start (`TCP_MAX_QUICKACKS`).
const MAX_QUICK_ACKS: u32 = 16;
/// Value of an unused buffer.
const NO_BUFFER: [u64; 3] = [0; 3];
/// Maximum number of bytes that Linux hands to a network card at once: 64 KiB less 320 of headers (`GSO_MAX_SIZE`,
/// `MAX_TCP_HEADER`).
const OFFLOAD_BYTES: u64 = 65_215;

impl Config {
    /// Returns a Linux-like TCP: SACK, delayed ACKs, RACK-like time threshold, tail loss probe, PRR, IW10, timestamps.
    pub fn tcp() -> Self {
        Self {
            profile: "tcp".to_owned(),
            payload_bytes: 1448,
            message_bytes: 0,
            header_bytes: 52,
            ack_bytes: 52,
            ack_range_bytes: 8,
            ack_option_bytes: 0,
            reliable: true,
            handshake: true,
            handshake_rounds: 1,
            handshake_repeat_ms: 0.0,
            ack_every: 2,
            ack_delay_ms: 40.0,
            ack_tick_ms: 0.0,
            quick_acks: 0,
            ack_on_gap: true,
            ack_on_ce: false,
            ack_ranges: 4,
            sack: true,
            sack_packets: 0,
            loss_detection: LossDetection::Packet,
            first_number: None,
            packet_threshold: 3,
            time_threshold: 1.25,
            reordering: Reordering::Rack,
            undo: true,
            restart_window: true,
            limited_transmit: true,
            timestamp_ms: 0.0,
            smoothed_samples: false,
            cumulative_growth: false,
            timer: TimerKind::Rto,
            timer_restart: TimerRestart::Any,
            timeout_initial_ms: 1000.0,
            timeout_min_ms: 200.0,
            timeout_max_ms: 120_000.0,
            timeout_floor: RtoFloor::Variation,
            timeout_check_ms: 0.0,
            tail_loss_probe: true,
            recovery: Reduction::Prr,
            initial_window: 10,
            // This is beyond any path's BDP, and bounds the memory of a rate that grows without feedback.
            max_window_bytes: 1 << 30,
            send_buffer_bytes: 0,
            receive_window_bytes: 0,
            tcp_wmem: NO_BUFFER,
            tcp_rmem: NO_BUFFER,
            skb_truesize_bytes: 0,
            window_rounding: WindowRounding::Down,
            pacing_gain: 0.0,
            fq: false,
            burst_ms: 0.0,
            burst_bytes: OFFLOAD_BYTES,
            quirk_pace_after_block: false,
            quirk_pace_by_latest: false,
            quirk_unpaced: false,
            keepalive_ms: 0.0,
            ecn: EcnMode::Off,
            ecn_validation: EcnValidation::None,
            receiver: ReceiverBehavior::Honest,
        }
    }

    /// Returns [`Self::tcp`] with further features of a host: socket buffers of Linux's default sizes, and single ACKs
    /// for the first packets of a connection.
    pub fn linux() -> Self {
        Self {
            profile: "linux".to_owned(),
            tcp_wmem: TCP_WMEM,
            tcp_rmem: TCP_RMEM,
            quick_acks: MAX_QUICK_ACKS,
            ..Self::tcp()
        }
    }

    /// Returns `linux-like` on a host with segmentation offload, in bursts of the bytes that leave in 1 ms (Linux
    /// v5.15, `net/ipv4/tcp_output.c`, `tcp_tso_autosize`: `sk_pacing_shift` 10).
    pub fn linux_offload() -> Self {
        Self { profile: "linux-offload".to_owned(), burst_ms: 1.0, ..Self::tcp() }
    }

    /// Returns TCP as ns-3.41 (`src/internet/model/tcp-socket-base.cc`) models it with ccperf's settings
    /// (docs/how-to/ccperf.md): RFC 6675 without RACK or tail loss probe, its PRR, timestamps of 1 ms, an ACK per
    /// segment, 4,000,000 bytes of receive buffer.
    pub fn ns3_compat() -> Self {
        Self {
            profile: "ns3-compat".to_owned(),
            ack_option_bytes: 4,
            ack_every: 1,
            ack_delay_ms: 200.0,
            loss_detection: LossDetection::Sequence,
            time_threshold: 0.0,
            reordering: Reordering::Fixed,
            restart_window: false,
            undo: false,
            timestamp_ms: 1.0,
            smoothed_samples: true,
            cumulative_growth: true,
            timer_restart: TimerRestart::FirstPartial,
            timeout_initial_ms: 3000.0,
            timeout_min_ms: 1000.0,
            timeout_max_ms: 60_000.0,
            timeout_floor: RtoFloor::Total,
            tail_loss_probe: false,
            recovery: Reduction::PrrNs3,
            send_buffer_bytes: 4_000_000,
            receive_window_bytes: 4_000_000,
            ..Self::tcp()
        }
    }

    /// Returns QUIC (RFC 9000, RFC 9002): 32 ACK ranges, ACK every second packet or 25 ms and at once for CE, probe
    /// timeout, paced at 1.25.
    pub fn quic() -> Self {
        Self {
            profile: "quic".to_owned(),
            payload_bytes: 1350,
            header_bytes: 28 + 22,
            ack_bytes: 28 + 39,
            ack_range_bytes: 4,
            ack_delay_ms: 25.0,
            ack_on_ce: true,
            ack_ranges: 32,
            time_threshold: 1.125,
            reordering: Reordering::Fixed,
            restart_window: false,
            timer: TimerKind::Pto,
            timeout_initial_ms: 999.0,
            timeout_min_ms: 1.0,
            timeout_max_ms: 60_000.0,
            timeout_floor: RtoFloor::Total,
            tail_loss_probe: false,
            recovery: Reduction::Immediate,
            pacing_gain: 1.25,
            ecn_validation: EcnValidation::Counts,
            ..Self::tcp()
        }
    }

    /// Returns unreliable datagrams: one ACK per packet, and a packet is lost if a later one is acknowledged.
    pub fn datagram() -> Self {
        Self {
            profile: "datagram".to_owned(),
            payload_bytes: 1424,
            header_bytes: 40,
            ack_bytes: 48,
            ack_range_bytes: 0,
            reliable: false,
            handshake: false,
            handshake_repeat_ms: 0.0,
            ack_every: 1,
            ack_delay_ms: 0.0,
            ack_ranges: 1,
            packet_threshold: 1,
            time_threshold: 0.0,
            reordering: Reordering::Fixed,
            restart_window: false,
            timer: TimerKind::None,
            tail_loss_probe: false,
            recovery: Reduction::Immediate,
            ..Self::tcp()
        }
    }

    /// Returns the configuration in a JSON object: the profile's values (default `tcp`) with the given keys replaced.
    ///
    /// # Errors
    /// One line naming the key, the value and what is allowed.
    pub fn from_json(given: &serde_json::Value) -> Result<Self, Refusal> {
        let given = given.as_object().ok_or_else(|| Refusal::of_key("transport", "must be a table"))?;
        let profile = given.get("profile").map_or(Some("tcp"), serde_json::Value::as_str);
        let base = match profile {
            Some("linux-like" | "tcp") => Self::tcp(),
            Some("linux") => Self::linux(),
            Some("linux-offload") => Self::linux_offload(),
            Some("ns3-compat") => Self::ns3_compat(),
            Some("quic") => Self::quic(),
            Some("datagram") => Self::datagram(),
            _ => {
                let value = &given["profile"];
                return Err(Refusal::of_value(
                    "transport.profile",
                    value,
                    format!("allowed are {}", PROFILES.join(", ")),
                ));
            }
        };
        let mut merged =
            serde_json::to_value(base).map_err(|error| Refusal::of_key("transport", error.to_string()))?;
        for (key, value) in given {
            merged[key] = value.clone();
        }
        // A buffer of fixed size does not grow, and unreliable data need no retransmission buffer.
        let is_unreliable = merged["reliable"] == serde_json::Value::Bool(false);
        for (grows, fixed) in [("tcp_wmem", "send_buffer_bytes"), ("tcp_rmem", "receive_window_bytes")] {
            if !given.contains_key(grows) && (given.contains_key(fixed) || is_unreliable) {
                merged[grows] = NO_BUFFER.to_vec().into();
            }
        }
        let config: Self = strict_input::read(&merged, "transport")?;
        config.validate()?;
        Ok(config)
    }

    fn validate(&self) -> Result<(), Refusal> {
        let check = |name: &str, value: f64, min: f64, max: f64| {
            if value >= min && value <= max {
                Ok(())
            } else {
                Err(Refusal::of_value(
                    format!("transport.{name}"),
                    value,
                    format!("allowed is {min} to {max}"),
                ))
            }
        };
        check("payload_bytes", f64::from(self.payload_bytes), 1.0, f64::from(MAX_PAYLOAD_BYTES))?;
        check("burst_ms", self.burst_ms, 0.0, 1000.0)?;
        check("burst_bytes", self.burst_bytes as f64, f64::from(self.payload_bytes), 1e9)?;
        check("header_bytes", f64::from(self.header_bytes), 0.0, 500.0)?;
        check("ack_bytes", f64::from(self.ack_bytes), 1.0, 65_000.0)?;
        check("ack_every", f64::from(self.ack_every), 1.0, 1e6)?;
        check("ack_delay_ms", self.ack_delay_ms, 0.0, 10_000.0)?;
        check("ack_tick_ms", self.ack_tick_ms, 0.0, 1000.0)?;
        check("quick_acks", f64::from(self.quick_acks), 0.0, 1e6)?;
        check("ack_ranges", self.ack_ranges as f64, 1.0, 1024.0)?;
        check("packet_threshold", self.packet_threshold as f64, 1.0, 1e6)?;
        check("time_threshold", self.time_threshold, 0.0, 100.0)?;
        check("handshake_rounds", f64::from(self.handshake_rounds), 1.0, 10.0)?;
        check("message_bytes", f64::from(self.message_bytes), 0.0, 1e9)?;
        check("handshake_repeat_ms", self.handshake_repeat_ms, 0.0, 600_000.0)?;
        check("timeout_initial_ms", self.timeout_initial_ms, 1.0, 600_000.0)?;
        check("timeout_min_ms", self.timeout_min_ms, 0.0, 600_000.0)?;
        check("timeout_max_ms", self.timeout_max_ms, self.timeout_min_ms.max(1.0), 6_000_000.0)?;
        check("initial_window", f64::from(self.initial_window), 1.0, 100_000.0)?;
        check("max_window_bytes", self.max_window_bytes as f64, f64::from(self.payload_bytes), f64::MAX)?;
        check("timestamp_ms", self.timestamp_ms, 0.0, 1000.0)?;
        check("timeout_check_ms", self.timeout_check_ms, 0.0, 600_000.0)?;
        check("sack_packets", f64::from(self.sack_packets), 0.0, 1e6)?;
        if self.loss_detection.is_cumulative()
            && !(self.reliable && self.sack && self.timer == TimerKind::Rto)
        {
            let allowed = "allowed with reliable = true, sack = true and timer = \"rto\"";
            let rule = if self.loss_detection == LossDetection::Utp { "utp" } else { "sequence" };
            return Err(Refusal::of_value("transport.loss_detection", format_args!("\"{rule}\""), allowed));
        }
        if self.loss_detection == LossDetection::Age && !(self.sack && self.time_threshold > 0.0) {
            let allowed = "allowed with sack = true and time_threshold above 0";
            return Err(Refusal::of_value("transport.loss_detection", "\"age\"", allowed));
        }
        let counts_ecn = self.ecn != EcnMode::Off && self.ecn_validation == EcnValidation::Counts;
        if counts_ecn && (self.loss_detection.is_cumulative() || !self.sack) {
            // Such ACKs do not report which packets arrived.
            let allowed = "allowed with sack = true and loss_detection = \"packet\" or \"age\"";
            return Err(Refusal::of_value("transport.ecn_validation", "\"counts\"", allowed));
        }
        if self.send_buffer_bytes > 0 {
            if !self.reliable {
                let bytes = self.send_buffer_bytes;
                return Err(Refusal::of_value(
                    "transport.send_buffer_bytes",
                    bytes,
                    "must be 0 unless reliable is true",
                ));
            }
            check("send_buffer_bytes", self.send_buffer_bytes as f64, f64::from(self.payload_bytes), 1e12)?;
        }
        self.validate_sysctls()?;
        check("pacing_gain", self.pacing_gain, 0.0, 100.0)?;
        if self.fq && self.pacing_gain > 0.0 {
            return Err(Refusal::of_value(
                "transport.pacing_gain",
                self.pacing_gain,
                "must be 0 where fq is true",
            ));
        }
        if self.keepalive_ms != 0.0 && !(0.1..=60_000.0).contains(&self.keepalive_ms) {
            return Err(Refusal::of_value(
                "transport.keepalive_ms",
                self.keepalive_ms,
                "allowed is 0 (none) or 0.1 to 60000",
            ));
        }
        self.receiver.validate()
    }

    fn validate_sysctls(&self) -> Result<(), Refusal> {
        let least = u64::from(self.payload_bytes);
        let truesize = self.skb_truesize_bytes;
        if truesize > 0 && !(least..=1 << 20).contains(&truesize) {
            return Err(Refusal::of_value(
                "transport.skb_truesize_bytes",
                truesize,
                format!("allowed is 0 (worked out) or {least} to 1048576"),
            ));
        }
        let sysctls = [
            ("tcp_wmem", self.tcp_wmem, "send_buffer_bytes", self.send_buffer_bytes, 1),
            ("tcp_rmem", self.tcp_rmem, "receive_window_bytes", self.receive_window_bytes, 2 * least),
        ];
        for (name, sizes, fixed, fixed_bytes, least) in sysctls {
            let [smallest, first, largest] = sizes;
            let is_ascending = smallest <= first && first <= largest;
            if sizes != NO_BUFFER
                && !(is_ascending && (least..=1 << 40).contains(&first) && largest <= 1 << 40)
            {
                return Err(Refusal::of_value(
                    format!("transport.{name}"),
                    format_args!("{sizes:?}"),
                    format!(
                        "allowed are [0, 0, 0] (none) or three ascending numbers of which the \
                     second is at least {least} and the third at most {}",
                        1u64 << 40
                    ),
                ));
            }
            if sizes != NO_BUFFER && (!self.reliable || fixed_bytes > 0) {
                return Err(Refusal::of_value(
                    format!("transport.{name}"),
                    format_args!("{sizes:?}"),
                    format!("must be [0, 0, 0] unless reliable is true and {fixed} is 0"),
                ));
            }
        }
        Ok(())
    }

    /// Returns the bytes of a full data packet's IP datagram.
    pub const fn datagram_bytes(&self) -> u32 {
        self.payload_bytes + self.header_bytes
    }

    /// Returns the maximum ranges of an ACK if devices on the path can read it: TCP's with SACK, but not those of QUIC,
    /// datagrams and uTP.
    pub fn readable_ranges(&self) -> Option<usize> {
        let is_tcp = self.sack && !matches!(self.profile.as_str(), "quic" | "datagram");
        let is_known = matches!(self.loss_detection, LossDetection::Packet | LossDetection::Sequence);
        (is_tcp && is_known).then_some(self.ack_ranges)
    }

    pub(crate) fn ack_delay(&self) -> Span {
        ms(self.ack_delay_ms)
    }
}

/// Makes all keys optional: a written configuration contains only differences from its profile.
fn partial(schema: &mut Schema) {
    schema.remove("required");
}

/// Returns `ms` milliseconds as a span.
pub(crate) fn ms(ms: f64) -> Span {
    Span::from_secs_f64(ms / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_profile_with_one_key_replaced() {
        let config = Config::from_json(&json!({"profile": "quic", "ack_every": 10})).unwrap();
        assert_eq!(config, Config { ack_every: 10, ..Config::quic() });
        assert_eq!(Config::from_json(&json!({})).unwrap(), Config::tcp());
        let linux = Config::from_json(&json!({"profile": "linux-like"})).unwrap();
        assert_eq!(Config { profile: "tcp".to_owned(), ..linux }, Config::tcp());
    }

    #[test]
    fn wrong_keys_values_and_profiles_are_refused_by_name() {
        let refusal = |value| Config::from_json(&value).unwrap_err().to_string();
        assert_eq!(
            refusal(json!({"keepalive_ms": 1e-9})),
            "transport.keepalive_ms = 0.000000001: allowed is 0 (none) or 0.1 to 60000"
        );
        assert!(refusal(json!({"ack_evry": 1})).contains("unknown field `ack_evry`"));
        assert_eq!(refusal(json!({"ack_every": 0})), "transport.ack_every = 0: allowed is 1 to 1000000");
        assert_eq!(
            refusal(json!({"profile": "sctp"})),
            "transport.profile = \"sctp\": allowed are linux-like, tcp, linux, linux-offload, ns3-compat, quic, datagram"
        );
        assert_eq!(
            refusal(json!({"profile": "datagram", "loss_detection": "sequence"})),
            "transport.loss_detection = \"sequence\": allowed with reliable = true, sack = true and timer = \"rto\""
        );
        assert_eq!(
            refusal(json!({"loss_detection": "age", "time_threshold": 0.0})),
            "transport.loss_detection = \"age\": allowed with sack = true and time_threshold above 0"
        );
        assert_eq!(
            refusal(json!({"send_buffer_bytes": 1447})),
            "transport.send_buffer_bytes = 1447: allowed is 1448 to 1000000000000"
        );
        assert_eq!(
            refusal(json!({"profile": "datagram", "send_buffer_bytes": 9000})),
            "transport.send_buffer_bytes = 9000: must be 0 unless reliable is true"
        );
        assert_eq!(
            refusal(json!({"ecn": "ect0", "ecn_validation": "counts", "loss_detection": "sequence"})),
            "transport.ecn_validation = \"counts\": allowed with sack = true and loss_detection = \"packet\" or \"age\""
        );
        assert!(refusal(json!({"ecn_validation": "rfc"})).contains("unknown variant `rfc`"));
        assert!(refusal(json!({"timer": "rtp"})).contains("unknown variant `rtp`"));
    }

    #[test]
    fn a_receiver_is_a_kind_or_a_table() {
        let receiver = |value| Config::from_json(&json!({ "receiver": value })).map(|config| config.receiver);
        assert_eq!(receiver(json!("honest")), Ok(ReceiverBehavior::Honest));
        let divided = json!({"kind": "ack-division", "parts": 10});
        assert_eq!(receiver(divided), Ok(ReceiverBehavior::AckDivision { parts: 10 }));
        let refusal = |value| receiver(value).unwrap_err().to_string();
        assert!(refusal(json!("honset")).contains("transport.receiver: unknown variant `honset`"));
        let twice = refusal(json!({"kind": "drop-feedback", "probability": 2.0}));
        assert_eq!(twice, "transport.receiver.probability = 2: allowed is 0 to 1");
        assert!(refusal(json!({"kind": "optimistic", "ahead": 5})).contains("unknown field `ahead`"));
    }
}
