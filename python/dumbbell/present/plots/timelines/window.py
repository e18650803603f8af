"""State of the senders' controllers over time: window, slow start threshold, pacing rate."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dumbbell.present.plots.parts.panels import Curve, Panel, time_figure
from dumbbell.present.plots.parts.strokes import Stroke
from dumbbell.present.plots.timelines.operating_point import Points


@dataclass(frozen=True)
class WindowSeries:
    """Series of one flow; None for values that its controller does not have."""

    label: str
    stroke: Stroke
    cwnd: Points | None = None
    ssthresh: Points | None = None
    pacing_mbps: Points | None = None


def window_figure(name: str, flows: Sequence[WindowSeries]) -> str:
    """Return the window with its threshold (thin, dashed), and the pacing rate, as SVG, as far as a flow has them."""
    panels = []
    if any(flow.cwnd for flow in flows) or not any(flow.pacing_mbps for flow in flows):
        curves = [Curve(flow.label, flow.stroke, *flow.cwnd, is_stepwise=True) for flow in flows if flow.cwnd]
        thresholds = [
            Curve("", _thin(flow.stroke), *flow.ssthresh, is_stepwise=True) for flow in flows if flow.ssthresh
        ]
        label = "cwnd, dashed ssthresh (packets)" if thresholds else "cwnd (packets)"
        panels.append(Panel(label, [*curves, *thresholds], height=165.0))
    pacing_curves = [
        Curve(flow.label, flow.stroke, *flow.pacing_mbps, is_stepwise=True) for flow in flows if flow.pacing_mbps
    ]
    if pacing_curves:
        panels.append(Panel("Pacing rate (Mbit/s)", pacing_curves))
    return time_figure(name, panels)


def _thin(stroke: Stroke) -> Stroke:
    return replace(stroke, dashes=(2.5, 1.5))
