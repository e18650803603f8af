"""The journal of a calibration: the results of all tried paths, written to the disk at once.

Lines of JSON: the first identifies the calibration, each other one is a candidate (a path, and the model's
host settings) with the metrics of its runs by scheme. A repeated search takes its evaluations from the journal, and
continues after the last one.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NotRequired, TypedDict

from dumbbell.base.errors import UserError, argument
from dumbbell.base.input_files import JOURNAL, read_bytes
from dumbbell.base.json_text import BadJson, parse_json
from dumbbell.base.version import __version__
from dumbbell.catalog.open_tables import Element
from dumbbell.experiment import Experiment
from dumbbell.results.files import require_no_link
from dumbbell.results.numbers import is_number
from dumbbell_calibrate.workers import METRICS, RunMetrics

FILE = "evaluations.jsonl"


class Candidate(TypedDict):
    """A candidate path and the hosts at its ends."""

    data: list[Element]
    """Elements of the data direction."""
    ack: list[Element]
    hosts: NotRequired[dict[str, float]]
    """Settings of hosts, if the model has such knobs."""
    judged: NotRequired[bool]
    """True for runs with seeds that no fit has seen."""


def head_of(experiment: Experiment) -> dict[str, object]:
    """Return the identity of a calibration: schemes, settings and version, on which evaluations depend."""
    experiment_text = json.dumps(experiment.table(), sort_keys=True)
    return {"dumbbell": __version__, "experiment": hashlib.sha256(experiment_text.encode()).hexdigest()}


class Journal:
    """The stored evaluations of a calibration, and new ones."""

    def __init__(self, directory: Path | None, head: Mapping[str, object], resume: bool) -> None:
        """Open the journal, or create it. Without a directory the journal is in memory only.

        Raises:
            UserError: a journal exists and `resume` is False, or the journal is about another calibration.
        """
        self._known: dict[str, dict[str, list[RunMetrics]]] = {}
        self._file: IO[str] | None = None
        if directory is None:
            return
        require_no_link(directory)
        directory.mkdir(parents=True, exist_ok=True)
        place = directory / FILE
        require_no_link(place)
        if place.exists():
            if not resume:
                remedy = f"{argument('resume', 'True')} goes on with it, or remove {directory}"
                raise UserError(f"{place}: is there already", fix=remedy)
            self._read(place, head)
        self._file = place.open("a", encoding="utf-8")
        if self._file.tell() == 0:
            self._write([dict(head)])

    def _read(self, place: Path, head: Mapping[str, object]) -> None:
        """Read the journal, without an incomplete last line left by a killed process."""
        content = read_bytes(place, JOURNAL)
        complete_lines = content[: content.rfind(b"\n") + 1]
        if not complete_lines and not _line(head).encode().startswith(content):
            raise UserError(f"{place}:1: damaged: remove {place.parent}")
        for number, line in enumerate(complete_lines.splitlines(), 1):
            try:
                entry = parse_json(line.decode())
            except (BadJson, UnicodeDecodeError):
                entry = None
            if number == 1 and isinstance(entry, dict):
                if entry != head:
                    remedy = f"give another {argument('out')}"
                    raise UserError(f"{place}: is of other schemes, settings or another version", fix=remedy)
            elif _is_evaluation(entry):
                self._known.setdefault(_key(entry["path"]), {}).update(entry["runs"])
            else:
                raise UserError(f"{place}:{number}: damaged: remove {place.parent}")
        if len(complete_lines) < len(content):  # the head matches, so the file may be changed
            with place.open("r+b") as stream:
                stream.truncate(len(complete_lines))

    def find(self, path: Candidate, scheme: str) -> list[RunMetrics] | None:
        """Return the stored metrics of a scheme's runs over a path; None if absent."""
        return self._known.get(_key(path), {}).get(scheme)

    def add(self, evaluations: list[tuple[Candidate, dict[str, list[RunMetrics]]]]) -> None:
        """Add evaluations. They are on the disk when the method returns."""
        for path, runs in evaluations:
            self._known.setdefault(_key(path), {}).update(runs)
        self._write([{"path": path, "runs": runs} for path, runs in evaluations])

    def _write(self, entries: list[dict[str, object]]) -> None:
        if self._file is None or not entries:
            return
        self._file.write("".join(map(_line, entries)))
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def _line(entry: Mapping[str, object]) -> str:
    return f"{json.dumps(entry, separators=(',', ':'))}\n"


def _is_evaluation(entry: Any) -> bool:  # noqa: ANN401 (any JSON value)
    """Return True if a line has the form of an evaluation."""
    if not isinstance(entry, dict) or entry.keys() != {"path", "runs"} or not isinstance(entry["runs"], dict):
        return False
    return all(isinstance(runs, list) and runs and all(map(_is_run, runs)) for runs in entry["runs"].values())


def _is_run(run: Any) -> bool:  # noqa: ANN401 (any JSON value)
    return run is None or (
        isinstance(run, list)
        and bool(run)
        and all(isinstance(flow, list) and len(flow) == len(METRICS) and all(map(_is_value, flow)) for flow in run)
    )


def _is_value(value: object) -> bool:
    return value is None or is_number(value)


def _key(path: Candidate) -> str:
    return json.dumps(path, sort_keys=True)


def journal_directory(file: Path) -> Path:
    """Return the directory of the journal, the page and its figure that belong to a path file."""
    return file.with_name(f"{file.stem}.calibration")
