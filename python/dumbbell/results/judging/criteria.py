"""Criteria of RFC 9743 as data: the demands, their experiments, and the rules for facts."""

from dataclasses import dataclass
from pathlib import Path

from dumbbell import catalog
from dumbbell.catalog.toml_tables import TomlTable, read_toml
from dumbbell.results.judging.direction import Metric, metric

FILE = Path(catalog.__file__).parent / "rfc9743.toml"
STRENGTHS = ("MUST", "SHOULD", "ought", "expected", "special")
LEVELS = ("flow", "link", "network")
RELATIVE = ("", "time", "capacity", "cell")
WHOSE = ("all", "ours", "theirs")


@dataclass(frozen=True)
class Evidence:
    """Metrics of one experiment that concern a criterion; with `matrix` its shares and harm too."""

    experiment: str
    metrics: tuple[Metric, ...]
    matrix: bool = False


@dataclass(frozen=True)
class Fact:
    """A rule for facts: `rule` in words, the other fields for the program.

    A value counts if it is `above`, or with `missing` if there is none. It is divided by what it is `relative_to`: the
    time of the flow, the capacity of the bottleneck, or the value in the cell at `baseline`.
    """

    name: str
    rule: str
    experiments: tuple[str, ...]
    metric: Metric
    above: float = 0.0
    missing: bool = False
    relative_to: str = ""
    whose: str = "all"
    cells: tuple[tuple[str, tuple[str, ...]], ...] = ()
    baseline: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Criterion:
    """A criterion of the list; `not_here` is the reason why no experiment can show it."""

    section: str
    title: str
    strength: str
    show: str
    evidence: tuple[Evidence, ...] = ()
    facts: tuple[Fact, ...] = ()
    not_here: str = ""


@dataclass(frozen=True)
class Criteria:
    """The whole list and its source."""

    source: str
    criteria: tuple[Criterion, ...]


def load(file: Path = FILE) -> Criteria:
    """Read the list.

    Raises:
        UserError: The file is malformed; the line names the key.
    """
    table = read_toml(file)
    criteria = Criteria(table.text("source"), tuple(_criterion(entry) for entry in table.tables("criterion")))
    table.finish()
    return criteria


def _criterion(table: TomlTable) -> Criterion:
    criterion = Criterion(
        section=table.text("section"),
        title=table.text("title"),
        strength=table.text("strength", None, STRENGTHS),
        show=" ".join(table.text("show").split()),
        evidence=tuple(_evidence(entry) for entry in table.tables("evidence")),
        facts=tuple(_fact(entry) for entry in table.tables("fact")),
        not_here=table.text("not_here", ""),
    )
    table.finish()
    return criterion


def _evidence(table: TomlTable) -> Evidence:
    evidence = Evidence(
        experiment=table.text("experiment"),
        metrics=tuple(_metric(name, "metrics", table) for name in table.texts("metrics")),
        matrix=table.flag("matrix", False),
    )
    table.finish()
    return evidence


def _fact(table: TomlTable) -> Fact:
    cells, baseline = table.table("cells"), table.table("baseline")
    fact = Fact(
        name=table.text("name"),
        rule=table.text("rule"),
        experiments=tuple(table.texts("experiments")),
        metric=_metric(table.text("metric"), "metric", table),
        above=table.number("above", 0.0),
        missing=table.flag("missing", False),
        relative_to=table.text("relative_to", "", RELATIVE),
        whose=table.text("whose", "all", WHOSE),
        cells=tuple((axis, tuple(cells.texts(axis))) for axis in cells.raw),
        baseline=tuple((axis, baseline.text(axis)) for axis in baseline.raw),
    )
    table.finish()
    return fact


def _metric(text: str, key: str, table: TomlTable) -> Metric:
    level, dot, name = text.partition(".")
    if not dot or level not in LEVELS:
        raise table.fail(key, text, "LEVEL.NAME with a level of flow, link, network")
    return metric(level, name)
