"""Table of all runs of one or several results directories, as columns."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dumbbell.base.conventions import CONVENTIONS
from dumbbell.base.errors import UserError, capitalized, printable
from dumbbell.base.version import __version__
from dumbbell.catalog.families import family
from dumbbell.contract.controllers import CriticalValues
from dumbbell.core import metrics as core_metrics
from dumbbell.present.model.figure_metrics import SHARE, FigureMetric, find_metric
from dumbbell.present.model.words.environment import records
from dumbbell.present.plots.parts.strokes import scheme_strokes
from dumbbell.present.plots.parts.style import INK, styles
from dumbbell.present.serve.columns import encode
from dumbbell.results.analysis.axis_words import axis_heading
from dumbbell.results.analysis.findings import Findings, all_findings
from dumbbell.results.analysis.number_runs import NumberedRuns, runs_index
from dumbbell.results.analysis.summary import LEVEL
from dumbbell.results.numbers import definitions
from dumbbell.results.sql.index import IndexedRun, RunsIndex

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dumbbell.experiment import Run
    from dumbbell.results.directory import ResultsDirectory

_TEXTS = {
    "directory": "results",
    "experiment": "experiment",
    "path": "path",
    "scheme": "scheme",
    "status": "status",
    "backend": "backend",
    "reason": "reason",
}
"""Fields of texts, with their titles."""
_NUMBERS = {"run": ("run", ""), "seed": ("seed", ""), "started_at": ("started", "s"), "sim_wall_s": ("took", "s")}
_MAIN_FIELDS = ("scheme", "path", "run", "status", "started_at")
_MAX_TESTS = 12
"""Maximum tests behind a sentence of a page: those between the best four schemes in two metrics."""
_MAX_READ = 20_000
"""Maximum runs whose statistics are read for findings."""
AXIS = "axis:"
"""Prefix of the name of a grid axis."""


@dataclass(frozen=True)
class Place:
    """A results directory of the explorer: `identity` is its name in addresses, `label` its name for people."""

    identity: str
    label: str
    results: ResultsDirectory


class RunsTable:
    """All runs, one row each, in the order of the directories."""

    def __init__(self, places: Sequence[Place], kind: str, is_benchmark: bool = False) -> None:
        """Read the directories. `kind` is `server` or `files`.

        Raises:
            UserError: A directory cannot be read.
        """
        self.places = places
        self.kind = kind
        self.is_benchmark = is_benchmark
        self._indexes = [runs_index(place.results) for place in places]
        self._axes = self._axis_texts()
        self._fields = self._all_fields()
        self._columns: dict[str, bytes] = {}

    @property
    def current(self) -> bool:
        """Return False if a run was added, repeated or removed since the table was read."""
        return all(index.is_current for index in self._indexes)

    @property
    def rows(self) -> int:
        """Number of runs."""
        return sum(len(index.runs) for index in self._indexes)

    @property
    def fields(self) -> list[dict[str, object]]:
        """Columns: each has `name`, `title`, `kind` and more, and `main` if it is visible at first."""
        return list(self._fields.values())

    def facts(self) -> dict[str, object]:
        """Return the content of `data/runs.json`."""
        return {
            "kind": self.kind,
            "is_benchmark": self.is_benchmark,
            "version": __version__,
            "rows": self.rows,
            "directories": [self._directory_facts(*entry) for entry in self._places_with_indexes()],
            "fields": self.fields,
            "schemes": self._looks(),
            "conventions": {
                convention.name: {
                    "title": capitalized(convention.label),
                    "rules": convention.sentence(),
                    "metrics": convention.keys,
                }
                for convention in CONVENTIONS.values()
            },
            "critical_values": critical_values(),
        }

    @cached_property
    def findings(self) -> dict[str, Findings]:
        """Content of `data/findings.json`: the findings of each directory; empty for too many runs."""
        if self.rows > _MAX_READ:
            return {}
        return {place.identity: all_findings(place.results.experiment, place.results.runs()) for place in self.places}

    def records(self) -> dict[str, list[dict[str, str]]]:
        """Return the content of `data/records.json`: the records of the machines of each directory."""
        return {
            place.identity: [asdict(record) for record in records(place.results.shown_environment())]
            for place in self.places
        }

    def column(self, name: str) -> bytes:
        """Return the values of a field in all runs.

        Raises:
            UserError: No field has this name.
        """
        if name not in self._fields:
            raise UserError(f"no field `{printable(name)}`")
        encoded_column = self._columns.get(name)
        if encoded_column is None:
            encoded_column = self._columns[name] = encode({"rows": self.rows}, {"values": self._values(name)})
        return encoded_column

    def run(self, directory: str, path: str, scheme: str, number: int) -> tuple[Place, Run]:
        """Return a run of a directory, with its place.

        Raises:
            UserError: The run does not exist.
        """
        for place, index in self._places_with_indexes():
            if place.identity == directory and (run := index.planned.get((path, scheme, number))) is not None:
                return place, run
        raise UserError(f"no run {number} of `{printable(scheme)}` on `{printable(path)}`")

    def close(self) -> None:
        """Close the indexes."""
        for index in self._indexes:
            index.close()

    def _directory_facts(self, place: Place, index: RunsIndex | NumberedRuns) -> dict[str, object]:
        first_start = min((run.started_at for run in index.runs if run.started_at), default="")
        environment = place.results.shown_environment()
        return {
            "id": place.identity,
            "label": place.label,
            "experiment": place.results.experiment.name,
            "version": str(environment.get("dumbbell") or ""),
            "date": first_start,
            "running": place.results.is_written,
        }

    def _all_fields(self) -> dict[str, dict[str, object]]:
        texts = [self._field(name, title, "text", "run") for name, title in _TEXTS.items()]
        numbers = [self._field(name, title, "number", "run", unit=unit) for name, (title, unit) in _NUMBERS.items()]
        fields = [*texts, *numbers, *self._axis_fields(), *self._metric_fields(), *self._share_fields()]
        return {str(field["name"]): field for field in fields}

    @staticmethod
    def _field(name: str, title: str, kind: str, group: str, **more: object) -> dict[str, object]:
        main_mark = {"main": True} if name in _MAIN_FIELDS else {}
        return {"name": name, "title": title, "kind": kind, "group": group, **main_mark, **more}

    def _axis_texts(self) -> dict[str, list[str | None]]:
        """Return the values of each axis in all runs."""
        names = dict.fromkeys(name for index in self._indexes for name in index.parameters())
        return {name: [value for index in self._indexes for value in index.parameter(name)] for name in names}

    def _axis_fields(self) -> list[dict[str, object]]:
        fields = []
        for name, values in self._axes.items():
            is_number = all(value is None or _is_number(value) for value in values)
            title = "base path" if name == "path" else axis_heading(name)
            fields.append(self._field(f"{AXIS}{name}", title, "number" if is_number else "text", "axis"))
        return fields

    def _metric_fields(self) -> list[dict[str, object]]:
        """Return the fields of metrics, with those of the conventions first."""
        levels: dict[str, list[str]] = {}
        for index in self._indexes:
            for name, metric_levels in index.metrics.items():
                levels[name] = sorted({*levels.get(name, []), *metric_levels}, key=("network", "flow", "link").index)
        by_convention = {main.key: convention for convention in CONVENTIONS.values() for main in convention.metrics}
        formulas = {definition.name: definition.formula for definition in reversed(definitions())}
        fields = []
        for name in sorted(levels, key=lambda key: (key not in by_convention, key)):
            metric = known_metric(name)
            if metric is None:
                continue
            convention = by_convention.get(name)
            fields.append(
                _metric_field(metric, levels[name][0])
                | {"formula": formulas.get(name, "")}
                | ({"convention": convention.name} if convention else {})
                | ({"main": True} if convention and convention.name == "corrected" else {})
            )
        return fields

    def _share_fields(self) -> list[dict[str, object]]:
        """Return a field for the share of each scheme that competes with others in a run."""
        schemes = list(dict.fromkeys(name for index in self._indexes for name in index.competing))
        return [_metric_field(find_metric(f"{SHARE}{name}", schemes), "flow") for name in schemes]

    def _values(self, name: str) -> NDArray[Any] | list[str | None]:
        if name == "directory":
            return [place.identity for place, index in self._places_with_indexes() for _ in index.runs]
        if name in _TEXTS:
            return [_text(run, name) for _, index in self._places_with_indexes() for run in index.runs]
        if name in _NUMBERS:
            numbers = [_number(run, name) for _, index in self._places_with_indexes() for run in index.runs]
            return np.array(numbers, dtype=np.float64)
        if name.startswith(AXIS):
            values = self._axes[name.removeprefix(AXIS)]
            if self._fields[name]["kind"] == "text":
                return values
            return np.array([np.nan if value is None else float(value) for value in values])
        if name.startswith(SHARE):
            scheme = name.removeprefix(SHARE)
            return np.concatenate([index.share(scheme) for index in self._indexes]).astype(np.float64)
        return np.concatenate([index.metric(name) for index in self._indexes])

    def _places_with_indexes(self) -> list[tuple[Place, RunsIndex | NumberedRuns]]:
        return list(zip(self.places, self._indexes, strict=True))

    def _looks(self) -> dict[str, object]:
        """Return the look of each scheme and mix, as in all figures."""
        schemes = {name: scheme for place in self.places for name, scheme in place.results.experiment.schemes.items()}
        labels = dict.fromkeys(run.scheme for index in self._indexes for run in index.runs)
        names = [*schemes, *(label for label in labels if label not in schemes)]
        entries = [
            (name, schemes[name].color, schemes[name].marker) if name in schemes else (name, "", "") for name in names
        ]
        looks = styles(entries)
        strokes = dict(zip(looks, scheme_strokes(list(looks.values())), strict=True))
        return {
            name: {
                "title": schemes[name].title if name in schemes else name,
                "color": "#000000" if style.color == INK else style.color,
                "marker": style.marker,
                "hollow": style.hollow,
                "dashes": list(strokes[name].dashes),
                "family": family(name) or "other",
            }
            for name, style in looks.items()
        }


def critical_values() -> CriticalValues:
    """Return the critical values of Student's t with which pages compute intervals and test differences.

    Pages interpolate between them as `measure::CriticalValues` does, with a relative error below 1e-9.
    """
    return core_metrics.critical_values(LEVEL, _MAX_TESTS)


def known_metric(name: str) -> FigureMetric | None:
    """Return a metric that this version knows; None for other names."""
    try:
        return find_metric(name, ())
    except UserError:
        return None


def _metric_field(metric: FigureMetric, level: str) -> dict[str, object]:
    return {
        "name": metric.key,
        "title": capitalized(metric.title),
        "kind": "number",
        "group": level,
        "unit": metric.unit,
        "better": metric.better,
        "factor": metric.factor,
        "digits": metric.digits,
        "fraction": metric.is_fraction,
    }


def _text(run: IndexedRun, name: str) -> str | None:
    value = getattr(run, name)
    return None if value is None else str(value)


def _number(run: IndexedRun, name: str) -> float:
    if name == "started_at":
        return _epoch(run.started_at)
    value = getattr(run, name)
    return float(value) if isinstance(value, int | float) else float("nan")


def _epoch(text: str | None) -> float:
    """Return a time in ISO 8601 as seconds since 1970; NaN for None."""
    try:
        return datetime.datetime.fromisoformat(str(text)).timestamp() if text else float("nan")
    except ValueError:
        return float("nan")


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False
