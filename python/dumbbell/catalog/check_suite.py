"""Check suites: the cells in which `dumbbell check` compares two schemes, and the effects that it looks for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from dumbbell.base.errors import UserError, listed
from dumbbell.base.names import require_names
from dumbbell.catalog.conformance_cases import Case, conformance_suites, find_suite
from dumbbell.catalog.experiment_file import ExperimentFile, parse_experiment_file
from dumbbell.catalog.index import read_name
from dumbbell.catalog.options.path_options import read_path_words
from dumbbell.catalog.path import PathModel, parse_path
from dumbbell.catalog.toml_tables import TomlTable

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_CELLS = 200
MOST_RUNS = 4096
DEFAULT_RUNS = 60


@dataclass(frozen=True)
class JudgedMetric:
    """A quantity by which two schemes are compared.

    The quantity is `scale` times the metric `metric` of `measure`: of the network if `of_network`, else of the flows
    under test. For several flows the total is used if `total`, else the mean. The wanted effect is the larger of
    `absolute` (in `unit`) and `relative` times the baseline's mean. `higher` is True if more is better; if None, a
    value nearer to an equal share is better.
    """

    name: str
    metric: str
    title: str
    unit: str
    higher: bool | None
    relative: float = 0.0
    absolute: float = 0.0
    scale: float = 1.0
    of_network: bool = False
    total: bool = False

    def effect(self, mean: float) -> float:
        """Return the wanted effect for a baseline with the mean `mean`, in the quantity's unit."""
        return max(self.relative * abs(mean), self.absolute)


JUDGED = {
    metric.name: metric
    for metric in (
        JudgedMetric("goodput", "goodput_mbps", "goodput", "Mbit/s", higher=True, relative=0.03, total=True),
        JudgedMetric("delay", "owd_p95_ms", "p95 one-way delay", "ms", higher=False, relative=0.10, absolute=2.0),
        JudgedMetric(
            "mean-delay", "owd_mean_ms", "mean one-way delay", "ms", higher=False, relative=0.10, absolute=1.0
        ),
        JudgedMetric("loss", "packet_loss_rate", "packet loss", "%", higher=False, absolute=0.5, scale=100.0),
        JudgedMetric("share", "competing_share", "share", "%", higher=None, absolute=2.0, scale=100.0, total=True),
        JudgedMetric("fairness", "jain_index", "Jain's index", "", higher=True, absolute=0.02, of_network=True),
        JudgedMetric(
            "completion", "flow_completion_time_l4", "completion time", "ms", higher=False, relative=0.03, scale=1e3
        ),
    )
}
"""The quantities by name, with the default effects."""


@dataclass(frozen=True)
class CheckCell:
    """A cell of a suite: an experiment on one path, its judged metrics, and the maximum number of runs of each side.

    With `as_kept` the experiment is an earlier one whose runs are compared: its seeds and number of runs stay.
    """

    name: str
    experiment: ExperimentFile
    metrics: tuple[JudgedMetric, ...]
    most_runs: int = DEFAULT_RUNS
    as_kept: bool = False


@dataclass(frozen=True)
class CheckSuite:
    """A suite with its cells, each with a name of its own."""

    name: str
    title: str
    cells: tuple[CheckCell, ...]
    aliases: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    """Names of suites whose cells are included."""
    safety: tuple[Case, ...] = ()
    """Conformance cases: a candidate may not break their bounds if the baseline keeps them."""
    file: str = field(default="", compare=False)

    def only(self, names: tuple[str, ...]) -> CheckSuite:
        """Return the suite with only the named cells; all cells if `names` is empty.

        Raises:
            UserError: If the suite has no such cell.
        """
        cell_names = [cell.name for cell in self.cells] + [rule_name(case) for case in self.safety]
        for name in names:
            if name not in cell_names:
                raise UserError(
                    f"the suite `{self.name}` has no such cell", argument="cells", value=name, allowed=cell_names
                )
        if not names:
            return self
        return replace(
            self,
            cells=tuple(cell for cell in self.cells if cell.name in names),
            safety=tuple(case for case in self.safety if rule_name(case) in names),
        )


def rule_name(case: Case) -> str:
    """Return the name of the cell for a conformance case: `safety-burst`."""
    return f"{case.suite}-{case.name.partition('-')[2]}"


def parse_check_suite(table: TomlTable) -> CheckSuite:
    """Return the suite of a file.

    Raises:
        UserError: If a key or value is not allowed.
    """
    effects = _read_effects(table.table("effects"))
    paths = table.table("path")
    own_paths = {name: parse_path(paths.table(name), name) for name in paths.raw}
    cells = table.table("cell")
    if not 1 <= len(cells.raw) <= MOST_CELLS:
        raise UserError(f"{table.source}: `cell`: {len(cells.raw)} tables: allowed are 1 to {MOST_CELLS}")
    require_names("cell", cells.raw, table.source)
    suite = CheckSuite(
        name=read_name(table),
        title=table.title("title", ""),
        aliases=tuple(table.texts("aliases", [])),
        includes=tuple(table.texts("includes", [])),
        cells=tuple(_parse_cell(cells.table(name), name, effects, own_paths) for name in cells.raw),
        safety=_read_safety(table),
        file=table.source,
    )
    table.finish()
    return suite


def _read_safety(table: TomlTable) -> tuple[Case, ...]:
    """Return the cases of the conformance suites in the file's key `safety`.

    Each suite must apply to all controllers.
    """
    suite_names = table.texts("safety", [])
    for name in suite_names:
        if name not in conformance_suites() or find_suite(name).controllers:
            universal = [name_ for name_ in conformance_suites() if not find_suite(name_).controllers]
            raise table.fail("safety", name, listed(universal))
    return tuple(case for name in suite_names for case in find_suite(name).cases)


def _read_effects(table: TomlTable) -> Mapping[str, JudgedMetric]:
    """Return the judged metrics, with the file's effects instead of the defaults."""
    effects = {}
    for name, metric in JUDGED.items():
        effect = table.table(name)
        relative = effect.number("relative", metric.relative, minimum=0.0, maximum=1.0)
        absolute = effect.number("absolute", metric.absolute, minimum=0.0, maximum=1e6)
        effect.finish()
        if not (relative or absolute):
            raise UserError(f"{table.source}: `effects.{name}`: one of `relative` and `absolute` must be above 0")
        effects[name] = replace(metric, relative=relative, absolute=absolute)
    table.finish()
    return MappingProxyType(effects)


def _parse_cell(
    table: TomlTable, name: str, effects: Mapping[str, JudgedMetric], own_paths: Mapping[str, PathModel]
) -> CheckCell:
    for key in ("name", "schemes", "mixes", "paths", "runs", "cell", "scheme", "benchmark", "quick", "every_s"):
        if table.has(key):
            raise UserError(
                f"{table.source}: `{table.prefix}{key}`: not in a cell of a suite: it has a `path`, `metrics`, "
                "`most_runs`, flows, a grid and settings"
            )
    metrics = table.texts("metrics")
    for metric in metrics:
        if metric not in effects:
            raise table.fail("metrics", metric, listed(effects))
    if not metrics:
        raise table.fail("metrics", metrics, f"at least one of {listed(effects)}")
    most_runs = table.integer("most_runs", DEFAULT_RUNS, minimum=4, maximum=MOST_RUNS)
    path = _read_path(table, own_paths)
    path_name = path if isinstance(path, str) else path.name
    rest = {key: value for key, value in table.raw.items() if key not in ("metrics", "most_runs", "path")}
    experiment = parse_experiment_file(
        TomlTable({"name": name, "paths": [path_name]} | rest, table.source, table.prefix)
    )
    for axis in experiment.grid:
        if len(axis.values) != 1:
            raise UserError(
                f"{table.source}: `{table.prefix}grid.{axis.name}`: has {len(axis.values)} values: "
                "a cell of a suite has one of each axis"
            )
    return CheckCell(
        name,
        replace(experiment, own_paths={} if isinstance(path, str) else {path.name: path}),
        tuple(effects[metric] for metric in metrics),
        most_runs,
    )


def _read_path(table: TomlTable, own_paths: Mapping[str, PathModel]) -> str | PathModel:
    """Return the path of a cell, from its path options or from the suite; else the name of a path in the catalog."""
    if not isinstance(table.raw.get("path"), dict):
        name = table.text("path")
        return own_paths.get(name, name)
    return read_path_words(table.table("path"))
