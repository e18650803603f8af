"""Video calls over time: what their flows got of the capacity, and how late frames were seen."""

from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.present.plots.parts.panels import Curve, Panel, Steps, time_figure
from dumbbell.present.plots.parts.strokes import Stroke
from dumbbell.present.plots.timelines.operating_point import Points


@dataclass(frozen=True)
class CallSeries:
    """One call: throughput, and the 95th percentile of the delays of the frames decoded, second by second."""

    label: str
    stroke: Stroke
    throughput_mbps: Points
    frame_delay_ms: Points


def calls_figure(
    name: str, calls: Sequence[CallSeries], capacity_mbps: Steps | None = None, changes_s: Sequence[float] = ()
) -> str:
    """Two plots as SVG: throughput on the capacity (shaded), and the frame delay."""
    panels = [
        Panel(
            "Throughput (Mbit/s)",
            [Curve(call.label, call.stroke, *call.throughput_mbps, held=True) for call in calls],
            limit=capacity_mbps,
            height=140.0,
        ),
        Panel(
            "Frame delay, 95th percentile (ms)",
            [Curve(call.label, call.stroke, *call.frame_delay_ms, held=True) for call in calls],
            height=120.0,
        ),
    ]
    return time_figure(name, panels, changes_s)
