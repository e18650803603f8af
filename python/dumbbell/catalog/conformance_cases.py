"""Conformance cases: a statement of a draft or an RFC, the scenario for it, and the checks with their tolerances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dumbbell.base.errors import UserError, listed, nearest
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.experiment_settings import Settings, SettingValues, read_settings
from dumbbell.catalog.grids.flows import parse_flow
from dumbbell.catalog.options.path_options import read_path_words
from dumbbell.catalog.path import PathModel, parse_path
from dumbbell.catalog.scheme import TRANSPORTS
from dumbbell.catalog.toml_tables import TomlTable, read_toml

FOLDER = Path(__file__).parent / "conformance"
SUITE_FILE = "suite.toml"
KINDS = ("run", "script")
"""Kinds of cases: a run over a path, or scripts of events for a controller."""
_SETTINGS = (
    "duration_s",
    "flows",
    "interval_s",
    "seed",
    "sample_interval_s",
    "backend",
    "log",
    "warmup_s",
    "start_spread_ms",
)
_CHECK_KEYS = ("measure", "at_least", "at_most", "expected", "rule", "because", "reach")


@dataclass(frozen=True)
class Check:
    """A measurement of a case, with its limits.

    A number has the limits `at_least` and `at_most`, a word is one of `expected`. `because` is the reason for the
    limits, `rule` the sentence of the source that is broken outside of them. With `reach`, a miss means that the scheme
    did not reach the state that the case is about.
    """

    measure: str
    arguments: Mapping[str, Any]
    """Arguments by key, of any type until `require_measure` checks them against the measure's argument types."""
    because: str
    rule: str
    at_least: float | None = None
    at_most: float | None = None
    expected: tuple[str, ...] = ()
    reach: bool = False
    place: str = ""
    """File and key for messages."""

    def allows(self, value: float | str) -> bool:
        """Return True if a value is within the limits."""
        if isinstance(value, str):
            return value in self.expected
        low = self.at_least is None or value >= self.at_least
        return low and (self.at_most is None or value <= self.at_most)


@dataclass(frozen=True)
class Change:
    """A change during a case: new settings of a path element, `after_s` seconds after the moment."""

    element: str
    after_s: float
    settings: Mapping[str, object]


@dataclass(frozen=True)
class Write:
    """Data that the application writes `after_s` seconds after the moment: at once, or at a rate for `lasts_s`."""

    after_s: float
    bytes: int = 0
    rate_mbps: float = 0.0
    lasts_s: float = 0.0


@dataclass(frozen=True)
class Moment:
    """The moment of a case's disturbance: `at_s`, or the `nth` begin of a phase after `from_s`.

    A first run without the disturbance finds the moment. The second run is equal until then. With `stops`, the
    application writes only `writes` from the moment on.
    """

    at_s: float | None = None
    phase: str = ""
    nth: int = 1
    from_s: float = 0.0
    changes: tuple[Change, ...] = ()
    stops: bool = False
    writes: tuple[Write, ...] = ()


@dataclass(frozen=True)
class Deviation:
    """A known failure: the broken sentence of the source, and the reason.

    `subjects` are names of schemes; the name of a controller stands for all its schemes.
    """

    subjects: tuple[str, ...]
    breaks: str
    reason: str


@dataclass(frozen=True, eq=False)
class Case:
    """One numbered case of a suite."""

    suite: str
    number: int
    part: str
    name: str
    title: str
    section: str
    transports: tuple[str, ...]
    """Transports that the case applies to: TCP, QUIC or both."""
    says: str
    kind: str
    script: str
    scenario: ExperimentFile | None
    moment: Moment | None
    checks: tuple[Check, ...]
    deviations: tuple[Deviation, ...]
    controllers: tuple[str, ...]
    """The only controllers that the case applies to; empty: those of the suite."""
    otherwise: str
    """Reason why the case does not apply to other controllers."""
    note: str
    file: str = field(compare=False)

    @property
    def label(self) -> str:
        """Number of the case, with the letter of its part."""
        return f"{self.number}{self.part}"

    @property
    def path(self) -> PathModel:
        """Path of the scenario."""
        assert self.scenario is not None, f"{self.file} has no scenario"
        return self.scenario.own_paths[self.name]

    def deviation(self, scheme: str, controller: str) -> Deviation | None:
        """Return the known failure of a scheme, else that of its controller, or None."""
        matches = [
            deviation for name in (scheme, controller) for deviation in self.deviations if name in deviation.subjects
        ]
        return matches[0] if matches else None


@dataclass(frozen=True)
class Suite:
    """Cases of one source, and the schemes that the source applies to."""

    name: str
    title: str
    source: str
    controllers: tuple[str, ...]
    """Controllers that the source applies to; empty: all."""
    schemes: tuple[str, ...]
    """Schemes that are checked by default."""
    real: tuple[str, ...]
    """Schemes with real packets that the source applies to."""
    note: str
    cases: tuple[Case, ...]

    def covers(self, scheme: str, controller: str) -> bool:
        """Return True if the source applies to a scheme."""
        return not self.controllers or controller in self.controllers or scheme in self.real


def conformance_suites() -> list[str]:
    """Return the names of the suites."""
    return sorted(file.parent.name for file in FOLDER.glob(f"*/{SUITE_FILE}"))


@cache
def find_suite(name: str) -> Suite:
    """Return a suite with its cases, in the order of their numbers.

    Raises:
        UserError: If there is no such suite.
    """
    names = conformance_suites()
    if name not in names:
        raise UserError(f"unknown suite `{name}`{nearest(name, names)}: allowed are {listed(names)}")
    return read_suite(FOLDER / name)


def read_suite(folder: Path) -> Suite:
    """Return the suite in a directory.

    Raises:
        UserError: If a key or value is not allowed, or if two cases have one number.
    """
    table = read_toml(folder / SUITE_FILE)
    cases: dict[str, Case] = {}
    for file in sorted(folder.glob("[0-9]*.toml")):
        case = parse_case(read_toml(file), folder.name)
        if case.label in cases:
            raise UserError(f"{file}: `number` = {case.label}: is that of {cases[case.label].file} too")
        cases[case.label] = case
    suite = Suite(
        name=folder.name,
        title=table.text("title"),
        source=table.text("source"),
        controllers=tuple(table.texts("controllers", [])),
        schemes=tuple(table.texts("schemes")),
        real=tuple(table.texts("real", [])),
        note=table.text("note", "").strip(),
        cases=tuple(sorted(cases.values(), key=lambda case: (case.number, case.part))),
    )
    table.finish()
    return suite


def parse_case(table: TomlTable, suite: str) -> Case:
    """Return the case in a file.

    Raises:
        UserError: If a key or value is not allowed.
    """
    name = Path(table.source).stem
    kind = table.text("kind", "run", KINDS)
    case = Case(
        suite=suite,
        number=table.integer("number", minimum=1, maximum=999),
        part=table.text("part", ""),
        name=name,
        title=table.title("title"),
        section=table.text("section"),
        transports=_transports(table),
        says=table.text("says").strip(),
        kind=kind,
        script=table.text("script") if kind == "script" else "",
        scenario=_scenario(table.table("scenario"), name) if kind == "run" else None,
        moment=_moment(table.table("when")) if table.has("when") else None,
        checks=tuple(_check(check) for check in table.tables("check", "measure")),
        deviations=tuple(_deviation(deviation) for deviation in table.tables("deviation")),
        controllers=tuple(table.texts("controllers", [])),
        otherwise=table.text("otherwise", ""),
        note=table.text("note", "").strip(),
        file=table.source,
    )
    table.finish()
    if kind == "run" and all(check.reach for check in case.checks):
        raise UserError(f"{table.source}: needs a [[check]] that is not one of `reach`")
    return case


def _transports(table: TomlTable) -> tuple[str, ...]:
    names = tuple(table.texts("transports"))
    for name in names or ("",):
        if name not in TRANSPORTS:
            raise table.fail("transports", name, listed(TRANSPORTS))
    return names


def _scenario(table: TomlTable, name: str) -> ExperimentFile:
    """Return the scenario: settings of an experiment, flows, and a path (path options in `line`, or elements)."""
    path = _path(table, name)
    settings: SettingValues = {"log": "full", **Settings.EXACT} | read_settings(table, _SETTINGS)
    experiment_file = ExperimentFile(
        name=name,
        paths=[name],
        own_paths={name: path},
        flow=tuple(parse_flow(flow) for flow in table.tables("flow")),
        **settings,
        file=table.source,
    )
    table.finish()
    return experiment_file


def _path(table: TomlTable, name: str) -> PathModel:
    if table.has("line") == table.has("path"):
        raise UserError(f"{table.source}: `{table.prefix}path`: needed is one of `line` and `path`")
    if table.has("path"):
        return parse_path(table.table("path"), name)
    model = read_path_words(table.table("line"))
    return PathModel(name=name, title=model.title, data=model.data, ack=model.ack, file=table.source)


def _moment(table: TomlTable) -> Moment:
    if table.has("at_s") == table.has("phase"):
        raise UserError(f"{table.source}: `{table.prefix}phase`: needed is one of `at_s` and `phase`")
    moment = Moment(
        at_s=table.number("at_s", minimum=0.0) if table.has("at_s") else None,
        phase=table.text("phase", ""),
        nth=table.integer("nth", 1, minimum=1),
        from_s=table.number("from_s", 0.0, minimum=0.0),
        changes=tuple(_change(change) for change in table.tables("change", "element")),
        stops=table.flag("stops", False),
        writes=tuple(_write(write) for write in table.tables("write")),
    )
    table.finish()
    if moment.writes and not moment.stops:
        raise UserError(f"{table.source}: `{table.prefix}write`: needs `stops = true`")
    return moment


def _change(table: TomlTable) -> Change:
    element, after_s = table.text("element"), table.number("after_s", 0.0, minimum=0.0)
    settings = {key: value for key, value in table.raw.items() if key not in ("element", "after_s")}
    table.known += list(settings)  # the core checks these keys
    table.finish()
    return Change(element, after_s, MappingProxyType(settings))


def _write(table: TomlTable) -> Write:
    write = Write(
        after_s=table.number("after_s", minimum=0.0),
        bytes=table.integer("bytes", 0),
        rate_mbps=table.number("rate_mbps", 0.0, minimum=0.0),
        lasts_s=table.number("lasts_s", 0.0, minimum=0.0),
    )
    table.finish()
    return write


def _check(table: TomlTable) -> Check:
    reach = table.flag("reach", False)
    check = Check(
        measure=table.text("measure"),
        arguments=MappingProxyType({key: value for key, value in table.raw.items() if key not in _CHECK_KEYS}),
        because=table.text("because").strip(),
        rule=table.text("rule", "" if reach else None).strip(),
        at_least=table.number("at_least") if table.has("at_least") else None,
        at_most=table.number("at_most") if table.has("at_most") else None,
        expected=tuple(table.texts("expected", [])),
        reach=reach,
        place=f"{table.source}: `{table.prefix.removesuffix('.')}`",
    )
    if (check.at_least, check.at_most, check.expected) == (None, None, ()):
        raise UserError(f"{check.place}: needed is one of `at_least`, `at_most` and `expected`")
    table.known += list(check.arguments)  # the measure checks these keys
    table.finish()
    return check


def _deviation(table: TomlTable) -> Deviation:
    deviation = Deviation(tuple(table.texts("of")), table.text("breaks").strip(), table.text("why").strip())
    table.finish()
    return deviation
