"""The specification of a run, as the core is given it: JSON.

Written by `python -m scripts.contract` from specification.json. Do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypeAlias, TypedDict

from dumbbell.contract.read_only import ReadOnly


class GreedyApplication(TypedDict):
    """Always has data."""

    kind: ReadOnly[Literal["greedy"]]


class FixedApplication(TypedDict):
    """A transfer of a fixed size."""

    kind: ReadOnly[Literal["fixed"]]
    bytes: ReadOnly[int]
    """Size of the transfer. From 0 to 1e+15."""


class ConstantApplication(TypedDict):
    """A constant bit rate, one packet at a time."""

    kind: ReadOnly[Literal["constant"]]
    bytes: NotRequired[ReadOnly[int]]
    """Total bytes; 0: no end. Default: 0. From 0 to 1e+15."""
    rate_mbps: ReadOnly[float]
    """Payload rate. From 0 to 1e+06 (not included)."""


class PoissonApplication(TypedDict):
    """Packets at exponentially distributed distances."""

    kind: ReadOnly[Literal["poisson"]]
    bytes: NotRequired[ReadOnly[int]]
    """Total bytes; 0: no end. Default: 0. From 0 to 1e+15."""
    packet_bytes: NotRequired[ReadOnly[int]]
    """Payload of a packet; 0: a full one. Default: 0. From 0 to 1e+15."""
    rate_mbps: ReadOnly[float]
    """Mean payload rate. From 0 to 1e+06 (not included)."""


class FilesApplication(TypedDict):
    """Files of uniformly distributed sizes, one after the other, with exponentially distributed pauses between the last
    byte of one leaving and the next (RFC 8867 5.7).
    """

    kind: ReadOnly[Literal["files"]]
    idle_first: NotRequired[ReadOnly[bool]]
    """Begin with a pause, not with a file. Default: false."""
    idle_ms: ReadOnly[float]
    """Mean pause. From 0 to 1e+09 (not included)."""
    least_bytes: ReadOnly[int]
    """Smallest file."""
    most_bytes: ReadOnly[int]
    """Largest file. From 1 to 1e+15."""


class OnOffApplication(TypedDict):
    """Greedy phases in turn with silent or low-rate phases; durations are fixed or exponential."""

    kind: ReadOnly[Literal["on-off"]]
    anew: NotRequired[ReadOnly[bool]]
    """Each greedy phase is a new flow: packets in flight are forgotten, and the controller restarts. Default: false."""
    exponential: NotRequired[ReadOnly[bool]]
    """Draw both lengths from exponential distributions. Default: false."""
    off_first: NotRequired[ReadOnly[bool]]
    """Begin with a silent or low-rate phase, not with a greedy one. Default: false."""
    off_mbps: NotRequired[ReadOnly[float]]
    """Payload rate of the low-rate phases, one packet at a time; 0: silent. Default: 0.0. From 0 to 1e+06."""
    off_ms: ReadOnly[float]
    """(Mean) length of the silent or low-rate phases. From 0.001 to 1e+09."""
    on_ms: ReadOnly[float]
    """(Mean) length of the greedy phases. From 0.001 to 1e+09."""


class TraceApplication(TypedDict):
    """Writes of given sizes at given times."""

    kind: ReadOnly[Literal["trace"]]
    writes: ReadOnly[Sequence[Sequence[float | int]]]
    """Time since the flow's start, ms, and bytes written; in time order."""


class EncoderApplication(TypedDict):
    """A live video encoder that follows the controller's rate."""

    kind: ReadOnly[Literal["encoder"]]
    deviation: NotRequired[ReadOnly[float]]
    """Standard deviation of frame sizes relative to their mean. Default: 0.1. From 0 to 1."""
    fps: NotRequired[ReadOnly[float]]
    """Frames per second. Default: 30.0. From 1 to 1000."""
    key_after_loss: NotRequired[ReadOnly[bool]]
    """Send a key frame after a packet is lost for good. Default: true."""
    key_factor: NotRequired[ReadOnly[float]]
    """Size of a key frame relative to the others. Default: 4.0. From 1 to 100."""
    key_interval_s: NotRequired[ReadOnly[float]]
    """Time from one key frame to the next; 0: only the first frame, and after losses. Default: 0.0. From 0 to 100000.
    """
    max_rate_mbps: NotRequired[ReadOnly[float]]
    """Highest bitrate. Default: 2.5. From 0.001 to 100000."""
    min_rate_mbps: NotRequired[ReadOnly[float]]
    """Lowest bitrate. Default: 0.03. From 0.001 to 100000."""
    pauses: NotRequired[ReadOnly[Sequence[Sequence[float]]]]
    """Planned pauses of the source: beginning and end, s since its start."""
    ramp_mbps_per_s: NotRequired[ReadOnly[float]]
    """Fastest rise of the bitrate, Mbit/s per second; 0: no limit. Default: 0.0. From 0 to 100000."""
    reaction_ms: NotRequired[ReadOnly[float]]
    """Time constant with which the bitrate follows its target. Default: 100.0. From 0 to 10000."""
    resend_within_ms: NotRequired[ReadOnly[float]]
    """Lost packets of frames captured longer ago are not sent again (libwebrtc keeps them for a second); 0: always sent
    again. Default: 1000.0. From 0 to 100000.
    """
    skip_queue_ms: NotRequired[ReadOnly[float]]
    """A frame is skipped while the oldest unsent one has waited longer than this. Default: 400.0. From 1 to 100000."""
    start_rate_mbps: NotRequired[ReadOnly[float]]
    """Bitrate before the controller names one. Default: 0.3. From 0.001 to 100000."""


ApplicationSpec: TypeAlias = (
    GreedyApplication
    | FixedApplication
    | ConstantApplication
    | PoissonApplication
    | FilesApplication
    | OnOffApplication
    | TraceApplication
    | EncoderApplication
)
"""An application as written in an experiment."""

Change: TypeAlias = Mapping[str, float | Mapping[str, float]]
"""A scheduled change of an element: new values of its numeric settings and of its queue's settings."""


class TransportSpec(TypedDict):
    """Configuration of one flow's transport. Times are in ms, sizes in bytes."""

    ack_bytes: NotRequired[ReadOnly[int]]
    """IP datagram size of a pure ACK. From 1 to 65000."""
    ack_delay_ms: NotRequired[ReadOnly[float]]
    """Maximum delay of an ACK. From 0 to 10000."""
    ack_every: NotRequired[ReadOnly[int]]
    """Maximum number of packets before an ACK. From 1 to 1e+06."""
    ack_on_ce: NotRequired[ReadOnly[bool]]
    """Send an ACK at once for a packet with a CE mark (RFC 9000 section 13.2.1); off: by count and time, as in TCP."""
    ack_on_gap: NotRequired[ReadOnly[bool]]
    """Send an ACK at once for a packet out of order; off: only by count and time, and on request of the scheme's
    receiver half.
    """
    ack_option_bytes: NotRequired[ReadOnly[int]]
    """Additional ACK bytes of the option if there is such a range."""
    ack_range_bytes: NotRequired[ReadOnly[int]]
    """Additional ACK bytes for each range beyond the first."""
    ack_ranges: NotRequired[ReadOnly[int]]
    """Maximum number of packet ranges in an ACK (TCP: the cumulative point and its SACK blocks). From 1 to 1024."""
    ack_tick_ms: NotRequired[ReadOnly[float]]
    """Tick of the delayed-ACK timer, which expires one tick after the end of the delay, as in Linux since v4.8
    (`kernel/time/timer.c`, `calc_index`; a tick is 4 ms if `HZ` is 250); 0: the timer expires exactly on time. From
    0 to 1000.
    """
    burst_bytes: NotRequired[ReadOnly[int]]
    """Maximum payload bytes of such a burst. From 1 to 1e+09."""
    burst_ms: NotRequired[ReadOnly[float]]
    """Segmentation offload: data that would leave in this time at the pacing rate leave at once; 0: packets leave one
    by one. From 0 to 1000.
    """
    cumulative_growth: NotRequired[ReadOnly[bool]]
    """Windows grow by bytes as the stream is completed, and by none with ACKs that report a hole; off: as they arrive.
    """
    ecn: NotRequired[ReadOnly[EcnMode]]
    """ECN codepoint of data packets."""
    ecn_validation: NotRequired[ReadOnly[EcnValidation]]
    """Test that the path carries that codepoint; after a failure packets are not ECN-capable."""
    first_number: NotRequired[ReadOnly[int | None]]
    """With `utp`: the number that the connection's first packet has; none: drawn for each run. From 0 to 65535."""
    fq: NotRequired[ReadOnly[bool]]
    """Linux's pacing of TCP, by the queueing discipline `fq` or in a socket that began with BBR. Controllers without a
    pacing rate are paced from the 11th packet on. The rate is 2 windows per srtt while the window is below half of
    the slow start threshold, else 1.2 windows (Linux v5.15, `net/ipv4/tcp_input.c`, `tcp_update_pacing_rate`).
    """
    handshake: NotRequired[ReadOnly[bool]]
    """The connection is set up before data leave."""
    handshake_repeat_ms: NotRequired[ReadOnly[float]]
    """Time without an answer after which the handshake packet is retransmitted; 0: when the timer expires. From 0 to
    600000.
    """
    handshake_rounds: NotRequired[ReadOnly[int]]
    """Round trips that connection set-up takes. From 1 to 10."""
    header_bytes: NotRequired[ReadOnly[int]]
    """Header bytes of a data packet: IP, transport, options. From 0 to 500."""
    initial_window: NotRequired[ReadOnly[int]]
    """Initial window, packets. From 1 to 100000."""
    keepalive_ms: NotRequired[ReadOnly[float]]
    """One packet leaves regardless of the window after this time without any event; 0 turns it off. From 0 to 60000."""
    limited_transmit: NotRequired[ReadOnly[bool]]
    """New data may leave on the first two duplicate ACKs (RFC 3042)."""
    loss_detection: NotRequired[ReadOnly[LossDetection]]
    """Sign that a packet was lost."""
    max_window_bytes: NotRequired[ReadOnly[int]]
    """Maximum bytes in flight regardless of the controller: receive window and socket buffers."""
    message_bytes: NotRequired[ReadOnly[int]]
    """Size of the application's messages: no packet carries bytes of two. 0: it writes a stream without messages. From
    0 to 1e+09.
    """
    pacing_gain: NotRequired[ReadOnly[float]]
    """For controllers without a pacing rate: pace at this multiple of window / srtt; 0 sends unpaced. From 0 to 100."""
    packet_threshold: NotRequired[ReadOnly[int]]
    """Packets acknowledged above one that counts as lost. From 1 to 1e+06."""
    payload_bytes: NotRequired[ReadOnly[int]]
    """Payload bytes of a full packet: the segment size that windows and rates count. From 1 to 65000."""
    profile: NotRequired[ReadOnly[str]]
    """Name of the profile that gives the other values their defaults: `linux-like` (also called `tcp`), `linux`,
    `linux-offload`, `ns3-compat`, `quic` or `datagram`.
    """
    quick_acks: NotRequired[ReadOnly[int]]
    """Number of packets at the start that are acknowledged one by one (Linux v5.15, `net/ipv4/tcp_input.c`:
    `TCP_MAX_QUICKACKS`, 16). From 0 to 1e+06.
    """
    quirk_pace_after_block: NotRequired[ReadOnly[bool]]
    """Quirk of genericCC: the ACK that opens a full window releases the next packet one pacing gap later."""
    quirk_pace_by_latest: NotRequired[ReadOnly[bool]]
    """Quirk of Remy and genericCC: a new pacing rate also applies to the packet that already waits."""
    quirk_unpaced: NotRequired[ReadOnly[bool]]
    """Quirk of Linux before 4.13 without the `fq` queueing discipline: the sender ignores the controller's pacing rate
    and uses only its window (Linux v4.11, `net/ipv4/tcp_bbr.c`, whose first comment asks for `fq`).
    """
    receive_window_bytes: NotRequired[ReadOnly[int]]
    """Most bytes above the first that is missing at the receiver (TCP's receive window); 0: any number."""
    receiver: NotRequired[ReadOnly[ReceiverBehavior | Literal["honest"]]]
    """Behavior of the receiver: `honest`, or a table with a `kind`."""
    recovery: NotRequired[ReadOnly[Reduction]]
    """Limit on sending during a loss episode."""
    reliable: NotRequired[ReadOnly[bool]]
    """Lost payload is sent again."""
    reordering: NotRequired[ReadOnly[Reordering]]
    """Adaptation of the two thresholds to packets that arrive late."""
    restart_window: NotRequired[ReadOnly[bool]]
    """While nothing is in flight windows are halved for each retransmission timeout, down to the initial window, by
    controllers that follow the kernel (RFC 5681 4.1; Linux's `tcp_slow_start_after_idle`).
    """
    sack: NotRequired[ReadOnly[bool]]
    """Selective acknowledgement; off: only data below the first hole are acknowledged."""
    sack_packets: NotRequired[ReadOnly[int]]
    """Number of packets that an ACK can name, beginning with the second one after the first missing packet (uTP: a mask
    of 30). Later packets are acknowledged when the missing packet has arrived. 0: any number. From 0 to 1e+06.
    """
    send_buffer_bytes: NotRequired[ReadOnly[int]]
    """Bytes that the sending socket holds until they are acknowledged: applications write ahead into it. 0: no buffer;
    applications write only when data may be sent. From 0 to 1e+12.
    """
    skb_truesize_bytes: NotRequired[ReadOnly[int]]
    """Memory that one full packet occupies in a socket (`truesize` of an skb); 0: worked out from `payload_bytes`."""
    smoothed_samples: NotRequired[ReadOnly[bool]]
    """The controller is given the smoothed RTT for every sample, as in ns-3 before 3.43."""
    tail_loss_probe: NotRequired[ReadOnly[bool]]
    """With `rto`: outside of recovery one probe, two RTTs after the latest departure or ACK, before the timeout itself
    (RFC 8985 7.2); it carries new data or, without any, the latest again (7.3).
    """
    tcp_rmem: NotRequired[ReadOnly[Sequence[int]]]
    """Linux's sysctl of that name: smallest, first and largest memory of a receiving socket. Data behind a hole
    occupies memory; the window is half of the memory that is free. If first and largest are equal, the size is
    fixed, as by `SO_RCVBUF`, which Linux doubles. All 0: `receive_window_bytes` alone counts.
    """
    tcp_wmem: NotRequired[ReadOnly[Sequence[int]]]
    """Linux's sysctl of that name: smallest, first and largest memory of a sending socket, which grows with the window.
    The smallest has no effect without memory pressure. All 0: `send_buffer_bytes` alone counts.
    """
    time_threshold: NotRequired[ReadOnly[float]]
    """Time after which a packet is lost once a later one is acknowledged, as a multiple of the RTT; 0 turns it off. By
    age no acknowledgement is needed. With `rack` the part beyond 1 is a share of the smallest RTT. From 0 to 100.
    """
    timeout_check_ms: NotRequired[ReadOnly[float]]
    """Interval between checks of the timer, which expires at the next check; 0: exactly on time. From 0 to 600000."""
    timeout_floor: NotRequired[ReadOnly[RtoFloor]]
    """Part of the timeout that `timeout_min_ms` applies to."""
    timeout_initial_ms: NotRequired[ReadOnly[float]]
    """Timeout before the first RTT sample; with `silence` the fixed timeout. From 1 to 600000."""
    timeout_max_ms: NotRequired[ReadOnly[float]]
    """Largest timeout after backing off. From 1 to 6e+06."""
    timeout_min_ms: NotRequired[ReadOnly[float]]
    """Smallest timeout. From 0 to 600000."""
    timer: NotRequired[ReadOnly[TimerKind]]
    """Timer over outstanding packets."""
    timer_restart: NotRequired[ReadOnly[TimerRestart]]
    """ACKs that restart the timer."""
    timestamp_ms: NotRequired[ReadOnly[float]]
    """Clock tick of the timestamps that RTTs are taken from; 0: exact. From 0 to 1000."""
    undo: NotRequired[ReadOnly[bool]]
    """Undo an episode if all its losses turn out to have arrived. Undo a timeout if a packet sent before it arrives
    (RFC 3522, RFC 4015, RFC 9438 4.9).
    """
    window_rounding: NotRequired[ReadOnly[WindowRounding]]
    """Treatment of a fractional window."""


Distribution: TypeAlias = Literal["uniform", "normal", "exponential", "pareto"]
"""Distribution of a random delay."""

EcnMode: TypeAlias = Literal["off", "ect0", "ect1"]
"""ECN codepoint of data packets."""

EcnValidation: TypeAlias = Literal["none", "handshake", "counts"]
"""Test of the path for the ECN field."""


class LinkElement(TypedDict):
    """Constant rate."""

    kind: ReadOnly[Literal["link"]]
    count_in_service: NotRequired[ReadOnly[bool]]
    """Quirk: the packet being sent counts for the queue's limits (droptail only). Default: false."""
    device_packets: NotRequired[ReadOnly[int]]
    """Length of the device's own queue below the queue discipline, packets, as in ns-3: only packets above it count for
    the limit. Default: 0. From 0 to 1e+06.
    """
    framing_bytes: NotRequired[ReadOnly[int]]
    """Bytes added to every packet on the wire; the queue does not count them. Default: 0. From 0 to 10000."""
    name: NotRequired[ReadOnly[str | None]]
    """Name in statistics."""
    queue: NotRequired[ReadOnly[QueueSpec]]
    """Queue in front of the link. Default: {"kind": "infinite"}."""
    rate_mbps: ReadOnly[float]
    """Rate, Mbit/s; a scheduled 0 stops the link, including the packet being sent, until the next change. From 1e-06 to
    1e+06.
    """
    schedule: NotRequired[ReadOnly[Sequence[Change]]]
    """Changes during the run."""
    walk: NotRequired[ReadOnly[WalkSpec | None]]
    """Random walks of settings."""


class TraceElement(TypedDict):
    """Delivery opportunities from a trace."""

    kind: ReadOnly[Literal["trace"]]
    base_ms: NotRequired[ReadOnly[float]]
    """Start of the trace on the run's clock, ms. Default: 0.0. From 0 to 3.6e+06."""
    count_in_service: NotRequired[ReadOnly[bool]]
    """Quirk: a packet that is served in part counts for the queue's limits (droptail only). Default: false."""
    even: NotRequired[ReadOnly[EvenSpec | None]]
    """Opportunities spread evenly, instead of `times_ms`."""
    file: NotRequired[ReadOnly[str | None]]
    """File that `times_ms` were read from, for readers of the specification. It is not opened here."""
    mode: NotRequired[ReadOnly[TraceMode]]
    """Counting of packets and rounding of times: `precise`, or `mahimahi` as in mm-link. Default: "precise"."""
    name: NotRequired[ReadOnly[str | None]]
    """Name in statistics."""
    once: NotRequired[ReadOnly[bool]]
    """Nothing passes after the last opportunity; false: the trace repeats. Default: false."""
    opportunity_bytes: NotRequired[ReadOnly[int | None]]
    """Bytes that an opportunity serves: 1500 if absent. Fixed in mode `mahimahi`. From 1 to 1e+06."""
    poisson: NotRequired[ReadOnly[PoissonTraceSpec | None]]
    """Opportunities at exponential gaps, drawn once, instead of `times_ms`."""
    queue: NotRequired[ReadOnly[QueueSpec]]
    """Queue in front of the link. Default: {"kind": "infinite"}."""
    schedule: NotRequired[ReadOnly[Sequence[Change]]]
    """Changes during the run: of the queue only."""
    sha256: NotRequired[ReadOnly[str | None]]
    """SHA-256 of `file`, hexadecimal; a file with another one is refused."""
    times_ms: NotRequired[ReadOnly[Sequence[float] | None]]
    """Times of the opportunities, ms since the start, not decreasing. The last one is the period."""
    walk: NotRequired[ReadOnly[WalkSpec | None]]
    """Random walks of settings."""


class PoissonElement(TypedDict):
    """Delivery opportunities of a Poisson process."""

    kind: ReadOnly[Literal["poisson"]]
    head_gap_ms: NotRequired[ReadOnly[float]]
    """Time between opportunities in the head, ms. Default: 100.0. From 1e-06 to 3.6e+06."""
    head_s: NotRequired[ReadOnly[float]]
    """Length of a head of evenly spaced opportunities, s. Default: 0.0. From 0 to 86400."""
    name: NotRequired[ReadOnly[str | None]]
    """Name in statistics."""
    opportunity_bytes: NotRequired[ReadOnly[int]]
    """Bytes that an opportunity serves. Default: 1500. From 1 to 1e+06."""
    queue: NotRequired[ReadOnly[QueueSpec]]
    """Queue in front of the link. Default: {"kind": "infinite"}."""
    rate_mbps: ReadOnly[float]
    """Mean rate, Mbit/s. From 1e-06 to 1e+06."""
    schedule: NotRequired[ReadOnly[Sequence[Change]]]
    """Changes during the run."""
    walk: NotRequired[ReadOnly[WalkSpec | None]]
    """Random walks of settings."""


class CellularElement(TypedDict):
    """Delivery opportunities of a random rate that can stop."""

    kind: ReadOnly[Literal["cellular"]]
    max_mbps: NotRequired[ReadOnly[float | None]]
    """Highest rate, Mbit/s; twice the mean if absent. From 1e-06 to 1e+06."""
    mean_mbps: ReadOnly[float]
    """Mean rate, outages included, Mbit/s. From 1e-06 to 1e+06."""
    name: NotRequired[ReadOnly[str | None]]
    """Name in statistics."""
    opportunity_bytes: NotRequired[ReadOnly[int]]
    """Bytes that an opportunity serves. Default: 1500. From 1 to 1e+06."""
    outage_escape_per_s: NotRequired[ReadOnly[float]]
    """Rate at which outages end, 1/s. Default: 1.0. From 0 to 50 (not included)."""
    queue: NotRequired[ReadOnly[QueueSpec]]
    """Queue in front of the link. Default: {"kind": "infinite"}."""
    reversion_per_s: NotRequired[ReadOnly[float]]
    """Rate at which deviations from the level fade, 1/s; the slower, the more outages. Default: 1.0. From 0 to 50 (not
    included).
    """
    schedule: NotRequired[ReadOnly[Sequence[Change]]]
    """Changes during the run."""
    sigma: NotRequired[ReadOnly[float | None]]
    """Standard deviation of the rate's random changes, opportunities/s per sqrt(s); 0.4 times the mean if absent."""
    walk: NotRequired[ReadOnly[WalkSpec | None]]
    """Random walks of settings."""


class SharedElement(TypedDict):
    """Rate that depends on the backlog."""

    kind: ReadOnly[Literal["shared"]]
    full_bytes: ReadOnly[int]
    """Backlog at which the rate reaches `rate_mbps`, bytes."""
    least_mbps: ReadOnly[float]
    """Rate with almost no backlog, Mbit/s; at most `rate_mbps`. From 1e-06 to 1e+06."""
    name: NotRequired[ReadOnly[str | None]]
    """Name in statistics."""
    queue: NotRequired[ReadOnly[QueueSpec]]
    """Queue in front of the link. Default: {"kind": "infinite"}."""
    rate_mbps: ReadOnly[float]
    """Rate with a backlog of `full_bytes` or more, Mbit/s. From 1e-06 to 1e+06."""
    schedule: NotRequired[ReadOnly[Sequence[Change]]]
    """Changes during the run."""
    walk: NotRequired[ReadOnly[WalkSpec | None]]
    """Random walks of settings."""


class HalfDuplexElement(TypedDict):
    """Channel that both directions use in turns."""

    kind: ReadOnly[Literal["half-duplex"]]
    access_us: NotRequired[ReadOnly[float]]
    """Time of each turn besides its packets, us. Default: 0.0. From 0 to 1e+06."""
    channel: NotRequired[ReadOnly[str | None]]
    """Name of the channel, equal for both stations; needed if there are several channels."""
    name: NotRequired[ReadOnly[str | None]]
    """Name in statistics."""
    queue: NotRequired[ReadOnly[QueueSpec]]
    """Queue in front of the link. Default: {"kind": "infinite"}."""
    rate_mbps: ReadOnly[float]
    """Rate of the station's turns, Mbit/s. From 1e-06 to 1e+06."""
    schedule: NotRequired[ReadOnly[Sequence[Change]]]
    """Changes during the run."""
    turn_packets: NotRequired[ReadOnly[int]]
    """Maximum number of packets in a turn. Default: 1. From 1 to 100000."""
    walk: NotRequired[ReadOnly[WalkSpec | None]]
    """Random walks of settings."""


class ShaperElement(TypedDict):
    """Token bucket with a queue."""

    kind: ReadOnly[Literal["shaper"]]
    burst_bytes: ReadOnly[int]
    """Depth of the bucket, bytes; it is full at the start. From 1 to 1e+09."""
    deficit: NotRequired[ReadOnly[bool]]
    """A packet leaves at any level that is not negative and can make the level negative, as in htb. Default: false."""
    name: NotRequired[ReadOnly[str | None]]
    """Name in statistics."""
    queue: NotRequired[ReadOnly[QueueSpec]]
    """Queue in front of the shaper. Default: {"kind": "infinite"}."""
    rate_mbps: ReadOnly[float]
    """Rate of the tokens, Mbit/s. From 1e-06 to 1e+06."""
    schedule: NotRequired[ReadOnly[Sequence[Change]]]
    """Changes during the run."""
    walk: NotRequired[ReadOnly[WalkSpec | None]]
    """Random walks of settings."""


class PolicerElement(TypedDict):
    """Token bucket without a queue."""

    kind: ReadOnly[Literal["policer"]]
    action: NotRequired[ReadOnly[PolicerAction]]
    """Treatment of a packet in excess: `drop`, or `mark` (set CE and pass without tokens; packets that are not ECN-
    capable are dropped). Default: "drop".
    """
    burst_bytes: ReadOnly[int]
    """Depth of the bucket, bytes; it is full at the start. From 1 to 1e+09."""
    name: NotRequired[ReadOnly[str | None]]
    """Name in statistics."""
    rate_mbps: ReadOnly[float]
    """Rate of the tokens, Mbit/s. From 1e-06 to 1e+06."""
    schedule: NotRequired[ReadOnly[Sequence[Change]]]
    """Changes during the run."""
    walk: NotRequired[ReadOnly[WalkSpec | None]]
    """Random walks of settings."""


class DelayElement(TypedDict):
    """Constant delay."""

    kind: ReadOnly[Literal["delay"]]
    delay_ms: ReadOnly[float]
    """Delay, ms. From 0 to 3.6e+06."""
    name: NotRequired[ReadOnly[str | None]]
    """Name, for the reader."""
    preserve_order: NotRequired[ReadOnly[bool]]
    """After a decrease packets wait for earlier packets; false: they overtake. Default: true."""
    schedule: NotRequired[ReadOnly[Sequence[Change]]]
    """Changes during the run."""
    tick_ms: NotRequired[ReadOnly[float | None]]
    """Quirk: times of arrival are rounded down to multiples of this, ms; 1 is the clock of mm-delay
    (`src/frontend/delay_queue.cc` of ravinet/mahimahi@ae477d4), and the delay is then up to 1 ms shorter. From 1e-06
    to 3.6e+06.
    """
    walk: NotRequired[ReadOnly[WalkSpec | None]]
    """Random walks of settings."""


class JitterElement(TypedDict):
    """Random delay."""

    kind: ReadOnly[Literal["jitter"]]
    deviation_ms: NotRequired[ReadOnly[float | None]]
    """Half the width (uniform) or the standard deviation (normal, Pareto), ms; `exponential` has none. From 0 to
    3.6e+06.
    """
    distribution: ReadOnly[Distribution]
    """Distribution of the delay."""
    mean_ms: ReadOnly[float]
    """Mean, ms. From 0 to 3.6e+06."""
    name: NotRequired[ReadOnly[str | None]]
    """Name, for the reader."""
    preserve_order: NotRequired[ReadOnly[bool]]
    """Packets wait for earlier packets; false: they overtake. Default: true."""
    redraw_max_ms: NotRequired[ReadOnly[float | None]]
    """Maximum time between two draws of the delay, ms; needs `redraw_min_ms`. From 0.001 to 3.6e+06."""
    redraw_min_ms: NotRequired[ReadOnly[float | None]]
    """Minimum time between two draws of the delay, ms; draws do not depend on the traffic; needs `redraw_max_ms`. From
    0.001 to 3.6e+06.
    """
    schedule: NotRequired[ReadOnly[Sequence[Change]]]
    """Changes during the run."""
    walk: NotRequired[ReadOnly[WalkSpec | None]]
    """Random walks of settings."""


class AggregateElement(TypedDict):
    """Slotted delivery."""

    kind: ReadOnly[Literal["aggregate"]]
    max_packets: NotRequired[ReadOnly[int | None]]
    """Maximum number of packets per slot."""
    name: NotRequired[ReadOnly[str | None]]
    """Name, for the reader."""
    phase_ms: NotRequired[ReadOnly[float]]
    """Time of the first slot, ms. Default: 0.0. From 0 to 3.6e+06."""
    schedule: NotRequired[ReadOnly[Sequence[Change]]]
    """Changes during the run."""
    slot_ms: ReadOnly[float]
    """Time between slots, ms. From 1e-06 to 3.6e+06."""
    walk: NotRequired[ReadOnly[WalkSpec | None]]
    """Random walks of settings."""


class SlottedElement(TypedDict):
    """Bursty deliveries."""

    kind: ReadOnly[Literal["slotted"]]
    name: NotRequired[ReadOnly[str | None]]
    """Name, for the reader."""
    schedule: NotRequired[ReadOnly[Sequence[Change]]]
    """Changes during the run."""
    slot_ms: ReadOnly[float]
    """Time between slots, and range of their offsets, ms. From 0.001 to 3.6e+06."""
    walk: NotRequired[ReadOnly[WalkSpec | None]]
    """Random walks of settings."""


class GrantedElement(TypedDict):
    """Uplink grants that must be requested."""

    kind: ReadOnly[Literal["granted"]]
    first_bytes: NotRequired[ReadOnly[int]]
    """Size of the first grant, bytes. Default: 1500. From 1 to 1e+06."""
    grant_bytes: NotRequired[ReadOnly[int | None]]
    """Maximum size of a later grant, bytes: a rate of `grant_bytes` per `grant_ms` and half of `spread_ms`; no limit if
    absent. From 1 to 1e+06.
    """
    grant_ms: ReadOnly[float]
    """Time from request to transmission, ms; part of the base RTT. From 1e-06 to 3.6e+06."""
    name: NotRequired[ReadOnly[str | None]]
    """Name, for the reader."""
    request_ms: ReadOnly[float]
    """Time between request opportunities, ms; their phase is drawn once. From 1e-06 to 3.6e+06."""
    schedule: NotRequired[ReadOnly[Sequence[Change]]]
    """Changes during the run."""
    spread_ms: NotRequired[ReadOnly[float]]
    """Maximum additional delay of a grant, ms, uniform. Default: 0.0. From 0 to 3.6e+06."""
    walk: NotRequired[ReadOnly[WalkSpec | None]]
    """Random walks of settings."""


class LossElement(TypedDict):
    """Independent, periodic or listed loss."""

    kind: ReadOnly[Literal["loss"]]
    every: NotRequired[ReadOnly[int | None]]
    """Lose every n-th packet."""
    keep_every: NotRequired[ReadOnly[int | None]]
    """Lose all but the first of every n packets, as a thinning of ACKs does."""
    max_bytes: NotRequired[ReadOnly[int | None]]
    """Largest packet that can be lost, bytes with the path's overhead. From 1 to 1e+06."""
    min_bytes: NotRequired[ReadOnly[int | None]]
    """Smallest packet that can be lost, bytes with the path's overhead. From 1 to 1e+06."""
    name: NotRequired[ReadOnly[str | None]]
    """Name, for the reader."""
    packets: NotRequired[ReadOnly[Sequence[int] | None]]
    """Lose these packets: ascending numbers from 1."""
    probability: NotRequired[ReadOnly[float | None]]
    """Probability of losing a packet; one draw per packet. From 0 to 1."""
    schedule: NotRequired[ReadOnly[Sequence[Change]]]
    """Changes during the run."""
    walk: NotRequired[ReadOnly[WalkSpec | None]]
    """Random walks of settings."""


class RemarkElement(TypedDict):
    """Rewriting of the ECN codepoint."""

    kind: ReadOnly[Literal["remark"]]
    becomes: ReadOnly[RemarkTo]
    """Codepoint after the rewriting."""
    codepoint: ReadOnly[RemarkFrom]
    """Packets that are rewritten: `ect` is ECT(0) or ECT(1), `capable` is `ect` or CE."""
    name: NotRequired[ReadOnly[str | None]]
    """Name, for the reader."""
    probability: NotRequired[ReadOnly[float]]
    """Probability of rewriting such a packet; one draw per packet. Default: 1.0. From 0 to 1."""
    schedule: NotRequired[ReadOnly[Sequence[Change]]]
    """Changes during the run."""
    walk: NotRequired[ReadOnly[WalkSpec | None]]
    """Random walks of settings."""


class GilbertElliottElement(TypedDict):
    """Bursty loss."""

    kind: ReadOnly[Literal["gilbert-elliott"]]
    h: NotRequired[ReadOnly[float]]
    """Probability of delivery in the bad state. Default: 0.0. From 0 to 1."""
    k: NotRequired[ReadOnly[float]]
    """Probability of delivery in the good state. Default: 1.0. From 0 to 1."""
    name: NotRequired[ReadOnly[str | None]]
    """Name, for the reader."""
    p: ReadOnly[float]
    """Probability of going from good to bad. From 0 to 1."""
    r: ReadOnly[float]
    """Probability of going from bad to good. From 0 to 1."""
    schedule: NotRequired[ReadOnly[Sequence[Change]]]
    """Changes during the run."""
    walk: NotRequired[ReadOnly[WalkSpec | None]]
    """Random walks of settings."""


class BlackoutElement(TypedDict):
    """Periodic blackouts."""

    kind: ReadOnly[Literal["blackout"]]
    every_ms: ReadOnly[float]
    """Time from the beginning of a blackout to the beginning of the next, ms. From 1e-06 to 3.6e+06."""
    first_ms: NotRequired[ReadOnly[float]]
    """Beginning of the first blackout, ms. Default: 0.0. From 0 to 3.6e+06."""
    hold: NotRequired[ReadOnly[bool]]
    """Hold packets that arrive in a blackout until its end; false: they are lost. Default: false."""
    lasts_ms: ReadOnly[float]
    """Length of a blackout, ms; below `every_ms`. From 0 to 3.6e+06."""
    name: NotRequired[ReadOnly[str | None]]
    """Name, for the reader."""
    schedule: NotRequired[ReadOnly[Sequence[Change]]]
    """Changes during the run."""
    walk: NotRequired[ReadOnly[WalkSpec | None]]
    """Random walks of settings."""


class ReorderElement(TypedDict):
    """Reordering of packets."""

    kind: ReadOnly[Literal["reorder"]]
    delay_ms: NotRequired[ReadOnly[float | None]]
    """Time that a packet is held, ms. From 1e-06 to 3.6e+06."""
    gap: NotRequired[ReadOnly[int | None]]
    """Number of later packets that overtake a held packet; with `gap` alone a packet stays if no packet follows."""
    name: NotRequired[ReadOnly[str | None]]
    """Name, for the reader."""
    probability: ReadOnly[float]
    """Probability of holding a packet back. From 0 to 1."""
    schedule: NotRequired[ReadOnly[Sequence[Change]]]
    """Changes during the run."""
    walk: NotRequired[ReadOnly[WalkSpec | None]]
    """Random walks of settings."""


class DuplicateElement(TypedDict):
    """Duplication of packets."""

    kind: ReadOnly[Literal["duplicate"]]
    name: NotRequired[ReadOnly[str | None]]
    """Name, for the reader."""
    probability: ReadOnly[float]
    """Probability of duplicating a packet. From 0 to 1."""
    schedule: NotRequired[ReadOnly[Sequence[Change]]]
    """Changes during the run."""
    walk: NotRequired[ReadOnly[WalkSpec | None]]
    """Random walks of settings."""


class NetemElement(TypedDict):
    """Delay and shaper with a common limit."""

    kind: ReadOnly[Literal["netem"]]
    burst_bytes: NotRequired[ReadOnly[int | None]]
    """Depth of the shaper's bucket, bytes; needs `rate_mbps`. From 1 to 1e+09."""
    deficit: NotRequired[ReadOnly[bool]]
    """A packet leaves at any level that is not negative, as in htb. Default: true."""
    delay_ms: ReadOnly[float]
    """Delay before the shaper, ms. From 0 to 3.6e+06."""
    limit_packets: NotRequired[ReadOnly[int]]
    """Maximum number of packets inside, delayed and waiting together; netem's default is 1000. Default: 1000."""
    name: NotRequired[ReadOnly[str | None]]
    """Name in statistics."""
    rate_mbps: NotRequired[ReadOnly[float | None]]
    """Rate of the shaper, Mbit/s; needs `burst_bytes`; no shaper if absent. From 1e-06 to 1e+06."""
    schedule: NotRequired[ReadOnly[Sequence[Change]]]
    """Changes during the run."""
    walk: NotRequired[ReadOnly[WalkSpec | None]]
    """Random walks of settings."""


ElementSpec: TypeAlias = (
    LinkElement
    | TraceElement
    | PoissonElement
    | CellularElement
    | SharedElement
    | HalfDuplexElement
    | ShaperElement
    | PolicerElement
    | DelayElement
    | JitterElement
    | AggregateElement
    | SlottedElement
    | GrantedElement
    | LossElement
    | RemarkElement
    | GilbertElliottElement
    | BlackoutElement
    | ReorderElement
    | DuplicateElement
    | NetemElement
)
"""One element of a path. Packets pass the elements of a direction in the order listed."""


class EvenSpec(TypedDict):
    """Evenly spread opportunities: `lines` in `period_ms`.

    Mode `mahimahi`: number i = 0, 1, ... is at floor(i `period_ms` / `lines`) ms, as in Pantheon's traces. These
    start at 0, and their last time, up to one step short of `period_ms`, is the period of repetition
    (StanfordSNR/observatory@84f9454, `traces/`). Mode `precise`: number i = 1, 2, ..., in ns, so the period is
    exact.
    """

    lines: ReadOnly[int]
    """Number of opportunities. From 1 to 1e+08."""
    period_ms: ReadOnly[float]
    """Time over which the opportunities are spread, ms. From 1e-06 to 8.64e+07."""


FlowEnd: TypeAlias = Literal["sender", "receiver"]
"""Listening side of a program flow."""


class FlowSpec(TypedDict):
    """One flow."""

    application: NotRequired[ReadOnly[ApplicationSpec]]
    """The application. Default: {"kind": "greedy"}."""
    controller: NotRequired[ReadOnly[str]]
    """Name of the controller: in the registry, in the library of `plugin`, in the file of `python`; empty for other
    flows.
    """
    enter: NotRequired[ReadOnly[str | None]]
    """Name of the element where data enters; the first of its direction if absent. Simulated runs only."""
    kernel: NotRequired[ReadOnly[KernelSpec | None]]
    """The kernel's TCP instead of the built-in transport; real packets only."""
    leave: NotRequired[ReadOnly[str | None]]
    """Name of the last element that data passes; the last of its direction if absent. Simulated runs only."""
    loss_based: NotRequired[ReadOnly[bool]]
    """The controller goes by losses alone: it takes neither lateness for a queue nor a burst for a rate. For the
    verdict on late real packets.
    """
    parameters: NotRequired[ReadOnly[Mapping[str, str]]]
    """Parameters that differ from the defaults, as text."""
    plugin: NotRequired[ReadOnly[PluginSpec | None]]
    """Library of the controller."""
    program: NotRequired[ReadOnly[ProgramSpec | None]]
    """Two programs instead of the built-in transport; real packets only."""
    python: NotRequired[ReadOnly[PythonSpec | None]]
    """Python class of the controller."""
    reverse: NotRequired[ReadOnly[bool]]
    """True if data uses the path's `ack` direction. Default: false."""
    rtt_ms: NotRequired[ReadOnly[float | None]]
    """Base RTT of this flow, ms; the path's own if absent."""
    scheme: ReadOnly[str]
    """Name of the scheme, for labels."""
    start_s: NotRequired[ReadOnly[float]]
    """Start, s. Default: 0.0."""
    stop_s: NotRequired[ReadOnly[float | None]]
    """Stop, s; the end of the run if absent."""
    transport: NotRequired[ReadOnly[TransportSpec]]
    """Transport table: `profile` and the keys that differ from it."""


class KernelSpec(TypedDict):
    """A flow of the kernel's TCP."""

    congestion_control: ReadOnly[str]
    """Value of the socket option `TCP_CONGESTION`."""
    tcp_rmem: NotRequired[ReadOnly[Sequence[int] | None]]
    """The sysctl `net.ipv4.tcp_rmem` of the flow's namespaces; the datapath's own if absent."""
    tcp_wmem: NotRequired[ReadOnly[Sequence[int] | None]]
    """The sysctl `net.ipv4.tcp_wmem` of the flow's namespaces; the datapath's own if absent."""


class KeyWalk(TypedDict):
    """Random walk of one setting, in the setting's unit."""

    corr: ReadOnly[float]
    """Share of the last step that the next step keeps, 0 to 1. From 0 to 1."""
    max: ReadOnly[float]
    """Highest value."""
    min: ReadOnly[float]
    """Lowest value."""
    start: NotRequired[ReadOnly[float | None]]
    """First value; the middle if absent."""
    std: ReadOnly[float]
    """Standard deviation of the random part of each step."""


LogLevel: TypeAlias = Literal["none", "packets", "full"]
"""Contents of the packet log."""

LossDetection: TypeAlias = Literal["packet", "sequence", "utp", "age"]
"""Sign that a packet was lost."""


class MtuChange(TypedDict):
    """A scheduled change of a path's MTU: later datagrams that are larger are fragmented."""

    at_s: ReadOnly[float]
    """Time of the change, s. From 0 to 3.1536e+07."""
    mtu_bytes: ReadOnly[int]
    """New largest packet, overhead included."""


class PathSpec(TypedDict):
    """A path: the elements of the data direction and of the ACK direction, and the encapsulation of datagrams in
    packets.
    """

    ack: ReadOnly[Sequence[ElementSpec]]
    """Elements from receiver to sender."""
    data: ReadOnly[Sequence[ElementSpec]]
    """Elements from sender to receiver."""
    fragment: NotRequired[ReadOnly[bool]]
    """Fragment datagrams that are too large instead of refusing them. Default: false."""
    mtu_bytes: NotRequired[ReadOnly[int | None]]
    """Largest packet, overhead included; no limit if absent."""
    overhead_bytes: NotRequired[ReadOnly[int]]
    """Bytes added to every datagram, and to every fragment of one. Default: 0."""
    schedule: NotRequired[ReadOnly[Sequence[MtuChange]]]
    """Changes of the MTU during the run."""


class PluginSpec(TypedDict):
    """A library with the C interface of crate `plugin`."""

    library: ReadOnly[str]
    """File of the library."""
    sha256: NotRequired[ReadOnly[str | None]]
    """Required SHA-256 of the file, hexadecimal; `None`: any."""


class PoissonTraceSpec(TypedDict):
    """Exponential gaps, after an optional head of opportunities with fixed gaps (as at the beginning of Pantheon's
    calibrated traces).
    """

    head_gap_ms: NotRequired[ReadOnly[float]]
    """Time between opportunities in the head, ms. Default: 100.0. From 1e-06 to 3.6e+06."""
    head_s: NotRequired[ReadOnly[float]]
    """Length of the head, s. Default: 0.0. From 0 to 86400."""
    period_s: NotRequired[ReadOnly[float]]
    """Minimum length, s: the first opportunity at or after this time is the last of the trace. Default: 60.0. From
    0.001 to 86400.
    """
    rate_mbps: ReadOnly[float]
    """Mean rate after the head, Mbit/s of opportunity bytes. From 1e-06 to 1e+06."""
    seed: NotRequired[ReadOnly[int | None]]
    """Seed of the draw; the run's if absent."""


PolicerAction: TypeAlias = Literal["drop", "mark"]
"""Treatment of a packet in excess by a policer."""


class ProgramSpec(TypedDict):
    """Flow of two programs. Arguments may contain `{ip}`, `{port}`, `{duration}`, `{duration_s}`, `{flow}`,
    `{directory}`.
    """

    environment: NotRequired[ReadOnly[Mapping[str, str]]]
    """Additional environment variables of both programs."""
    first: NotRequired[ReadOnly[FlowEnd]]
    """The side that starts first and listens. Default: "receiver"."""
    ready: NotRequired[ReadOnly[str]]
    """Condition under which the first side is ready: `listen`, `output:TEXT` or `wait:SECONDS`. Default: "listen"."""
    ready_timeout_s: NotRequired[ReadOnly[float]]
    """Maximum time until the first side is ready, s. Default: 10.0."""
    receiver: ReadOnly[Sequence[str]]
    """Command of the receiving side."""
    sender: ReadOnly[Sequence[str]]
    """Command of the sending side."""


class PythonSpec(TypedDict):
    """Python class of a controller."""

    file: ReadOnly[str]
    """File that defines the class."""
    sha256: NotRequired[ReadOnly[str | None]]
    """Required SHA-256 of the file, hexadecimal; `None`: any."""


QueueQuirk: TypeAlias = Literal["none", "mahimahi"]
"""Known differences from a discipline's RFC, for comparison with results measured with them."""


class InfiniteQueue(TypedDict):
    """Keeps everything."""

    kind: ReadOnly[Literal["infinite"]]


class DroptailQueue(TypedDict):
    """Refuses arrivals that do not fit; one of `packets` and `bytes` is needed."""

    kind: ReadOnly[Literal["droptail"]]
    bytes: NotRequired[ReadOnly[int | None]]
    """Limit, bytes."""
    packets: NotRequired[ReadOnly[int | None]]
    """Limit, packets."""


class DropheadQueue(TypedDict):
    """Accepts, then drops the oldest until the limits hold; one of `packets` and `bytes` is needed."""

    kind: ReadOnly[Literal["drophead"]]
    bytes: NotRequired[ReadOnly[int | None]]
    """Limit, bytes."""
    packets: NotRequired[ReadOnly[int | None]]
    """Limit, packets."""


class AckFilterQueue(TypedDict):
    """Droptail, and ACKs that a later one makes superfluous are dropped; one of `packets` and `bytes` is needed."""

    kind: ReadOnly[Literal["ack-filter"]]
    bytes: NotRequired[ReadOnly[int | None]]
    """Limit, bytes."""
    packets: NotRequired[ReadOnly[int | None]]
    """Limit, packets."""


class CodelQueue(TypedDict):
    """Controlled delay, RFC 8289."""

    kind: ReadOnly[Literal["codel"]]
    bytes: NotRequired[ReadOnly[int | None]]
    """Limit, bytes."""
    ecn: NotRequired[ReadOnly[bool]]
    """Mark instead of drop. Default: false."""
    interval_ms: NotRequired[ReadOnly[float]]
    """Width of the estimator's window, ms. Default: 100.0. From 1e-06 to 3.6e+06."""
    packets: NotRequired[ReadOnly[int | None]]
    """Limit, packets."""
    quirk: NotRequired[ReadOnly[QueueQuirk]]
    """Differences to the RFC. Default: "none"."""
    target_ms: NotRequired[ReadOnly[float]]
    """Acceptable standing delay, ms. Default: 5.0. From 1e-06 to 3.6e+06."""


class PieQueue(TypedDict):
    """Proportional integral controller enhanced, RFC 8033."""

    kind: ReadOnly[Literal["pie"]]
    bytes: NotRequired[ReadOnly[int | None]]
    """Limit, bytes."""
    ecn: NotRequired[ReadOnly[bool]]
    """Mark instead of drop while the probability is at most 10 %. Default: false."""
    max_burst_ms: NotRequired[ReadOnly[float]]
    """Length of a burst that is accepted after a calm time, ms. Default: 150.0. From 0 to 3.6e+06."""
    packets: NotRequired[ReadOnly[int | None]]
    """Limit, packets."""
    quirk: NotRequired[ReadOnly[QueueQuirk]]
    """Differences to the RFC. Default: "none"."""
    t_update_ms: NotRequired[ReadOnly[float | None]]
    """Time between updates of the probability, ms: 15 if absent, 30 with quirk `mahimahi`. From 1e-06 to 3.6e+06."""
    target_ms: NotRequired[ReadOnly[float]]
    """Target delay, ms. Default: 15.0. From 1e-06 to 3.6e+06."""


class RedQueue(TypedDict):
    """Random early detection (Floyd and Jacobson 1993), with the gentle slope of 2000."""

    kind: ReadOnly[Literal["red"]]
    bytes: NotRequired[ReadOnly[int | None]]
    """Limit, bytes."""
    ecn: NotRequired[ReadOnly[bool]]
    """Mark instead of drop, except if everything is dropped. Default: false."""
    gentle: NotRequired[ReadOnly[bool]]
    """Raise the probability to 1 between once and twice the upper threshold instead of at once. Default: true."""
    max_probability: NotRequired[ReadOnly[float]]
    """Probability at the upper threshold. Default: 0.1. From 0 to 1 (not included)."""
    max_threshold_bytes: NotRequired[ReadOnly[int | None]]
    """The upper threshold in bytes."""
    max_threshold_packets: NotRequired[ReadOnly[int | None]]
    """Average backlog at which the probability reaches its maximum, packets."""
    min_threshold_bytes: NotRequired[ReadOnly[int | None]]
    """The lower threshold in bytes."""
    min_threshold_packets: NotRequired[ReadOnly[int | None]]
    """Average backlog below which nothing is dropped, packets."""
    packet_bytes: NotRequired[ReadOnly[int]]
    """Usual packet size, bytes; ages the average in idle times. Default: 1500."""
    packets: NotRequired[ReadOnly[int | None]]
    """Limit, packets."""
    weight: NotRequired[ReadOnly[float]]
    """Weight of a new sample in the average. Default: 0.002. From 0 to 1 (not included)."""


class FqCodelQueue(TypedDict):
    """Fair queueing with CoDel per flow, RFC 8290."""

    kind: ReadOnly[Literal["fq-codel"]]
    bytes: NotRequired[ReadOnly[int | None]]
    """Limit over all flows, bytes (the role of Linux's memory limit)."""
    ecn: NotRequired[ReadOnly[bool]]
    """Mark instead of drop. Default: false."""
    flows: NotRequired[ReadOnly[int]]
    """Number of queues. Default: 1024. From 1 to 65536."""
    interval_ms: NotRequired[ReadOnly[float]]
    """Width of the estimator's window, ms. Default: 100.0. From 1e-06 to 3.6e+06."""
    packets: NotRequired[ReadOnly[int]]
    """Limit over all flows, packets. Default: 10240."""
    quantum_bytes: NotRequired[ReadOnly[int]]
    """Bytes per round and flow. Default: 1514. From 64 to 1.07374e+09."""
    target_ms: NotRequired[ReadOnly[float]]
    """Acceptable standing delay, ms. Default: 5.0. From 1e-06 to 3.6e+06."""


class StepQueue(TypedDict):
    """Marks every ECN-capable packet beyond the threshold, drops nothing below the limits."""

    kind: ReadOnly[Literal["step"]]
    bytes: NotRequired[ReadOnly[int | None]]
    """Limit, bytes."""
    packets: NotRequired[ReadOnly[int | None]]
    """Limit, packets."""
    threshold_ms: NotRequired[ReadOnly[float | None]]
    """Time in the queue beyond which departures are marked (L4S), ms. From 1e-06 to 3.6e+06."""
    threshold_packets: NotRequired[ReadOnly[int | None]]
    """Backlog, arrival included, beyond which arrivals are marked (DCTCP's K), packets."""


class CobaltQueue(TypedDict):
    """CoDel and BLUE side by side, the AQM of CAKE (`sch_cake`)."""

    kind: ReadOnly[Literal["cobalt"]]
    bytes: NotRequired[ReadOnly[int | None]]
    """Limit, bytes."""
    ecn: NotRequired[ReadOnly[bool]]
    """CoDel marks instead of dropping. Default: false."""
    interval_ms: NotRequired[ReadOnly[float]]
    """Time over target before the first signal, ms. Default: 100.0. From 1e-06 to 3.6e+06."""
    packets: NotRequired[ReadOnly[int | None]]
    """Limit, packets."""
    target_ms: NotRequired[ReadOnly[float]]
    """Acceptable standing delay, ms. Default: 5.0. From 1e-06 to 3.6e+06."""


class Dualpi2Queue(TypedDict):
    """Dual-queue coupled AQM for L4S, RFC 9332, appendix A."""

    kind: ReadOnly[Literal["dualpi2"]]
    alpha_hz: NotRequired[ReadOnly[float]]
    """Integral gain: change of p' per update and second off target, Hz. Default: 0.16. From 0 to 1000 (not included).
    """
    beta_hz: NotRequired[ReadOnly[float]]
    """Proportional gain: change of p' per second of delay growth, Hz. Default: 3.2. From 0 to 1000 (not included)."""
    bytes: NotRequired[ReadOnly[int | None]]
    """Limit over both queues, bytes."""
    classic_share: NotRequired[ReadOnly[float]]
    """Share of the link for the classic queue while both wait. Default: 0.1. From 0 to 1 (not included)."""
    coupling: NotRequired[ReadOnly[float]]
    """Coupling factor: L4S packets are marked with this times p'. Default: 2.0. From 0 to 1000 (not included)."""
    l4s_min_ms: NotRequired[ReadOnly[float]]
    """Delay from which on L4S packets are marked by the ramp, ms. Default: 0.8. From 1e-06 to 3.6e+06."""
    l4s_range_ms: NotRequired[ReadOnly[float]]
    """Width of the ramp, ms; 0 makes it a step. Default: 0.4. From 0 to 3.6e+06."""
    l4s_spared_packets: NotRequired[ReadOnly[int]]
    """Number of waiting L4S packets up to which the ramp does nothing. Default: 1."""
    packets: NotRequired[ReadOnly[int | None]]
    """Limit over both queues, packets."""
    t_update_ms: NotRequired[ReadOnly[float]]
    """Time between updates of the probability, ms. Default: 16.0. From 1e-06 to 3.6e+06."""
    target_ms: NotRequired[ReadOnly[float]]
    """Target delay of the classic queue, ms. Default: 15.0. From 1e-06 to 3.6e+06."""


QueueSpec: TypeAlias = (
    InfiniteQueue
    | DroptailQueue
    | DropheadQueue
    | AckFilterQueue
    | CodelQueue
    | PieQueue
    | RedQueue
    | FqCodelQueue
    | StepQueue
    | CobaltQueue
    | Dualpi2Queue
)
"""A queue discipline with its settings. `packets` and `bytes` limit the backlog; a backlog equal to a limit is allowed,
and an absent limit means no limit. With `ecn`, ECN-capable packets are marked instead of dropped, except when a size
limit drops them.
"""


class HonestReceiver(TypedDict):
    """Sends correct ACKs at their times."""

    kind: ReadOnly[Literal["honest"]]


class AckDivisionReceiver(TypedDict):
    """Splits each ACK into several ACKs. Each one acknowledges an equal part of every packet."""

    kind: ReadOnly[Literal["ack-division"]]
    parts: ReadOnly[int]
    """Number of ACKs sent instead of one. From 1 to 1000."""


class OptimisticReceiver(TypedDict):
    """Acknowledges packets before they arrive, and hides missing packets below them."""

    kind: ReadOnly[Literal["optimistic"]]
    ahead_packets: ReadOnly[int]
    """Packets acknowledged beyond the highest number that arrived. From 1 to 1000."""


class SilentReceiver(TypedDict):
    """Sends no feedback during one interval."""

    kind: ReadOnly[Literal["silent"]]
    after_s: ReadOnly[float]
    """Beginning of the interval, s after the first packet arrived. From 0 to 1e+06."""
    for_s: NotRequired[ReadOnly[float | None]]
    """Length of the interval, s; absent: to the end. From 0 to 1e+06."""


class DropFeedbackReceiver(TypedDict):
    """Leaves out ACKs at random."""

    kind: ReadOnly[Literal["drop-feedback"]]
    probability: ReadOnly[float]
    """Probability that an ACK is left out. From 0 to 1."""


ReceiverBehavior: TypeAlias = (
    HonestReceiver | AckDivisionReceiver | OptimisticReceiver | SilentReceiver | DropFeedbackReceiver
)
"""Behavior of a receiver: the transport's key `receiver`."""

Reduction: TypeAlias = Literal["prr", "prr-ns3", "immediate"]
"""Limit on sending during a loss episode."""

RemarkFrom: TypeAlias = Literal["not-ect", "ect0", "ect1", "ect", "ce", "capable", "any"]
"""Packets that are rewritten, by their codepoint."""

RemarkTo: TypeAlias = Literal["not-ect", "ect0", "ect1", "ce"]
"""Codepoint that packets are rewritten to."""

Reordering: TypeAlias = Literal["fixed", "distance", "rack"]
"""Adaptation of loss detection to packets that arrive late."""

RtoFloor: TypeAlias = Literal["total", "variation"]
"""Part of the RTO that the minimum RTO applies to."""

TimerKind: TypeAlias = Literal["rto", "pto", "silence", "none"]
"""Timer over outstanding packets."""

TimerRestart: TypeAlias = Literal["any", "first-partial"]
"""ACKs that restart the retransmission timer."""

TraceMode: TypeAlias = Literal["precise", "mahimahi"]
"""Counting and rounding of a trace link."""

WalkSpec: TypeAlias = Mapping[str, KeyWalk | float]
"""Random walks of one element: the interval, and the numeric settings that change."""

WindowRounding: TypeAlias = Literal["down", "up"]
"""Treatment of a window that is not a whole number of packets."""


class RunSpec(TypedDict):
    """One run."""

    convergence_delta: NotRequired[ReadOnly[float]]
    """Maximum distance of a converged flow from its fair share, as a fraction of the share. Default: 0.2. From 0 to 1
    (not included).
    """
    duration_s: ReadOnly[float]
    """Length, s. From 0 to 1e+06 (not included)."""
    flows: ReadOnly[Sequence[FlowSpec]]
    """The flows, numbered from 1 in this order."""
    jain_window_s: NotRequired[ReadOnly[float]]
    """Length of the windows of Jain's index over time, s. Default: 0.1. From 1e-05 to 1e+06."""
    log: NotRequired[ReadOnly[LogLevel]]
    """Contents of the packet log. Default: "packets"."""
    most_events_per_s: NotRequired[ReadOnly[int]]
    """Maximum events in one simulated second. A run that needs more is stopped. Simulated runs only. Default:
    100000000. From 1 to 1e+12.
    """
    most_packets: NotRequired[ReadOnly[int]]
    """Maximum packets on the path or unacknowledged at a time. A run that needs more is stopped. An emulated path may
    have as many real packets as fit into the memory of that many simulated ones. Default: 4000000. From 1 to 1e+09.
    """
    path: ReadOnly[PathSpec]
    """The path."""
    sample_interval_s: NotRequired[ReadOnly[float]]
    """Spacing of sampled time series, s. Default: 0.1. From 1e-05 to 1e+06."""
    seed: ReadOnly[int]
    """Seed of every random stream."""
    warmup_s: NotRequired[ReadOnly[float]]
    """Start-up time that the corrected metrics leave out, s. Default: 0.0."""
