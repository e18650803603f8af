"""Types of the JSON in which the core reports what packet logs contain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NotRequired, TypedDict

from dumbbell.contract.read_only import ReadOnly


class PlannedFlow(TypedDict):
    """A flow of a log, as far as it is known beforehand."""

    flow: ReadOnly[int]
    scheme: NotRequired[ReadOnly[str]]
    start_s: NotRequired[ReadOnly[float | None]]
    stop_s: NotRequired[ReadOnly[float | None]]


class LogTells(TypedDict, total=False):
    """Quantities that a log contains; metrics that need others are null."""

    sendings: ReadOnly[bool]
    arrivals: ReadOnly[bool]
    marks: ReadOnly[bool]
    flows: ReadOnly[bool]
    delay: ReadOnly[Literal["one-way", "above-smallest", "round-trip", "unknown"]]


class MeasureOptions(TypedDict, total=False):
    """Options of `measure_log`."""

    duration_s: float
    warmup_s: float
    bin_s: float
    flows: Sequence[PlannedFlow]
    stated: str
    """File of the samples that a sender stated."""
    log_zero_ns: int | None
    tells: LogTells


class JainOptions(TypedDict):
    """Options of `jain_series`."""

    window_s: float
    rule: str
    duration_s: float
    flows: Sequence[PlannedFlow]


class TransferOptions(TypedDict):
    """Options of `transfers`."""

    interval_s: float
    duration_s: float
    flows: Sequence[PlannedFlow]


class FlowRates(TypedDict):
    """Rates of a flow by bin, Mbit/s."""

    flow: ReadOnly[int]
    ingress_mbps: ReadOnly[list[float]]
    egress_mbps: ReadOnly[list[float]]


class RateSeries(TypedDict):
    """Rates over time of a packet log."""

    bin_s: ReadOnly[float]
    start_s: ReadOnly[float]
    flows: ReadOnly[Sequence[FlowRates]]
    capacity_mbps: ReadOnly[list[float]]
    delay_range_ms: ReadOnly[tuple[float, float] | None]
    """Minimum and maximum one-way delay of the data packets that arrived."""


class JainIndexSeries(TypedDict):
    """Jain's index of a packet log in windows of time."""

    window_s: ReadOnly[float]
    rule: ReadOnly[str]
    time_s: ReadOnly[Sequence[float]]
    """End of each window."""
    index: ReadOnly[Sequence[float]]


class TransferRow(TypedDict):
    """A flow, or all flows, in an interval or over all time."""

    view: ReadOnly[Literal["client", "server"]]
    flow: ReadOnly[int | None]
    total: ReadOnly[bool]
    start_s: ReadOnly[float]
    end_s: ReadOnly[float]
    bytes: ReadOnly[int]
    kbytes: ReadOnly[float]
    kbytes_per_s: ReadOnly[float]


class Transfers(TypedDict):
    """Bytes that the flows of a packet log transferred."""

    interval_s: ReadOnly[float]
    payload: ReadOnly[bool]
    rows: ReadOnly[Sequence[TransferRow]]


class NormalisedScheme(TypedDict):
    """A scheme over all experiments."""

    scheme: ReadOnly[str]
    throughput: ReadOnly[float]
    queueing_delay_ms: ReadOnly[float | None]
    flows: ReadOnly[int]
    experiments: ReadOnly[int]


class SeriesName(TypedDict):
    """A series of a run in the explorer."""

    owner: ReadOnly[str]
    name: ReadOnly[str]
    title: ReadOnly[str]
    unit: ReadOnly[str]
    kind: ReadOnly[str]
    """`points`, `steps` or `bars`."""
    names: NotRequired[ReadOnly[Sequence[str]]]
    """The texts that the values stand for."""


class ImportedLog(TypedDict):
    """Result of an import of Pantheon's or mahimahi's logs. Of unusable logs there is the reason alone."""

    unusable: ReadOnly[str | None]
    records: NotRequired[ReadOnly[int]]
    init_us: NotRequired[ReadOnly[int | None]]
    log_zero_ns: NotRequired[ReadOnly[int]]
    last_s: NotRequired[ReadOnly[float]]
    flows: NotRequired[ReadOnly[Sequence[int]]]
    oddities: NotRequired[ReadOnly[Sequence[str]]]


class ImportedTrace(TypedDict):
    """A trace of a qlog file."""

    title: ReadOnly[str]
    events: ReadOnly[int]
    sent: ReadOnly[int]
    acked: ReadOnly[int]
    lost: ReadOnly[int]
    other_spaces: ReadOnly[int]
    unknown: ReadOnly[int]
    ack_frames: ReadOnly[int]
    sent_bytes: ReadOnly[int]
    received_bytes: ReadOnly[int]
    vantage_point: ReadOnly[str | None]
    metrics: ReadOnly[int]
    last_s: ReadOnly[float]
    notes: ReadOnly[Sequence[str]]


CapturedFlow = TypedDict(
    "CapturedFlow",
    {
        "from": ReadOnly[str],
        "to": ReadOnly[str],
        "protocol": ReadOnly[str],
        "payload_bytes": ReadOnly[int],
        "least_answer_ms": ReadOnly["float | None"],
        "spin_rtt_min_ms": ReadOnly["float | None"],
        "life_s": ReadOnly[tuple[float, float]],
        "data_s": ReadOnly["tuple[float, float] | None"],
    },
)
"""A flow of a capture: `life_s` is the time between its first and last packet, `data_s` that of its data."""


class ImportedCapture(TypedDict):
    """The flows of a packet capture that were recorded alike."""

    name: ReadOnly[str]
    role: ReadOnly[Literal["sender", "receiver"] | None]
    flows: ReadOnly[Sequence[CapturedFlow]]
    records: ReadOnly[int]
    has_samples: ReadOnly[bool]
    first_s: ReadOnly[float]
    last_s: ReadOnly[float]
    tells_sendings: ReadOnly[bool]
    tells_arrivals: ReadOnly[bool]
    tells_marks: ReadOnly[bool]
    delays: ReadOnly[Literal["one-way", "above-smallest", "round-trip", "unknown"]]
    notes: ReadOnly[Sequence[str]]


class QlogHead(TypedDict):
    """What a qlog says of itself."""

    title: str
    description: str
    name: str


class ComparedFlow(TypedDict):
    """A flow of an experiment, for `normalised`."""

    experiment: str
    scheme: str
    throughput_mbps: float | None
    queueing_delay_ms: float | None
    owd_min_ms: float | None
