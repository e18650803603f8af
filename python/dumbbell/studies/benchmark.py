"""From schemes under test to the experiments of the benchmark, and back from a directory."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from dumbbell import catalog
from dumbbell.base.errors import UserError, listed, nearest
from dumbbell.base.json_shape import Each, Table, require_shape
from dumbbell.base.json_text import read_json
from dumbbell.catalog.experiment_file import Plan, parse_plan
from dumbbell.catalog.grids.grid import Axis
from dumbbell.catalog.membership import GROUPS
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.scheme import Scheme
from dumbbell.catalog.toml_tables import read_toml, to_toml
from dumbbell.execution.trust import Untrusted, trusted_member
from dumbbell.experiment import Experiment
from dumbbell.results import LOCK, open_results, to_json, write_atomically
from dumbbell.results.benchmark_results import Benchmark, Part
from dumbbell.results.numbers import definitions

NOTE = "benchmark.json"
_NOTE = Table({"schemes": Each(str), "quick": bool, "given": Each(str), "path": str}, required=("schemes", "quick"))

STANDARD_PATH = "default"
"""The path of experiments that are about something else: another one may take its place."""


@dataclass(frozen=True)
class Note:
    """What the file in a benchmark's directory says of it: names of schemes, which its experiments have in full.

    `given` is what was typed for them; it may name files, which need not be there any more. `path` is the name of the
    path in place of the standard one, if there is one.
    """

    schemes: tuple[str, ...]
    quick: bool
    given: tuple[str, ...] = field(default=(), compare=False)
    path: str = ""

    @property
    def in_words(self) -> str:
        """For messages."""
        where = f" on {self.path}" if self.path else ""
        return f"{'quick' if self.quick else 'full'} benchmark of {listed(self.schemes)}{where}"


def members(
    schemes: Mapping[str, Scheme],
    quick: bool,
    only: tuple[str, ...] = (),
    files: tuple[str, ...] = (),
    path: PathModel | None = None,
) -> tuple[list[tuple[Plan, Experiment]], dict[str, str]]:
    """The experiments for `schemes`, in the order of the index, each with its reference schemes beside them.

    `only` names those that are wanted, if not all; `files` are experiments beside those of the catalog. With a `path`
    they are those that use the standard one, on that instead; why others are left out comes second.

    Raises:
        UserError: an unknown experiment, or one that needs real packets.
    """
    chosen = _chosen(_ordered([*_listed(), *map(_joining, files)], quick), only)
    left_out = {plan.name: _NOT_STANDARD for plan in chosen if path and STANDARD_PATH not in plan.paths}
    if path is not None:
        chosen = [on_path(plan, path) for plan in chosen if plan.name not in left_out]
    in_catalog = catalog.schemes().names()
    own = {name: scheme for name, scheme in schemes.items() if name not in in_catalog}
    found = []
    for plan in chosen:
        try:
            experiment = trusted_member(plan, _labels(plan, schemes), own)
        except UserError as error:
            if path is None or isinstance(error, Untrusted):
                raise
            left_out[plan.name] = str(error)  # an axis that this path cannot take
            continue
        if not experiment.capabilities.repeatable:
            raise UserError(
                f"{plan.file}: `backend` = {experiment.backend}: the benchmark takes experiments that can be simulated"
            )
        found.append((plan, experiment))
    if not found:
        raise UserError("; ".join(f"{name}: {reason}" for name, reason in left_out.items()))
    return found, left_out


_NOT_STANDARD = f"it has paths of its own, not `{STANDARD_PATH}`"


def on_path(plan: Plan, path: PathModel) -> Plan:
    """The plan with a path in place of its own."""
    return replace(
        plan,
        paths=[path.name],
        own_paths=plan.own_paths | {path.name: path},
        shorter=replace(plan.shorter, paths=()),
    )


def examined(given: Iterable[str | Scheme]) -> dict[str, Scheme]:
    """The schemes under test by their names.

    Raises:
        UserError: an unknown one, one that needs real packets, or one with the name of another.
    """
    known = catalog.schemes()
    names = known.names()
    found: dict[str, Scheme] = {}
    for each in given:
        scheme = each if isinstance(each, Scheme) else known.find(each)
        if scheme.real:
            raise UserError(
                f"scheme `{scheme.name}` needs real packets: the benchmark takes schemes that can be simulated"
            )
        other = known.find(scheme.name) if scheme.name in names else scheme
        if found.setdefault(scheme.name, other) != scheme:
            raise UserError(
                f"{scheme.file}: the name `{scheme.name}` is taken by another scheme: give it one of its own"
            )
    return found


def _listed() -> list[Plan]:
    """The members in the catalog: ours, and those of installed packages."""
    return [plan for plan in catalog.experiments() if plan.membership is not None]


def _joining(file: str) -> Plan:
    """An experiment of the user's own that joins."""
    plan = catalog.experiments().find(file)
    if plan.name in catalog.experiments().names():
        raise UserError(f"--experiment {file}: the name `{plan.name}` is taken by a listed experiment")
    if plan.membership is None:
        raise UserError(f"{plan.file}: has no [benchmark] table: it says where an experiment belongs and what it shows")
    return plan


def _ordered(plans: list[Plan], quick: bool) -> list[Plan]:
    """The members as they are run, in the order of the index."""
    if quick:
        plans = [shortened(plan) for plan in plans if not plan.shorter.leave_out]
    _check_metrics(plans)
    return sorted(plans, key=lambda plan: (GROUPS.index(plan.membership.group) if plan.membership else 0, plan.name))


def keep_plan(directory: Path, plan: Plan, changed: bool) -> None:
    """Stores an experiment that is not as we ship it beside its results: its pages need it."""
    if changed or not catalog.experiments().is_shipped(plan.file):
        file = part_directory(directory, plan).with_name(f"{plan.name}.toml")
        file.parent.mkdir(exist_ok=True)
        write_atomically(file, to_toml(plan.table()))


def _check_metrics(plans: list[Plan]) -> None:
    known: dict[str, list[str]] = {"flow": [], "link": [], "network": []}
    for each in definitions():
        known[each.entity_kind].append(each.name)
    for plan in plans:
        for kind, allowed in known.items():
            for name in getattr(plan.membership, kind):
                if name not in allowed:
                    raise _unknown_metric(plan, kind, name, allowed)
        every = [name for names in known.values() for name in names]
        for name in plan.membership.neutral if plan.membership else ():
            if name not in every:
                raise _unknown_metric(plan, "neutral", name, every)


def _unknown_metric(plan: Plan, kind: str, name: str, allowed: list[str]) -> UserError:
    return UserError(f"{plan.file}: `benchmark.{kind}_metrics`: unknown metric `{name}`{nearest(name, allowed)}")


def _chosen(plans: list[Plan], only: tuple[str, ...]) -> list[Plan]:
    names = [plan.name for plan in plans]
    for name in only:
        if name not in names:
            raise UserError(
                f"unknown part `{name}` of the benchmark{nearest(name, names)}: allowed are {listed(names)}"
            )
    return [plan for plan in plans if not only or plan.name in only]


def _labels(plan: Plan, schemes: Iterable[str]) -> tuple[str, ...]:
    references = plan.membership.references if plan.membership else ()
    return tuple(dict.fromkeys([*schemes, *references]))


def shortened(plan: Plan) -> Plan:
    """The plan in its quick form."""
    shorter = plan.shorter
    changes: dict[str, Any] = dict(shorter.settings)
    if shorter.paths:
        changes["paths"] = list(shorter.paths)
    if shorter.grid:
        given = {axis.name: axis for axis in shorter.grid}
        changes["grid"] = tuple(given.pop(axis.name, axis) for axis in plan.grid)
        if given:
            raise _no_axis(plan, next(iter(given.values())))
    return replace(plan, **changes)


def _no_axis(plan: Plan, axis: Axis) -> UserError:
    allowed = ", ".join(other.name for other in plan.grid)
    return UserError(f"{plan.file}: `quick.grid.{axis.name}`: allowed are the axes of `grid`: {allowed}")


def read_note(directory: Path) -> Note | None:
    """What the directory says of its benchmark; `None` if there is none.

    Raises:
        UserError: the file is damaged.
    """
    file = directory / NOTE
    try:
        found = read_json(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        require_shape(found, _NOTE)
    except UserError as error:
        raise UserError(f"{file}: {error}") from None
    schemes = tuple(found["schemes"])
    return Note(schemes, found["quick"], tuple(found.get("given", schemes)), found.get("path", ""))


def take(directory: Path, wanted: Note, resume: bool) -> None:
    """Make `directory`, which the caller holds, this benchmark's, or see that it is.

    Raises:
        UserError: it has another one, or something else, or cannot be written.
    """
    stored = read_note(directory)
    if stored is not None:
        if not resume:
            raise UserError(
                f"{directory}: has a benchmark already: add --resume to continue it, or choose another --out"
            )
        if stored != wanted:
            raise UserError(f"{directory}: cannot resume: it is the {stored.in_words}, not the {wanted.in_words}")
        return
    if any(entry.name != LOCK for entry in directory.iterdir()):
        raise UserError(f"{directory}: is neither empty nor a benchmark's directory: choose another --out")
    try:
        write_atomically(directory / NOTE, to_json(asdict(wanted)))
    except OSError as error:
        raise UserError(f"cannot write to {directory}: {error.strerror or error}") from None


def open_benchmark(directory: Path) -> Benchmark:
    """The benchmark in `directory`, for reading.

    Raises:
        UserError: it is none.
    """
    note = read_note(directory)
    if note is None:
        raise UserError(f"{directory}: not the directory of a benchmark: there is no {NOTE} in it")
    kept = [parse_plan(read_toml(file)) for file in sorted((directory / "experiments").glob("*.toml"))]
    shipped = [plan for plan in _listed() if plan.name not in {other.name for other in kept}]
    made = [plan for plan in _ordered([*shipped, *kept], note.quick) if part_directory(directory, plan).is_dir()]
    parts = tuple(Part(plan, open_results(part_directory(directory, plan))) for plan in made)
    return Benchmark(directory, note.schemes, note.quick, parts, note.given)


def part_directory(directory: Path, plan: Plan) -> Path:
    """The results directory of one experiment of the benchmark."""
    return directory / "experiments" / plan.name
