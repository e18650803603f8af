"""What the senders' controllers said over time: window, slow start threshold, pacing rate."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dumbbell.present.plots.parts.panels import Curve, Panel, time_figure
from dumbbell.present.plots.parts.strokes import Stroke
from dumbbell.present.plots.timelines.operating_point import Points


@dataclass(frozen=True)
class WindowSeries:
    """One flow; None for what its controller does not have."""

    label: str
    stroke: Stroke
    cwnd: Points | None = None
    ssthresh: Points | None = None
    pacing_mbps: Points | None = None


def window_figure(name: str, flows: Sequence[WindowSeries]) -> str:
    """Window with its threshold (thin, dashed), and the pacing rate, as SVG; only what one of the flows has."""
    panels = []
    if any(flow.cwnd for flow in flows) or not any(flow.pacing_mbps for flow in flows):
        curves = [Curve(flow.label, flow.stroke, *flow.cwnd, held=True) for flow in flows if flow.cwnd]
        thresholds = [Curve("", _thin(flow.stroke), *flow.ssthresh, held=True) for flow in flows if flow.ssthresh]
        label = "cwnd, dashed ssthresh (packets)" if thresholds else "cwnd (packets)"
        panels.append(Panel(label, [*curves, *thresholds], height=165.0))
    paced = [Curve(flow.label, flow.stroke, *flow.pacing_mbps, held=True) for flow in flows if flow.pacing_mbps]
    if paced:
        panels.append(Panel("Pacing rate (Mbit/s)", paced))
    return time_figure(name, panels)


def _thin(stroke: Stroke) -> Stroke:
    return replace(stroke, dashes=(2.5, 1.5))
