"""The first page: what was examined, and one number for each experiment and scheme."""

from collections.abc import Iterator, Sequence

from dumbbell.base.version import __version__
from dumbbell.present.markup import details, link, tag, text
from dumbbell.present.model.words.environment import git_text, system_text
from dumbbell.present.model.words.wording import plain
from dumbbell.present.site.headline import DELAY, headline_fields, headline_name, mean_fields, named
from dumbbell.present.site.judging.checks import Contradiction
from dumbbell.present.site.judging.findings import Findings, Site
from dumbbell.present.site.judging.verdicts import Judgement
from dumbbell.present.site.pictures.picture import Picture
from dumbbell.present.site.shell import INDEX, SCORECARD, Shell, command, experiment_page_name, facts, short_title
from dumbbell.present.site.verdict_tables import by_experiment
from dumbbell.present.tables import Field, Table


class IndexPage:
    """The page."""

    def __init__(
        self,
        site: Site,
        contradictions: Sequence[Contradiction],
        verdicts: Sequence[Judgement],
        verdict: Picture | None,
    ) -> None:
        self.site = site
        self.verdicts = verdicts
        self.verdict = verdict
        self.shell = Shell(site, INDEX)
        self.contradictions = contradictions

    def render(self) -> str:
        """The whole file."""
        groups = [(group_anchor(group), group) for group in self._groups()]
        names = ", ".join(self.site.title(name) for name in self.site.examined)
        return self.shell.page(f"dumbbell benchmark: {names}", groups, self._content())

    def _groups(self) -> list[str]:
        return list(dict.fromkeys(found.membership.group for found in self.site.findings))

    def _content(self) -> Iterator[str]:
        site = self.site
        form = "quick" if site.benchmark.quick else "full"
        yield tag("h1", "dumbbell benchmark")
        yield tag("p", text(f"{' and '.join(map(site.title, site.examined))}, {form} form"), class_="lead")
        yield facts(self._facts())
        yield from self._problems()
        yield command(site.benchmark.command)
        target = self.shell.to(SCORECARD)
        yield tag("p", "What RFC 9743 asks for, and the evidence here: ", link(target, "the scorecard"), ".")
        yield tag(
            "p",
            "One number stands for each experiment: the first of its metrics that is a share of something and had "
            "better be large, else its first one. It is the mean over the experiment's cells, in brackets the lowest "
            "and the highest cell; the best scheme is bold. For competition it is the mean share of the capacity "
            "beside the others, below it what equal shares would be. Under each stands the one-way delay.",
            class_="note",
        )
        if self.verdict:
            yield tag("h2", "Utilisation and delay", id="verdict")
            yield self.shell.figures([self.verdict])
        if self.verdicts:
            names = " and ".join(site.title(name) for name in site.benchmark.baselines)
            yield tag("h2", text(f"Beside {names}"), id="verdicts")
            yield self.shell.table(by_experiment(self.shell, self.verdicts), "Verdicts", sortable=True)
        yield '<input class="search" type="search" aria-label="Search the experiments" placeholder="Search" hidden>'
        for group in self._groups():
            own = [found for found in site.findings if found.membership.group == group]
            heading = tag("h2", text(group), id=group_anchor(group))
            yield tag("section", heading, self._table(group, own), class_="searched")
        environment = site.findings[0].part.results.shown_environment() if site.findings else {}
        yield tag("h2", "Environment")
        yield details("System info, recorded when the runs were made", system_text(environment, __version__))
        yield details("Git summary", git_text(environment))

    def _facts(self) -> Iterator[tuple[str, str]]:
        site = self.site
        yield "schemes under test", ", ".join(self.shell.scheme_link(name) for name in site.examined)
        others = [name for name in site.schemes if name not in site.examined]
        yield "beside them", ", ".join(self.shell.scheme(name) for name in others)
        runs = [run for found in site.findings for run in found.all_runs]
        simulated = sum(
            found.experiment.duration_s * sum(run.good for run in found.all_runs) for found in site.findings
        )
        yield "experiments", f"{len(site.findings)}, {sum(len(found.cells) for found in site.findings)} cells"
        yield "runs", f"{len(runs):,}, {plain(round(simulated / 3600, 1))} hours of simulated time"
        environment = site.findings[0].part.results.shown_environment() if site.findings else {}
        yield "made", text(environment.get("started_at") or "not recorded")
        yield "version", text(f"dumbbell {environment.get('dumbbell') or 'not recorded'}")
        database = site.benchmark.database
        if database.is_file():
            yield "every number", link(self.shell.to(database.name), database.name)

    def _problems(self) -> Iterator[str]:
        contradicting = [found for found in self.site.findings if self._contradictions(found)]
        if contradicting:
            names = ", ".join(self.shell.experiment_link(found) for found in contradicting)
            count = len(self.contradictions)
            words = tag("p", f"{count} runs have numbers that contradict each other, in: ", names, class_="bad")
            yield tag("div", words, class_="alarm")
        bad = {found.name: len(found.unsuccessful) for found in self.site.findings if found.unsuccessful}
        if bad:
            items = (
                tag("li", self.shell.experiment_link(found), f": {bad[found.name]} of {len(found.all_runs)}")
                for found in self.site.findings
                if found.name in bad
            )
            words = tag("p", f"{sum(bad.values())} runs failed or are missing, and are in no number:", class_="bad")
            yield tag("div", words, tag("ul", *items), class_="alarm")
        elif self.site.findings:
            yield tag("p", "All runs succeeded.")

    def _contradictions(self, found: Findings) -> list[Contradiction]:
        runs = {id(run) for run in found.all_runs}
        return [each for each in self.contradictions if id(each.run) in runs]

    def _table(self, group: str, own: list[Findings]) -> str:
        labels = [name for name in self.site.schemes if any(name in found.labels for found in own)]
        rows = []
        for found in own:
            metric = found.headline
            target = self.shell.to(experiment_page_name(found.name))
            name = Field(short_title(found), link=target, hover=found.name)
            count = Field(str(len(found.cells)), sort=len(found.cells))
            rows.append((name, headline_name(found), count, *headline_fields(found, labels)))
            if metric.name != DELAY.name and any(found.means_of(label, DELAY) for label in labels):
                rows.append((name, named(DELAY), count, *mean_fields(found, labels, DELAY)))
        columns = ("experiment", "number", "cells", *(self.site.title(name) for name in labels))
        table = Table("", (), columns, tuple(rows), "ll")
        return self.shell.table(table, group)


def group_anchor(group: str) -> str:
    """The identifier of a group's section."""
    return f"g-{group.lower().replace(' ', '-')}"
