"""Fairness in windows of time, as Jain's index."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.drawing import draw_one
from dumbbell.present.model.figure_request import Drawn, OfRun, Rows, series_rows
from dumbbell.results.analysis.jain import RULES, WINDOW_S, jain_series
from dumbbell.results.series.run_files import PACKETS

SCOPE = RUN


def draw(of: OfRun) -> Drawn:
    """Draws the index by each rule of which flows count."""
    of.run.source(PACKETS)  # refused where there is none
    return of.drawn(draw_one(of.job, "jain"), lambda: _rows(of))


def _rows(of: OfRun) -> Rows:
    window_s = of.run.statistics["network"].get("jain_window_s") or WINDOW_S
    for rule in RULES:
        found = jain_series(of.run.source(PACKETS), of.run.statistics["flows"], rule, window_s)
        yield from series_rows("network", "", rule, "", found.time_s, found.index)
