"""The measurements that a path model is fitted to: throughput, 95th-percentile one-way delay and loss of schemes."""

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
"""Name of the path in the simulated experiment, from which seeds follow."""

LEAST_POINTS = 2
_WITHOUT_SOCKETS = ("sim", "emu")
"""Backends whose sockets have no limit unless a scheme sets one (docs/reference/transport.md, socket buffers)."""
HELD_OUT = "held out as asked"
_SD_OF_RANGE = {2: 1.128, 3: 1.693, 4: 2.059, 5: 2.326, 6: 2.534, 7: 2.704, 8: 2.847, 9: 2.970, 10: 3.078}
"""Expected range of this many normal draws, in standard deviations (Tippett, Biometrika 17, 1925)."""


@dataclass(frozen=True)
class Point:
    """Measured means of a scheme over `runs`, of all flows of a run together (`flow` 0) or of one flow."""

    scheme: str
    flow: int
    throughput_mbps: Mean
    delay_p95_ms: Mean
    loss_rate: Mean | None = None
    runs: int = 1
    title: str = ""
    excluded_because: str = ""
    """Reason why no fit uses the point; empty if fits use it."""

    @property
    def key(self) -> tuple[str, int]:
        """Scheme and flow of the point."""
        return (self.scheme, self.flow)

    @property
    def label(self) -> str:
        """Name of the point for people."""
        return self.scheme if self.flow == 0 else f"{self.scheme}, flow {self.flow}"

    def mean_error(self, metric: str) -> float:
        """Return the standard error of a metric's mean, estimated from the range of the runs; 0 if unknown."""
        mean: Mean | None = getattr(self, metric)
        if mean is None or mean.low is None or mean.high is None or self.runs < 2:
            return 0.0
        spread = _SD_OF_RANGE.get(self.runs, _SD_OF_RANGE[10])
        return float((mean.high - mean.low) / spread / self.runs**0.5)


@dataclass(frozen=True)
class Target:
    """All measurements, and the experiment that repeats them over a path called `PLACE`."""

    source: str
    points: tuple[Point, ...]
    """Points to which models are fitted."""
    experiment: Experiment
    left_out: tuple[str, ...] = ()
    """Measurements that cannot be simulated, each with the reason."""
    predicted_points: tuple[Point, ...] = ()
    """Points of schemes in no fit, which are predicted. Each has its reason."""
    schemes: tuple[str, ...] = field(init=False)
    """Names of the schemes in `points`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "schemes", names_of(self.points))

    def of(self, schemes: Iterable[str]) -> tuple[Point, ...]:
        """Return the points of some schemes."""
        names = set(schemes)
        return tuple(point for point in (*self.points, *self.predicted_points) if point.scheme in names)


def names_of(points: Iterable[Point]) -> tuple[str, ...]:
    """Return the names of the schemes in some points, without duplicates."""
    return tuple(dict.fromkeys(point.scheme for point in points))


@dataclass(frozen=True)
class TargetOptions:
    """Overrides of a target's own settings. None and empty values keep the target's setting."""

    path: str | None = None
    schemes: tuple[str, ...] = ()
    hold_out: tuple[str, ...] = ()
    """Schemes of the target to which no model is fitted."""
    stands_for: Mapping[str, str] = field(default_factory=dict)
    """Built-in schemes by the schemes of the target that they simulate."""
    runs: int | None = None
    duration_s: float | None = None
    flows: int | None = None
    interval_s: float | None = None
    overhead_bytes: int | None = None
    seed: int = 1
    sockets: str | None = None
    """Socket buffers of schemes of the kernel's TCP; None: Linux's buffers if real hosts were measured."""


def read_target(text: str, options: TargetOptions) -> Target:
    """Load the target: a results directory, a table (`.csv`), or an experiment with published numbers, by name or file.

    Raises:
        UserError: the target cannot be read, or has too few usable points.
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
    """Points under the target's own scheme names, and the experiment file of the points."""

    file_name: str
    source: str
    points: tuple[Point, ...]
    experiment_file: ExperimentFile
    path: PathModel | None
    left_out: tuple[str, ...] = ()
    counterparts: Mapping[str, Counterpart] = field(default_factory=dict)
    """Schemes that simulate the schemes of Pantheon's tests, by Pantheon's keys."""
    sockets: str = LINUX
    """Socket buffers of the measured hosts."""


def _simulated(raw: _Raw, options: TargetOptions) -> Target:
    """Return the target with built-in schemes, without points that they cannot simulate."""
    scheme_names = {point.scheme for point in raw.points}
    for name in (*options.schemes, *options.hold_out, *options.stands_for):
        if name not in scheme_names:
            raise UserError(
                f"{raw.file_name}: has no scheme `{name}`{nearest(name, scheme_names)}: "
                f"it has {listed(sorted(scheme_names))}"
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
        exclusion = HELD_OUT if point.scheme in options.hold_out else point.excluded_because
        points.append(replace(point, scheme=scheme.name, excluded_because=exclusion))
    twice = [point.label for point in points if [other.key for other in points].count(point.key) > 1]
    if twice:
        raise UserError(f"{raw.file_name}: `{twice[0]}` is there twice", fix=f"choose with {argument('schemes')}")
    fitted_points, predicted_points = (
        [point for point in points if bool(point.excluded_because) is is_excluded] for is_excluded in (False, True)
    )
    if len(fitted_points) < LEAST_POINTS:
        reasons = [*left, *(f"{point.label}: {point.excluded_because}" for point in predicted_points)]
        raise UserError(
            f"{raw.file_name}: needed are {LEAST_POINTS} schemes or more; {'; '.join(reasons) or 'there are fewer'}"
        )
    experiment = _experiment(raw, options, used)
    return Target(raw.source, tuple(fitted_points), experiment, tuple(dict.fromkeys(left)), tuple(predicted_points))


def _unusable(point: Point) -> str:
    """Return the reason why a point is unusable, or nothing. Errors are relative, so values must be positive."""
    if point.throughput_mbps.mean <= 0.0:
        return "nothing arrived"
    if point.delay_p95_ms.mean <= 0.0:
        return "its delay is not above zero (two clocks?)"
    return ""


def _experiment(raw: _Raw, options: TargetOptions, used: dict[str, Scheme]) -> Experiment:
    """Return the experiment with the target's settings, for the simulator, over a path to be calibrated."""
    overhead = options.overhead_bytes
    if overhead is None:
        overhead = raw.path.overhead_bytes if raw.path else 0
    mtu, fragment = (raw.path.mtu_bytes, raw.path.fragment) if raw.path else (1500, True)
    delay: list[Element] = [{"kind": "delay", "delay_ms": 1.0}]
    path = PathModel(
        PLACE,
        PLACE,
        overhead_bytes=overhead,
        mtu_bytes=mtu,
        fragment=fragment,
        data=delay,
        ack=delay,
        file=raw.file_name,
    )
    overrides = {
        "runs": options.runs,
        "duration_s": options.duration_s,
        "flows": options.flows,
        "interval_s": options.interval_s,
    }
    changes: SettingValues = {name: value for name, value in overrides.items() if value is not None}
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
        publication=Publication(),
        every_s=None,
        for_s=None,
        sender=None,
        tunnel=None,
        ntp=None,
        remote_address=None,
        udp_ports=None,
        bandwidth_cap_mbps=None,
        data_cap_bytes=None,
        is_resolved=False,
        known_plugins=frozenset(),
        **changes,
    )
    # no metric here needs samples
    return pin(resolve(replace(experiment_file, sample_interval_s=experiment_file.duration_s)))


def _of_publication(text: str, options: TargetOptions) -> _Raw:
    """Return the points in the published rows of an experiment."""
    experiment_file = catalog.experiments().find(text)
    rows = experiment_file.publication.rows
    if not rows:
        having = [name for name in catalog.experiments().names() if catalog.experiments().find(name).publication.rows]
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
            details = {"title": row.title, "excluded_because": row.uncounted}
            points.append(Point(row.scheme, 0, **row.means, runs=experiment_file.runs, **details))  # type: ignore[arg-type]
    path = _path_of(experiment_file, place or (experiment_file.paths[0] if experiment_file.paths else None))
    return _Raw(text, experiment_file.publication.source, tuple(points), experiment_file, path, tuple(left))


def _path_of(experiment_file: ExperimentFile, name: str | None) -> PathModel | None:
    """Return the path that an experiment file names, for its overhead and its MTU; None without a name."""
    if name is None:
        return None
    return experiment_file.own_paths.get(name) or catalog.paths().find(name)


def _of_results(directory: Path, options: TargetOptions) -> _Raw:
    """Return the points of the good runs in a results directory, on one path."""
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
        levels = [("flow", number) for number in flows] if len(flows) > 1 else [("network", 0)]
        for level, number in levels:
            means = {name: Mean.of(group.values.get((level, number, name), [])) for name in METRICS}
            if means["throughput_mbps"] is None or means["delay_p95_ms"] is None:
                left.append(f"{group.scheme}: no good run")
            else:
                points.append(Point(group.scheme, number, **means, runs=group.good))  # type: ignore[arg-type]
    # results are not trusted to execute code: `stand_in` leaves out all schemes that are not built in
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


def _chosen(source: str, requested_path: str | None, places: list[str]) -> str:
    """Return the requested path, or the only one."""
    if requested_path is None and len(places) == 1:
        return places[0]
    if requested_path not in places:
        problem = (
            "there are several paths"
            if requested_path is None
            else f"has no path `{requested_path}`{nearest(requested_path, places)}"
        )
        raise UserError(f"{source}: {problem}", fix=f"{argument('path')} takes one of {listed(places)}")
    return requested_path


COLUMNS = ("scheme", "level", "number", "path", "runs", "good", *METRICS)
_NEEDED = ("scheme", "throughput_mbps", "delay_p95_ms")


def _of_table(file: Path, options: TargetOptions) -> _Raw:
    """Return the points of a table, as `dumbbell show DIR --csv --convention pantheon` prints it.

    Several rows of one scheme and flow are several runs.
    """
    rows = _table_rows(file)
    places = list(dict.fromkeys(row["path"] for _, row in rows if row.get("path")))
    place = _chosen(str(file), options.path, places) if places else None
    grouped_rows: dict[tuple[str, int], list[tuple[int, dict[str, str]]]] = {}
    for line, row in rows:
        if place is None or row.get("path", "") in ("", place):
            flow = 0 if row.get("level", "") in ("", "network") else _whole(file, line, row, "number", 1)
            grouped_rows.setdefault((row["scheme"], flow), []).append((line, row))
    apart = {scheme for scheme, flow in grouped_rows if flow}
    points = [
        _row_point(file, *key, point_rows) for key, point_rows in grouped_rows.items() if key[1] or key[0] not in apart
    ]
    runs = max(point.runs for point in points)
    flows = max(max(flow for _, flow in grouped_rows), 1)
    experiment_file = ExperimentFile(name=PLACE, runs=runs, flows=flows, file=str(file))
    return _Raw(str(file), str(file), tuple(points), experiment_file, None)


def _table_rows(file: Path) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a table with their line numbers; refuse unknown columns."""
    try:
        reader = csv.DictReader(io.StringIO(read_text(file, TABLE)), restkey="", strict=True)
        columns = reader.fieldnames or []
        allowed_names = [*COLUMNS, *(f"{name}_{ending}" for name in METRICS for ending in ("low", "high", "bounds"))]
        for name in columns:
            if name not in allowed_names:
                raise UserError(
                    f"{file}: unknown column `{name}`{nearest(name, allowed_names)}: "
                    f"allowed are {listed(allowed_names)}"
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
    """Return the point of one row with a range, or of several rows with one run each."""
    means: dict[str, Mean | None] = {}
    runs = len(rows)
    for name, (least, highest) in METRICS.items():
        values = [_field(file, line, row, name, least, highest) for line, row in rows]
        known_values = [value for value in values if value is not None]
        means[name] = Mean.of(known_values)
        if runs == 1 and known_values:
            bounds = [_field(file, *rows[0], f"{name}_{end}", least, highest) for end in ("low", "high")]
            means[name] = Mean(known_values[0], *bounds)
    for name in _NEEDED[1:]:
        if means[name] is None:
            raise UserError(f"{file}:{rows[0][0]}: `{name}` is empty: needed is a number")
    if runs == 1 and rows[0][1].get("runs"):
        runs = _whole(file, *rows[0], "runs", 1)
    return Point(scheme, flow, **means, runs=runs)  # type: ignore[arg-type]


def _field(file: Path, line: int, row: Mapping[str, str], name: str, least: float, highest: float) -> float | None:
    text = row.get(name, "")
    if not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not least <= value <= highest or value in (float("inf"), float("-inf")):
        raise UserError(f"{file}:{line}: `{name}` = {text}: allowed is a number of {least:g} to {highest:g}")
    return value


def _whole(file: Path, line: int, row: Mapping[str, str], name: str, least: int) -> int:
    text = row.get(name, "")
    if not re.fullmatch(r"\d{1,5}", text, re.ASCII) or not least <= int(text) <= 10_000:
        raise UserError(f"{file}:{line}: `{name}` = {text}: allowed is a whole number of {least} to 10000")
    return int(text)
