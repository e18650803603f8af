"""The same pages as files, which open from the disk or from any web server: what the server answers, asked beforehand.

A browser lets a page from the disk fetch nothing, but it executes scripts. So each answer is a script, `ANSWER.js`,
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
from dumbbell.present.serve.moved import moved
from dumbbell.present.serve.one_run import OneRun
from dumbbell.present.serve.runs_table import RunsTable

if TYPE_CHECKING:
    from dumbbell.present.serve.runs_table import Place

COLUMNS = 2000
"""Parts of a run for each of which a series keeps its least and its largest value."""
PAGES = "pages"
"""The name of the stage of writing them."""
RUN_S = 0.15
"""Estimated time to write the series of a run, s."""
_MOST_PACKETS = 20_000
"""Of runs with more, the packets themselves are left out."""
MAX_RUNS = {True: 60, False: 400}
"""Runs of a quick and of a full benchmark whose series are written."""
_SERVED, _WRITTEN = "index.html", "site.html"
"""The first page as the server and as a site has it."""


def write_static(
    places: Sequence[Place],
    out: Path,
    progress: Progress,
    judged: BenchmarkDocument | None = None,
    *,
    jobs: int = 1,
    beside: str = "",
) -> Path:
    """Write the pages into the new folder `out` and return it.

    `places` are the experiments of the benchmark that is `judged`, if one is. `beside` is the way from the pages to the
    folder of its experiments, if they stay there: pages of runs link to their files then.

    Raises:
        UserError: `out` is in use, or the pages were not built.
    """
    pages = require_pages()
    refuse_used(out)
    with staging(out) as made:
        for file in pages.iterdir():
            if file.name not in (_SERVED, _WRITTEN):
                shutil.copyfile(file, made / file.name)
        shutil.copyfile(pages / _WRITTEN, made / _SERVED)
        progress.doing("reading the results")
        table = RunsTable(places, "files", judged is not None)
        _write_table(made / "data", table)
        if judged is not None:
            _write_json(made / "data/benchmark.json", judged.content())
        else:
            _write_moved(made / "data", places)
        tasks = list(_tasks(made / "data/run", places, judged, beside))
        stage = expect_pages(progress, [task.one.run.label for task in tasks], jobs)
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
    one: OneRun
    folder: Path
    files_at: str | None


def _tasks(data: Path, places: Sequence[Place], judged: BenchmarkDocument | None, beside: str) -> Iterator[_Task]:
    chosen = None
    if judged is not None:
        benchmark = judged.measured.benchmark
        chosen = first_runs(benchmark, MAX_RUNS[benchmark.quick])
    for place in places:
        for run in place.results.planned():
            if chosen is None or (run.run == 1 and (place.label, run.path, run.scheme) in chosen):
                one = OneRun(place, run)
                files_at = f"{beside}/{place.label}/{place.results.place(run)}" if beside else None
                yield _Task(one, data / _folder(one), files_at)


def as_script(content: bytes, problem: str = "") -> str:
    """Return the script that hands over an answer, or says why there is none."""
    given = json.dumps(problem) if problem else f'"{b64encode(content).decode()}"'
    return f"dumbbell.{'fail' if problem else 'take'}({given})\n"


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
    for base, other in permutations(places, 2):
        rows = moved(base.results, other.results, metrics)
        _write_json(data / "moved" / f"{base.identity}-{other.identity}.json", rows)


def _write_run(task: _Task) -> None:
    """Write the answers about a run, or why one cannot be given."""
    task.folder.mkdir(parents=True)
    one = task.one

    answers: dict[str, Callable[[], bytes]] = {
        "facts.json": lambda: json.dumps(one.facts(written=True, files_at=task.files_at)).encode(),
        "reading.json": lambda: one.reading(),
        "window.bin": lambda: one.view.window(0, one.duration_ns, COLUMNS, one.series_names),
        "packets.bin": lambda: one.view.packets(0, one.duration_ns, 0, _MOST_PACKETS),
    }
    for name, answer in answers.items():
        try:
            content, problem = answer(), ""
        except (UserError, core.Error) as error:
            content, problem = b"", one_line(error)
        _write(task.folder / name, content, problem)


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
