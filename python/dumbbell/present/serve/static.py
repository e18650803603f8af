"""The same pages as files for any web server: what the server answers, asked beforehand."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell import _core
from dumbbell.base.conventions import CONVENTIONS
from dumbbell.base.errors import UserError, one_line, printable
from dumbbell.base.progress import Piece, Progress
from dumbbell.formats.staging import refuse_used, staging
from dumbbell.present.serve.application import require_pages
from dumbbell.present.serve.moved import moved
from dumbbell.present.serve.one_run import OneRun
from dumbbell.present.serve.runs_table import RunsTable

if TYPE_CHECKING:
    from dumbbell.present.serve.runs_table import Place

COLUMNS = 2000
"""Parts of a run for each of which a series keeps its least and its largest value."""
_MOST_PACKETS = 20_000
"""Of runs with more, the packets themselves are left out."""


def write_static(places: Sequence[Place], out: Path) -> Path:
    """Write the pages into the new folder `out` and return it.

    Raises:
        UserError: `out` is in use, or the pages were not built.
    """
    pages = require_pages()
    refuse_used(out)
    with staging(out) as made, Progress() as progress:
        for file in pages.iterdir():
            shutil.copyfile(file, made / file.name)
        progress.doing("reading the results")
        table = RunsTable(places, "files")
        _write_table(made / "data", table)
        _write_moved(made / "data", places)
        runs = [OneRun(place, run) for place in places for run in place.results.planned()]
        stage = progress.expect("runs", [Piece(one.run.label, 1.0) for one in runs])
        for one in stage.each(runs):
            _write_run(made / "data/run" / _folder(one), one)
    return out


def _write_table(data: Path, table: RunsTable) -> None:
    (data / "columns").mkdir(parents=True)
    _write_json(data / "runs.json", table.facts())
    _write_json(data / "findings.json", table.findings())
    for field in table.fields:
        name = str(field["name"])
        (data / "columns" / f"{_file_name(name)}.bin").write_bytes(table.column(name))
    table.close()


def _write_moved(data: Path, places: Sequence[Place]) -> None:
    (data / "moved").mkdir()
    metrics = CONVENTIONS["corrected"].keys
    for base, other in permutations(places, 2):
        rows = moved(base.results, other.results, metrics)
        _write_json(data / "moved" / f"{base.identity}-{other.identity}.json", rows)


def _write_run(folder: Path, one: OneRun) -> None:
    """Write what there is of a run; a damaged one says so in its facts."""
    folder.mkdir(parents=True)
    for name, content in _answers(one):
        (folder / name).write_bytes(content)


def _answers(one: OneRun) -> Iterator[tuple[str, bytes]]:
    try:
        facts = one.facts(written=True)
        duration_ns = int(str(facts["duration_ns"]))
        yield "facts.json", json.dumps(facts).encode()
        yield "reading.json", one.reading().encode()
        yield "window.bin", one.view.window(0, duration_ns, COLUMNS, json.dumps(one.series_names))
        yield "packets.bin", one.view.packets(0, duration_ns, 0, _MOST_PACKETS)
    except (UserError, _core.Error) as error:
        yield "problem.txt", one_line(error).encode()


def _folder(one: OneRun) -> str:
    return "/".join(_file_name(part) for part in one.identity.split("/"))


def _file_name(name: str) -> str:
    """Return a name as that of a file.

    Raises:
        UserError: no file can have it.
    """
    if name in ("", ".", "..") or set(name) & set("/\0"):
        raise UserError(f"`{printable(name)}`: cannot be the name of a file: serve these results instead")
    return name


def _write_json(file: Path, content: object) -> None:
    file.write_text(json.dumps(content), encoding="utf-8")
