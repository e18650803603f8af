"""The numbers behind a figure, as a table."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from dumbbell.library.tables import Table
from dumbbell.report.drawing import BIN_S, draw_job, shown_capacity
from dumbbell.report.overview import Overview
from dumbbell.report.source import delays, rates
from dumbbell.report.state import chosen_fields
from dumbbell.results.kept import FLOWS, PACKETS
from dumbbell.results.samples import RunSamples, Series, read_sampled, run_samples

if TYPE_CHECKING:
    from dumbbell.library.one_run import RunResults

_SERIES = {
    "of": "text",
    "scheme": "text",
    "field": "text",
    "unit": "text",
    "time_s": "number",
    "value": "number",
}
_FIELDS = {
    "staircase": (("throughput_mbps", "Mbit/s"),),
    "operating-point": (("in_flight_segments", "segments"), ("srtt_ms", "ms"), ("throughput_mbps", "Mbit/s")),
    "window": (("cwnd_packets", "packets"), ("ssthresh_packets", "packets"), ("pacing_mbps", "Mbit/s")),
    "distribution": (("throughput_mbps", "Mbit/s"), ("srtt_ms", "ms")),
    "fairness": (("throughput_mbps", "Mbit/s"),),
}
_LINK_FIELDS = (
    ("queue_packets", "packets"),
    ("drops_packets", "packets"),
    ("marks_packets", "packets"),
    ("capacity_mbps", "Mbit/s"),
)
_MEDIA = ("encoder_rate", "frame_delay", "frame_size")

Rows = Iterator[list[object]]


def run_data(kind: str, run: "RunResults") -> Table:
    """The numbers that a figure of a run shows, a row for each: of which flow or link, what, when and how much."""
    return Table.of(_SERIES, list(_ROWS.get(kind, _sampled)(kind, run)))


def overview_data(kind: str, overview: Overview, path: str) -> Table:
    """The points of a figure of a path: throughput and delay of each scheme with their intervals, or of each run."""
    titles = {"path": "text", "scheme": "text"}
    if kind == "means":
        columns = titles | {"runs": "integer"}
        for metric in ("throughput_mbps", "delay_p95_ms"):
            columns |= {name: "number" for name in (metric, f"{metric}_low", f"{metric}_high")}
        columns |= {"in_front": "integer"}
        rows: list[list[object]] = []
        for mean in overview.means[path]:
            estimates = (mean.throughput_mbps, mean.delay_ms)
            values = [value for each in estimates for value in (each.mean, each.low, each.high)]
            rows.append([path, mean.scheme, mean.throughput_mbps.count, *values, int(mean.in_front)])
        return Table.of(columns, rows)
    columns = titles | {"run": "integer", "throughput_mbps": "number", "delay_p95_ms": "number"}
    good = [run for run in overview.model.of(path) if run.good]
    found = [
        [path, run.scheme, run.number, run.network.get("throughput_mbps"), run.network.get("delay_p95_ms")]
        for run in good
    ]
    return Table.of(columns, [row for row in found if None not in row])


def _rates(_: str, run: "RunResults") -> Rows:
    found = rates(run.source(PACKETS), BIN_S)
    for direction, flows in (("ingress", found.ingress), ("egress", found.egress)):
        for flow, values in sorted(flows.items()):
            times = (found.start_s + index * found.bin_s for index in range(len(values)))
            yield from _series(f"flow {flow}", _scheme(run, flow), f"{direction}_mbps", "Mbit/s", times, values)
    capacity = shown_capacity(draw_job("", run.statistics, run.kept, str))
    times = (found.start_s + index * found.bin_s for index in range(len(capacity)))
    yield from _series("path", "", "capacity_mbps", "Mbit/s", times, capacity)


def _delays(_: str, run: "RunResults") -> Rows:
    for flow, (time_s, delay_ms) in sorted(delays(run.source(PACKETS)).items()):
        yield from _series(f"flow {flow}", _scheme(run, flow), "one_way_delay_ms", "ms", time_s, delay_ms)


def _sampled(kind: str, run: "RunResults") -> Rows:
    samples = _samples(run)
    for flow in samples.flows:
        for name, unit in _FIELDS[kind]:
            yield from _series(f"flow {flow.flow}", flow.scheme, name, unit, *getattr(flow, name))
    if kind == "fairness":
        yield from _series("network", "", "jain_index", "", *samples.jain)


def _queue(_: str, run: "RunResults") -> Rows:
    for link in _samples(run).links[:1]:
        for name, unit in _LINK_FIELDS:
            yield from _series(link.name, "", name, unit, *getattr(link, name))


def _state(_: str, run: "RunResults") -> Rows:
    sampled = read_sampled(run.kept.get(FLOWS))
    yield from _fields(run, sampled.series, sampled.units, chosen_fields(sampled))


def _media(_: str, run: "RunResults") -> Rows:
    sampled = read_sampled(run.kept.get(FLOWS))
    yield from _fields(run, sampled.series, sampled.units, _MEDIA)


def _fields(
    run: "RunResults", series: dict[str, dict[str, Series]], units: dict[str, str], names: Iterable[str]
) -> Rows:
    for name in names:
        for flow, values in sorted(series.get(name, {}).items(), key=lambda each: int(each[0])):
            yield from _series(f"flow {flow}", _scheme(run, int(flow)), name, units[name], *values)


def _series(of: str, scheme: str, name: str, unit: str, times: Iterable[Any], values: Iterable[Any]) -> Rows:
    for time_s, value in zip(times, values, strict=True):
        yield [of, scheme, name, unit, float(time_s), float(value)]


def _samples(run: "RunResults") -> RunSamples:
    return run_samples(run.kept, run.statistics, run.specification)


def _scheme(run: "RunResults", flow: int) -> str:
    return next((str(each.get("scheme") or "") for each in run.statistics["flows"] if each["flow"] == flow), "")


_ROWS: dict[str, Callable[[str, "RunResults"], Rows]] = {
    "throughput": _rates,
    "delay": _delays,
    "queue": _queue,
    "state": _state,
    "media": _media,
}
