"""One run on a page: its statistics, flows, links, transfers and figures; and the page of one run alone."""

from collections.abc import Iterator
from urllib.parse import quote

from dumbbell.present.markup import link, tag, text
from dumbbell.present.model.content import ReportModel, RunEntry
from dumbbell.present.model.drawing import SHOWN, Figures
from dumbbell.present.model.result_tables import run_flows, run_links, run_media, run_totals
from dumbbell.present.model.texts import kind_sentence, last_run, transfers_heading
from dumbbell.present.model.words.wording import statistics_text
from dumbbell.present.plots import for_page
from dumbbell.present.report.document import Document
from dumbbell.results.series.transfers import Transfers


class RunSection:
    """Parts of the page of a run."""

    def __init__(self, document: Document, figures: Figures) -> None:
        self.document = document
        self.figures = figures

    def parts(self, run: RunEntry) -> Iterator[str]:
        """Yield the parts of the page of a run."""
        name = self.document.model.scheme_title(run.scheme)
        yield tag("h2", text(f"Run {run.number}: Statistics of {name}"))
        if not run.good:
            yield tag("p", text(f"{run.status.capitalize()}: {run.reason}"), class_="bad")
        if run.remark:
            yield tag("p", text(f"Counted here; Pantheon's analysis would drop it: {run.remark}"), class_="note")
        if run.negative_delays:
            yield tag("p", text(run.negative_delays), class_="note")
        statistics = statistics_text(run.times, run.content, self.document.model.generated_at)
        if statistics:
            yield tag("p", "Pantheon convention:" if run.flows else "When:", class_="note")
        statistics_block = tag("pre", text(statistics)) if statistics else ""
        yield tag("div", statistics_block, tag("dl", *self._facts(run), class_="facts"), class_="pair")
        if run.command:
            yield tag("p", "To repeat it: ", tag("code", text(run.command)), last_run(run), class_="note")
        if run.flows:
            yield self.document.table(run_flows(self.document.model, run), f"Flows of run {run.number} of {name}")
        media = run_media(self.document.model, run)
        if media:
            yield self.document.table(media, f"Media of run {run.number} of {name}")
        if run.links:
            yield self.document.table(run_links(run), f"Links of run {run.number} of {name}")
        if run.transfers:
            yield self._transfers(run.transfers)
        if run.transfers_problem:
            yield tag("p", text(f"Transfers are missing: {run.transfers_problem}"), class_="missing")
        yield tag("h2", text(f"Run {run.number}: Report of {name} \u2014 Data Link"))
        yield self._run_figures(run, name)

    def _transfers(self, transfers: Transfers) -> str:
        views = [
            tag("div", tag("p", view.capitalize(), class_="note"), tag("pre", text(transfers.text(view))))
            for view in Transfers.VIEWS
        ]
        return tag("details", tag("summary", text(transfers_heading(transfers))), tag("div", *views, class_="pair"))

    def _facts(self, run: RunEntry) -> Iterator[str]:
        for heading, value in run_totals(run):
            yield _fact(heading, text(value))
        if run.seed is not None:
            yield _fact("seed", text(run.seed))
        links = [link(quote(f"{run.folder}/{name}"), name) for name in run.files]
        yield _fact("raw logs", ", ".join(links) or "none")

    def _run_figures(self, run: RunEntry, name: str) -> str:
        figures = self.figures.runs[run.folder]
        if figures.problem:
            return tag("p", text(f"Figure is missing: {figures.problem}"), class_="missing")
        subject = f"run {run.number} of {name}, {len(run.flows)} flow{'' if len(run.flows) == 1 else 's'}"
        drawings = [
            tag("figure", for_page(drawing, f"{SHOWN[kind]}, {subject}")) for kind, drawing in figures.drawings.items()
        ]
        return tag("div", *drawings, class_="pair")


def _fact(name: str, value: str) -> str:
    return tag("dt", text(name)) + tag("dd", value)


def run_page(model: ReportModel, figures: Figures, run: RunEntry) -> str:
    """Return the page of one run."""
    document = Document(model)
    section = RunSection(document, figures)
    title = f"Run {run.number} of {model.scheme_title(run.scheme)} on {run.path}"
    scheme = next(scheme for scheme in model.schemes if scheme.name == run.scheme)
    path = next(path for path in model.paths if path.name == run.path)
    kind = kind_sentence(scheme) if scheme.kind else ""
    notes = [path.sentence, path.data_path, path.provenance, kind, "Means in the figures are by Pantheon's convention."]
    main = [
        tag("h1", text(title), id="results"),
        tag("p", text(model.title or model.name), class_="lead"),
        *(tag("p", text(note), class_="note") for note in notes if note),
        *section.parts(run),
    ]
    return document.render(f"dumbbell: {title}", "", main)
