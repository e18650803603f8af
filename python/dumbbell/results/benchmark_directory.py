"""Directory of a benchmark: its note, its experiments, and their results."""

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
    """Note of a benchmark's directory: the names of schemes, which its experiments describe in full.

    `given` is the user's input for the schemes; it may name files that no longer exist. `path` is the name of the path
    in place of the standard one, or empty. Verdicts compare the schemes with the `baselines`.
    """

    schemes: tuple[str, ...]
    quick: bool
    given: tuple[str, ...] = field(default=(), compare=False)
    path: str = ""
    baselines: tuple[str, ...] = BASELINES

    @property
    def in_words(self) -> str:
        """Description for messages."""
        place = f" on {self.path}" if self.path else ""
        beside = "" if self.baselines == BASELINES else f" beside {listed(self.baselines)}"
        return f"{'quick' if self.quick else 'full'} benchmark of {listed(self.schemes)}{beside}{place}"


def listed_members() -> list[ExperimentFile]:
    """Return the benchmark members of the catalog, including those of installed packages."""
    return [experiment_file for experiment_file in catalog.experiments() if experiment_file.membership is not None]


def ordered(experiment_files: list[ExperimentFile], quick: bool) -> list[ExperimentFile]:
    """Return the members as they are run, in the order of the index."""
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
    """Store an experiment that differs from the catalog's beside its results, since its pages need it."""
    if changed or not catalog.experiments().is_shipped(experiment_file.file):
        file = Entry.of(directory) / "experiments" / f"{experiment_file.name}.toml"
        file.parent.make_folder()
        write_atomically(file, to_toml(experiment_file.table()))


def _check_metrics(experiment_files: list[ExperimentFile]) -> None:
    names_by_kind: dict[str, list[str]] = {"flow": [], "link": [], "network": []}
    for metric in definitions():
        names_by_kind[metric.entity_kind].append(metric.name)
    for experiment_file in experiment_files:
        for kind, names_of_kind in names_by_kind.items():
            for name in getattr(experiment_file.membership, kind):
                if name not in names_of_kind:
                    raise _unknown_metric(experiment_file, kind, name, names_of_kind)
        every = [name for names in names_by_kind.values() for name in names]
        for name in experiment_file.membership.neutral if experiment_file.membership else ():
            if name not in every:
                raise _unknown_metric(experiment_file, "neutral", name, every)


def _unknown_metric(experiment_file: ExperimentFile, kind: str, name: str, valid_names: list[str]) -> UserError:
    return UserError(
        f"{experiment_file.file}: `benchmark.{kind}_metrics`: unknown metric `{name}`{nearest(name, valid_names)}"
    )


def shortened(experiment_file: ExperimentFile) -> ExperimentFile:
    """Return the experiment file in its quick form; its title says how many of the paths are left."""
    shorter = experiment_file.shorter
    changes: SettingValues = dict(shorter.settings)
    if shorter.paths:
        changes["paths"] = list(shorter.paths)
        if experiment_file.title and len(shorter.paths) < len(experiment_file.paths):
            remaining = f"quick: {len(shorter.paths)} of the {len(experiment_file.paths)} paths"
            changes["title"] = f"{experiment_file.title} ({remaining})"
    if shorter.grid:
        short_axes = {axis.name: axis for axis in shorter.grid}
        changes["grid"] = tuple(short_axes.pop(axis.name, axis) for axis in experiment_file.grid)
        if short_axes:
            raise _no_axis(experiment_file, next(iter(short_axes.values())))
    return replace(experiment_file, **changes)


def _no_axis(experiment_file: ExperimentFile, axis: Axis) -> UserError:
    axis_names = ", ".join(other.name for other in experiment_file.grid)
    return UserError(f"{experiment_file.file}: `quick.grid.{axis.name}`: allowed are the axes of `grid`: {axis_names}")


def read_note(directory: Path) -> Note | None:
    """Return the note of the directory, or None if it has no benchmark.

    Raises:
        UserError: The file is damaged.
    """
    file = Entry.of(directory) / NOTE
    try:
        note = read_json(file, Note)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return note if note.given else replace(note, given=note.schemes)


def take(directory: Path, note: Note, resume: bool) -> None:
    """Prepare `directory`, which the caller holds, for this benchmark, or check that it belongs to it.

    Raises:
        UserError: The directory has another benchmark, or something else, or cannot be written.
    """
    stored_note = read_note(directory)
    if stored_note is not None:
        if not resume:
            remedy = f"add {argument('resume', 'True')} to continue it, or choose another {argument('out')}"
            raise UserError(f"{directory}: has a benchmark already", fix=remedy)
        if stored_note != note:
            raise UserError(f"{directory}: cannot resume: it is the {stored_note.in_words}, not the {note.in_words}")
        return
    if any(entry.name != LOCK for entry in directory.iterdir()):
        remedy = f"choose another {argument('out')}"
        raise UserError(f"{directory}: is neither empty nor a benchmark's directory", fix=remedy)
    try:
        write_atomically(Entry.of(directory) / NOTE, to_json(asdict(note)))
    except OSError as error:
        raise UserError(f"cannot write to {directory}: {error.strerror or error}") from None


def open_benchmark(directory: Path) -> Benchmark:
    """Return the benchmark in `directory`, for reading.

    Raises:
        UserError: The directory has no benchmark.
    """
    note = read_note(directory)
    if note is None:
        raise UserError(f"{directory}: not the directory of a benchmark: there is no {NOTE} in it")
    folder = Entry.of(directory) / "experiments"
    stored_files = [
        parse_experiment_file(read_toml(folder / name)) for name in folder.names() if name.endswith(".toml")
    ]
    catalog_files = [
        experiment_file
        for experiment_file in listed_members()
        if experiment_file.name not in {other.name for other in stored_files}
    ]
    present_files = [
        experiment_file
        for experiment_file in ordered([*catalog_files, *stored_files], note.quick)
        if Entry.at(directory, part_directory(directory, experiment_file)).is_folder()
    ]
    parts = tuple(
        Part(experiment_file, open_results(part_directory(directory, experiment_file)))
        for experiment_file in present_files
    )
    return Benchmark(directory, note.schemes, note.quick, parts, note.given, note.baselines)


def part_directory(directory: Path, experiment_file: ExperimentFile) -> Path:
    """Return the results directory of one experiment of the benchmark."""
    return directory / "experiments" / experiment_file.name
