"""Pages as files, for the disk or any web server: answers of the server, computed in advance.

A browser lets a page from the disk fetch nothing, but runs its scripts. Therefore each answer is a script, `ANSWER.js`,
which hands over the bytes.
"""

from __future__ import annotations

import json
import shutil
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell import core
from dumbbell.base.conventions import CONVENTIONS
from dumbbell.base.errors import UserError, one_line, printable
from dumbbell.base.progress import Piece, Progress, Stage
from dumbbell.base.spread import START_S, Helpers, worth
from dumbbell.formats.staging import refuse_used, staging
from dumbbell.present.serve.application import require_pages
from dumbbell.present.serve.benchmark import BenchmarkDocument, first_runs
from dumbbell.present.serve.differences import difference_rows
from dumbbell.present.serve.one_run import OneRun
from dumbbell.present.serve.runs_table import RunsTable

if TYPE_CHECKING:
    from dumbbell.present.serve.runs_table import Place

COLUMNS = 2000
"""Number of parts of a run; a series has a minimum and a maximum for each part."""
PAGES = "pages"
"""Name of the stage that writes the pages."""
RUN_S = 0.15
"""Estimated time to write the series of a run, s."""
_MOST_PACKETS = 20_000
"""Maximum packets of a run whose packets are written."""
MAX_RUNS = {True: 60, False: 400}
"""Maximum runs of a quick and of a full benchmark whose series are written."""
_SERVER_PAGE, _SITE_PAGE = "index.html", "site.html"
"""Names of the first page in the server and in a site."""


def write_static(
    places: Sequence[Place],
    out: Path,
    progress: Progress,
    document: BenchmarkDocument | None = None,
    *,
    jobs: int = 1,
    beside: str = "",
) -> Path:
    """Write the pages into the new directory `out` and return it.

    `places` are the experiments of the benchmark that is `judged`, if one is. `beside` is the relative path from the
    pages to the experiments, if these stay there: pages of runs then link to their files.

    Raises:
        UserError: `out` is in use, or the pages were not built.
    """
    pages = require_pages()
    refuse_used(out)
    with staging(out) as target:
        for file in pages.iterdir():
            if file.name not in (_SERVER_PAGE, _SITE_PAGE):
                shutil.copyfile(file, target / file.name)
        shutil.copyfile(pages / _SITE_PAGE, target / _SERVER_PAGE)
        progress.doing("reading the results")
        table = RunsTable(places, "files", document is not None)
        _write_table(target / "data", table)
        if document is not None:
            _write_json(target / "data/benchmark.json", document.content())
        else:
            _write_moved(target / "data", places)
        tasks = list(_tasks(target / "data/run", places, document, beside))
        stage = expect_pages(progress, [task.one_run.run.label for task in tasks], jobs)
        with Helpers(stage.workers) as helpers:
            helpers.map(_write_run, tasks, stage)
    return out


def expect_pages(progress: Progress, runs: Sequence[str], jobs: int) -> Stage:
    """Announce the work for the pages of these runs."""
    workers = worth(jobs, RUN_S * len(runs))
    pieces = [Piece(label, RUN_S) for label in runs]
    return progress.expect(PAGES, pieces, workers, START_S if workers > 1 else 0.0)


@dataclass(frozen=True)
class _Task:
    one_run: OneRun
    folder: Path
    files_at: str | None


def _tasks(data: Path, places: Sequence[Place], document: BenchmarkDocument | None, beside: str) -> Iterator[_Task]:
    first = None
    if document is not None:
        benchmark = document.measured.benchmark
        first = first_runs(benchmark, MAX_RUNS[benchmark.quick])
    for place in places:
        for run in place.results.planned():
            if first is None or (run.run == 1 and (place.label, run.path, run.scheme) in first):
                one_run = OneRun(place, run)
                files_at = f"{beside}/{place.label}/{place.results.place(run)}" if beside else None
                yield _Task(one_run, data / _folder(one_run), files_at)


def as_script(content: bytes, problem: str = "") -> str:
    """Return the script that hands over an answer, or the problem with it."""
    argument = json.dumps(problem) if problem else f'"{b64encode(content).decode()}"'
    return f"dumbbell.{'fail' if problem else 'take'}({argument})\n"


def _write(file: Path, content: bytes, problem: str = "") -> None:
    file.with_name(f"{file.name}.js").write_text(as_script(content, problem), encoding="utf-8")


def _write_json(file: Path, content: object) -> None:
    _write(file, json.dumps(content).encode())


def _write_table(data: Path, table: RunsTable) -> None:
    (data / "columns").mkdir(parents=True)
    _write_json(data / "runs.json", table.facts())
    _write_json(data / "findings.json", table.findings)
    _write_json(data / "records.json", table.records())
    for field in table.fields:
        name = str(field["name"])
        _write(data / "columns" / f"{_file_name(name)}.bin", table.column(name))
    table.close()


def _write_moved(data: Path, places: Sequence[Place]) -> None:
    (data / "moved").mkdir()
    metrics = CONVENTIONS["corrected"].keys
    for base, second in permutations(places, 2):
        rows = difference_rows(base.results, second.results, metrics)
        _write_json(data / "moved" / f"{base.identity}-{second.identity}.json", rows)


def _write_run(task: _Task) -> None:
    """Write the answers about a run, or the reason why one is missing."""
    task.folder.mkdir(parents=True)
    one_run = task.one_run

    answers: dict[str, Callable[[], bytes]] = {
        "facts.json": lambda: json.dumps(one_run.facts(is_static=True, files_at=task.files_at)).encode(),
        "reading.json": lambda: one_run.reading(),
        "window.bin": lambda: one_run.view.window(0, one_run.duration_ns, COLUMNS, one_run.series_names),
        "packets.bin": lambda: one_run.view.packets(0, one_run.duration_ns, 0, _MOST_PACKETS),
    }
    for name, answer in answers.items():
        try:
            content, problem = answer(), ""
        except (UserError, core.Error) as error:
            content, problem = b"", one_line(error)
        _write(task.folder / name, content, problem)


def _folder(one_run: OneRun) -> str:
    return "/".join(_file_name(part) for part in one_run.identity.split("/"))


def _file_name(name: str) -> str:
    """Return a name if a file can have it.

    Raises:
        UserError: No file can have this name.
    """
    if name in ("", ".", "..") or set(name) & set("/\0"):
        raise UserError(f"`{printable(name)}`: cannot be the name of a file: serve these results instead")
    return name
