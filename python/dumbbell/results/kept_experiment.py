"""Experiment of a results directory: `experiment.toml`, and the trace files that it names."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError, one_line
from dumbbell.base.input_files import TEXT, read_bytes
from dumbbell.catalog.experiment_file import ExperimentFile, parse_experiment_file
from dumbbell.catalog.open_tables import Element
from dumbbell.catalog.toml_tables import read_toml, to_toml
from dumbbell.catalog.trace_files import keep_below, names_file
from dumbbell.experiment import Experiment
from dumbbell.results.files import write_atomically

KEPT = "experiment.toml"
TRACES = "traces"
"""Directory of the trace files."""
_EXTENDED = ("runs", "for_s", "disk_quota_bytes", "data_cap_bytes", "convention")
"""Settings that may change when results are continued: amounts of runs, and the shown convention."""


def kept_experiment(directory: Path) -> ExperimentFile:
    """Return the experiment of a results directory, which includes all that it names.

    Raises:
        UserError: The file cannot be read, a key or value in it is not allowed, or it names a file elsewhere.
    """
    root = Entry.of(directory)
    table = read_toml(root / KEPT)
    for element in _trace_files(table.raw):
        try:
            file = root / str(element["file"])
            file.require_beneath()
        except OSError as error:
            raise UserError(f"{root / KEPT}: trace `file` = {element['file']}: {one_line(error)}") from None
        keep_below(file)
    return replace(parse_experiment_file(table), is_resolved=True)


def _trace_files(value: object) -> Iterator[Mapping[str, object]]:
    """Yield the elements of paths that name files, at any depth."""
    if isinstance(value, Mapping):
        if names_file(value):
            yield value
        value = [*value.values()]
    if isinstance(value, list):
        for entry in value:
            yield from _trace_files(entry)


def kept_table(experiment: Experiment) -> dict[str, object]:
    """Return the table of an experiment with the names that its trace files have in a results directory."""
    paths = {
        name: replace(path, data=[*map(_with_stored_name, path.data)], ack=[*map(_with_stored_name, path.ack)]).table()
        for name, path in experiment.paths.items()
    }
    return experiment.table() | {"path": paths}


def lasting_table(experiment: Experiment) -> dict[str, object]:
    """Return the table of an experiment without the settings that may change when results are continued."""
    return {key: value for key, value in kept_table(experiment).items() if key not in _EXTENDED}


def write_experiment(directory: Path, experiment: Experiment) -> None:
    """Copy the trace files of an experiment into a results directory, and write its `experiment.toml`.

    Raises:
        UserError: A trace file cannot be read.
        OSError: A file cannot be written.
    """
    root = Entry.of(directory)
    for path in experiment.paths.values():
        for element in filter(names_file, (*path.data, *path.ack)):
            file = root / _with_stored_name(element)["file"]
            if not file.is_file():
                file.parent.make_folder()
                write_atomically(file, read_bytes(Path(element["file"]), TEXT))
    write_atomically(root / KEPT, to_toml(kept_table(experiment)))


def _with_stored_name(element: Element) -> Element:
    if not names_file(element):
        return element
    file, mark = Path(element["file"]), f"-{element['sha256'][:8]}"
    return element | {"file": f"{TRACES}/{file.stem.removesuffix(mark)}{mark}{file.suffix}"}
