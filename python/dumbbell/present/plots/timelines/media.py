"""Figure of a run's live sources: encoder rate, decoded bitrate, and delay of every frame."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from dumbbell.present.plots.parts.canvas import look, render
from dumbbell.present.plots.parts.frame import PAIRS, frame, value_limits
from dumbbell.present.plots.parts.raster import Cloud, dots
from dumbbell.present.plots.parts.style import flow_color
from dumbbell.present.plots.parts.svg import compact, place_image

_RATES, _DELAYS = 120.0, 95.0  # points


@dataclass(frozen=True)
class FlowMedia:
    """Live source of one flow; times count from the start of the figure.

    `encoder_mbps` holds from its time to the next one. `decoded_mbps` are means between neighbours of `edges_s`. Frames
    are dots: the time of decoding, and the delay since capture.
    """

    flow: int
    name: str
    encoder_s: NDArray[Any]
    encoder_mbps: NDArray[Any]
    edges_s: NDArray[Any]
    decoded_mbps: NDArray[Any]
    mean_decoded_mbps: float | None
    frame_s: NDArray[Any]
    frame_delay_ms: NDArray[Any]


def media_figure(name: str, flows: Sequence[FlowMedia]) -> str:
    """Return the encoder's rate (dashed) and the decoded bitrate (solid) as SVG, above the delay of every frame."""
    end_s = max((float(flow.edges_s[-1]) for flow in flows), default=1.0)
    span = (0.0, float(max(math.ceil(end_s), 1)), *value_limits([flow.frame_delay_ms for flow in flows]))
    with look(name):
        plot_frame = frame(_RATES, _DELAYS)
        rates, delays = plot_frame.plots
        for flow in flows:
            color, label = flow_color(flow.flow), flow.name
            mean = "n/a" if flow.mean_decoded_mbps is None else f"{flow.mean_decoded_mbps:.2f}"
            rates.plot(
                flow.encoder_s,
                flow.encoder_mbps,
                color=color,
                linestyle="--",
                linewidth=1.0,
                drawstyle="steps-post",
                label=f"{label} encoder",
            )
            bitrates = [0.0, *flow.decoded_mbps]
            rates.plot(
                flow.edges_s, bitrates, color=color, linewidth=1.3, label=f"{label} decoded (mean {mean} Mbit/s)"
            )
        rates.set_xlim(span[0], span[1])
        rates.set_ylim(bottom=0)
        delays.set_xlim(span[0], span[1])
        delays.set_ylim(span[2], span[3])
        delays.add_patch(Rectangle((0, 0), 0, 0, gid="frames"))
        plot_frame.finish(["Bitrate (Mbit/s)", "Frame delay (ms)"], PAIRS)
        drawing = render(plot_frame.figure)
    clouds = [Cloud(flow.frame_s, flow.frame_delay_ms, flow_color(flow.flow)) for flow in flows if len(flow.frame_s)]
    if clouds:
        drawing = place_image(drawing, "frames", dots(clouds, span, plot_frame.size(1)), plot_frame.box(1))
    return compact(drawing, name)
