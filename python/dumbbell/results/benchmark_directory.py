"""The directory of a benchmark: its note, the experiments in it, and what was measured there."""

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from dumbbell import catalog
from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError, argument, listed, nearest
from dumbbell.base.json_text import read_json, to_json
from dumbbell.catalog.experiment_file import ExperimentFile, parse_experiment_file
from dumbbell.catalog.experiment_settings import SettingValues
from dumbbell.catalog.grids.grid import Axis
from dumbbell.catalog.membership import GROUPS
from dumbbell.catalog.toml_tables import read_toml, to_toml
from dumbbell.results import LOCK, open_results, write_atomically
from dumbbell.results.benchmark_results import BASELINES, Benchmark, Part
from dumbbell.results.numbers import definitions

NOTE = "benchmark.json"


@dataclass(frozen=True)
class Note:
    """What the file in a benchmark's directory says of it: names of schemes, which its experiments have in full.

    `given` is what was typed for them; it may name files, which need not be there any more. `path` is the name of the
    path in place of the standard one, if there is one. `baselines` are what verdicts compare the schemes with.
    """

    schemes: tuple[str, ...]
    quick: bool
    given: tuple[str, ...] = field(default=(), compare=False)
    path: str = ""
    baselines: tuple[str, ...] = BASELINES

    @property
    def in_words(self) -> str:
        """For messages."""
        where = f" on {self.path}" if self.path else ""
        beside = "" if self.baselines == BASELINES else f" beside {listed(self.baselines)}"
        return f"{'quick' if self.quick else 'full'} benchmark of {listed(self.schemes)}{beside}{where}"


def listed_members() -> list[ExperimentFile]:
    """The members in the catalog: ours, and those of installed packages."""
    return [experiment_file for experiment_file in catalog.experiments() if experiment_file.membership is not None]


def ordered(experiment_files: list[ExperimentFile], quick: bool) -> list[ExperimentFile]:
    """The members as they are run, in the order of the index."""
    if quick:
        experiment_files = [
            shortened(experiment_file) for experiment_file in experiment_files if not experiment_file.shorter.leave_out
        ]
    _check_metrics(experiment_files)
    return sorted(
        experiment_files,
        key=lambda experiment_file: (
            GROUPS.index(experiment_file.membership.group) if experiment_file.membership else 0,
            experiment_file.name,
        ),
    )


def keep_experiment_file(directory: Path, experiment_file: ExperimentFile, changed: bool) -> None:
    """Stores an experiment that is not as we ship it beside its results: its pages need it."""
    if changed or not catalog.experiments().is_shipped(experiment_file.file):
        file = Entry.of(directory) / "experiments" / f"{experiment_file.name}.toml"
        file.parent.make_folder()
        write_atomically(file, to_toml(experiment_file.table()))


def _check_metrics(experiment_files: list[ExperimentFile]) -> None:
    known: dict[str, list[str]] = {"flow": [], "link": [], "network": []}
    for each in definitions():
        known[each.entity_kind].append(each.name)
    for experiment_file in experiment_files:
        for kind, allowed in known.items():
            for name in getattr(experiment_file.membership, kind):
                if name not in allowed:
                    raise _unknown_metric(experiment_file, kind, name, allowed)
        every = [name for names in known.values() for name in names]
        for name in experiment_file.membership.neutral if experiment_file.membership else ():
            if name not in every:
                raise _unknown_metric(experiment_file, "neutral", name, every)


def _unknown_metric(experiment_file: ExperimentFile, kind: str, name: str, allowed: list[str]) -> UserError:
    return UserError(
        f"{experiment_file.file}: `benchmark.{kind}_metrics`: unknown metric `{name}`{nearest(name, allowed)}"
    )


def shortened(experiment_file: ExperimentFile) -> ExperimentFile:
    """Return the experiment file in its quick form; its title says how many of the paths are left."""
    shorter = experiment_file.shorter
    changes: SettingValues = dict(shorter.settings)
    if shorter.paths:
        changes["paths"] = list(shorter.paths)
        if experiment_file.title and len(shorter.paths) < len(experiment_file.paths):
            left = f"quick: {len(shorter.paths)} of the {len(experiment_file.paths)} paths"
            changes["title"] = f"{experiment_file.title} ({left})"
    if shorter.grid:
        given = {axis.name: axis for axis in shorter.grid}
        changes["grid"] = tuple(given.pop(axis.name, axis) for axis in experiment_file.grid)
        if given:
            raise _no_axis(experiment_file, next(iter(given.values())))
    return replace(experiment_file, **changes)


def _no_axis(experiment_file: ExperimentFile, axis: Axis) -> UserError:
    allowed = ", ".join(other.name for other in experiment_file.grid)
    return UserError(f"{experiment_file.file}: `quick.grid.{axis.name}`: allowed are the axes of `grid`: {allowed}")


def read_note(directory: Path) -> Note | None:
    """What the directory says of its benchmark; `None` if there is none.

    Raises:
        UserError: the file is damaged.
    """
    file = Entry.of(directory) / NOTE
    try:
        note = read_json(file, Note)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return note if note.given else replace(note, given=note.schemes)


def take(directory: Path, wanted: Note, resume: bool) -> None:
    """Make `directory`, which the caller holds, this benchmark's, or see that it is.

    Raises:
        UserError: it has another one, or something else, or cannot be written.
    """
    stored = read_note(directory)
    if stored is not None:
        if not resume:
            remedy = f"add {argument('resume', 'True')} to continue it, or choose another {argument('out')}"
            raise UserError(f"{directory}: has a benchmark already", fix=remedy)
        if stored != wanted:
            raise UserError(f"{directory}: cannot resume: it is the {stored.in_words}, not the {wanted.in_words}")
        return
    if any(entry.name != LOCK for entry in directory.iterdir()):
        remedy = f"choose another {argument('out')}"
        raise UserError(f"{directory}: is neither empty nor a benchmark's directory", fix=remedy)
    try:
        write_atomically(Entry.of(directory) / NOTE, to_json(asdict(wanted)))
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
    folder = Entry.of(directory) / "experiments"
    kept = [parse_experiment_file(read_toml(folder / name)) for name in folder.names() if name.endswith(".toml")]
    shipped = [
        experiment_file
        for experiment_file in listed_members()
        if experiment_file.name not in {other.name for other in kept}
    ]
    made = [
        experiment_file
        for experiment_file in ordered([*shipped, *kept], note.quick)
        if Entry.at(directory, part_directory(directory, experiment_file)).is_folder()
    ]
    parts = tuple(
        Part(experiment_file, open_results(part_directory(directory, experiment_file))) for experiment_file in made
    )
    return Benchmark(directory, note.schemes, note.quick, parts, note.given, note.baselines)


def part_directory(directory: Path, experiment_file: ExperimentFile) -> Path:
    """The results directory of one experiment of the benchmark."""
    return directory / "experiments" / experiment_file.name
