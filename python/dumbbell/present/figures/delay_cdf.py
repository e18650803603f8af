"""Distribution of the one-way delay of packets, of each flow."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.figure_request import Drawn, OfRun, Rows
from dumbbell.present.model.series import flow_label, numbered_lines
from dumbbell.present.model.source import delay_steps
from dumbbell.present.plots import DelaySteps, delay_axis, delay_cdf_figure
from dumbbell.results.clocks import clocks_of
from dumbbell.results.series.run_files import PACKETS
from dumbbell.results.series.samples import NOTHING, Series

SCOPE = RUN

_COLUMNS = {"of": "text", "scheme": "text", "delay_ms": "number", "part": "number"}
_MOST = 2000
"""Steps of a line: with more they cannot be told apart."""


def draw(of: OfRun) -> Drawn:
    """Draws which part of a flow's packets that arrived took at most so long."""
    found = delay_steps(of.run.source(PACKETS), _MOST)
    lines = dict(of.lines)
    lines |= numbered_lines({flow: flow_label(flow) for flow in found.keys() - lines.keys()})
    steps = {flow: found.get(flow, NOTHING) for flow in sorted(lines)}
    drawn = [DelaySteps(lines[flow].label + _clocks(of, flow), lines[flow].stroke, *steps[flow]) for flow in steps]
    axis = delay_axis(float(end) for delay_ms, _ in steps.values() if len(delay_ms) for end in delay_ms[[0, -1]])
    # in a log that was written at one end, the delay of a packet lasts until its acknowledgement has arrived
    round_trip = any(flow.get("rtt_p95_ms") is not None for flow in of.run.statistics["flows"])
    drawing = delay_cdf_figure(of.name, drawn, axis, "Round-trip time" if round_trip else "One-way delay")
    return of.drawn(drawing, lambda: _rows(of, steps), _COLUMNS)


def _clocks(of: OfRun, flow: int) -> str:
    """Return by how many ms the clocks of two machines may shift the line; nothing for runs on one machine."""
    clocks = clocks_of(of.run.statistics)
    shift = clocks.shift("flow", flow, "delay_p95_ms") if clocks else None
    return f" (clocks {shift[0]:+.2f} to {shift[1]:+.2f} ms)" if shift else ""


def _rows(of: OfRun, steps: dict[int, Series]) -> Rows:
    for flow, found in steps.items():
        for delay_ms, part in zip(*found, strict=True):
            yield [f"flow {flow}", of.scheme(flow), float(delay_ms), float(part)]
