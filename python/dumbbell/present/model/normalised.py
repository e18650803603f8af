"""Throughput shares and queueing delays over many experiments, as in the Copa paper and its reproduction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dumbbell.base.conventions import PANTHEON
from dumbbell.contract.packet_logs import ComparedFlow
from dumbbell.core.logs import normalised
from dumbbell.present.model.content import ReportModel, load
from dumbbell.present.plots import NormalisedPoint, Style, normalised_figure


@dataclass(frozen=True)
class NormalisedMeans:
    """Means of a scheme over all experiments, computed by the core."""

    scheme: str
    throughput: float
    queueing_delay_ms: float | None
    flows: int
    experiments: int


class Experiments:
    """Results directories; each of their paths is an experiment."""

    def __init__(self, directories: Sequence[Path], legacy: bool = False) -> None:
        self.models = [load(directory) for directory in directories]
        self.legacy = legacy

    def scheme_means(self) -> list[NormalisedMeans]:
        """Return the means of each scheme with a flow that counts, by name.

        With `legacy`, the denominators are the published ones.
        """
        flows: list[ComparedFlow] = []
        for number, model in enumerate(self.models):
            for run in (run for run in model.runs if run.good):
                flows += [
                    {
                        "experiment": f"{number}/{run.path}",
                        "scheme": flow.get("scheme") or run.scheme,
                        "throughput_mbps": flow.get("throughput_mbps"),
                        "queueing_delay_ms": flow.get("queueing_delay_mean_ms"),
                        "owd_min_ms": flow.get("owd_min_ms"),
                    }
                    for flow in run.flows
                    if flow.get("throughput_mbps") is not None
                ]
        return [NormalisedMeans(**row) for row in normalised(flows, self.legacy)]

    def draw(self, name: str) -> str:
        """Return the figure as SVG; empty unless a scheme has a queueing delay above zero."""
        points = []
        for mean in self.scheme_means():
            if mean.queueing_delay_ms is not None and mean.queueing_delay_ms > 0:
                title, style = self._look(mean.scheme)
                points.append(NormalisedPoint(title, mean.queueing_delay_ms, mean.throughput, style))
        count = sum(len(model.paths) for model in self.models)
        title = f"{count} experiment{'s' if count > 1 else ''}{', published denominators' if self.legacy else ''}"
        title += f"; throughput: {PANTHEON.label}"
        return normalised_figure(name, title, points) if points else ""

    def _look(self, scheme: str) -> tuple[str, Style]:
        models: list[ReportModel] = [model for model in self.models if scheme in model.styles]
        return (models[0].scheme_title(scheme), models[0].styles[scheme]) if models else (scheme, Style("#808080", "o"))
