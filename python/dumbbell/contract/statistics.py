"""The statistics of a run, as the core returns them: JSON.

Written by `python -m scripts.contract` from statistics.json. Do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NotRequired, TypeAlias, TypedDict

from dumbbell.contract.read_only import ReadOnly


class AckLinkStats(TypedDict):
    """Statistics of the return direction, in the Pantheon convention."""

    delay_p95_ms: NotRequired[ReadOnly[float | None]]
    """ms: delay_p95_ms of the return direction."""
    loss_rate: NotRequired[ReadOnly[float | None]]
    """loss_rate of the return direction."""
    throughput_mbps: NotRequired[ReadOnly[float | None]]
    """Mbit/s: throughput_mbps of the return direction."""


Better: TypeAlias = Literal["more", "less", "neutral"]
"""Better direction of a metric for one user of the network, all else equal."""


class BetweenMachines(TypedDict):
    """Events on and around the network between two machines."""

    channel: ReadOnly[Guarded]
    """Datagrams from other senders on the control channel."""
    degraded: NotRequired[ReadOnly[str | None]]
    """Reason why the run's times do not show the network alone; null without one."""
    ends_latest_us: NotRequired[ReadOnly[int | None]]
    """Maximum lateness of a built-in sender's wake-up, us; null if all flows are programs."""
    flows: ReadOnly[Sequence[Carried]]
    """Events around the packets of each flow."""
    invalid: NotRequired[ReadOnly[str | None]]
    """Reason why the run must not be used; null if it may."""
    lost_at_ends: NotRequired[ReadOnly[int]]
    """Packets lost by ends behind tunnels, on both machines."""
    programs: NotRequired[ReadOnly[Sequence[ProgramReport]]]
    """Reports of the run's programs."""
    real_time: NotRequired[ReadOnly[bool]]
    """True if the schedulers of both machines preferred the run's threads to ordinary programs."""
    remark: NotRequired[ReadOnly[str | None]]
    """Lateness of an end or a tunnel in a run with valid results; null without one."""


class Carried(TypedDict):
    """What happened around the packets of a flow."""

    copies: NotRequired[ReadOnly[Sequence[int]]]
    """Of it, what had come before: to the local side, to the remote one."""
    dropped: NotRequired[ReadOnly[int]]
    """Datagrams that sockets on the network had no room for."""
    guarded: ReadOnly[Guarded]
    """What was not the peer's, on both sides."""
    late: NotRequired[ReadOnly[Sequence[Punctuality | None]]]
    """How late dumbbell's own ends and tunnels took datagrams and timers: on the local side, on the remote one."""
    refused: NotRequired[ReadOnly[int]]
    """Packets that devices behind the tunnel refused."""


class Compared(TypedDict):
    """The comparison of two clocks."""

    answered: NotRequired[ReadOnly[int]]
    """See above."""
    asked: NotRequired[ReadOnly[int]]
    """Questions for the time, and those that were answered."""
    changes: NotRequired[ReadOnly[Sequence[Sequence[float]]]]
    """Times of the run at which the path changed: when (s), by how much there and back (ms)."""
    method: NotRequired[ReadOnly[str]]
    """How it was found, and by whom first."""
    offset_ms: NotRequired[ReadOnly[float]]
    """Remote less local clock at the start of the run, each counted from when it told its side to begin, ms."""
    references: NotRequired[ReadOnly[Sequence[Judged]]]
    """Other knowledge of the clocks, and why it was refused if it was."""
    residual_us: NotRequired[ReadOnly[float]]
    """What differences of delays over time are exact to, us."""
    rtt_ms: NotRequired[ReadOnly[float]]
    """Shortest round trip seen, ms."""
    skew_ppm: NotRequired[ReadOnly[float]]
    """How much faster the remote clock was, ppm."""
    steps: NotRequired[ReadOnly[Sequence[Sequence[float]]]]
    """Times of the run at which a clock was set: when (s), by how much (ms), in how long a time that happened (ms)."""
    uncertainty_ms: ReadOnly[Sequence[float]]
    """True less stated one-way delay of data lies between these, ms."""


class Completion(TypedDict):
    """Completion times of the transfers of one size."""

    bytes: ReadOnly[int]
    """size of the transfers."""
    completed: NotRequired[ReadOnly[int | float | None]]
    """flows: those that were completed."""
    flows: ReadOnly[int]
    """flows: finite transfers of one size."""
    mean_s: NotRequired[ReadOnly[float | None]]
    """s: fct_mean_s of one size."""
    p50_s: NotRequired[ReadOnly[float | None]]
    """s: fct_p50_s of one size."""
    p95_s: NotRequired[ReadOnly[float | None]]
    """s: fct_p95_s of one size."""
    p99_s: NotRequired[ReadOnly[float | None]]
    """s: fct_p99_s of one size."""


Convention: TypeAlias = Literal["pantheon", "corrected", "counter", "ccperf"]
"""Convention of a metric."""


class Definition(TypedDict):
    """Definition of one metric."""

    better: ReadOnly[Better]
    """Better direction."""
    convention: ReadOnly[Convention]
    """Convention of the metric."""
    formula: ReadOnly[str]
    """Formula, in words."""
    fraction: ReadOnly[bool]
    """True for a fraction of a whole: the confidence interval of its mean stays within 0 and 1."""
    level: ReadOnly[Level]
    """Entity that has the metric or the key."""
    name: ReadOnly[str]
    """Key in the JSON; `a.b` is key `b` of the object `a`."""
    one_way: ReadOnly[OneWay | None]
    """Dependence on the clocks of both ends; `None` if the metric depends on one clock."""
    sampled: ReadOnly[bool]
    """True if the metric is computed from values per sample interval, and so depends on the interval's length."""
    source: ReadOnly[str]
    """Source of the definition."""
    unit: ReadOnly[str]
    """Unit; empty for plain numbers."""


class EmulatedRun(TypedDict):
    """Statistics of a real-packet run: the content of `stats.json`."""

    emulation: ReadOnly[EmulationReport]
    events: ReadOnly[int]
    """Number of recorded events of real packets."""
    flows: ReadOnly[Sequence[FlowStats]]
    """Statistics of flows, in order of flow numbers."""
    links: ReadOnly[Sequence[LinkStats]]
    """Statistics of links, in the driver's order; the first is the bottleneck in the data direction."""
    network: ReadOnly[NetworkStats]
    """Statistics over all flows."""


class EmulationReport(TypedDict):
    """How the emulation went."""

    degraded: NotRequired[ReadOnly[str | None]]
    """Why the numbers of the run are further off than they may be, if so."""
    ends: NotRequired[ReadOnly[Sequence[EndReport]]]
    """What the ends of flows had of the processors."""
    ends_latest_us: NotRequired[ReadOnly[int | None]]
    """How late a sending end of ours woke up at most, us; `None` if all are programs."""
    invalid: NotRequired[ReadOnly[str | None]]
    """Why it must not be used, if so."""
    lateness_error: NotRequired[ReadOnly[LatenessError]]
    """How far lateness made the numbers of the run wrong."""
    lateness_us: ReadOnly[LatenessReport]
    """How late departures were, both directions."""
    programs: NotRequired[ReadOnly[Sequence[ProgramReport]]]
    """What the programs of the run did."""
    real_time: NotRequired[ReadOnly[bool]]
    """Whether the scheduler preferred the threads of the run to ordinary programs (which takes root)."""
    remark: NotRequired[ReadOnly[str | None]]
    """How late the run was, where its numbers are good all the same."""
    socket_dropped: NotRequired[ReadOnly[int]]
    """Packets that the sockets of our own ends and of the kernel's TCP had no room for."""
    tx_dropped: ReadOnly[int]
    """Packets that the devices at the ends dropped in silence."""


class EndReport(TypedDict):
    """What an end of a flow had of the processors."""

    flow: NotRequired[ReadOnly[int]]
    """Flow number, from 1."""
    late: NotRequired[ReadOnly[Punctuality | None]]
    """How late the end took datagrams and timers, where it is dumbbell's own."""
    lowered_s: NotRequired[ReadOnly[float]]
    """Time without real-time priority because it used a processor for itself, or had only just begun, s; of programs
    only.
    """
    ran_s: NotRequired[ReadOnly[float]]
    """Processor time, s."""
    side: NotRequired[ReadOnly[str]]
    """`sender` or `receiver`."""
    starved_s: NotRequired[ReadOnly[float]]
    """Time in which a task of it always wanted to run and waited for over a quarter of it, s."""
    starved_wait_s: NotRequired[ReadOnly[float]]
    """The part of that time in which it waited, s."""
    wait_mean_us: NotRequired[ReadOnly[float]]
    """Mean wait for a processor, us."""
    wait_p99_us: ReadOnly[int]
    """99th percentile of the wait for a processor, us: waits count as the mean of those of a task in 0.1 s."""
    waited_s: NotRequired[ReadOnly[float]]
    """Time in which a task of it could have run and had no processor, s."""
    watched_s: NotRequired[ReadOnly[float]]
    """Time in which it was looked at, s."""


class FlowStats(TypedDict):
    """Statistics of one flow."""

    acklink: NotRequired[ReadOnly[AckLinkStats | None]]
    bytes_delivered: NotRequired[ReadOnly[int | float | None]]
    """bytes: bytes that left the path, overhead included."""
    bytes_sent: NotRequired[ReadOnly[int | float | None]]
    """bytes: bytes that entered the path, overhead included."""
    competing_goodput_mbps: NotRequired[ReadOnly[float | None]]
    """Mbit/s: payload bits new to the receiver delivered from competing_from_s to competing_to_s / that time; null of
    runs of one flow.
    """
    competing_loss_rate: NotRequired[ReadOnly[float | None]]
    """dropped / (dropped + delivered) packets in that time; in logs without drops: not delivered / all of the packets
    sent in it, to the flow's largest delay before the end of the log.
    """
    competing_owd_p95_ms: NotRequired[ReadOnly[float | None]]
    """ms: 95th percentile of the one-way delays of the packets delivered in that time."""
    competing_share: NotRequired[ReadOnly[float | None]]
    """payload of competing_goodput_mbps / the sum of it over all flows that send in the same direction; null if that is
    zero.
    """
    cov_in_flight_l4: NotRequired[ReadOnly[float | None]]
    """sample standard deviation / mean of the bytes in flight at the ends of the samples."""
    cov_throughput_l4: NotRequired[ReadOnly[float | None]]
    """sample standard deviation / mean of the throughput of the samples."""
    data_bytes_delivered: NotRequired[ReadOnly[int | float | None]]
    """bytes: payload bytes new to the receiver; null in logs that do not tell payload."""
    delay_p95_ms: NotRequired[ReadOnly[float | None]]
    """ms: of the n sorted one-way delays of all delivered packets, the one at index round(0.95 (n - 1)), halves to
    even.
    """
    flow: ReadOnly[int]
    """number of the flow."""
    flow_completion_time_l4: NotRequired[ReadOnly[float | None]]
    """s: start of the flow to the acknowledgement of the last byte of a finite transfer, null if that never came; of
    other flows the time until they stop.
    """
    goodput_mbps: NotRequired[ReadOnly[float | None]]
    """Mbit/s: payload bits new to the receiver / (min(stop, end) - max(start, warm-up)), delivered in that time."""
    ingress_mbps: NotRequired[ReadOnly[float | None]]
    """Mbit/s: bits sent (path overhead included) / (last - first sending); 0 if these times are equal."""
    loss_episodes: NotRequired[ReadOnly[int | float | None]]
    """recoveries that losses began; those after ECN marks do not count."""
    loss_rate: NotRequired[ReadOnly[float | None]]
    """1 - bytes delivered / bytes sent, whole log: packets under way at the end are lost, duplicates make it negative.
    """
    mean_cwnd_bytes: NotRequired[ReadOnly[float | None]]
    """bytes: time integral of cwnd / T of mean_throughput_l4, null of schemes without a window; in imported qlogs of
    congestion_window as last stated / time from the first packet or the first statement, whichever is later, to the
    last event.
    """
    mean_cwnd_l4: NotRequired[ReadOnly[float | None]]
    """segments: mean_cwnd_bytes / payload bytes of a full packet."""
    mean_delivery_rate_l4: NotRequired[ReadOnly[float | None]]
    """Mbit/s: time integral of the sender's latest delivery-rate sample / time since the first."""
    mean_est_qdelay_l4: NotRequired[ReadOnly[float | None]]
    """ms: mean_srtt_ms - mean base RTT over the same time; the base RTT is the sum of the fixed delays, without
    serialization.
    """
    mean_idt_ewma_l4: NotRequired[ReadOnly[float | None]]
    """ms: mean over the ends of the samples of the smoothed time between arrivals of new payload (gain 1/8)."""
    mean_in_flight_bdp: NotRequired[ReadOnly[float | None]]
    """mean_in_flight_l4 / BDP in full packets; BDP = mean capacity of mean_utilization_bw_l4 x mean base RTT / 8, a
    packet with headers, path overhead and framing.
    """
    mean_in_flight_bytes: NotRequired[ReadOnly[float | None]]
    """bytes: time integral of the bytes in flight / T of mean_throughput_l4; in imported qlogs of bytes_in_flight, as
    mean_cwnd_bytes.
    """
    mean_in_flight_l4: NotRequired[ReadOnly[float | None]]
    """segments: mean_in_flight_bytes / payload bytes of a full packet."""
    mean_network_power_l4: NotRequired[ReadOnly[float | None]]
    """Mbit/s^2: mean over the samples of throughput / smoothed RTT at the end of the sample, s."""
    mean_one_way_delay_l7: NotRequired[ReadOnly[float | None]]
    """ms: mean over the bytes read within T of the time from the application's write to the application's read, in
    order; written when the sending socket takes it (transport key send_buffer_bytes).
    """
    mean_recovery_time_l4: NotRequired[ReadOnly[float | None]]
    """ms: mean length of those of loss_episodes that are over; null without any."""
    mean_sending_rate_l4: NotRequired[ReadOnly[float | None]]
    """Mbit/s: payload bits of all packets sent, what is sent again included / T."""
    mean_sending_rate_l7: NotRequired[ReadOnly[float | None]]
    """Mbit/s: bits that the sending socket took from the application / T (transport key send_buffer_bytes)."""
    mean_srtt_l4: NotRequired[ReadOnly[float | None]]
    """ms: mean_srtt_ms."""
    mean_srtt_ms: NotRequired[ReadOnly[float | None]]
    """ms: time integral of the smoothed RTT from its first sample to the end of T of mean_throughput_l4 / that time; in
    imported qlogs of smoothed_rtt as last stated / time from the first acknowledgement or the first statement,
    whichever is later, to the last event.
    """
    mean_throughput_l4: NotRequired[ReadOnly[float | None]]
    """Mbit/s: payload bits that reached the application in order within T / T; T is the time from the start of the flow
    until it stops, the last byte of its transfer is acknowledged, or the run ends; where order is not known, payload
    new to the receiver.
    """
    mean_throughput_l7: NotRequired[ReadOnly[float | None]]
    """Mbit/s: payload bits that the application read / T: it reads what is in order at once; null where reads are not
    known.
    """
    mean_utility_mpdf_l4: NotRequired[ReadOnly[float | None]]
    """s/Mbit: mean over the samples of -1 / throughput in Mbit/s, those of zero left out."""
    mean_utility_pf_l4: NotRequired[ReadOnly[float | None]]
    """mean over the samples of ln(throughput in Mbit/s), those of zero left out."""
    mean_utilization_bdp_l4: NotRequired[ReadOnly[float | None]]
    """mean_in_flight_bdp x bytes of a full packet / payload bytes: what fits the values that ccperf prints."""
    mean_utilization_bw_l4: NotRequired[ReadOnly[float | None]]
    """mean_throughput_l4 / mean capacity of the narrowest link of the direction in the sample intervals, each weighted
    with the time in it in which the flow was active (over the whole run where none ended meanwhile); null of flows
    that pass a part of the path.
    """
    media: NotRequired[ReadOnly[MediaStats | None]]
    owd_max_ms: NotRequired[ReadOnly[float | None]]
    """ms: largest of the delays of owd_mean_ms."""
    owd_mean_ms: NotRequired[ReadOnly[float | None]]
    """ms: mean one-way delay of the packets delivered from max(start, warm-up) to min(stop, end)."""
    owd_min_ms: NotRequired[ReadOnly[float | None]]
    """ms: smallest one-way delay of the whole run."""
    owd_p50_ms: NotRequired[ReadOnly[float | None]]
    """ms: median of the delays of owd_mean_ms."""
    owd_p95_ms: NotRequired[ReadOnly[float | None]]
    """ms: 95th percentile of the delays of owd_mean_ms."""
    owd_p99_ms: NotRequired[ReadOnly[float | None]]
    """ms: 99th percentile of the delays of owd_mean_ms."""
    packet_loss_rate: NotRequired[ReadOnly[float | None]]
    """dropped / (dropped + delivered) packets from max(start, warm-up) to min(stop, end); in imported qlogs that have
    packet_lost: (declared lost and not acknowledged later) / (those + acknowledged); in other logs without drops:
    not delivered / all of the packets sent from max(start, warm-up) to the flow's largest delay before the end.
    """
    packets_delivered: NotRequired[ReadOnly[int | float | None]]
    """packets: packets that left the path, duplicates included."""
    packets_dropped: NotRequired[ReadOnly[int | float | None]]
    """packets: packets dropped in the path; null in logs that do not tell drops."""
    packets_in_flight_at_end: NotRequired[ReadOnly[int | float | None]]
    """packets: sent - delivered - dropped, at least 0; in imported qlogs that have packet_lost: sent - acknowledged -
    declared lost; in other logs without drops: sent within the flow's largest delay before the end and not
    delivered.
    """
    packets_marked: NotRequired[ReadOnly[int | float | None]]
    """packets: packets CE-marked in the path."""
    packets_sent: NotRequired[ReadOnly[int | float | None]]
    """packets: packets that entered the path."""
    payload_share: NotRequired[ReadOnly[float | None]]
    """payload of goodput_mbps / the sum of it over all flows that send in the same direction; null if that is zero."""
    queueing_delay_mean_ms: NotRequired[ReadOnly[float | None]]
    """ms: mean - smallest one-way delay of all delivered packets of the whole log."""
    retransmissions: NotRequired[ReadOnly[int | float | None]]
    """packets: packets sent with payload that was sent before (what sets up a connection has none)."""
    rtt_mean_ms: NotRequired[ReadOnly[float | None]]
    """ms: mean of the same times, of what was acknowledged from max(start, warm-up) to min(stop, end)."""
    rtt_min_ms: NotRequired[ReadOnly[float | None]]
    """ms: of logs that one end wrote: smallest time from sending a packet to the arrival of what acknowledged it; null
    in other logs.
    """
    rtt_p50_ms: NotRequired[ReadOnly[float | None]]
    """ms: median of the times of rtt_mean_ms."""
    rtt_p95_ms: NotRequired[ReadOnly[float | None]]
    """ms: 95th percentile of the times of rtt_mean_ms."""
    rtt_p99_ms: NotRequired[ReadOnly[float | None]]
    """ms: 99th percentile of the times of rtt_mean_ms."""
    scheme: ReadOnly[str]
    """name of the scheme; empty where unknown."""
    self_inflicted_delay_mean_ms: NotRequired[ReadOnly[float | None]]
    """ms: owd_mean_ms - owd_min_ms."""
    self_inflicted_delay_p10_ms: NotRequired[ReadOnly[float | None]]
    """ms: (10th percentile of the delays of owd_mean_ms) - owd_min_ms."""
    self_inflicted_delay_p95_ms: NotRequired[ReadOnly[float | None]]
    """ms: owd_p95_ms - owd_min_ms."""
    settling_time_s: NotRequired[ReadOnly[float | None]]
    """s: time from the same change to the end of the first sample interval from which on packets left the path at
    within 20 % of the fair share; null if the last one did not, and where flows pass different parts of the path.
    """
    start_s: NotRequired[ReadOnly[float | None]]
    """planned start, or time of the first record, s."""
    starvation_time_s: NotRequired[ReadOnly[float | None]]
    """s: time of the sample intervals in which the throughput was below 1/10 of the fair share; that is the capacity of
    the narrowest link of the direction / number of flows active in all of the interval; null of applications that
    limit their rate, and where flows pass different parts of the path.
    """
    stop_s: NotRequired[ReadOnly[float | None]]
    """planned stop, or end of the run, s."""
    throughput_mbps: NotRequired[ReadOnly[float | None]]
    """Mbit/s: bits delivered (path overhead included) / (last - first delivery); 0 if these times are equal."""
    time_to_90_s: NotRequired[ReadOnly[float | None]]
    """s: time from the path's last scheduled change to the end of the first sample interval after it in which packets
    of the flow left the path at 90 % of the fair share or more; if the change took capacity away, in which they were
    sent at 110 % of it or less instead; null if there was none, and where flows pass different parts of the path.
    """
    timeouts: NotRequired[ReadOnly[int | float | None]]
    """expired retransmission timers, and persistent congestion of QUIC; those of a connection's set-up do not count."""
    total_retransmissions_l4: NotRequired[ReadOnly[int | float | None]]
    """segments: retransmissions."""
    total_rtos_l4: NotRequired[ReadOnly[int | float | None]]
    """timeouts."""
    var_throughput_l4: NotRequired[ReadOnly[float | None]]
    """(Mbit/s)^2: sample variance of the throughput of the samples."""
    zero_samples_l4: NotRequired[ReadOnly[int | float | None]]
    """samples: samples of zero throughput."""


class Guarded(TypedDict):
    """Counts of refused datagrams, and of changes of the peer's address."""

    forged: ReadOnly[int]
    """Number of datagrams without a valid tag."""
    moved: ReadOnly[int]
    """Number of changes of the peer's address (a NAT has rebound it)."""
    replayed: ReadOnly[int]
    """Number of datagrams that were replayed or too old to check."""


class JoinedRun(TypedDict):
    """Statistics of a remote run: the content of `stats.json`."""

    clocks: ReadOnly[Compared]
    events: ReadOnly[int]
    """Number of packet events on both machines."""
    flows: ReadOnly[Sequence[FlowStats]]
    """Statistics of flows, in order of flow numbers."""
    links: ReadOnly[Sequence[LinkStats]]
    """Statistics of links, in the driver's order; the first is the bottleneck in the data direction."""
    network: ReadOnly[NetworkStats]
    """Statistics over all flows."""
    remote: ReadOnly[BetweenMachines]


class Judged(TypedDict):
    """Verdict on a [`Reference`]."""

    refused: NotRequired[ReadOnly[str | None]]
    """Reason for the refusal; `None` if the reference was used."""
    source: NotRequired[ReadOnly[str]]
    """Source of the reference."""


class Label(TypedDict):
    """A key of the statistics for a name or a date, not a metric."""

    level: ReadOnly[Level]
    """Entity that has the metric or the key."""
    meaning: ReadOnly[str]
    """Meaning of the key."""
    name: ReadOnly[str]
    """Key in the JSON."""


class LatenessError(TypedDict):
    """How far lateness made the numbers of a run wrong, at most."""

    delay_bound_ms: NotRequired[ReadOnly[float]]
    """What that may reach before the run counts as degraded, ms."""
    delay_ms: NotRequired[ReadOnly[float]]
    """What lateness added to a round trip in the mean, ms: on the path in both directions, and at the ends of the flow
    where that is most.
    """
    delay_p95_bound_ms: NotRequired[ReadOnly[float]]
    """What that may reach before the run counts as degraded, ms."""
    delay_p95_ms: NotRequired[ReadOnly[float]]
    """Delay that lateness added to a packet one way, 95th percentile, ms."""
    longest_bound_ms: NotRequired[ReadOnly[float]]
    """What that may reach before the run counts as degraded, ms."""
    longest_ms: NotRequired[ReadOnly[float]]
    """Longest time that the path or an end stood still, ms."""
    rate: NotRequired[ReadOnly[float]]
    """Share by which rates are wrong."""
    rate_bound: NotRequired[ReadOnly[float]]
    """What that may reach before the run counts as degraded."""


class LatenessReport(TypedDict):
    """The distribution in numbers."""

    bound: ReadOnly[int]
    """What the 99th percentile may reach before a run tells that it was late, us."""
    histogram: NotRequired[ReadOnly[Sequence[int]]]
    """Departures that were less late than 1, 2, 4, 8, ... us, and not less than the value before."""
    max: ReadOnly[int]
    """Largest, us."""
    mean: NotRequired[ReadOnly[float]]
    """Mean, us."""
    p50: ReadOnly[int]
    """Median, us."""
    p90: ReadOnly[int]
    """90th percentile, us."""
    p95: NotRequired[ReadOnly[int]]
    """95th percentile, us."""
    p99: ReadOnly[int]
    """99th percentile, us."""
    p999: ReadOnly[int]
    """99.9th percentile, us."""
    packets: ReadOnly[int]
    """Departures."""
    paused: NotRequired[ReadOnly[int]]
    """Time in which this direction stood still for longer than 1 ms, us."""
    pauses: NotRequired[ReadOnly[int]]
    """Times that a direction stood still for longer than the bound, of the one that stood still for longer in all."""
    pauses_bound: NotRequired[ReadOnly[int]]
    """How many of them there may be before a run tells of them."""
    remembered: NotRequired[ReadOnly[int]]
    """Time for which pauses made rates wrong, us."""


Level: TypeAlias = Literal["flow", "link", "network"]
"""Entity of a metric: a flow, a link, the network."""


class LinkStats(TypedDict):
    """Statistics of one link."""

    capacity_mbps: NotRequired[ReadOnly[float | None]]
    """Mbit/s: bits the link could have carried / elapsed time; null without a limit."""
    direction: ReadOnly[str]
    """data or ack."""
    ecn_mark_rate: NotRequired[ReadOnly[float | None]]
    """packets marked / packets sent."""
    link: ReadOnly[str]
    """name of the link."""
    max_queue_bytes: NotRequired[ReadOnly[int | float | None]]
    """bytes: longest queue that lasted."""
    max_queue_delay_ms: NotRequired[ReadOnly[float | None]]
    """ms: longest time that a packet spent in the queue."""
    max_queue_packets: NotRequired[ReadOnly[int | float | None]]
    """packets: longest queue that lasted."""
    mean_qdisc_delay_l2: NotRequired[ReadOnly[float | None]]
    """ms: mean_queue_delay_ms."""
    mean_qdisc_length_l2: NotRequired[ReadOnly[float | None]]
    """packets: mean_queue_packets."""
    mean_queue_bytes: NotRequired[ReadOnly[float | None]]
    """bytes: time integral of the queue length / elapsed time."""
    mean_queue_delay_ms: NotRequired[ReadOnly[float | None]]
    """ms: mean time in the queue of the packets that left it towards the link."""
    mean_queue_packets: NotRequired[ReadOnly[float | None]]
    """packets: time integral of the queue length / elapsed time."""
    mean_sending_rate_l1: NotRequired[ReadOnly[float | None]]
    """Mbit/s: throughput_mbps, framing included."""
    packets_dropped: NotRequired[ReadOnly[int | float | None]]
    """packets: packets the link's queue dropped."""
    packets_in: NotRequired[ReadOnly[int | float | None]]
    """packets: packets offered to the link."""
    packets_marked: NotRequired[ReadOnly[int | float | None]]
    """packets: packets the link's queue CE-marked."""
    packets_out: NotRequired[ReadOnly[int | float | None]]
    """packets: packets the link sent."""
    peak_queue_ms: NotRequired[ReadOnly[float | None]]
    """ms: the same of the packets that left the queue after the path's last scheduled change; null without a change."""
    throughput_mbps: NotRequired[ReadOnly[float | None]]
    """Mbit/s: bits the link sent / elapsed time."""
    total_qdisc_drops_l2: NotRequired[ReadOnly[int | float | None]]
    """packets: packets_dropped."""
    utilization: NotRequired[ReadOnly[float | None]]
    """bits the link sent / bits it could have carried."""


class MediaStats(TypedDict):
    """Statistics of a live source's flow."""

    frame_delay_p50_ms: NotRequired[ReadOnly[float | None]]
    """ms: median of the times from capture to decoding."""
    frame_delay_p95_ms: NotRequired[ReadOnly[float | None]]
    """ms: 95th percentile of the same times."""
    frame_delay_p99_ms: NotRequired[ReadOnly[float | None]]
    """ms: 99th percentile of the same times."""
    frames_decoded: NotRequired[ReadOnly[int | float | None]]
    """frames: frames that could be decoded."""
    frames_skipped: NotRequired[ReadOnly[int | float | None]]
    """frames: frames the encoder skipped because too much was waiting."""
    frames_written: NotRequired[ReadOnly[int | float | None]]
    """frames: frames the encoder wrote."""
    media_rate_mbps: NotRequired[ReadOnly[float | None]]
    """Mbit/s: bits of decoded frames / (min(stop, end) - max(start, warm-up) - planned pauses in between), decoded in
    that time; a frame is decoded when it is complete and so is every frame it depends on, back to a key frame.
    """
    media_utilization: NotRequired[ReadOnly[float | None]]
    """media_rate_mbps / min(the source's highest bitrate, mean capacity of the narrowest link of the direction / number
    of flows in that direction).
    """
    stall_ratio: NotRequired[ReadOnly[float | None]]
    """stall_time_s / the time of media_rate_mbps."""
    stall_time_s: NotRequired[ReadOnly[float | None]]
    """s: sum of the intervals of stalls."""
    stalls: NotRequired[ReadOnly[int | float | None]]
    """intervals between decoded frames, less planned pauses, of at least max(3 a, a + 150 ms), a = mean of the (up to)
    30 before, that end from max(start, warm-up) to min(stop, end); the time from the last frame to the end is one
    too, and without any frame all of the time.
    """


class NetworkStats(TypedDict):
    """Statistics of all flows together."""

    acklink: NotRequired[ReadOnly[AckLinkStats | None]]
    capacity_mbps: NotRequired[ReadOnly[float | None]]
    """Mbit/s: bits of all delivery opportunities / (last - first opportunity), the first one's bits included."""
    capacity_utilization: NotRequired[ReadOnly[float | None]]
    """throughput_mbps / capacity_mbps."""
    competing_from_s: NotRequired[ReadOnly[float | None]]
    """from when on all flows are active, after the warm-up, s; null of one flow."""
    competing_goodput_mbps: NotRequired[ReadOnly[float | None]]
    """Mbit/s: payload bits of all flows' competing_goodput_mbps / the same time."""
    competing_to_s: NotRequired[ReadOnly[float | None]]
    """until the first of them stops or is complete, or the run ends, s; null if they are never all active."""
    completions: NotRequired[ReadOnly[Sequence[Completion] | None]]
    convergence_delta: NotRequired[ReadOnly[float | None]]
    """distance from the fair share, as a fraction of it, that convergence_time_s allows."""
    convergence_time_s: NotRequired[ReadOnly[float | None]]
    """s: start of the last flow to the end of the first stretch of convergence_window_s from which on, while all flows
    are active, every flow's payload read was within convergence_delta of the n-th part; null if the last stretch was
    not so, and of one flow.
    """
    convergence_window_s: NotRequired[ReadOnly[float | None]]
    """length of time whose shares convergence_time_s looks at, s."""
    delay_p95_ms: NotRequired[ReadOnly[float | None]]
    """ms: delay_p95_ms over the packets of all flows."""
    duration_s: NotRequired[ReadOnly[float | None]]
    """s: last - first delivery over all flows."""
    fct_incomplete: NotRequired[ReadOnly[int | float | None]]
    """flows: finite transfers that were not completed."""
    fct_mean_s: NotRequired[ReadOnly[float | None]]
    """s: mean flow_completion_time_l4 of the finite transfers that were completed."""
    fct_p50_s: NotRequired[ReadOnly[float | None]]
    """s: median of the same times."""
    fct_p95_s: NotRequired[ReadOnly[float | None]]
    """s: 95th percentile of the same times."""
    fct_p99_s: NotRequired[ReadOnly[float | None]]
    """s: 99th percentile of the same times."""
    goodput_mbps: NotRequired[ReadOnly[float | None]]
    """Mbit/s: payload bits of all flows' goodput_mbps / (latest min(stop, end) - earliest max(start, warm-up))."""
    ingress_mbps: NotRequired[ReadOnly[float | None]]
    """Mbit/s: bits sent of all flows / (last - first sending over all flows)."""
    invalid_reason: NotRequired[ReadOnly[str | None]]
    """why valid is false, one line; null for valid runs."""
    jain_active_p05: NotRequired[ReadOnly[float | None]]
    """5th percentile (nearest rank) over the same windows."""
    jain_active_p50: NotRequired[ReadOnly[float | None]]
    """median over windows of the same index, of the n flows whose planned time (to their last byte, if they end) covers
    the whole window, with or without a delivery; windows begin at multiples of jain_window_s; those in which nothing
    was delivered are left out.
    """
    jain_index: NotRequired[ReadOnly[float | None]]
    """(sum x)^2 / (n sum x^2), x = payload bytes delivered to each flow while all flows are active, after the warm-up
    (bytes on the path in logs that do not tell payload); null if never all are active, or nothing was delivered
    then.
    """
    jain_index_mean: NotRequired[ReadOnly[float | None]]
    """mean of jain_index over the whole bins (500 ms unless set, from its beginning) of that time in which anything was
    delivered.
    """
    jain_seen_p05: NotRequired[ReadOnly[float | None]]
    """5th percentile (nearest rank) over the same windows."""
    jain_seen_p50: NotRequired[ReadOnly[float | None]]
    """median over windows of (sum x)^2 / (n sum x^2), x = bytes on the path delivered in the window to each of the n
    flows that got any; a window of jain_window_s begins with the first delivery after the one before; those with
    another n than the one before, and the last, are left out. Hides starvation: a flow that gets nothing is not
    counted.
    """
    jain_window_s: NotRequired[ReadOnly[float | None]]
    """length of the windows of jain_seen_p50 and its like, s."""
    loss_rate: NotRequired[ReadOnly[float | None]]
    """1 - bytes delivered / bytes sent over all flows."""
    mean_agg_in_flight_l4: NotRequired[ReadOnly[float | None]]
    """segments: sum over the flows of the time integral of mean_in_flight_l4 / the same time."""
    mean_agg_throughput_l4: NotRequired[ReadOnly[float | None]]
    """Mbit/s: payload bits of all flows' mean_throughput_l4 / (end of the last T - first start)."""
    mean_agg_utility_mpdf_l4: NotRequired[ReadOnly[float | None]]
    """s/Mbit: mean over the samples of the sum of -1 / throughput in Mbit/s over the same flows."""
    mean_agg_utility_pf_l4: NotRequired[ReadOnly[float | None]]
    """mean over the samples of the sum of ln(throughput in Mbit/s) over the flows active in all of it, zeros left out.
    """
    mean_agg_utilization_bdp_l4: NotRequired[ReadOnly[float | None]]
    """the same sum of mean_utilization_bdp_l4."""
    mean_agg_utilization_bw_l4: NotRequired[ReadOnly[float | None]]
    """the same sum of mean_utilization_bw_l4."""
    mean_entropy_fairness_throughput_l4: NotRequired[ReadOnly[float | None]]
    """nat: mean over the samples of -sum p ln p, p = x / sum x of the same flows."""
    mean_jains_fairness_throughput_l4: NotRequired[ReadOnly[float | None]]
    """mean over the samples of (sum x)^2 / (n sum x^2), x = throughput of the n flows active in all of the sample."""
    mean_product_fairness_throughput_l4: NotRequired[ReadOnly[float | None]]
    """(Mbit/s)^n: mean over the samples of the product of x of the same flows."""
    owd_p50_ms: NotRequired[ReadOnly[float | None]]
    """ms: median over the packets of all flows' owd_mean_ms."""
    owd_p95_ms: NotRequired[ReadOnly[float | None]]
    """ms: 95th percentile over the same packets."""
    owd_p99_ms: NotRequired[ReadOnly[float | None]]
    """ms: 99th percentile over the same packets."""
    packet_loss_rate: NotRequired[ReadOnly[float | None]]
    """the flows' lost packets / (their lost + delivered packets), each counted as in the flow's packet_loss_rate."""
    sample_interval_s: NotRequired[ReadOnly[float | None]]
    """length of the sample intervals that sampled metrics are computed from, s; null without samples."""
    throughput_mbps: NotRequired[ReadOnly[float | None]]
    """Mbit/s: bits delivered of all flows / (last - first delivery over all flows)."""
    utilization: NotRequired[ReadOnly[float | None]]
    """utilization of links[0], the bottleneck in the data direction."""
    valid: NotRequired[ReadOnly[bool | None]]
    """every flow that sent anything received something, and duration_s is at least 0.8 of the planned duration."""


OneWay: TypeAlias = Literal["data", "return", "difference"]
"""Dependence of a metric on the clocks of both ends: packets leave by one clock and arrive by the other."""


class ProgramReport(TypedDict):
    """What a program did."""

    command: NotRequired[ReadOnly[Sequence[str]]]
    """The command."""
    ended: NotRequired[ReadOnly[str | None]]
    """How it ended before it was told to, if it did."""
    flow: ReadOnly[int]
    """Flow number, from 1."""
    output: NotRequired[ReadOnly[Sequence[str]]]
    """Its last output lines."""
    qlogs: NotRequired[ReadOnly[Sequence[QlogReport]]]
    """The qlogs that it wrote."""
    side: ReadOnly[str]
    """`sender` or `receiver`."""


class Punctuality(TypedDict):
    """Distribution of an end's lateness."""

    events: NotRequired[ReadOnly[int]]
    """Number of datagrams and timers."""
    max_us: NotRequired[ReadOnly[int]]
    """Maximum lateness, us."""
    mean_us: NotRequired[ReadOnly[int]]
    """Mean lateness, us."""
    p50_us: NotRequired[ReadOnly[int]]
    """Median lateness, us."""
    p99_us: NotRequired[ReadOnly[int]]
    """99th percentile of the lateness, us."""


class QlogReport(TypedDict):
    """A qlog that a program wrote."""

    bytes: ReadOnly[int]
    """Size, bytes."""
    events: ReadOnly[int]
    """Events in it."""
    file: ReadOnly[str]
    """Its name among the files of the run; the program's own name for it where it is not kept."""
    notes: ReadOnly[Sequence[str]]
    """What a reader of it has to know: damage, and what is left out."""
    sampled: ReadOnly[bool]
    """Whether the flow's samples have its fields."""
    sent: ReadOnly[int]
    """Packets of the application that it says were sent."""


class RunStats(TypedDict):
    """The statistics of a run as they are stored. `None` (null) means "not defined" or "the log does not tell"."""

    flows: ReadOnly[Sequence[FlowStats]]
    """Statistics of flows, in order of flow numbers."""
    links: ReadOnly[Sequence[LinkStats]]
    """Statistics of links, in the driver's order; the first is the bottleneck in the data direction."""
    network: ReadOnly[NetworkStats]
    """Statistics over all flows."""


class SimulatedRun(TypedDict):
    """Statistics of a simulated run: the content of `stats.json`."""

    events: ReadOnly[int]
    """Number of events that the simulator processed."""
    flows: ReadOnly[Sequence[FlowStats]]
    """Statistics of flows, in order of flow numbers."""
    links: ReadOnly[Sequence[LinkStats]]
    """Statistics of links, in the driver's order; the first is the bottleneck in the data direction."""
    network: ReadOnly[NetworkStats]
    """Statistics over all flows."""
    sim_wall_s: ReadOnly[float]
    """Time in the simulator's loop by this machine's clock, s."""
