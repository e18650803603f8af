"""Step response: throughput and smoothed RTT around a change of the network, or over the periods of a pulse wave."""

import bisect
from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.present.plots.parts.panels import Curve, Panel, Steps, time_figure
from dumbbell.present.plots.parts.strokes import Stroke
from dumbbell.present.plots.timelines.operating_point import Points


@dataclass(frozen=True)
class Response:
    """How one scheme, or one flow, followed; times count from the change, or from the start of the run.

    `reached_s` is when it first met the mark; None if it did not.
    """

    label: str
    stroke: Stroke
    throughput_mbps: Points
    srtt_ms: Points
    reached_s: float | None = None


def step_figure(
    name: str,
    responses: Sequence[Response],
    *,
    target_mbps: Steps | None = None,
    mark_mbps: Steps | None = None,
    base_rtt_ms: Steps | None = None,
    changes_s: Sequence[float] = (0.0,),
) -> str:
    """Two plots as SVG: throughput below its target (shaded) with the mark (dotted, 90 % of it), and the sRTT.

    A large marker stands on the mark where a response met it. One change is the origin of the time axis; several are
    the edges of a pulse wave.
    """
    spots = []
    if mark_mbps and mark_mbps.time_s:
        for response in responses:
            if response.reached_s is not None:
                step = bisect.bisect_right(mark_mbps.time_s, response.reached_s) - 1
                spots.append((response.reached_s, mark_mbps.values[max(step, 0)], response.stroke))
    throughput = [Curve(each.label, each.stroke, *each.throughput_mbps) for each in responses]
    srtt = [Curve(each.label, each.stroke, *each.srtt_ms) for each in responses]
    panels = [
        Panel("Throughput (Mbit/s)", throughput, limit=target_mbps, mark=mark_mbps, spots=spots, height=140.0),
        Panel("sRTT (ms)", srtt, mark=base_rtt_ms, from_zero=False, height=120.0),
    ]
    return time_figure(name, panels, changes_s, "Time (s)" if len(changes_s) > 1 else "Time since the change (s)")
