"""Earlier results as one side of a check: their experiment is the suite, and their runs are the baseline."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dumbbell.base.errors import UserError, listed
from dumbbell.catalog.check_suite import JUDGED, CheckCell, CheckSuite
from dumbbell.results import open_results
from dumbbell.results.directory import DAMAGED
from dumbbell.results.kept_experiment import kept_experiment
from dumbbell_check.baseline import cell_digest
from dumbbell_check.sides import KeptCell, KeptRuns, Observations

if TYPE_CHECKING:
    from pathlib import Path

    from dumbbell.catalog.grids.flows import FlowPlan

ALONE = ("goodput", "delay", "loss")
"""Quantities that are judged for an experiment without a suite."""


def kept_results(directory: Path, scheme_name: str) -> tuple[KeptRuns, CheckSuite]:
    """Return the runs of a scheme in a results directory, and the suite of its experiment: a cell for each path.

    Results with a single scheme need no `scheme_name`.

    Raises:
        UserError: If there are no results, no such scheme, or no runs of the scheme.
    """
    results = open_results(directory)
    experiment = results.experiment
    if not experiment.capabilities.executes:
        raise UserError(f"{directory}: has imported results: a check needs some whose experiment can be run")
    label = experiment.labels[0] if len(experiment.labels) == 1 else scheme_name
    if label not in experiment.labels:
        raise UserError(
            f"{directory}: has several schemes: say which one is meant, as {directory}:SCHEME: "
            f"allowed are {listed(experiment.labels)}"
        )
    stored_experiment = kept_experiment(directory)
    cells, kept_cells = [], {}
    for name in experiment.paths:
        flows = experiment.listed_flows(name)
        metrics = tuple(JUDGED[name_] for name_ in (*ALONE, *_more(flows)))
        cell_experiment = replace(
            stored_experiment,
            schemes=[],
            mixes=[],
            paths=[name],
            cells={path: cell for path, cell in stored_experiment.cells.items() if path == name},
        )
        cells.append(CheckCell(name, cell_experiment, metrics, experiment.runs, as_kept=True))
        for run in results.planned():
            if (run.path, run.scheme) == (name, label) and (table := results.readable(run))["status"] == DAMAGED:
                raise UserError(f"{directory}: {run.label}: {table['reason']}")
        observations = Observations()
        observations.take(results, label, metrics, name)
        if not observations.values:
            raise UserError(f"{directory}: has no good run of `{label}` on `{name}`")
        digest = cell_digest(
            replace(
                experiment,
                paths={name: experiment.paths[name]},
                cells={path: cell for path, cell in experiment.cells.items() if path == name},
            ),
            *experiment.labels,
        )
        kept_cells[name] = KeptCell(name, digest, observations)
    suite = CheckSuite(experiment.name, experiment.title, tuple(cells), file=str(directory))
    scheme = experiment.schemes.get(label)
    transport = scheme.transport_text if scheme else ""
    return KeptRuns(kept_cells, str(directory), scheme=label, transport=transport), suite


def _more(flows: tuple[FlowPlan, ...]) -> list[str]:
    """Return the additional judged quantities for an experiment with these flows."""
    tested_flows = [flow for flow in flows if not flow.scheme]
    more = ["share"] if len(tested_flows) < len(flows) else []
    if tested_flows and all(flow.application.get("kind") == "fixed" for flow in tested_flows):
        more.append("completion")
    return more
