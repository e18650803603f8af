"""Tests of the short report: its first lines, its length, its script, and the page of one run."""

import datetime
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from test_report import in_order, pdf_pages

import dumbbell as package
from dumbbell.base.conventions import CONVENTIONS
from dumbbell.base.errors import UserError
from dumbbell.present.model.content import ReportModel, load
from dumbbell.present.plots.parts.typeset import typeset
from dumbbell.present.report.short import sheets
from dumbbell.present.report.short.content import ShortContent
from dumbbell.present.report.short.page import ShortPage
from dumbbell.present.reports import run_file, write_report
from support.commands.command import Dumbbell
from support.pages.browser import play
from support.pages.well_formed import HtmlChecker
from support.results.report import make, stats_of
from support.told import transcript

MOMENT = datetime.datetime(2026, 5, 6, 7, 8, 9, tzinfo=datetime.UTC)
PATHS = ["india-aws-india", "mexico-cellular"]


class Outline(HtmlChecker):
    """Links, headings and tables' cells of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.headings: list[tuple[str, str]] = []
        self.rows: list[list[str]] = []
        self.read(page)

    def start(self, tag: str, attributes: dict[str, str | None]) -> None:
        if "href" in attributes and tag != "link":
            self.links.append(attributes["href"] or "")
        if re.fullmatch("h[1-6]", tag):
            self.headings.append((tag, ""))
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")

    def data(self, data: str) -> None:
        if any(re.fullmatch("h[1-6]", tag) for tag in self.open):
            tag, text = self.headings[-1]
            self.headings[-1] = (tag, text + data)
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data + ("" if "small" in self.open else "|")


PLAN = {"schemes": ["cubic", "copa", "vegas"], "paths": PATHS, "runs": 2, "duration_s": 4.0, "warmup_s": 0.5}
FAILED = f"runs/{PATHS[0]}/vegas/2"
REASON = "the queue has no room for <one> packet"
MOST_PAGES, MOST_BYTES = 12, 3_000_000


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make twelve runs on two paths, one of which failed."""
    directory = tmp_path_factory.mktemp("short") / "results"
    make(directory, PLAN, {FAILED: REASON})
    for file in directory.glob("runs/*/*/*/stats.json"):
        content = json.loads(file.read_text())
        for part in filter(None, (content["network"], *content["flows"])):
            part["goodput_mbps"] = 0.95 * part["throughput_mbps"]  # the made-up logs do not tell it
        file.write_text(json.dumps(content))
    return directory


@pytest.fixture(scope="module")
def model(results: Path) -> ReportModel:
    """Return the report's model with findings."""
    return replace(load(results, MOMENT, "corrected"), findings=("Copa <beats> none.", "Vegas is second."))


@pytest.fixture(scope="module")
def page(model: ReportModel) -> str:
    """Return the page."""
    return ShortPage(ShortContent(model)).render()


def crowd(model: ReportModel, schemes: int) -> ReportModel:
    """Return the model with the runs of Cubic and Copa under many names, each with other numbers."""
    names = [f"scheme-{number}" for number in range(schemes)]
    entries = tuple(replace(model.schemes[0], name=name, title=f"{name} (retrained)", color="") for name in names)

    def runs() -> Iterator:  # type: ignore[type-arg]
        for path in PATHS:
            for number, name in enumerate(names):
                for run in model.of(path, ("cubic", "copa")[number % 2]) * 2:
                    network = {
                        key: value * (1 - number / 100) if key in ("goodput_mbps", "owd_p95_ms") else value
                        for key, value in run.network.items()
                    }
                    yield replace(run, scheme=name, content=run.content | {"scheme": name, "network": network})

    return replace(model, schemes=entries, titles={entry.name: entry.title for entry in entries}, runs=tuple(runs()))


@pytest.mark.slow
def test_a_report_of_sixty_schemes_stays_short(model: ReportModel, tmp_path: Path) -> None:
    """Such a report had 473 pages and 37 MB."""
    crowded_model = crowd(model, 60)
    assert len(crowded_model.runs) == 60 * 2 * 4
    content = ShortContent(crowded_model)
    assert len(ShortPage(content).render().encode()) < MOST_BYTES
    (tmp_path / "many.pdf").write_bytes(typeset(sheets.sources(content)))
    assert pdf_pages(tmp_path / "many.pdf") <= MOST_PAGES


def test_findings_are_first_and_how_it_was_made_is_last(page: str) -> None:
    outline = Outline(page)
    parts = ["Copa <beats> none.", "Vegas is second.", "3 schemes on 2 paths, virtual time, 4 s each, 11 of 12 runs"]
    for _ in PATHS:
        parts += ["Up and right is better.", "All schemes", "dumbbell report . --run ", "All columns", "Every run"]
    parts += [
        "What failed",
        REASON,
        "How it was made",
        "docs/reference/metrics.md",
        "dumbbell run experiment.toml --out NEW",
    ]
    in_order(outline.text, [*parts, "System info", "Git summary"])
    main = page[page.index("<main>") :]
    assert re.match(r"<main><h1[^>]*>Made-up numbers</h1>\s*<ul class=\"findings\"><li>Copa", main)
    assert "Run 1: Statistics" not in outline.text
    assert "Definitions of the metrics" not in outline.text


@pytest.mark.parametrize("name", list(CONVENTIONS))
def test_the_table_is_by_the_convention_and_sorted(results: Path, name: str, dumbbell: Dumbbell) -> None:
    dumbbell("report", results, "--html", "--convention", name)
    outline = Outline((results / "report.html").read_text())
    convention = CONVENTIONS[name]
    heads = [f"{metric.title} ({metric.unit})|" for metric in convention.metrics]
    assert [row for row in outline.rows if row[2:5] == heads and row[:2] == ["scheme|", "runs|"]]
    assert f"most {convention.throughput.title} first" in outline.text
    assert f"{convention.label[:1].upper()}{convention.label[1:]}: {convention.rules}" in outline.text
    for path in PATHS:
        means = {}
        for scheme in ("cubic", "copa", "vegas"):
            runs = [stats_of(results, f"runs/{path}/{scheme}/{number}") for number in (1, 2)]
            values = [run["network"][convention.throughput.key] for run in runs if run["status"] == "done"]
            means[scheme] = sum(values) / len(values)
        titles = {"cubic": "TCP Cubic|", "copa": "Copa|", "vegas": "TCP Vegas|"}
        expected_rows = [
            (titles[scheme_name], f"{means[scheme_name]:.2f}")
            for scheme_name in sorted(means, key=lambda scheme_name: -means[scheme_name])
        ]
        rows = [row for row in outline.rows if len(row) == 6 and row[0] in titles.values()]
        got = [(row[0], row[2].split("|")[0]) for row in rows][: len(expected_rows)]
        outline.rows = [row for row in outline.rows if row not in rows[: len(expected_rows)]]
        assert got == expected_rows


def test_schemes_that_no_other_beats_are_bold(model: ReportModel) -> None:
    crowded_model = crowd(model, 14)
    page = ShortPage(ShortContent(crowded_model)).render()
    section = page[page.index('id="path1"') :]
    bold = re.findall(r'<tr data-scheme="([\w-]+)"><th scope="row"><b>', section.partition("All columns")[0])
    points = {}
    for scheme in crowded_model.schemes:
        networks = [run.network for run in crowded_model.of(PATHS[1], scheme.name) if run.good]
        goodput, delay = (sum(network[key] for network in networks) for key in model.convention.keys[:2])
        points[scheme.name] = (goodput / len(networks), -delay / len(networks))
    front = {
        name
        for name, point in points.items()
        if not any(
            other != point and min(a - b for a, b in zip(other, point, strict=True)) >= 0 for other in points.values()
        )
    }
    assert 1 < len(front) < 14
    assert set(bold) == front


def test_in_a_mix_shares_come_before_the_plane(folder: Path, dumbbell: Dumbbell) -> None:
    mix = ("--schemes", "cubic", "--mix", "cubic+bbr", "--path", "small.toml", "--runs", "2", "--duration", "3")
    dumbbell("run", *mix, "--out", "r")
    dumbbell("report", "r")
    outline = Outline((folder / "r/report.html").read_text())
    in_order(outline.text, ["1 scheme and 1 mix of schemes", "Who got what", "Schemes by themselves, without mixes."])
    in_order(outline.text, ["Up and right is better", "Schemes by themselves", "All flows of a mix together"])
    assert "Who gets what beside whom" not in outline.text  # one pair is no map
    shares = [row[:3] for row in outline.rows if row[0] == "cubic+bbr|" and row[2:3] == ["50.0|"]]
    assert shares[:2] == [["cubic+bbr|", "TCP Cubic|", "50.0|"], ["cubic+bbr|", "TCP BBR|", "50.0|"]]
    assert "Jain's index|" in [row for row in outline.rows if "runs|" in row][1]
    assert "dumbbell report . --run small/cubic/1" in outline.text
    assert pdf_pages(folder / "r/report.pdf") <= 3


GRID = """
name = "grid"
schemes = ["cubic", "reno"]
paths = ["small.toml"]
runs = 2
duration_s = 2.0
log = "none"

[grid]
bw_factor = [1.0, 2.0]
rtt_ms = [20.0, 80.0]
"""


def test_a_grid_has_figures_and_tables_of_all_cells(
    folder: Path, dumbbell: Dumbbell, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "grid.toml").write_text(GRID)
    dumbbell("run", "grid.toml", "--out", "r")
    dumbbell("report", "r")
    page = (folder / "r/report.html").read_text()
    outline = Outline(page)
    cell = "small: rate factor 2, base RTT 80 ms"
    in_order(outline.text, ["2 schemes in 4 cells of 1 path", "Along the axes", "All cells", "All schemes", cell])
    head = next(row for row in outline.rows if "scheme|" in row)
    assert head[:4] == ["rate factor|", "base RTT (ms)|", "scheme|", "runs|"]
    opened_results = package.open(folder / "r")
    for scheme, title in (("cubic", "TCP Cubic|"), ("reno", "TCP NewReno|")):
        runs = [run for run in opened_results.runs if (run.path, run.scheme) == ("small.bw_factor-2.rtt_ms-80", scheme)]
        goodput = sum(run.statistics["network"]["goodput_mbps"] for run in runs) / 2
        row = next(row for row in outline.rows if row[:3] == ["2|", "80|", title])
        assert row[4].startswith(f"{goodput:.2f}")
    assert page.count("<details id=") == 4
    command = re.search(r"<code>dumbbell figure . (sweep[^<]*)</code>", page)
    assert command
    dumbbell("figure", "r", *command[1].split(), "--out", "same.svg")
    matches = re.findall(r">([^<>]*base RTT[^<>]*)<", (folder / "same.svg").read_text())
    assert matches
    assert all(text in page for text in matches)
    monkeypatch.setattr("dumbbell.present.report.short.content.MOST_CELLS", 3)
    monkeypatch.setattr("dumbbell.present.report.short.texts.MOST_CELLS", 3)
    large = ShortPage(ShortContent(load(folder / "r"))).render()
    assert "<details id=" not in large
    assert "There are 4 cells" in large


def test_competing_schemes_on_several_paths_begin_with_a_map_of_shares(folder: Path, dumbbell: Dumbbell) -> None:
    mixes = ("--mix", "reno+cubic", "--mix", "vegas+cubic", "--path", "small.toml", "--runs", "2", "--duration", "2")
    dumbbell("run", *mixes, "--out", "r")
    dumbbell("report", "r", "--html")
    page = (folder / "r/report.html").read_text()
    in_order(page, ["<h1", "Who gets what beside whom</h2>", "Mean share of the payload", "dumbbell figure . share"])
    assert page.index("Who gets what beside whom</h2>") < page.index("Who got what</h3>")


def test_flows_of_one_scheme_that_compete_are_no_point_beside_single_ones(folder: Path, dumbbell: Dumbbell) -> None:
    words = ("--schemes", "cubic,reno", "--mix", "cubic*2", "--path", "small.toml", "--runs", "2", "--duration", "3")
    dumbbell("run", *words, "--out", "r")
    model = load(folder / "r")
    assert model.mixes_beside_singles == {"small": {"cubic*2"}}
    content = ShortContent(model)
    assert {mean.scheme for mean in content.figures.overview.means["small"]} == {"cubic", "reno"}
    headings = [heading for heading, _ in content.tables("small").means()]
    assert headings == ["Schemes by themselves", "All flows of a mix together"]


def test_a_capacity_that_changes_is_no_limit_for_the_counted_seconds(folder: Path, dumbbell: Dumbbell) -> None:
    """Goodput after the warm-up was above a line that "no scheme can get beyond"."""
    (folder / "late.trace").write_text("".join(f"{at}\n" for at in [*range(5, 1000, 5), *range(1000, 4000)]))
    run = ("--schemes", "cubic", "--duration", "4", "--warmup", "1", "--runs", "2")
    for path, message in (
        ("late.trace", "The dashed line is the mean capacity of the whole run"),
        ("small.toml", "No scheme can get beyond the dashed line"),
        ("india-aws-india", "No scheme can get beyond the dashed line"),  # a trace of even opportunities
    ):
        dumbbell("run", *run, "--path", path, "--out", path.partition(".")[0])
        overview = ShortContent(load(folder / path.partition(".")[0])).figures.overview
        (name,) = overview.means
        drawing = overview.draw("means", name, "x")
        assert ("mean capacity" in drawing) == (path == "late.trace")
        assert message in overview.caption(name)
    goodput = [run.statistics["network"]["goodput_mbps"] for run in package.open(folder / "late").runs]
    capacity = [run.statistics["links"][0]["capacity_mbps"] for run in package.open(folder / "late").runs]
    assert min(goodput) > max(capacity)  # as this trace has it


def test_every_run_and_all_columns_are_folded_and_their_links_lead_somewhere(results: Path, page: str) -> None:
    outline = Outline(page)
    logs = [link for link in outline.links if link.startswith("runs/")]
    assert len(logs) > 11
    assert all((results / link).is_file() for link in logs)
    assert all(link[1:] in outline.identifiers for link in outline.links if link.startswith("#"))
    for title in ("All columns", "Every run, with its raw logs"):
        assert page.count(f"<details><summary>{title}</summary>") == len(PATHS)
    assert "mean avg tput (Mbit/s)" in page
    assert "Pantheon convention: whole log" in page


SORTED = """
const table = document.querySelector("table.filtered");
const names = () => Array.from(table.tBodies[0].rows).filter((row) => !row.hidden).map((row) => row.dataset.scheme);
const heads = Array.from(table.tHead.rows[table.tHead.rows.length - 1].cells);
const sorts = () => heads.map((head) => head.getAttribute("aria-sort"));
const found = [[names(), sorts()]];
for (let click = 0; click < 2; click += 1) {
  heads[3].querySelector("button").click();
  found.push([names(), sorts()]);
}
return found;
"""


@pytest.mark.browser
def test_a_click_on_a_head_sorts_and_what_is_no_number_stays_below(model: ReportModel, tmp_path: Path) -> None:
    bad = {"status": "failed", "reason": "no luck", "flows": [], "links": [], "network": {}}
    runs = [
        replace(run, status="failed", content=run.content | bad) if run.scheme == "cubic" else run for run in model.runs
    ]
    model = replace(model, runs=tuple(runs))
    start, up, down = play(ShortPage(ShortContent(model)).render(), SORTED, tmp_path)
    assert start[1] == [None, None, "descending", None, None, None]
    assert start[0][-1] == up[0][-1] == down[0][-1] == "cubic"
    assert up[0][:2] == down[0][1::-1]
    assert (up[1][2:4], down[1][2:4]) == ([None, "ascending"], [None, "descending"])


FILTERED = """
const table = document.querySelector("table.filtered");
const field = document.querySelector(".filter input");
const found = [];
for (const words of ["SCHEME-1 ", "scheme-1 scheme-12", ""]) {
  field.value = words;
  field.dispatchEvent(new Event("input"));
  const rows = Array.from(table.tBodies[0].rows).filter((row) => !row.hidden);
  found.push([rows.map((row) => row.dataset.scheme).sort(), document.querySelector(".filter output").value]);
}
return found;
"""


@pytest.mark.browser
def test_words_filter_the_rows_of_a_table(model: ReportModel, tmp_path: Path) -> None:
    crowded_model = crowd(model, 14)
    some_rows, one_row, every = play(ShortPage(ShortContent(crowded_model)).render(), FILTERED, tmp_path)
    assert some_rows == [["scheme-1", "scheme-10", "scheme-11", "scheme-12", "scheme-13"], "5 of 14 rows"]
    assert one_row == [["scheme-12"], "1 of 14 rows"]
    assert [len(every[0]), every[1]] == [14, ""]


LIT = """
const lit = () => Array.from(document.querySelectorAll(".lit")).map((each) => `${each.tagName} ${each.dataset.scheme}`);
const over = (at) => at.dispatchEvent(new PointerEvent("pointerover", {bubbles: true}));
const tip = document.querySelector(".tip");
const point = document.querySelector('g[data-scheme="copa"]');
const found = {titles: document.querySelectorAll("g[data-scheme] title").length};
over(point);
found.pointed = [lit(), tip.textContent, tip.hidden];
over(document.body);
found.left = [lit(), tip.hidden];
const name = document.querySelector('tr[data-scheme="vegas"] th button');
name.click();
over(document.body);
found.pinned = [lit(), name.getAttribute("aria-pressed")];
name.click();
found.unpinned = [lit(), name.getAttribute("aria-pressed")];
return found;
"""


@pytest.mark.browser
def test_a_scheme_is_lit_in_all_tables_and_planes(page: str, tmp_path: Path) -> None:
    answer = play(page, LIT, tmp_path)
    assert answer["titles"] == 0, "the tip has them"
    names, words, hidden_rows = answer["pointed"]
    assert set(names) == {"g copa", "TR copa"}
    assert names.count("g copa") == page.count('<g data-scheme="copa"') >= len(PATHS)
    assert re.fullmatch(r"Copa, mean of 2 runs: [\d.]+ Mbit/s, [\d.]+ ms", words)
    assert not hidden_rows
    assert answer["left"] == [[], True]
    assert set(answer["pinned"][0]) == {"g vegas", "TR vegas"}
    assert answer["pinned"][1] == "true"
    assert answer["unpinned"] == [[], "false"]


CHOSEN = """
const planes = document.querySelector("div.planes");
const field = planes.querySelector("select");
const shown = () => Array.from(planes.querySelectorAll("[data-title]")).filter((each) => !each.hidden)
  .map((each) => [each.dataset.title, each.querySelector("svg").textContent.includes("Loss (%)")]);
const found = [Array.from(field.options).map((each) => each.text), shown()];
field.value = "Goodput over loss";
field.dispatchEvent(new Event("change"));
return [...found, shown()];
"""


@pytest.mark.browser
def test_the_metrics_of_the_plane_can_be_chosen(model: ReportModel, tmp_path: Path) -> None:
    loss, median = {"vegas": 0.01, "copa": 0.0}, {"vegas": 30.0, "copa": 31.0}
    runs = []
    for run in model.runs:
        network = run.network | {"owd_p50_ms": median.get(run.scheme, 60.0)}
        network |= {"packet_loss_rate": loss.get(run.scheme, 0.02)}
        runs.append(replace(run, content=run.content | {"network": network}))
    model = replace(model, runs=tuple(runs))
    names, first, chosen_metric = play(ShortPage(ShortContent(model)).render(), CHOSEN, tmp_path)
    assert names == ["Goodput over p95 one-way delay", "Goodput over median one-way delay", "Goodput over loss"]
    assert (first, chosen_metric) == ([[names[0], False]], [[names[2], True]])


def test_without_a_script_the_page_has_all_values(page: str) -> None:
    still = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert re.search(r'<g data-scheme="copa"[^>]*><title>Copa, mean of 2 runs: [\d.]+ Mbit/s, [\d.]+ ms</title>', still)
    assert "<input" not in still


def test_a_run_has_a_page_of_its_own(results: Path, dumbbell: Dumbbell) -> None:
    result = dumbbell("report", results, "--run", f"{PATHS[1]}/copa/2")
    file = results / f"report-{PATHS[1]}-copa-2.html"
    assert result.stdout.strip() == str(file)
    outline = Outline(file.read_text())
    parts = [f"Run 2 of Copa on {PATHS[1]}", "Run 2: Statistics of Copa", "Pantheon convention:"]
    parts += ["Start at: 2026-03-04 05:06:08", "End at: 2026-03-04 05:06:12", "Simulated in 250 ms"]
    parts += ["# Datalink statistics", "Flow 1 egress (mean "]
    in_order(outline.text, parts)
    assert outline.text.count(": Statistics of ") == 1
    assert "Data path: sender (local) \u2192 " in outline.text
    assert f"runs/{PATHS[1]}/copa/2/packets.parquet" in outline.links
    assert [tag for tag, _ in outline.headings] == ["h1", "h2", "h2"]
    assert not (results / f"report-{PATHS[1]}-copa-2.pdf").exists()
    again = package.open(results).write_report(run=f"{PATHS[1]}/copa/2")
    assert again == package.write_report(results, run=f"{PATHS[1]}/copa/2") == [file]


def test_a_run_that_failed_has_a_page_with_its_reason(results: Path) -> None:
    (file,) = write_report(results, run=f"{PATHS[0]}/vegas/2", jobs=1)
    text = Outline(file.read_text()).text
    assert f"Failed: {REASON}" in text
    assert f"Figure is missing: {REASON}" in text
    assert "Start at" not in text


def test_no_two_runs_have_pages_of_one_name(model: ReportModel) -> None:
    first, second = model.runs[:2]
    alike = [("a-b", "c"), ("a", "b-c"), ("p", "cubic*2+bbr"), ("p", "cubicx2-bbr"), ("x" * 250, "y"), ("x" * 250, "z")]
    runs = tuple(replace(run, path=path, scheme=scheme) for path, scheme in alike for run in (first, second))
    crowded_model = replace(model, runs=runs)
    names = [run_file(crowded_model, run) for run in runs]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"report-[A-Za-z0-9._-]{1,90}\.html", name) for name in names)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--run", "mexico-cellular/cubic"],
            snapshot(
                """\
dumbbell: --run: `mexico-cellular/cubic`: expected PATH/SCHEME/N, for example
  india-aws-india/cubic/1\
"""
            ),
        ),
        (
            ["--run", "india-aws/cubic/1"],
            snapshot(
                """\
dumbbell: --run: `india-aws/cubic/1`: unknown path `india-aws` (did you mean `india-aws-india`?):
  allowed are india-aws-india, mexico-cellular\
"""
            ),
        ),
        (
            ["--run", "mexico-cellular/cubik/1"],
            snapshot(
                """\
dumbbell: --run: `mexico-cellular/cubik/1`: unknown scheme `cubik` (did you mean `cubic`?): allowed
  are cubic, copa, vegas\
"""
            ),
        ),
        (
            ["--run", "india-aws-india/cubic/3"],
            snapshot("dumbbell: --run: `india-aws-india/cubic/3`: no run `3`: allowed are 1, 2"),
        ),
        (
            ["--run", "india-aws-india/cubic/01"],
            snapshot("dumbbell: --run: `india-aws-india/cubic/01`: no run `01`: allowed are 1, 2"),
        ),
        (
            ["--run", "../../etc"],
            snapshot("dumbbell: --run: `../../etc`: unknown path `..`: allowed are india-aws-india, mexico-cellular"),
        ),
        (["--run", f"{PATHS[0]}/cubic/1", "--all-runs"], snapshot("dumbbell: --run: not with --all-runs")),
        (
            ["--run", f"{PATHS[0]}/cubic/1", "--pdf"],
            snapshot("dumbbell: --pdf: not with --run: the page of a run is HTML only"),
        ),
        (
            ["--all-runs", "--convention", "corrected"],
            snapshot(
                "dumbbell: --convention corrected: not with --all-runs: the long form is by Pantheon's convention"
            ),
        ),
    ],
)
def test_what_cannot_be_reported_is_one_line(
    results: Path, dumbbell: Dumbbell, arguments: list[str], message: str, tmp_path: Path
) -> None:
    result = dumbbell("report", results, *arguments, expect=2)
    assert transcript(result.stderr, tmp_path) == message
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_one_line_says_that_runs_count_in_no_mean(results: Path, dumbbell: Dumbbell, tmp_path: Path) -> None:
    """`report` did not mention damaged runs."""
    shutil.copytree(results, tmp_path / "r")
    (tmp_path / "r" / "runs" / PATHS[0] / "cubic/1/stats.json").write_text('{"status": "do')
    summary = "2 of 12 runs count in no mean (1 damaged, 1 failed): the report lists their reasons\n"
    assert summary in dumbbell("report", tmp_path / "r", "--html").stderr
    assert "What failed" in (tmp_path / "r" / "report.html").read_text()
    assert "count in no mean" not in dumbbell("report", tmp_path / "r", "--run", f"{PATHS[1]}/copa/1").stderr


def test_nothing_is_said_of_runs_that_all_count(tmp_path: Path, dumbbell: Dumbbell) -> None:
    make(tmp_path / "r", PLAN | {"paths": PATHS[:1], "schemes": ["cubic"], "runs": 1})
    assert "count in no mean" not in dumbbell("report", tmp_path / "r", "--html").stderr
    assert "What failed" not in (tmp_path / "r" / "report.html").read_text()


def test_no_results_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a results directory"):
        write_report(tmp_path, run="a/b/1")
    assert list(tmp_path.iterdir()) == []
