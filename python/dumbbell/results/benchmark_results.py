"""Benchmark as its pages read it."""

from dataclasses import dataclass
from pathlib import Path

from dumbbell import catalog
from dumbbell.base.entry import Entry
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.membership import Membership
from dumbbell.results import ResultsDirectory

DATABASE = "benchmark.sqlite"
VERDICTS = "verdicts.json"
"""File with the verdicts on schemes under test beside the baselines, for programs."""
BASELINES = ("cubic", "bbr")
"""Default baselines of schemes under test."""
PAGES = "pages"
"""Directory of the pages."""
_FOLDERS = ("experiments", PAGES)
"""Directories of results and pages."""


def require_own_folders(directory: Path) -> None:
    """Refuse a benchmark with a link in place of a directory: files would be written elsewhere.

    Raises:
        OSError: The line names the directory.
    """
    for folder in _FOLDERS:
        (Entry.of(directory) / folder).require_beneath()


@dataclass(frozen=True)
class Part:
    """One experiment of the benchmark: its file, and its results. Its runs are those of `results.runs()`."""

    experiment_file: ExperimentFile
    results: ResultsDirectory

    @property
    def name(self) -> str:
        """Name of the experiment."""
        return self.experiment_file.name

    @property
    def membership(self) -> Membership:
        """Texts and metrics of the experiment's page."""
        if self.experiment_file.membership is None:
            raise AssertionError(f"{self.experiment_file.name} is no part of the benchmark")
        return self.experiment_file.membership


@dataclass(frozen=True)
class Benchmark:
    """A benchmark. `schemes` are those under test; experiments compare them with reference schemes.

    `given` is the user's input for the schemes: names, or files. Verdicts compare them with the `baselines`.
    """

    directory: Path
    schemes: tuple[str, ...]
    quick: bool
    parts: tuple[Part, ...]
    given: tuple[str, ...] = ()
    baselines: tuple[str, ...] = BASELINES

    @property
    def command(self) -> str:
        """Command that repeats the benchmark."""
        catalog_names = catalog.experiments().names()
        own_files = [part.experiment_file.file for part in self.parts if part.name not in catalog_names]
        more = f" --experiment {','.join(own_files)}" if own_files else ""
        if self.baselines != BASELINES:
            more += f" --baselines {','.join(self.baselines)}"
        schemes = ",".join(self.given or self.schemes)
        return f"dumbbell benchmark --schemes {schemes} {'--quick' if self.quick else '--full'}{more}"

    @property
    def database(self) -> Path:
        """File with every number of every run."""
        return self.directory / DATABASE
