"""Throughput over RTT: flows of each scheme, with an ellipse of one standard deviation."""

import math
import statistics
from collections.abc import Sequence

from dumbbell.present.figures import PATH
from dumbbell.present.model.figure_request import DrawnFigure, ResultsFigureRequest
from dumbbell.present.plots import Ellipse, PlanePoint, plane_figure

SCOPE = PATH
OPTIONS = ("schemes",)


def draw(request: ResultsFigureRequest) -> DrawnFigure:
    """Draw the mean of the flows of each scheme, and their spread."""
    path, points, rows = request.one_path, [], list[list[object]]()
    for scheme in request.schemes:
        flows = [flow for run in request.model.of(path, scheme.name) if run.good for flow in run.content["flows"]]
        pairs = [(flow.get("mean_srtt_l4"), flow.get("mean_throughput_l4")) for flow in flows]
        complete_pairs = [(float(rtt), float(rate)) for rtt, rate in pairs if rtt is not None and rate is not None]
        if not complete_pairs:
            continue
        rtt, rate = (statistics.fmean(values) for values in zip(*complete_pairs, strict=True))
        spread = covariance(complete_pairs)
        shape = ellipse(*spread) if len(complete_pairs) > 1 else None
        points.append(
            PlanePoint(scheme.title, rtt, rate, request.model.styles[scheme.name], spread=shape, scheme=scheme.name)
        )
        rows.append([path, scheme.name, len(complete_pairs), rtt, rate, *spread])
    columns = {"path": "text", "scheme": "text", "flows": "integer", "mean_srtt_ms": "number"}
    columns |= {name: "number" for name in ("throughput_mbps", "var_srtt", "covariance", "var_throughput")}
    problem = f"none of the flows on {path} has throughput and a smoothed RTT"
    drawing = plane_figure(request.name, "whole run, ccperf's metrics", points) if points else ""
    return request.make_figure(path, drawing, columns, lambda: rows, problem)


def covariance(points: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """Return variance of x, covariance, and variance of y; zeros for a single point."""
    if len(points) < 2:
        return (0.0, 0.0, 0.0)
    x, y = zip(*points, strict=True)
    return (statistics.variance(x), statistics.covariance(x, y), statistics.variance(y))


def ellipse(xx: float, xy: float, yy: float) -> Ellipse:
    """Return the ellipse of one standard deviation along the two axes in which the points vary independently."""
    middle, half = (xx + yy) / 2.0, math.hypot((xx - yy) / 2.0, xy)
    long, short = (2.0 * math.sqrt(max(value, 0.0)) for value in (middle + half, middle - half))
    return Ellipse(long, short, angle_deg=math.degrees(0.5 * math.atan2(2.0 * xy, xx - yy)))
