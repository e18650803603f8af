"""Time Series Plot of the Operating Point: in flight, smoothed RTT and throughput over time (ccperf.net)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from dumbbell.present.plots.parts.panels import Curve, Panel, Steps, time_figure
from dumbbell.present.plots.parts.strokes import Stroke

Points = tuple[NDArray[Any], NDArray[Any]]
"""Times (s) and values."""


@dataclass(frozen=True)
class OperatingSeries:
    """Series of one flow or one scheme; a throughput is the mean of the interval that ends at its time."""

    label: str
    stroke: Stroke
    in_flight: Points
    srtt_ms: Points
    throughput_mbps: Points


def operating_point_figure(
    name: str,
    flows: Sequence[OperatingSeries],
    *,
    capacity_mbps: Steps | None = None,
    changes_s: Sequence[float] = (),
) -> str:
    """Return three plots over time as SVG, with a line for each of `flows`.

    `capacity_mbps` is shaded behind the throughput; `changes_s` get vertical lines.
    """
    panels = [
        Panel("In flight (segments)", _curves(flows, "in_flight")),
        Panel("sRTT (ms)", _curves(flows, "srtt_ms"), from_zero=False),
        Panel("Throughput (Mbit/s)", _curves(flows, "throughput_mbps"), limit=capacity_mbps),
    ]
    return time_figure(name, panels, changes_s)


def _curves(flows: Sequence[OperatingSeries], field: str) -> list[Curve]:
    return [Curve(flow.label, flow.stroke, *getattr(flow, field)) for flow in flows]
