"""Figures as SVG, drawn by matplotlib from numbers that others computed."""

from dumbbell.figures.axis import DelayAxis, delay_axis
from dumbbell.figures.calls import CallSeries, calls_figure
from dumbbell.figures.distribution import Distribution, distribution_figure
from dumbbell.figures.fairness import Share, fairness_figure
from dumbbell.figures.heatmap import MapAxis, heatmap_figure
from dumbbell.figures.in_flight import OperatingPoint, Optimum, in_flight_figure
from dumbbell.figures.matrix import matrix_figure
from dumbbell.figures.media import FlowMedia, media_figure
from dumbbell.figures.operating_point import OperatingSeries, PathChange, Points, operating_point_figure
from dumbbell.figures.panels import Curve, Panel, Steps, time_figure
from dumbbell.figures.plane import Bars, Ellipse, PlanePoint, plane_figure
from dumbbell.figures.queues import QueueSeries, queue_figure
from dumbbell.figures.runs import FlowDelays, FlowRates, delay_figure, throughput_figure
from dumbbell.figures.step import Response, step_figure
from dumbbell.figures.strokes import Stroke, flow_stroke, scheme_strokes
from dumbbell.figures.style import Style, flow_color, styles
from dumbbell.figures.summary import Point, summary_figure
from dumbbell.figures.svg import for_notebook, for_page, for_print, print_ink, theme_ink
from dumbbell.figures.swatch import swatch
from dumbbell.figures.sweep import SweepLine, SweepPanel, sweep_figure
from dumbbell.figures.verdict import VerdictPoint, verdict_figure
from dumbbell.figures.window import WindowSeries, window_figure

__all__ = [
    "Bars",
    "CallSeries",
    "Curve",
    "DelayAxis",
    "Distribution",
    "Ellipse",
    "FlowDelays",
    "FlowMedia",
    "FlowRates",
    "MapAxis",
    "OperatingPoint",
    "OperatingSeries",
    "Optimum",
    "Panel",
    "PathChange",
    "PlanePoint",
    "Point",
    "Points",
    "QueueSeries",
    "Response",
    "Share",
    "Steps",
    "Stroke",
    "Style",
    "SweepLine",
    "SweepPanel",
    "VerdictPoint",
    "WindowSeries",
    "calls_figure",
    "delay_axis",
    "delay_figure",
    "distribution_figure",
    "fairness_figure",
    "flow_color",
    "flow_stroke",
    "for_notebook",
    "for_page",
    "for_print",
    "heatmap_figure",
    "in_flight_figure",
    "matrix_figure",
    "media_figure",
    "operating_point_figure",
    "plane_figure",
    "print_ink",
    "queue_figure",
    "scheme_strokes",
    "step_figure",
    "styles",
    "summary_figure",
    "swatch",
    "sweep_figure",
    "theme_ink",
    "throughput_figure",
    "time_figure",
    "verdict_figure",
    "window_figure",
]
