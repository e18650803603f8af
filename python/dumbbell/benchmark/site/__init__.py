"""The pages of a benchmark: plain files that open without a server.

`index.html` and `scorecard.html` lie in the benchmark's directory, pages of experiments beside their results in
`experiments/`, pages of schemes in `schemes/`, figures in `figures/`. The same results give the same bytes.
"""

from pathlib import Path

from dumbbell.benchmark.model import Benchmark
from dumbbell.benchmark.site.checks import contradictions
from dumbbell.benchmark.site.experiment_page import ExperimentPage
from dumbbell.benchmark.site.findings import Site
from dumbbell.benchmark.site.index import IndexPage
from dumbbell.benchmark.site.pictures import draw
from dumbbell.benchmark.site.scheme_page import SchemePage
from dumbbell.benchmark.site.scorecard import Scorecard
from dumbbell.benchmark.site.shell import INDEX, SCORECARD, SCRIPT, STYLE, experiment_file, scheme_file, script, style
from dumbbell.results import write_atomically

__all__ = ["write_site"]


def write_site(benchmark: Benchmark, jobs: int) -> Path:
    """Writes the pages into the benchmark's directory, figures on `jobs` processes; returns the first page.

    Runs that are missing or failed are listed with their reasons; the pages are complete without them.

    Raises:
        UserError: results of another version, or a disk that cannot be written.
    """
    site = Site(benchmark)
    album = draw(site, jobs)
    wrong = {found.name: list(contradictions(found)) for found in site.findings}
    every = [each for own in wrong.values() for each in own]
    pages = {STYLE: style(), SCRIPT: script(), SCORECARD: Scorecard(site).render()}
    for found in site.findings:
        page = ExperimentPage(site, found, album.of(found.name), album.left_out[found.name], wrong[found.name])
        pages[experiment_file(found.name)] = page.render()
    for name in site.examined:
        pages[scheme_file(name)] = SchemePage(site, name, album.pictures).render()
    pages[INDEX] = IndexPage(site, every, album.verdict).render()  # last: where it is, the rest is
    for file, content in pages.items():
        target = benchmark.directory / file
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, content)
    return benchmark.directory / INDEX
