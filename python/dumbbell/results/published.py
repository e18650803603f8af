"""Our runs beside the numbers that an experiment says were published."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from dumbbell.catalog.published import METRICS, Mean
from dumbbell.experiment import Experiment
from dumbbell.results.summary import repetitions


@dataclass(frozen=True)
class Beside:
    """One published row on one path, and what the same scheme got here; `title` is the source's name for it."""

    path: str
    scheme: str
    title: str
    runs: int
    ours: dict[str, Mean | None]
    published: dict[str, Mean | None]


def beside(experiment: Experiment, runs: Iterable[dict[str, Any]]) -> list[Beside]:
    """The published rows, path by path; `runs` are as in `show --json`. Empty if nothing is published."""
    if not experiment.published.rows:
        return []
    gathered = repetitions(runs)
    rows = []
    for path in experiment.paths:
        for row in experiment.published.rows:
            if row.path not in ("", path):
                continue
            group = gathered.get((path, row.scheme))
            values = group.values if group else {}
            rows.append(
                Beside(
                    path,
                    row.scheme,
                    row.title,
                    group.good if group else 0,
                    {metric: Mean.of(values.get(("network", 0, metric), [])) for metric in METRICS},
                    {metric: row.means.get(metric) for metric in METRICS},
                )
            )
    return rows


def published_json(experiment: Experiment, runs: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The key `published` of `show --json`; no key if nothing is published."""
    rows = beside(experiment, runs)
    source = experiment.published.source
    return {"published": {"source": source, "rows": [asdict(row) for row in rows]}} if rows else {}
