"""Queue of a link and its drops, over time."""

from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.present.plots.parts.panels import Curve, Panel, Steps, time_figure
from dumbbell.present.plots.parts.strokes import Stroke
from dumbbell.present.plots.timelines.operating_point import Points


@dataclass(frozen=True)
class QueueSeries:
    """Series of one link, or of the bottleneck under one scheme.

    Drops and marks at a time are those of the interval that ends then; `marks_packets` is None if not recorded.
    """

    label: str
    stroke: Stroke
    queue_packets: Points
    drops_packets: Points
    marks_packets: Points | None = None


def queue_figure(name: str, links: Sequence[QueueSeries], room_packets: float | None = None) -> str:
    """Return queue length, and drops and marks per interval, as SVG; the room of the queue is shaded.

    Marks have a plot only if there are any.
    """
    queues = [Curve(link.label, link.stroke, *link.queue_packets) for link in links]
    drops = [Curve(link.label, link.stroke, *link.drops_packets) for link in links]
    room = Steps((0.0,), (room_packets,)) if room_packets is not None else None
    marks = [Curve(link.label, link.stroke, *link.marks_packets) for link in links if link.marks_packets]
    panels = [Panel("Queue (packets)", queues, limit=room, height=140.0), Panel("Drops (packets)", drops, height=70.0)]
    if any(curve.values.any() for curve in marks):
        panels.append(Panel("Marks (packets)", marks, height=70.0))
    return time_figure(name, panels)
