"""The numbers behind a figure, as a table."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy

from dumbbell.library.tables import Table
from dumbbell.report.drawing import BIN_S, draw_job, shown_capacity, stairs
from dumbbell.report.normalised import Experiments
from dumbbell.report.over_time import OverTime
from dumbbell.report.overview import Overview
from dumbbell.report.source import delays, rates
from dumbbell.report.staircase import Staircases
from dumbbell.report.state import chosen_fields
from dumbbell.results.campaign import stamp
from dumbbell.results.jain import RULES, WINDOW_S, jain_series
from dumbbell.results.kept import FLOWS, PACKETS
from dumbbell.results.over_time import METRICS
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
        timed = any(mean.delay_ms.clocks for mean in overview.means[path])
        columns |= {"delay_p95_ms_clocks_low": "number", "delay_p95_ms_clocks_high": "number"} if timed else {}
        rows: list[list[object]] = []
        for mean in overview.means[path]:
            estimates = (mean.throughput_mbps, mean.delay_ms)
            values = [value for each in estimates for value in (each.mean, each.low, each.high)]
            clocks = (mean.delay_ms.clocks or (None, None)) if timed else ()
            rows.append([path, mean.scheme, mean.throughput_mbps.count, *values, int(mean.in_front), *clocks])
        return Table.of(columns, rows)
    columns = titles | {"run": "integer", "throughput_mbps": "number", "delay_p95_ms": "number"}
    good = [run for run in overview.model.of(path) if run.good]
    found = [run for run in good if None not in (run.network.get("throughput_mbps"), run.network.get("delay_p95_ms"))]
    timed = any(run.clocks for run in found)
    columns |= {"delay_p95_ms_clocks_low": "number", "delay_p95_ms_clocks_high": "number"} if timed else {}
    rows = []
    for run in found:
        clocks = (run.interval("network", 0, "delay_p95_ms") or (None, None)) if timed else ()
        numbers = (run.network["throughput_mbps"], run.network["delay_p95_ms"])
        rows.append([path, run.scheme, run.number, *numbers, *clocks])
    return Table.of(columns, rows)


def over_time_data(kind: str, over_time: OverTime, path: str) -> Table:
    """The points of a figure of a campaign: medians and quartiles of each scheme, by round or by hour of day (UTC)."""
    place = "hour" if kind == "by-hour" else "round"
    columns = {"path": "text", "scheme": "text", place: "integer", "started_at": "text", "runs": "integer"}
    parts = ("low", "median", "high")
    columns |= {f"{metric}_{part}": "number" for metric in METRICS for part in parts}
    gathered = over_time.periods(kind, path)
    timed = any(spread.clocks for found in gathered.values() for each in found for spread in each.metrics.values())
    columns |= {"delay_p95_ms_clocks_low": "number", "delay_p95_ms_clocks_high": "number"} if timed else {}
    rows: list[list[object]] = []
    for scheme, found in gathered.items():
        for period in found:
            spreads = [period.metrics.get(metric) for metric in METRICS]
            values = [getattr(spread, part) if spread else None for spread in spreads for part in parts]
            delay = period.metrics.get("delay_p95_ms")
            clocks = ((delay and delay.clocks) or (None, None)) if timed else ()
            rows.append([path, scheme, period.number, stamp(period.at_s), period.runs, *values, *clocks])
    return Table.of(columns, rows)


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


def _staircase(_: str, run: "RunResults") -> Rows:
    found = stairs(draw_job("", run.statistics, run.kept, str))
    for flow, values in found.mbps.items():
        active = numpy.isfinite(values)
        series = found.time_s[active], values[active]
        yield from _series(f"flow {flow}", _scheme(run, flow), "throughput_mbps", "Mbit/s", *series)


def _jain(_: str, run: "RunResults") -> Rows:
    window_s = run.statistics["network"].get("jain_window_s") or WINDOW_S
    for rule in RULES:
        found = jain_series(run.source(PACKETS), run.statistics["flows"], rule, window_s)
        yield from _series("network", "", rule, "", found.time_s, found.index)


def normalised_data(experiments: Experiments) -> Table:
    """The table behind figure `normalised`: a row for each scheme."""
    kinds = {"scheme": "text", "throughput": "number", "queueing_delay_ms": "number"}
    kinds |= {"flows": "integer", "experiments": "integer"}
    return Table.of(kinds, [list(vars(each).values()) for each in experiments.found()])


def staircases_data(staircases: Staircases, path: str) -> Table:
    """The indices of all windows of each scheme, in order of size, and which part of them is at most so large."""
    rows: list[list[object]] = []
    for scheme, index in staircases.indices(path).items():
        values = sorted(index)
        rows += [[path, scheme, value, (number + 1) / len(values)] for number, value in enumerate(values)]
    return Table.of({"path": "text", "scheme": "text", "jain_index": "number", "part": "number"}, rows)


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
    "staircase": _staircase,
    "jain": _jain,
    "delay": _delays,
    "queue": _queue,
    "state": _state,
    "media": _media,
}
