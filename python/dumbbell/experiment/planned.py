"""A resolved experiment and its runs, with names looked up, numbers fixed and seeds derived."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from dumbbell.base.errors import UserError
from dumbbell.base.names import MOST_LABEL, directory_name, foreign_name, require_names
from dumbbell.catalog.experiment_file import parse_mix
from dumbbell.catalog.experiment_settings import Settings
from dumbbell.catalog.grids.cell import Cell
from dumbbell.catalog.grids.flows import FlowPlan
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.published import Publication
from dumbbell.catalog.scheme import Scheme
from dumbbell.experiment.specification import specification, template

if TYPE_CHECKING:
    from dumbbell.contract.specification import RunSpec

MOST_KEPT = 2000
"""Maximum number of run specs that an experiment keeps; each has some kB."""

SEED_BITS = 53  # the widest integer that every JSON reader keeps exact


@dataclass(frozen=True)
class Run:
    """A run of an experiment: path, scheme, repetition and seed."""

    path: str
    scheme: str
    run: int
    seed: int

    @property
    def directory(self) -> str:
        """Directory of the run's files, below the results directory."""
        return f"runs/{self.path}/{directory_name(self.scheme)}/{self.run}"

    @property
    def former_directory(self) -> str:
        """Former directory of the run's files, which a mix could share with a scheme."""
        return f"runs/{self.path}/{foreign_name(self.scheme)}/{self.run}"

    @property
    def label(self) -> str:
        """Label of the run for messages."""
        return f"{self.scheme} on {self.path}, run {self.run}"


@dataclass(frozen=True, kw_only=True)
class Experiment(Settings):
    """A resolved experiment. It depends neither on the catalog nor on the command line.

    `labels` are the schemes that run alone, `mixes` those that run together; `schemes` contains all of them.
    """

    name: str
    title: str
    warmup_s: float
    flow: tuple[FlowPlan, ...] = ()
    labels: tuple[str, ...] = ()
    mixes: tuple[str, ...] = ()
    publication: Publication = field(default_factory=Publication)
    schemes: dict[str, Scheme] = field(default_factory=dict)
    paths: dict[str, PathModel] = field(default_factory=dict)
    cells: dict[str, Cell] = field(default_factory=dict)
    """Cells of a grid by the names of their paths; empty without a grid."""
    file: str = field(default="", compare=False)
    """Source file of the experiment, for messages."""

    def __post_init__(self) -> None:
        """Check that all names are valid, and that no two runs have one name."""
        require_names("experiment", (self.name,), self.file)
        require_names("scheme", (*self.labels, *self.schemes), self.file)
        require_names("path", self.paths, self.file)
        for mix in self.mixes:
            self._check_mix(mix)

    def _check_mix(self, mix: str) -> None:
        prefix = f"{self.file}: " if self.file else ""
        if mix in self.labels or self.mixes.count(mix) > 1:
            raise UserError(f"{prefix}mix `{mix}`: its runs and those of another `{mix}` have one name: leave out one")
        if len(mix) > MOST_LABEL:
            raise UserError(f"{prefix}mix `{mix[:60]}...`: has {len(mix)} characters: allowed are {MOST_LABEL}")
        for name, _ in parse_mix(mix):
            if name not in self.schemes:
                raise UserError(f"{prefix}mix `{mix}`: no scheme `{name}`: a scheme in a mix has no `+` in its name")

    @property
    def count(self) -> int:
        """Number of runs."""
        return self.runs * len(self.paths) * (len(self.labels) + len(self.mixes))

    def all_runs(self) -> list[Run]:
        """Return all runs in the order of execution, by repetition, so that an interrupted experiment is balanced."""
        return [run for number in range(1, self.runs + 1) for run in self.repetition(number)]

    def repetition(self, number: int) -> list[Run]:
        """Return every run of one repetition, in the order of execution."""
        return [
            Run(path, label, number, derive_seed(self.seed, path, number))
            for path in self.paths
            for label in self._order(number)
        ]

    def _order(self, run: int) -> list[str]:
        """Return schemes and mixes in the order of a repetition.

        A random order is common to all, but new in each round.
        """
        labels = [*self.labels, *self.mixes]
        if self.random_order:
            labels.sort(key=lambda label: _hash(self.seed, "order", label, 0 if self.every_s is None else run))
        return labels

    def specification(self, run: Run) -> RunSpec:
        """Return the run spec of a run. The caller must not change it."""
        if run not in self._specifications:
            if len(self._specifications) >= MOST_KEPT:
                self._specifications.clear()
            flows = self.flow_plans(run.scheme, run.path)
            run_spec = specification(self, run.seed, self.paths[run.path], flows, self.schemes)
            self._specifications[run] = run_spec
        return self._specifications[run]

    def template(self, path: str, label: str) -> RunSpec | None:
        """Return the run spec from which all runs of a label on a path differ in seed and starts only.

        Return None if a seed determines more, such as the number of flows.
        """
        return template(self, self.paths[path], self.flow_plans(label, path), self.schemes)

    @cached_property
    def _specifications(self) -> dict[Run, RunSpec]:
        """Run specs that were made for the check, and are used again for the runs."""
        return {}

    def outside(self, run: Run) -> list[Scheme]:
        """Return the schemes of a run with external controllers."""
        names = dict.fromkeys(flow.scheme for flow in self.flow_plans(run.scheme, run.path))
        return [self.schemes[name] for name in names if self.schemes[name].is_outside]

    @property
    def has_plugins(self) -> bool:
        """True if a scheme has an external controller."""
        return any(scheme.is_outside for scheme in self.schemes.values())

    @property
    def starts_apart_s(self) -> float:
        """Time between the starts of two flows of a run, s; 0 if the experiment lists each flow with its start."""
        return 0.0 if self.flow or self.cells else self.interval_s

    def listed_flows(self, path: str) -> tuple[FlowPlan, ...]:
        """Return the listed flows of runs on `path`; empty if label and `flows` determine them."""
        return self.cells[path].flows if path in self.cells else self.flow

    def flow_plans(self, label: str, path: str) -> list[FlowPlan]:
        """Return the flows of a run of `label` on `path`, in order."""
        flows = self.listed_flows(path)
        if flows:
            return [replace(flow, scheme=flow.scheme or label) for flow in flows]
        names = [label] * self.flows
        if label in self.mixes:
            names = [name for name, count in parse_mix(label) for _ in range(count)]
        return [FlowPlan(name, start_s=index * self.interval_s) for index, name in enumerate(names)]

    def table(self) -> dict[str, object]:
        """Return the resolved experiment as TOML, which is an experiment file itself."""
        table: dict[str, object] = {
            "name": self.name,
            "title": self.title,
            "schemes": list(self.labels),
            "mixes": list(self.mixes),
            "paths": list(self.paths),
            **self.settings_table(),
        }
        if self.every_s is not None:
            del table["runs"]  # the schedule determines the number of runs, and may be extended
        if self.flow and not self.cells:
            table["flow"] = [flow.table() for flow in self.flow]
        table |= self.publication.table()
        table["scheme"] = {name: scheme.table() for name, scheme in self.schemes.items()}
        table["path"] = {name: path.table() for name, path in self.paths.items()}
        if self.cells:
            table["cell"] = {name: cell.table() for name, cell in self.cells.items()}
        return table


def derive_seed(seed: int, path: str, run: int) -> int:
    """Return the seed of a run: an integer below 2**53.

    The seed depends only on the path and the repetition. So all schemes meet equal draws of the path (losses, jitter,
    the rates of cellular links). An additional scheme, path or repetition changes no other run.
    """
    return _hash(seed, path, run)


def _hash(*words: str | int) -> int:
    digest = hashlib.sha256("\n".join(str(word) for word in words).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - SEED_BITS)
