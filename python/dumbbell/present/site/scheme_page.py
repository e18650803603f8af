"""The page of one scheme under test."""

from collections.abc import Iterator, Sequence

from dumbbell.catalog.scheme import WHAT
from dumbbell.present.markup import link, tag, text
from dumbbell.present.site.cell_tables import row_of
from dumbbell.present.site.headline import headline_fields, headline_name
from dumbbell.present.site.judging.competition import Match, has_matches, matches
from dumbbell.present.site.judging.direction import metric
from dumbbell.present.site.judging.findings import Findings, Site
from dumbbell.present.site.matrix import HARM_RULE, SHARE_RULE, harm_field, share_field
from dumbbell.present.site.pictures.picture import Picture
from dumbbell.present.site.shell import SCORECARD, Shell, command, experiment_page_name, facts, scheme_file, short_title
from dumbbell.present.tables import Field, Table

_OPERATING = ("mean_in_flight_l4", "mean_srtt_l4", "mean_throughput_l4", "mean_utilization_bw_l4")
_POINTS = ("plane", "in-flight")
_STEADY = "Steady state"


class SchemePage:
    """One scheme."""

    def __init__(self, site: Site, name: str, pictures: Sequence[Picture]) -> None:
        self.site, self.name = site, name
        self.shell = Shell(site, scheme_file(name))
        self.pictures = pictures
        self.own = [found for found in site.findings if name in found.labels]

    def render(self) -> str:
        """The whole file."""
        sections = [
            ("headlines", "All experiments"),
            ("competition", "Competition"),
            ("operating", "Operating points"),
        ]
        title = f"{self.site.title(self.name)} \u2014 dumbbell benchmark"
        return self.shell.page(title, sections, self._content())

    def _content(self) -> Iterator[str]:
        scheme = self.site.schemes[self.name]
        yield tag("h1", self.shell.scheme(self.name))
        yield tag("p", text(scheme.summary or scheme.title), class_="lead")
        yield facts(self._facts())
        yield command(
            f"dumbbell benchmark --schemes {self.name} {'--quick' if self.site.benchmark.quick else '--full'}"
        )
        yield tag("p", link(self.shell.to(SCORECARD), "Scorecard against RFC 9743"))
        yield tag("h2", "All experiments", id="headlines")
        yield self._headlines()
        yield tag("h2", "Competition", id="competition")
        yield from self._competition()
        yield tag("h2", "Operating points", id="operating")
        yield from self._operating()

    def _facts(self) -> Iterator[tuple[str, str]]:
        scheme = self.site.schemes[self.name]
        yield "name", tag("code", text(self.name))
        yield "what it is", text(WHAT[scheme.kind])
        yield "controller", tag("code", text(scheme.controller))
        if scheme.source:
            yield "source", text(scheme.source)
        yield "status", text(scheme.status)
        given = ", ".join(f"{key} = {value}" for key, value in scheme.parameters.items())
        yield "parameters", text(given or "the controller's own")
        transport = ", ".join(f"{key} = {value}" for key, value in scheme.transport.items())
        yield "transport", text(transport or "the usual one")

    def _headlines(self) -> str:
        others = [name for name in self.site.schemes if any(name in found.labels for found in self.own)]
        labels = [self.name, *(name for name in others if name != self.name)]
        rows = []
        for found in self.own:
            link = self.shell.to(experiment_page_name(found.name))
            name = Field(short_title(found), found.membership.group, link=link)
            rows.append((name, headline_name(found), *headline_fields(found, labels)))
        caption = (
            "Mean over the cells of each experiment, in brackets the lowest and the highest cell; the best is bold. "
            "For competition: the mean share beside the others, below it what equal shares would be."
        )
        columns = ("experiment", "number", *(self.site.title(name) for name in labels))
        return self.shell.table(Table(caption, (), columns, tuple(rows), "ll"), "All experiments")

    def _competition(self) -> Iterator[str]:
        competing = [found for found in self.own if has_matches(found)]
        if not competing:
            yield tag("p", "No experiment here lets it compete with other schemes.")
            return
        yield tag("p", text(f"{SHARE_RULE} {HARM_RULE}"), class_="note")
        for found in competing:
            own = [match for match in matches(found) if match.label == self.name]
            yield tag("h3", self.shell.experiment_link(found))
            yield self.shell.table(self._matches(found, own), f"{self.site.title(self.name)} in {found.title}")

    def _matches(self, found: Findings, own: Sequence[Match]) -> Table:
        done = list(dict.fromkeys(harm.metric for match in own for harm in match.done))
        suffered = list(dict.fromkeys(harm.metric for match in own for harm in match.suffered))
        rows = []
        for match in own:
            target = self.shell.to(f"{experiment_page_name(found.name)}#{match.cell.anchor}")
            place = Field(match.cell.label(found.axes), match.numbers, link=target)
            harms = [harm_field(match.done, each.name) for each in done]
            harms += [harm_field(match.suffered, each.name) for each in suffered]
            rows.append((place, share_field(match), *harms))
        groups = [("", 2)]
        groups += [("harm it does", len(done))] if done else []
        groups += [("harm it suffers", len(suffered))] if suffered else []
        columns = ("beside", "share", *(each.name for each in (*done, *suffered)))
        caption = f"#{found.number} {found.name}"
        return Table(caption, tuple(groups), columns, tuple(rows))

    def _operating(self) -> Iterator[str]:
        """Where it works on average, alone on each path of the steady state."""
        metrics = [metric("flow", name) for name in _OPERATING]
        for found in (found for found in self.own if found.membership.group == _STEADY):
            rows = []
            for cell in found.cells:
                target = self.shell.to(f"{experiment_page_name(found.name)}#{cell.anchor}")
                means = [cell.estimate(self.name, each) for each in metrics]
                values = [row_of([mean], 0)[0] for mean in means]
                rows.append((Field(cell.label(found.axes), link=target), *values))
            columns = ("cell", *(f"{each.words} ({each.unit})" if each.unit else each.words for each in metrics))
            yield tag("h3", self.shell.experiment_link(found))
            yield self.shell.table(
                Table("Means over the flows and runs.", (), columns, tuple(rows)),
                f"Operating points: {found.title}",
            )
            planes = [
                picture for picture in self.pictures if picture.experiment == found.name and picture.kind in _POINTS
            ]
            yield self.shell.figures(planes)
