"""Distribution of the one-way delay of packets, of each flow."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.figure_request import DrawnFigure, Rows, RunFigureRequest
from dumbbell.present.model.series import flow_label, numbered_lines
from dumbbell.present.model.source import delay_steps
from dumbbell.present.plots import DelaySteps, delay_axis, delay_cdf_figure
from dumbbell.results.clocks import clocks_of
from dumbbell.results.series.run_files import PACKETS
from dumbbell.results.series.samples import NOTHING, Series

SCOPE = RUN

_COLUMNS = {"of": "text", "scheme": "text", "delay_ms": "number", "part": "number"}
_MOST = 2000
"""Maximum steps of a line: a reader cannot tell more of them apart."""


def draw(request: RunFigureRequest) -> DrawnFigure:
    """Draw the cumulative distribution of the delays of the packets that arrived, for each flow."""
    flow_steps = delay_steps(request.run.source(PACKETS), _MOST)
    lines = dict(request.lines)
    lines |= numbered_lines({flow: flow_label(flow) for flow in flow_steps.keys() - lines.keys()})
    steps = {flow: flow_steps.get(flow, NOTHING) for flow in sorted(lines)}
    curves = [
        DelaySteps(lines[flow].label + _clocks(request, flow), lines[flow].stroke, *steps[flow]) for flow in steps
    ]
    axis = delay_axis(float(end) for delay_ms, _ in steps.values() if len(delay_ms) for end in delay_ms[[0, -1]])
    # in a log that was written at one end, the delay of a packet lasts until its acknowledgement has arrived
    round_trip = any(flow.get("rtt_p95_ms") is not None for flow in request.run.statistics["flows"])
    drawing = delay_cdf_figure(request.name, curves, axis, "Round-trip time" if round_trip else "One-way delay")
    return request.make_figure(drawing, lambda: _rows(request, steps), _COLUMNS)


def _clocks(request: RunFigureRequest, flow: int) -> str:
    """Return the shift of the line that the clocks of two machines allow, ms; empty for runs on one machine."""
    clocks = clocks_of(request.run.statistics)
    shift = clocks.shift("flow", flow, "delay_p95_ms") if clocks else None
    return f" (clocks {shift[0]:+.2f} to {shift[1]:+.2f} ms)" if shift else ""


def _rows(request: RunFigureRequest, steps: dict[int, Series]) -> Rows:
    for flow, series in steps.items():
        for delay_ms, part in zip(*series, strict=True):
            yield [f"flow {flow}", request.scheme(flow), float(delay_ms), float(part)]
