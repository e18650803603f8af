"""Results of other tools become a results directory completely or not at all."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dumbbell.experiment import Experiment, Run, slug
from dumbbell.results import Recording, Results, write_environment
from dumbbell.results.directory import to_toml
from dumbbell.results.environment import environment, now
from dumbbell.results.files import publish, to_json, write_atomically


@contextmanager
def staging(out: Path) -> Iterator[Path]:
    """A directory that becomes `out`, which must be unused, if nothing goes wrong, and vanishes if something does."""
    temporary = out.with_name(f".{out.name}.importing")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        temporary.mkdir(parents=True)
        yield temporary
        out.parent.mkdir(parents=True, exist_ok=True)
        if out.exists():
            out.rmdir()
        temporary.rename(out)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def begin(directory: Path, experiment: Experiment, source: Path, command: list[str]) -> Results:
    """The results directory of an import, without runs."""
    results = Results(directory, experiment)
    write_atomically(directory / "experiment.toml", to_toml(experiment.table()))
    write_environment(results, environment(command) | {"imported": {"source": str(source.resolve())}})
    return results


def add_run(results: Results, run: Run, files: list[Path], statistics: dict[str, Any], source: str) -> None:
    """Moves the files of a run, which were made from `source`, to their place and writes its statistics."""
    folder = results.unfinished / slug(run.label)
    folder.mkdir(parents=True)
    for file in files:
        file.rename(folder / file.name)
    statistics = statistics | {"backend": "import", "status": "done", "reason": None, "sim_wall_s": None}
    (folder / "log.txt").write_text(f"{now()} imported from {source}\n", encoding="utf-8")
    (folder / "stats.json").write_text(to_json(results.complete(run, statistics)), encoding="utf-8")
    publish(folder, results.folder(run))


def finish(results: Results) -> None:
    """Completes the directory: its database, and nothing unfinished."""
    results.unfinished.rmdir()
    Recording([results]).close()
