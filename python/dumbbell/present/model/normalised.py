"""Many experiments together, as the Copa paper and its reproduction look at Pantheon's: shares and queueing delays."""

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
class Normalised:
    """A scheme over all experiments; as the core computes it."""

    scheme: str
    throughput: float
    queueing_delay_ms: float | None
    flows: int
    experiments: int


class Experiments:
    """Results directories, each path of which is an experiment."""

    def __init__(self, directories: Sequence[Path], legacy: bool = False) -> None:
        self.models = [load(directory) for directory in directories]
        self.legacy = legacy

    def found(self) -> list[Normalised]:
        """Each scheme with a flow that counts, in order of names; `legacy`: with the published denominators."""
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
        return [Normalised(**each) for each in normalised(flows, self.legacy)]

    def draw(self, name: str) -> str:
        """The figure as SVG; nothing without a scheme whose delay is known and above zero."""
        points = []
        for each in self.found():
            if each.queueing_delay_ms is not None and each.queueing_delay_ms > 0:
                title, style = self._look(each.scheme)
                points.append(NormalisedPoint(title, each.queueing_delay_ms, each.throughput, style))
        count = sum(len(model.paths) for model in self.models)
        title = f"{count} experiment{'s' if count > 1 else ''}{', published denominators' if self.legacy else ''}"
        title += f"; throughput: {PANTHEON.label}"
        return normalised_figure(name, title, points) if points else ""

    def _look(self, scheme: str) -> tuple[str, Style]:
        known: list[ReportModel] = [model for model in self.models if scheme in model.styles]
        return (known[0].scheme_title(scheme), known[0].styles[scheme]) if known else (scheme, Style("#808080", "o"))
