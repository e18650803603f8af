"""The scorecard: RFC 9743's list, and what was measured for each item."""

from collections.abc import Iterator

from dumbbell.present.markup import tag, text
from dumbbell.present.site.cell_tables import NONE
from dumbbell.present.site.judging.competition import has_matches, matches
from dumbbell.present.site.judging.criteria import Criterion, Evidence, load
from dumbbell.present.site.judging.direction import Metric, best, decimals, number
from dumbbell.present.site.judging.facts import Sight, look
from dumbbell.present.site.judging.findings import Findings, Site, rivals
from dumbbell.present.site.matrix import HARM_RULE, SHARE_RULE, match_tables
from dumbbell.present.site.shell import SCORECARD, Shell, experiment_page_name
from dumbbell.present.tables import Field, Table


class Scorecard:
    """The page."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.shell = Shell(site, SCORECARD)
        self.list = load()

    def render(self) -> str:
        """The whole file."""
        return self.shell.page("Scorecard: RFC 9743 \u2014 dumbbell benchmark", [], self._content())

    def _content(self) -> Iterator[str]:
        yield tag("h1", "Scorecard: RFC 9743")
        yield tag("p", text(self.list.source), class_="lead")
        yield tag(
            "p",
            "What the RFC wants to see of a new congestion controller, and the evidence in this benchmark. The RFC "
            "sets no thresholds, so nothing here passes or fails: numbers stand beside those of the reference schemes "
            "in the same place. Facts are marked where they were seen, each with its rule; without a rule, numbers are "
            "all there is. Evidence from simulation alone supports an Experimental document at most; experience on the "
            "Internet has to follow.",
        )
        yield self._summary()
        for criterion in self.list.criteria:
            yield tag("section", "\n".join(self._criterion(criterion)), class_="criterion", id=_anchor(criterion))

    def _summary(self) -> str:
        heads = ["section", "criterion", "strength", "examined by", *map(self.site.title, self.site.examined)]
        rows = []
        for criterion in self.list.criteria:
            here = dict.fromkeys(found for found in map(self._find, criterion.evidence) if found)
            by = tuple((found.title, self.shell.to(experiment_page_name(found.name))) for found in here)
            rows.append(
                (
                    Field(criterion.section),
                    Field(criterion.title, link=f"#{_anchor(criterion)}"),
                    Field(criterion.strength),
                    Field("" if by else _unexamined(criterion), links=by),
                    *(self._seen(criterion, scheme) for scheme in self.site.examined),
                )
            )
        seen = zip(*(row[-len(self.site.examined) :] for row in rows), strict=True)
        align = "lwlw" + "".join("w" if any(field.bad for field in column) else "l" for column in seen)
        return self.shell.table(Table("", (), tuple(heads), tuple(rows), align), "All criteria")

    def _seen(self, criterion: Criterion, scheme: str) -> Field:
        sights = [look(self.site, fact, scheme) for fact in criterion.facts]
        seen = [sight.fact.name for sight in sights if sight.seen]
        if seen:
            return Field("; ".join(seen), bad=True)
        known = sum(sight.looked > 0 for sight in sights)
        if not known and not any(map(self._find, criterion.evidence)):
            return Field("")
        return Field("no fact marked" if known else "numbers only")

    def _find(self, evidence: Evidence) -> Findings | None:
        return self.site.find(evidence.experiment)

    def _criterion(self, criterion: Criterion) -> Iterator[str]:
        strength = tag("span", text(criterion.strength), class_="strength")
        yield tag("h3", text(f"{criterion.section} {criterion.title}"), strength)
        yield tag("p", text(criterion.show))
        if criterion.not_here:
            yield tag("p", tag("b", "Not examined here: "), text(f"{criterion.not_here}."))
        missing = [each.experiment for each in criterion.evidence if self._find(each) is None]
        if missing:
            yield tag("p", text(f"Not part of this benchmark: {', '.join(missing)}."), class_="note")
        for fact in criterion.facts:
            yield from self._fact([look(self.site, fact, scheme) for scheme in self.site.examined])
        for evidence in criterion.evidence:
            found = self._find(evidence)
            if found is not None:
                yield from self._evidence(criterion, found, evidence)

    def _fact(self, sights: list[Sight]) -> Iterator[str]:
        items = []
        for sight in sights:
            name = self.shell.scheme(sight.scheme)
            if not sight.looked:
                items.append(tag("li", name, ": not measured here"))
                continue
            places = ", ".join(
                tag(
                    "a",
                    text(f"{found.name}: {cell.label(found.axes)}"),
                    href=self.shell.to(f"{experiment_page_name(found.name)}#{cell.anchor}"),
                )
                for found, cell in sight.seen
            )
            said = (
                f"seen in {len(sight.seen)} of {sight.looked} cells"
                if sight.seen
                else f"not seen in {sight.looked} cells"
            )
            mark = tag("span", text(said), class_="fact seen" if sight.seen else "fact")
            items.append(tag("li", name, ": ", mark, f" ({places})" if places else ""))
        if sights:
            fact = sights[0].fact
            yield tag("p", tag("b", text(fact.name)), text(f". Rule: {fact.rule}."))
            yield tag("ul", *items)

    def _evidence(self, criterion: Criterion, found: Findings, evidence: Evidence) -> Iterator[str]:
        yield tag("h4", self.shell.experiment_link(found))
        label = f"{criterion.section}: {found.title}"
        yield self.shell.table(self._numbers(found, tuple(map(found.judged, evidence.metrics))), label)
        if evidence.matrix and has_matches(found):
            schemes = set(self.site.examined)
            every = matches(found)
            sheets = match_tables(self.shell, found, every)
            yield tag("p", text(f"{SHARE_RULE} {HARM_RULE}"), class_="note")
            for sheet in sheets:
                table = Table("", sheet.table.groups, sheet.table.columns, sheet.table.rows)
                title = tag("summary", text(sheet.heading))
                shown = any(match.label in schemes for match in every)
                if shown:
                    yield tag(
                        "details",
                        title,
                        self.shell.table(table, f"{criterion.section}: {found.title}: {sheet.heading}"),
                        open=sheet is sheets[0],
                    )

    def _numbers(self, found: Findings, metrics: tuple[Metric, ...]) -> Table:
        """Each metric as the mean over the cells, with the range of the cells below."""
        columns = [_over_cells(found, metric) for metric in metrics]
        rows = [
            (self.shell.name(label), *(column[index] for column in columns)) for index, label in enumerate(found.labels)
        ]
        heads = (f"{each.words}{f' ({each.unit})' if each.unit else ''} {each.arrow}".strip() for each in metrics)
        many = len(found.cells) > 1
        caption = f"Mean over {len(found.cells)} cells, in brackets the lowest and the highest cell." if many else ""
        return Table(caption, (), ("scheme", *heads), tuple(rows))


def _over_cells(found: Findings, metric: Metric) -> list[Field]:
    means = []
    for label in found.labels:
        values = (cell.values(label, metric) for cell in found.cells)
        means.append([sum(each) / len(each) for each in values if each])
    every = [value for own in means for value in own]
    places = decimals(every)
    averages = [sum(own) / len(own) if own else None for own in means]
    shown = [None if average is None else number(average, places) for average in averages]
    # means over different cells or different transfers cannot be compared
    complete = len({len(own) for own in means}) == 1 and not any(rivals(found.cells, found.labels, metric))
    bold = best(shown, averages, metric.better if complete else 0)
    made = []
    for own, average, said, is_best in zip(means, averages, shown, bold, strict=True):
        if said is None or average is None:
            made.append(Field(NONE))
            continue
        note = f"[{number(min(own), places)}, {number(max(own), places)}]" if len(own) > 1 else ""
        if not complete and len(found.cells) > 1:
            note = f"{note} in {len(own)} of {len(found.cells)} cells".strip()
        made.append(Field(said, note, average, best=is_best))
    return made


def _unexamined(criterion: Criterion) -> str:
    return "not part of this benchmark" if criterion.evidence else "not examined here"


def _anchor(criterion: Criterion) -> str:
    return f"c{criterion.section}"
