"""Figures as SVG, drawn by matplotlib from numbers that others computed."""

from dumbbell.figures.axis import DelayAxis, delay_axis
from dumbbell.figures.media import FlowMedia, media_figure
from dumbbell.figures.runs import FlowDelays, FlowRates, FlowSamples, delay_figure, samples_figure, throughput_figure
from dumbbell.figures.style import Style, flow_color, styles
from dumbbell.figures.summary import Point, summary_figure
from dumbbell.figures.svg import for_page, for_print, print_ink, theme_ink
from dumbbell.figures.swatch import swatch

__all__ = [
    "DelayAxis",
    "FlowDelays",
    "FlowMedia",
    "FlowRates",
    "FlowSamples",
    "Point",
    "Style",
    "delay_axis",
    "delay_figure",
    "flow_color",
    "for_page",
    "for_print",
    "media_figure",
    "print_ink",
    "samples_figure",
    "styles",
    "summary_figure",
    "swatch",
    "theme_ink",
    "throughput_figure",
]
