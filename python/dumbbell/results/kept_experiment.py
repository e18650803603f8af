"""The experiment as a results directory keeps it: `experiment.toml`, and beside it the trace files that it names."""

from dataclasses import replace
from pathlib import Path

from dumbbell.base.input_files import TEXT, read_bytes
from dumbbell.catalog.open_tables import Element
from dumbbell.catalog.toml_tables import to_toml
from dumbbell.catalog.trace_files import names_file
from dumbbell.experiment import Experiment
from dumbbell.results.files import write_atomically

TRACES = "traces"
"""The folder of the trace files."""


def kept_table(experiment: Experiment) -> dict[str, object]:
    """Return the table of an experiment with the names that its trace files have in a results directory."""
    paths = {
        name: replace(path, data=[*map(_named, path.data)], ack=[*map(_named, path.ack)]).table()
        for name, path in experiment.paths.items()
    }
    return experiment.table() | {"path": paths}


def write_experiment(directory: Path, experiment: Experiment) -> None:
    """Copy the trace files of an experiment into a results directory, and write its `experiment.toml`.

    Raises:
        UserError: a trace file cannot be read.
        OSError: a file cannot be written.
    """
    for path in experiment.paths.values():
        for element in filter(names_file, (*path.data, *path.ack)):
            file = directory / _named(element)["file"]
            if not file.exists():
                file.parent.mkdir(exist_ok=True)
                write_atomically(file, read_bytes(Path(element["file"]), TEXT))
    write_atomically(directory / "experiment.toml", to_toml(kept_table(experiment)))


def _named(element: Element) -> Element:
    if not names_file(element):
        return element
    file, mark = Path(element["file"]), f"-{element['sha256'][:8]}"
    return element | {"file": f"{TRACES}/{file.stem.removesuffix(mark)}{mark}{file.suffix}"}
