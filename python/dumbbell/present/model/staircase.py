"""Staircases of flows: the fairness of every scheme on a path, window by window."""

import numpy

from dumbbell.present.model.content import ReportModel
from dumbbell.present.plots import JainLine, jain_cdf_figure, scheme_strokes
from dumbbell.results.analysis.jain import WINDOW_S, is_staircase, jain_series
from dumbbell.results.series.run_files import PACKETS, kept_files

KINDS = {"jain-cdf": "distribution of Jain's index over windows of time, of each scheme"}
"""Figures of all runs on a path, with their names in a report."""

RULE = "seen_in_bucket"

CAPTION = (
    "Jain's index in windows of time: which part of the windows of all runs of a scheme has at most such an index. "
    "Counted are the flows that got anything in the window (jain_seen_p50); windows with another number of them than "
    "the one before are left out. Further right is fairer."
)


class Staircases:
    """The figures of a report whose flows join and leave."""

    def __init__(self, model: ReportModel) -> None:
        self.model = model

    def has_staircase(self, path: str) -> bool:
        """Return True if the flows of any run on the path are a staircase."""
        return any(is_staircase(run.flows) for run in self.model.of(path))

    def indices(self, path: str) -> dict[str, list[float]]:
        """Return the indices of all windows by scheme, in the order of the report; windows never mix schemes."""
        indices: dict[str, list[float]] = {}
        for scheme in self.model.schemes:
            for run in self.model.of(path, scheme.name):
                packets = kept_files(self.model.root / run.folder).get(PACKETS)
                if run.good and packets is not None:
                    window_s = run.network.get("jain_window_s") or WINDOW_S
                    series = jain_series(packets, run.flows, RULE, window_s)
                    indices.setdefault(scheme.name, []).extend(float(index) for index in series.index)
        return indices

    def draw(self, path: str, name: str) -> str:
        """Return the figure as SVG; empty if no run of the path has a packet log."""
        indices_by_scheme = self.indices(path)
        if not indices_by_scheme:
            return ""
        strokes = scheme_strokes([self.model.styles[scheme] for scheme in indices_by_scheme])
        lines = [
            JainLine(self.model.scheme_title(scheme), numpy.array(index), stroke=stroke)
            for (scheme, index), stroke in zip(indices_by_scheme.items(), strokes, strict=True)
        ]
        return jain_cdf_figure(name, lines)
