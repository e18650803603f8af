"""Figures as SVG, drawn by matplotlib from numbers that others computed."""

from dumbbell.present.plots.parts import matplotlib_import  # noqa: F401 (before all that imports matplotlib)

# isort: split
from dumbbell.present.plots.boxes import BoxRow, box_figure
from dumbbell.present.plots.distribution import (
    DelaySteps,
    Distribution,
    EcdfLine,
    delay_cdf_figure,
    distribution_figure,
    ecdf_figure,
)
from dumbbell.present.plots.heatmap import MapAxis, MapPanel, heatmap_figure, maps_figure
from dumbbell.present.plots.matrix import matrix_figure
from dumbbell.present.plots.measured import MeasuredPoint, measured_figure
from dumbbell.present.plots.normalised import NormalisedPoint, normalised_figure
from dumbbell.present.plots.over_time import TimedAxis, TimedLine, TimedPanel, over_time_figure
from dumbbell.present.plots.parts.axis import (
    RATE,
    DelayAxis,
    PlaneAxis,
    delay_axis,
    metric_axis,
    spans_widely,
    value_axis,
)
from dumbbell.present.plots.parts.panels import Curve, Panel, Steps, time_figure
from dumbbell.present.plots.parts.strokes import Stroke, flow_stroke, scheme_strokes
from dumbbell.present.plots.parts.style import Style, flow_color, styles
from dumbbell.present.plots.parts.svg import for_notebook, for_page, for_print, print_ink, theme_ink
from dumbbell.present.plots.parts.swatch import swatch
from dumbbell.present.plots.plane import Bars, Ellipse, PlanePoint, plane_figure
from dumbbell.present.plots.replication import ReplicationPoint, replication_figure
from dumbbell.present.plots.summary import FEW, Limits, Point, extent, is_crowd, summary_figure
from dumbbell.present.plots.sweep import SweepLine, SweepPanel, sweep_figure
from dumbbell.present.plots.timelines.fairness import Share, fairness_figure
from dumbbell.present.plots.timelines.jain import JainLine, jain_cdf_figure, jain_figure
from dumbbell.present.plots.timelines.media import FlowMedia, media_figure
from dumbbell.present.plots.timelines.operating_point import OperatingSeries, Points, operating_point_figure
from dumbbell.present.plots.timelines.queues import QueueSeries, queue_figure
from dumbbell.present.plots.timelines.runs import FlowDelays, FlowRates, delay_figure, throughput_figure
from dumbbell.present.plots.timelines.staircase import Step, staircase_figure
from dumbbell.present.plots.timelines.state import Modes, StateLine, Variable, state_figure
from dumbbell.present.plots.timelines.window import WindowSeries, window_figure

__all__ = [
    "FEW",
    "RATE",
    "Bars",
    "BoxRow",
    "Curve",
    "DelayAxis",
    "DelaySteps",
    "Distribution",
    "EcdfLine",
    "Ellipse",
    "FlowDelays",
    "FlowMedia",
    "FlowRates",
    "JainLine",
    "Limits",
    "MapAxis",
    "MapPanel",
    "MeasuredPoint",
    "Modes",
    "NormalisedPoint",
    "OperatingSeries",
    "Panel",
    "PlaneAxis",
    "PlanePoint",
    "Point",
    "Points",
    "QueueSeries",
    "ReplicationPoint",
    "Share",
    "StateLine",
    "Step",
    "Steps",
    "Stroke",
    "Style",
    "SweepLine",
    "SweepPanel",
    "TimedAxis",
    "TimedLine",
    "TimedPanel",
    "Variable",
    "WindowSeries",
    "box_figure",
    "delay_axis",
    "delay_cdf_figure",
    "delay_figure",
    "distribution_figure",
    "ecdf_figure",
    "extent",
    "fairness_figure",
    "flow_color",
    "flow_stroke",
    "for_notebook",
    "for_page",
    "for_print",
    "heatmap_figure",
    "is_crowd",
    "jain_cdf_figure",
    "jain_figure",
    "maps_figure",
    "matrix_figure",
    "measured_figure",
    "media_figure",
    "metric_axis",
    "normalised_figure",
    "operating_point_figure",
    "over_time_figure",
    "plane_figure",
    "print_ink",
    "queue_figure",
    "replication_figure",
    "scheme_strokes",
    "spans_widely",
    "staircase_figure",
    "state_figure",
    "styles",
    "summary_figure",
    "swatch",
    "sweep_figure",
    "theme_ink",
    "throughput_figure",
    "time_figure",
    "value_axis",
    "window_figure",
]
