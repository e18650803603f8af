"""What was measured: throughput, 95th-percentile one-way delay and loss of schemes over the path that is looked for."""

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from dumbbell import catalog
from dumbbell.base.backend import SIMULATION
from dumbbell.base.errors import UserError, argument, listed, nearest
from dumbbell.base.input_files import TABLE, read_text
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.experiment_settings import SettingValues
from dumbbell.catalog.open_tables import Element
from dumbbell.catalog.outside.pantheon_names import Counterpart
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.published import METRICS, Mean, Publication
from dumbbell.catalog.scheme import Scheme
from dumbbell.experiment import Experiment, pin, resolve
from dumbbell.results import open_results
from dumbbell.results.analysis.counterparts import counterparts
from dumbbell.results.analysis.summary import repetitions
from dumbbell.results.kept_experiment import kept_experiment
from dumbbell_reproduce.kernel_tcp import LINUX, UNLIMITED, as_on_linux
from dumbbell_reproduce.stand_ins import stand_in

PLACE = "calibrated"
"""The name of the path in the experiment that is simulated: seeds follow from it."""

LEAST_POINTS = 2
_WITHOUT_SOCKETS = ("sim", "emu")
"""Backends whose sockets have no limit unless a scheme sets one (docs/how-to/guide.md, socket buffers)."""
HELD_OUT = "held out as asked"
_SD_OF_RANGE = {2: 1.128, 3: 1.693, 4: 2.059, 5: 2.326, 6: 2.534, 7: 2.704, 8: 2.847, 9: 2.970, 10: 3.078}
"""Expected range of so many normal draws in standard deviations (Tippett, Biometrika 17, 1925)."""


@dataclass(frozen=True)
class Point:
    """What was measured of a scheme, of all flows of a run together (`flow` 0) or of one; means over `runs`."""

    scheme: str
    flow: int
    throughput_mbps: Mean
    delay_p95_ms: Mean
    loss_rate: Mean | None = None
    runs: int = 1
    title: str = ""
    unfitted: str = ""
    """Why it is part of no fit; empty: it is part of them."""

    @property
    def key(self) -> tuple[str, int]:
        """Which it is."""
        return (self.scheme, self.flow)

    @property
    def label(self) -> str:
        """For people."""
        return self.scheme if self.flow == 0 else f"{self.scheme}, flow {self.flow}"

    def mean_error(self, metric: str) -> float:
        """The standard error of a metric's mean, as far as the range of the runs tells it; 0 where nothing does."""
        mean: Mean | None = getattr(self, metric)
        if mean is None or mean.low is None or mean.high is None or self.runs < 2:
            return 0.0
        spread = _SD_OF_RANGE.get(self.runs, _SD_OF_RANGE[10])
        return float((mean.high - mean.low) / spread / self.runs**0.5)


@dataclass(frozen=True)
class Target:
    """All that was measured, and the experiment that repeats it over a path that is called `PLACE`."""

    source: str
    points: tuple[Point, ...]
    """Those that models are fitted to."""
    experiment: Experiment
    left_out: tuple[str, ...] = ()
    """What was measured and cannot be simulated, each with the reason."""
    unfitted: tuple[Point, ...] = ()
    """Points of schemes that are in no fit and are predicted: each says why."""
    schemes: tuple[str, ...] = field(init=False)
    """Those of `points`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "schemes", names_of(self.points))

    def of(self, schemes: Iterable[str]) -> tuple[Point, ...]:
        """The points of these schemes."""
        wanted = set(schemes)
        return tuple(point for point in (*self.points, *self.unfitted) if point.scheme in wanted)


def names_of(points: Iterable[Point]) -> tuple[str, ...]:
    """The schemes of points, each once."""
    return tuple(dict.fromkeys(point.scheme for point in points))


@dataclass(frozen=True)
class TargetOptions:
    """Overrides of what a target says of itself; None and empty values leave that as it is."""

    path: str | None = None
    schemes: tuple[str, ...] = ()
    hold_out: tuple[str, ...] = ()
    """Schemes of the target that no model is fitted to."""
    stands_for: Mapping[str, str] = field(default_factory=dict)
    """Schemes of the target by the name of ours that simulates them."""
    runs: int | None = None
    duration_s: float | None = None
    flows: int | None = None
    interval_s: float | None = None
    overhead_bytes: int | None = None
    seed: int = 1
    sockets: str | None = None
    """Socket buffers of schemes of the kernel's TCP; None: Linux's where real hosts were measured."""


def read_target(text: str, options: TargetOptions) -> Target:
    """A results directory, a table (`.csv`), or an experiment with published numbers, by its name or its file.

    Raises:
        UserError: it is none, or says too little.
    """
    if Path(text).is_dir():
        raw = _of_results(Path(text), options)
    elif text.endswith(".csv"):
        raw = _of_table(Path(text), options)
    else:
        raw = _of_publication(text, options)
    return _simulated(raw, options)


@dataclass(frozen=True)
class _Raw:
    """Points under the target's own names, and the experiment file that they belong to."""

    where: str
    source: str
    points: tuple[Point, ...]
    experiment_file: ExperimentFile
    path: PathModel | None
    left_out: tuple[str, ...] = ()
    counterparts: Mapping[str, Counterpart] = field(default_factory=dict)
    """Of Pantheon's tests: what simulates its schemes, by their keys there."""
    sockets: str = LINUX
    """Socket buffers that the hosts had."""


def _simulated(raw: _Raw, options: TargetOptions) -> Target:
    """The target with our schemes, and without what they cannot simulate."""
    named = {point.scheme for point in raw.points}
    for name in (*options.schemes, *options.hold_out, *options.stands_for):
        if name not in named:
            raise UserError(
                f"{raw.where}: has no scheme `{name}`{nearest(name, named)}: it has {listed(sorted(named))}"
            )
    for name in options.hold_out:
        if options.schemes and name not in options.schemes:
            problem = f"is not among {argument('schemes')}"
            raise UserError(problem, argument="hold_out", value=name, allowed=options.schemes)
    points, left, used = [], list(raw.left_out), {}
    for point in raw.points:
        if options.schemes and point.scheme not in options.schemes:
            continue
        scheme, reason = stand_in(point.scheme, options.stands_for, raw.counterparts, raw.experiment_file.own_schemes)
        reason = reason or _unusable(point)
        if scheme is None or reason:
            left.append(f"{point.label}: {reason}")
            continue
        used[scheme.name] = as_on_linux(scheme, options.sockets or raw.sockets, has_fq=False)
        why = HELD_OUT if point.scheme in options.hold_out else point.unfitted
        points.append(replace(point, scheme=scheme.name, unfitted=why))
    twice = [point.label for point in points if [each.key for each in points].count(point.key) > 1]
    if twice:
        raise UserError(f"{raw.where}: `{twice[0]}` is there twice", fix=f"choose with {argument('schemes')}")
    fitted, unfitted = ([point for point in points if bool(point.unfitted) is asked] for asked in (False, True))
    if len(fitted) < LEAST_POINTS:
        reasons = [*left, *(f"{point.label}: {point.unfitted}" for point in unfitted)]
        raise UserError(
            f"{raw.where}: needed are {LEAST_POINTS} schemes or more; {'; '.join(reasons) or 'there are fewer'}"
        )
    experiment = _experiment(raw, options, used)
    return Target(raw.source, tuple(fitted), experiment, tuple(dict.fromkeys(left)), tuple(unfitted))


def _unusable(point: Point) -> str:
    """Why a point tells nothing: errors are relative to what was measured."""
    if point.throughput_mbps.mean <= 0.0:
        return "nothing arrived"
    if point.delay_p95_ms.mean <= 0.0:
        return "its delay is not above zero (two clocks?)"
    return ""


def _experiment(raw: _Raw, options: TargetOptions, used: dict[str, Scheme]) -> Experiment:
    """The target's settings, for the simulator, over a path that is still to be found."""
    overhead = options.overhead_bytes
    if overhead is None:
        overhead = raw.path.overhead_bytes if raw.path else 0
    mtu, fragment = (raw.path.mtu_bytes, raw.path.fragment) if raw.path else (1500, True)
    delay: list[Element] = [{"kind": "delay", "delay_ms": 1.0}]
    path = PathModel(
        PLACE, PLACE, overhead_bytes=overhead, mtu_bytes=mtu, fragment=fragment, data=delay, ack=delay, file=raw.where
    )
    given = {
        "runs": options.runs,
        "duration_s": options.duration_s,
        "flows": options.flows,
        "interval_s": options.interval_s,
    }
    changes: SettingValues = {name: value for name, value in given.items() if value is not None}
    experiment_file = replace(
        raw.experiment_file,
        backend=SIMULATION,
        log="none",
        seed=options.seed,
        schemes=list(used),
        mixes=[],
        flow=(),
        paths=[PLACE],
        grid=(),
        cells={},
        own_paths={PLACE: path},
        own_schemes=used,
        published=Publication(),
        every_s=None,
        for_s=None,
        sender=None,
        tunnel=None,
        ntp=None,
        remote_address=None,
        udp_ports=None,
        bandwidth_cap_mbps=None,
        data_cap_bytes=None,
        closed=False,
        known_plugins=frozenset(),
        **changes,
    )
    # nothing that is looked at is sampled
    return pin(resolve(replace(experiment_file, sample_interval_s=experiment_file.duration_s)))


def _of_publication(text: str, options: TargetOptions) -> _Raw:
    """The published rows of an experiment."""
    experiment_file = catalog.experiments().find(text)
    rows = experiment_file.published.rows
    if not rows:
        having = [name for name in catalog.experiments().names() if catalog.experiments().find(name).published.rows]
        raise UserError(
            f"{text}: has no [[published]] tables: {listed(having)} have; allowed are also results and .csv"
        )
    places = list(dict.fromkeys(row.path for row in rows if row.path))
    place = _chosen(text, options.path, places) if places else None
    points, left = [], []
    for row in rows:
        name = row.scheme or row.title
        if place is not None and row.path not in ("", place):
            continue
        if not {"throughput_mbps", "delay_p95_ms"} <= row.means.keys():
            left.append(f"{name}: published is {listed(row.means)} only")
        elif not row.scheme:
            left.append(f"{name}: not one of ours")
        else:
            told = {"title": row.title, "unfitted": row.uncounted}
            points.append(Point(row.scheme, 0, **row.means, runs=experiment_file.runs, **told))  # type: ignore[arg-type]
    path = _path_of(experiment_file, place or (experiment_file.paths[0] if experiment_file.paths else None))
    return _Raw(text, experiment_file.published.source, tuple(points), experiment_file, path, tuple(left))


def _path_of(experiment_file: ExperimentFile, name: str | None) -> PathModel | None:
    """The path that an experiment file names, for its overhead and its MTU."""
    if name is None:
        return None
    return experiment_file.own_paths.get(name) or catalog.paths().find(name)


def _of_results(directory: Path, options: TargetOptions) -> _Raw:
    """The good runs of a results directory, on one path."""
    content = open_results(directory)
    experiment = content.experiment
    place = _chosen(str(directory), options.path, list(experiment.paths))
    points, left = [], []
    for group in repetitions(content.runs()).values():
        if group.path != place:
            continue
        if group.scheme not in experiment.labels:
            left.append(f"{group.scheme}: a mix")
            continue
        flows = sorted({number for level, number, _ in group.values if level == "flow"})
        wanted = [("flow", number) for number in flows] if len(flows) > 1 else [("network", 0)]
        for level, number in wanted:
            means = {name: Mean.of(group.values.get((level, number, name), [])) for name in METRICS}
            if means["throughput_mbps"] is None or means["delay_p95_ms"] is None:
                left.append(f"{group.scheme}: no good run")
            else:
                points.append(Point(group.scheme, number, **means, runs=group.good))  # type: ignore[arg-type]
    # what results say of themselves is not trusted to execute anything: `_ours` leaves out all that is not built in
    experiment_file = replace(kept_experiment(directory), runs=max(experiment.runs, 1))
    if not experiment.capabilities.executes:
        count = max((point.flow for point in points), default=1)
        experiment_file = replace(experiment_file, flows=max(count, 1))
    return _Raw(
        str(directory),
        str(directory),
        tuple(points),
        experiment_file,
        experiment.paths[place],
        tuple(left),
        counterparts(content),
        UNLIMITED if experiment.backend.name in _WITHOUT_SOCKETS else LINUX,
    )


def _chosen(where: str, given: str | None, places: list[str]) -> str:
    """The path that is meant."""
    if given is None and len(places) == 1:
        return places[0]
    if given not in places:
        said = "there are several paths" if given is None else f"has no path `{given}`{nearest(given, places)}"
        raise UserError(f"{where}: {said}", fix=f"{argument('path')} takes one of {listed(places)}")
    return given


COLUMNS = ("scheme", "level", "number", "path", "runs", "good", *METRICS)
_NEEDED = ("scheme", "throughput_mbps", "delay_p95_ms")


def _of_table(file: Path, options: TargetOptions) -> _Raw:
    """A table as `dumbbell show DIR --csv --convention pantheon` prints it.

    Of one scheme and flow, several rows are several runs.
    """
    rows = _table_rows(file)
    places = list(dict.fromkeys(row["path"] for _, row in rows if row.get("path")))
    place = _chosen(str(file), options.path, places) if places else None
    gathered: dict[tuple[str, int], list[tuple[int, dict[str, str]]]] = {}
    for line, row in rows:
        if place is None or row.get("path", "") in ("", place):
            flow = 0 if row.get("level", "") in ("", "network") else _whole(file, line, row, "number", 1)
            gathered.setdefault((row["scheme"], flow), []).append((line, row))
    apart = {scheme for scheme, flow in gathered if flow}
    points = [_row_point(file, *key, found) for key, found in gathered.items() if key[1] or key[0] not in apart]
    runs = max(point.runs for point in points)
    flows = max(max(flow for _, flow in gathered), 1)
    experiment_file = ExperimentFile(name=PLACE, runs=runs, flows=flows, file=str(file))
    return _Raw(str(file), str(file), tuple(points), experiment_file, None)


def _table_rows(file: Path) -> list[tuple[int, dict[str, str]]]:
    """The rows with their lines, all columns known."""
    try:
        reader = csv.DictReader(io.StringIO(read_text(file, TABLE)), restkey="", strict=True)
        columns = reader.fieldnames or []
        allowed = [*COLUMNS, *(f"{name}_{what}" for name in METRICS for what in ("low", "high", "bounds"))]
        for name in columns:
            if name not in allowed:
                raise UserError(
                    f"{file}: unknown column `{name}`{nearest(name, allowed)}: allowed are {listed(allowed)}"
                )
        missing = [name for name in _NEEDED if name not in columns]
        if missing:
            raise UserError(f"{file}: column `{missing[0]}` is missing: needed are {listed(_NEEDED)}")
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise UserError(f"{file}: no table: {error}") from None
    except UnicodeDecodeError:
        raise UserError(f"{file}: not a text file (UTF-8)") from None
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None
    for line, row in rows:
        if "" in row or None in row.values():
            raise UserError(f"{file}:{line}: has another number of fields than there are columns")
        if not row["scheme"]:
            raise UserError(f"{file}:{line}: `scheme` is empty: allowed is the name of a scheme")
        if row.get("level", "") not in ("", "network", "flow"):
            raise UserError(f"{file}:{line}: `level` = {row['level']}: allowed is network or flow")
    if not rows:
        raise UserError(f"{file}: no row below the names of the columns")
    return rows


def _row_point(file: Path, scheme: str, flow: int, rows: list[tuple[int, dict[str, str]]]) -> Point:
    """One row with a range, or one for each run."""
    means: dict[str, Mean | None] = {}
    runs = len(rows)
    for name, (least, most) in METRICS.items():
        values = [_field(file, line, row, name, least, most) for line, row in rows]
        known = [value for value in values if value is not None]
        means[name] = Mean.of(known)
        if runs == 1 and known:
            bounds = [_field(file, *rows[0], f"{name}_{end}", least, most) for end in ("low", "high")]
            means[name] = Mean(known[0], *bounds)
    for name in _NEEDED[1:]:
        if means[name] is None:
            raise UserError(f"{file}:{rows[0][0]}: `{name}` is empty: needed is a number")
    if runs == 1 and rows[0][1].get("runs"):
        runs = _whole(file, *rows[0], "runs", 1)
    return Point(scheme, flow, **means, runs=runs)  # type: ignore[arg-type]


def _field(file: Path, line: int, row: Mapping[str, str], name: str, least: float, most: float) -> float | None:
    text = row.get(name, "")
    if not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not least <= value <= most or value in (float("inf"), float("-inf")):
        raise UserError(f"{file}:{line}: `{name}` = {text}: allowed is a number of {least:g} to {most:g}")
    return value


def _whole(file: Path, line: int, row: Mapping[str, str], name: str, least: int) -> int:
    text = row.get(name, "")
    if not re.fullmatch(r"\d{1,5}", text, re.ASCII) or not least <= int(text) <= 10_000:
        raise UserError(f"{file}:{line}: `{name}` = {text}: allowed is a whole number of {least} to 10000")
    return int(text)
