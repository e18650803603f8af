"""A benchmark as its pages see it."""

from dataclasses import dataclass
from pathlib import Path

from dumbbell import catalog
from dumbbell.base.entry import Entry
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.membership import Membership
from dumbbell.results import ResultsDirectory

DATABASE = "benchmark.sqlite"
VERDICTS = "verdicts.json"
"""Whether the schemes under test beat the baselines, for programs."""
BASELINES = ("cubic", "bbr")
"""What schemes under test are judged beside unless others are named."""
PAGES = "pages"
"""The folder of the pages."""
_FOLDERS = ("experiments", PAGES)
"""Where results and pages lie."""


def require_own_folders(directory: Path) -> None:
    """Refuse a benchmark of which a folder is a link: what is written into it would be written elsewhere.

    Raises:
        OSError: names the folder.
    """
    for each in _FOLDERS:
        (Entry.of(directory) / each).require_beneath()


@dataclass(frozen=True)
class Part:
    """One experiment of the benchmark: as written, and what came out. Its runs are those of `results.runs()`."""

    experiment_file: ExperimentFile
    results: ResultsDirectory

    @property
    def name(self) -> str:
        """Name of the experiment."""
        return self.experiment_file.name

    @property
    def membership(self) -> Membership:
        """What its page says and shows."""
        if self.experiment_file.membership is None:
            raise AssertionError(f"{self.experiment_file.name} is no part of the benchmark")
        return self.experiment_file.membership


@dataclass(frozen=True)
class Benchmark:
    """All of it. `schemes` are those under test; experiments compare them with reference schemes.

    `given` is what was typed for the schemes: their names, or files. `baselines` are what verdicts compare them with.
    """

    directory: Path
    schemes: tuple[str, ...]
    quick: bool
    parts: tuple[Part, ...]
    given: tuple[str, ...] = ()
    baselines: tuple[str, ...] = BASELINES

    @property
    def command(self) -> str:
        """The command that makes it again."""
        listed = catalog.experiments().names()
        own = [part.experiment_file.file for part in self.parts if part.name not in listed]
        more = f" --experiment {','.join(own)}" if own else ""
        if self.baselines != BASELINES:
            more += f" --baselines {','.join(self.baselines)}"
        schemes = ",".join(self.given or self.schemes)
        return f"dumbbell benchmark --schemes {schemes} {'--quick' if self.quick else '--full'}{more}"

    @property
    def database(self) -> Path:
        """The file with every number of every run."""
        return self.directory / DATABASE
