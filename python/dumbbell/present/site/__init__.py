"""The pages of a benchmark: plain files that open without a server.

`index.html` and `scorecard.html` lie in the benchmark's directory, pages of experiments beside their results in
`experiments/`, pages of schemes in `schemes/`, figures in `figures/`. The same results give the same bytes.
"""

from collections.abc import Sequence
from pathlib import Path

from dumbbell.base.entry import Entry
from dumbbell.base.json_text import to_json
from dumbbell.base.progress import Piece, Progress, Stage
from dumbbell.catalog.membership import Membership
from dumbbell.experiment import Experiment
from dumbbell.present.site.experiment_page import ExperimentPage
from dumbbell.present.site.index import IndexPage
from dumbbell.present.site.judging.checks import contradictions
from dumbbell.present.site.judging.findings import Site
from dumbbell.present.site.judging.verdicts import judgements
from dumbbell.present.site.pictures.pictures import announce, draw, expected
from dumbbell.present.site.scheme_page import SchemePage
from dumbbell.present.site.scorecard import Scorecard
from dumbbell.present.site.shell import (
    INDEX,
    SCORECARD,
    SCRIPT,
    STYLE,
    experiment_page_name,
    scheme_file,
    script,
    style,
)
from dumbbell.results.benchmark_results import VERDICTS, Benchmark, require_own_folders
from dumbbell.results.files import write_atomically

__all__ = ["expect_pages", "write_site"]

PAGES = "pages"
"""What the stage of writing them is called."""

_PAGE_S, _RUN_S = 0.01, 0.0005


def expect_pages(
    progress: Progress, experiments: Sequence[tuple[Membership, Experiment]], quick: bool, jobs: int
) -> None:
    """Announces what pages of these experiments are going to cost."""
    announce(progress, [""] * expected(experiments, quick), jobs)
    _announce_pages(progress, [("", len(experiment.all_runs())) for _, experiment in experiments])


def pages_s(experiments: Sequence[tuple[Membership, Experiment]], quick: bool, jobs: int) -> float:
    """What pages of these experiments are going to cost, s."""
    progress = Progress()
    expect_pages(progress, experiments, quick, jobs)
    return progress.left_s()


def _announce_pages(progress: Progress, pages: Sequence[tuple[str, int]]) -> Stage:
    return progress.expect(PAGES, [Piece(name, _PAGE_S + _RUN_S * runs) for name, runs in pages])


def write_site(benchmark: Benchmark, jobs: int, progress: Progress | None = None) -> Path:
    """Writes the pages into the benchmark's directory, figures on `jobs` processes; returns the first page.

    Runs that are missing or failed are listed with their reasons; the pages are complete without them.

    Raises:
        UserError: results of another version.
        OSError: a disk that cannot be written, or a folder that is a link.
    """
    require_own_folders(benchmark.directory)
    progress = progress or Progress()
    progress.doing("reading the results")
    site = Site(benchmark)
    sizes = [(found.name, len(found.experiment.all_runs())) for found in site.findings]
    stage = _announce_pages(progress, sizes)
    album = draw(site, jobs, progress)
    wrong = {}
    pages = {STYLE: style(), SCRIPT: script(), SCORECARD: Scorecard(site).render()}
    for number, found in enumerate(site.findings):
        stage.begin(number)
        wrong[found.name] = list(contradictions(found))
        page = ExperimentPage(site, found, album.of(found.name), album.left_out[found.name], wrong[found.name])
        pages[experiment_page_name(found.name)] = page.render()
        stage.step(number)
    progress.doing("writing the pages")
    every = [each for own in wrong.values() for each in own]
    verdicts = list(judgements(site))
    pages[VERDICTS] = to_json([each.as_json() for each in verdicts])
    for name in site.examined:
        pages[scheme_file(name)] = SchemePage(site, name, album.pictures).render()
    pages[INDEX] = IndexPage(site, every, verdicts, album.verdict).render()  # last: where it is, the rest is
    for file, content in pages.items():
        target = Entry.of(benchmark.directory) / file
        target.parent.make_folder()
        write_atomically(target, content)
    return (Entry.of(benchmark.directory) / INDEX).path
