"""The pages of a benchmark: that links lead somewhere, numbers are those of the runs, and nothing goes missing."""

import json
import re
import shlex
import shutil
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any
from urllib.parse import unquote

import pytest

from dumbbell import catalog
from dumbbell.base.errors import UserError
from dumbbell.cli.main import main
from dumbbell.present.site import write_site
from dumbbell.present.site.judging.ccperf_line import ccperf_line
from dumbbell.present.site.judging.checks import contradictions
from dumbbell.present.site.judging.competition import matches
from dumbbell.present.site.judging.criteria import load
from dumbbell.present.site.judging.direction import LESS, MORE, best, decimals, definitions, number
from dumbbell.present.site.judging.facts import look
from dumbbell.present.site.judging.findings import Findings, Site, rivals
from dumbbell.present.site.pictures import pictures
from dumbbell.results.benchmark_directory import Benchmark
from dumbbell.results.series.run_files import kept_files
from dumbbell.results.series.samples import run_samples
from dumbbell_ccperf.experiment import ccperf_plan
from support.pages.well_formed import WellFormed
from support.results.benchmark import EXAMINED, make


class Page(WellFormed):
    """A page with its targets, images and tables."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.images: list[tuple[str, str]] = []
        self.tables: dict[str, list[list[tuple[str, bool]]]] = {}
        self.label = ""
        self.hovers: dict[tuple[str, int], str] = {}
        self.read(file.read_text(encoding="utf-8"))

    def start(self, tag: str, known: dict[str, str | None]) -> None:
        self.targets += [known[key] or "" for key in ("href", "src") if key in known]
        if tag == "img":
            self.images.append((known["src"] or "", known["alt"] or ""))
        if tag == "div" and known.get("class") == "scroll":
            self.label = known["aria-label"] or ""
            assert self.label not in self.tables, f"two tables are called {self.label}"
            self.tables[self.label] = []
        if tag == "tr":
            self.tables[self.label].append([])
        if tag in ("th", "td"):
            self.tables[self.label][-1].append(("", False))
        if tag == "th" and known.get("title"):
            self.hovers[self.label, len(self.tables[self.label])] = known["title"] or ""

    def data(self, data: str) -> None:
        if ("td" in self.open or "th" in self.open) and "small" not in self.open:
            text, bold = self.tables[self.label][-1][-1]
            self.tables[self.label][-1][-1] = (text + data, bold or "b" in self.open)

    def row(self, table: str, name: str) -> list[tuple[str, bool]]:
        """The cells of the row called `name`, or of the identifier `name`, without its name."""
        rows = enumerate(self.tables[table], 1)
        called = ((row, (row[0][0], self.hovers.get((table, number)))) for number, row in rows if row)
        return next(row[1:] for row, names in called if name in names)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """Six experiments; their pages are written."""
    benchmark = make(tmp_path_factory.mktemp("site") / "benchmark")
    assert write_site(benchmark, 1) == benchmark.directory / "index.html"
    return benchmark


@pytest.fixture
def copied(made: Benchmark, tmp_path: Path) -> Benchmark:
    """The same benchmark in a directory of its own, to be damaged."""
    return _copy(made, tmp_path / "copy")


def _copy(made: Benchmark, directory: Path) -> Benchmark:
    shutil.copytree(made.directory, directory)
    parts = []
    for part in made.parts:
        results = type(part.results)(directory / "experiments" / part.name, part.results.experiment)
        parts.append(replace(part, results=results))
    return replace(made, directory=directory, parts=tuple(parts))


def only(benchmark: Benchmark, *names: str) -> Benchmark:
    """The benchmark as it would be of these experiments alone."""
    return replace(benchmark, parts=tuple(part for part in benchmark.parts if part.name in names))


def pages(directory: Path) -> dict[str, Page]:
    """Every page by its file."""
    found = [*directory.glob("*.html"), *directory.glob("schemes/*.html"), *directory.glob("experiments/*.html")]
    return {str(file.relative_to(directory)): Page(file) for file in found}


def statistics(benchmark: Benchmark, experiment: str, cell: str, scheme: str) -> list[dict[str, Any]]:
    """What the runs of a cell wrote."""
    folder = benchmark.directory / "experiments" / experiment / "runs" / cell / scheme
    return [json.loads(file.read_text()) for file in sorted(folder.glob("*/stats.json"))]


def _table(run: dict[str, Any], level: str) -> dict[str, Any]:
    """The table of a run's only flow, its network, or its bottleneck."""
    if level == "network":
        return run["network"]
    return next(table for table in run[level] if level == "flows" or table["link"] == "data/bottleneck")


def change(benchmark: Benchmark, run: str, edit: Callable[[dict[str, Any]], None]) -> None:
    """Rewrites the statistics of a run."""
    file = benchmark.directory / "experiments" / run / "stats.json"
    content = json.loads(file.read_text())
    edit(content)
    file.write_text(json.dumps(content))


def findings(benchmark: Benchmark, name: str) -> Findings:
    """One experiment."""
    found = Site(benchmark).find(name)
    assert found is not None
    return found


def test_every_link_leads_somewhere_and_nothing_is_fetched(made: Benchmark) -> None:
    every = pages(made.directory)
    assert set(every) == {
        "index.html",
        "scorecard.html",
        *(f"schemes/{name}.html" for name in EXAMINED),
        *(f"experiments/{part.name}.html" for part in made.parts),
    }
    for file, page in every.items():
        assert len(set(page.identifiers)) == len(page.identifiers), file
        for target in page.targets:
            where, _, anchor = target.partition("#")
            if where.startswith("data:"):
                continue
            assert not re.match("[a-z]+:|/", where), f"{file}: {target}"
            there = (made.directory / file).parent / unquote(where) if where else made.directory / file
            assert there.exists(), f"{file}: {target}"
            if anchor:
                name = str(there.resolve().relative_to(made.directory.resolve()))
                assert unquote(anchor) in every[name].identifiers, f"{file}: {target}"
    style = (made.directory / "assets" / "style.css").read_text()
    assert "url(" not in style
    assert "@import" not in style


def test_every_raw_file_of_every_run_is_linked(made: Benchmark) -> None:
    for part in made.parts:
        page = Page(made.directory / "experiments" / f"{part.name}.html")
        linked = {target for target in page.targets if "/runs/" in target}
        for run in part.results.experiment.all_runs():
            for file in (part.results.directory / run.directory).iterdir():
                assert f"../experiments/{part.name}/{run.directory}/{file.name}" in {unquote(each) for each in linked}


def test_numbers_are_those_of_the_runs_and_the_best_is_bold(made: Benchmark) -> None:
    page = Page(made.directory / "experiments" / "steady_state_single_flow.html")
    names = ["bbr", "copa", "cubic"]
    for cell in ("default", "ccperf-mexico-cellular", "ccperf-india"):
        runs = [statistics(made, "steady_state_single_flow", cell, name)[0] for name in names]
        for table, level, metric, way in (
            (f"Flow: {cell}", "flows", "goodput_mbps", max),
            (f"Flow: {cell}", "flows", "packet_loss_rate", min),
            (f"Flow: {cell}", "flows", "mean_cwnd_bytes", None),
            (f"Link: {cell}", "links", "mean_queue_packets", min),
            (f"Network: {cell}", "network", "utilization", max),
        ):
            values = [_table(run, level)[metric] for run in runs]
            shown = page.row(table, metric)
            for value, (text, _) in zip(values, shown, strict=True):
                places = len(text.partition(".")[2])
                assert float(text) == pytest.approx(value, abs=0.5001 * 10**-places)
                assert places >= 3 - len(str(int(max(values)))) or value == round(value)
            bold = [is_bold for _, is_bold in shown]
            if way is None or len({text for text, _ in shown}) == 1:
                assert not any(bold), (table, metric)
            else:
                assert bold[values.index(way(values))], (table, metric)
                assert all(text == shown[values.index(way(values))][0] for (text, is_bold) in shown if is_bold)


def test_means_over_few_runs_have_ranges(made: Benchmark) -> None:
    runs = statistics(made, "competition", "default.versus-alone", "bbr")
    values = [run["network"]["owd_p95_ms"] for run in runs]
    assert len(values) == 2
    page = (made.directory / "experiments" / "competition.html").read_text()
    text = Page(made.directory / "experiments" / "competition.html")
    shown = text.row("Network: versus alone", "owd_p95_ms")[0][0]
    places = len(shown.partition(".")[2])
    assert shown == f"{fmean(values):.{places}f}"
    same = min(values) == max(values)
    assert f"<small>({'equal' if same else f'{min(values):.{places}f} to {max(values):.{places}f}'})</small>" in page


def test_many_flows_are_shown_by_mean_least_and_most(made: Benchmark) -> None:
    page = Page(made.directory / "experiments" / "steady_state_synchronous_fairness.html")
    [run] = statistics(made, "steady_state_synchronous_fairness", "default.k-6", "bbr")
    values = [flow["goodput_mbps"] for flow in run["flows"]]
    assert len(values) == 6
    shown = [float(text) for text, _ in page.row("Flows: k 6", "goodput_mbps")]
    assert shown[:3] == pytest.approx([fmean(values), min(values), max(values)], abs=1e-3)
    two = page.row("Flows: k 2", "goodput_mbps")
    assert len(two) == 6  # two flows of each of three schemes


def test_as_many_flows_as_arrive_are_one_column_and_the_long_one_another(made: Benchmark) -> None:
    page = Page(made.directory / "experiments" / "short.html")
    runs = statistics(made, "short", "default", "copa")
    counts = [len(run["flows"]) for run in runs]
    assert len(set(counts)) == 2  # each seed draws its own
    assert min(counts) > 5
    short = [[flow["owd_p95_ms"] for flow in run["flows"][1:] if flow["owd_p95_ms"] is not None] for run in runs]
    heads = [text for text, _ in page.tables["Flows: default"][1]]
    assert heads[5:9] == ["1 Copa, mean", *(f"many TCP Cubic, {word}" for word in ("mean", "least", "most"))]
    row = [float(text) for text, _ in page.row("Flows: default", "owd_p95_ms")[4:8]]  # of the second scheme
    expected = [
        fmean(run["flows"][0]["owd_p95_ms"] for run in runs),
        fmean(map(fmean, short)),
        fmean(map(min, short)),
        fmean(map(max, short)),
    ]
    assert row == pytest.approx(expected, abs=0.006)
    # The best mean is that of the schemes' means, not of their least.
    cells = page.row("Flows: default", "owd_p95_ms")
    for first in range(4):
        rivals = cells[first::4]
        lowest = min(float(text) for text, _ in rivals)
        alike = len({text for text, _ in rivals}) == 1
        assert [bold for _, bold in rivals] == [float(text) == lowest and not alike for text, _ in rivals]


def test_shares_and_harm_are_what_the_runs_say(made: Benchmark) -> None:
    found = findings(made, "competition")
    every = {(match.label, match.competitor): match for match in matches(found)}
    assert set(every) == {(name, "cubic") for name in ("bbr", "copa", "cubic")}
    beside = statistics(made, "competition", "default.versus-cubic", "bbr")
    alone = statistics(made, "competition", "default.versus-alone", "cubic")
    goodputs = [[flow["goodput_mbps"] for flow in run["flows"]] for run in beside]
    match = every["bbr", "cubic"]
    assert match.share is not None
    assert match.share.mean == pytest.approx(fmean(ours / (ours + theirs) for ours, theirs in goodputs))
    assert (match.fair, match.numbers) == (0.5, "1 : 1")
    harm = {each.metric.name: each.harm for each in match.done}
    solo, with_it = (
        fmean(run["flows"][number]["owd_p95_ms"] for run in runs) for runs, number in ((alone, 0), (beside, 1))
    )
    assert harm["owd_p95_ms"] == pytest.approx((with_it - solo) / with_it)
    page = Page(made.directory / "experiments" / "competition.html")
    assert page.row("Share beside each competitor, Test of competition <x>", "TCP BBR")[0][0].startswith(
        f"{match.share.mean:.2f}"
    )


def test_missing_failed_and_damaged_runs_are_said(copied: Benchmark) -> None:
    runs = "steady_state_single_flow/runs/default"
    folder = copied.directory / "experiments"
    shutil.rmtree(folder / runs / "bbr" / "1")
    reason = "the queue has no room for <one> packet"
    change(
        copied, f"{runs}/copa/1", lambda run: run.update(status="failed", reason=reason, flows=[], links=[], network={})
    )
    (folder / runs / "cubic" / "1" / "stats.json").write_text('{"status": ')
    write_site(only(copied, "steady_state_single_flow"), 1)
    page = Page(folder / "steady_state_single_flow.html")
    table = page.tables["Runs that did not succeed"]
    assert [[text for text, _ in row] for row in table[1:]] == [
        ["TCP BBR", "default", "1", "missing", "not run: the experiment was stopped before"],
        ["Copa", "default", "1", "failed", reason],
        ["TCP Cubic", "default", "1", "damaged", table[3][4][0]],
    ]
    assert table[3][4][0].startswith("stats.json:1: not valid JSON")
    assert "6 of 9 runs succeeded" in page.text
    assert [text for text, _ in page.row("Flow: default", "goodput_mbps")] == ["\u2013"] * 3
    index = Page(copied.directory / "index.html")
    assert "3 runs failed or are missing" in index.text
    assert "All runs succeeded" not in index.text


def test_numbers_that_contradict_each_other_are_shown_in_red(made: Benchmark, copied: Benchmark) -> None:
    for part in made.parts:
        assert list(contradictions(findings(made, part.name))) == []
    run = "steady_state_single_flow/runs/default/bbr/1"
    change(copied, run, lambda run: run["network"].update(jain_index=0.91))
    found = [each.text for each in contradictions(findings(copied, "steady_state_single_flow"))]
    assert found == ["jain_index of a single flow is 0.91, not 1"]
    many = "steady_state_synchronous_fairness/runs/default.k-2/bbr/1"

    def unlike(run: dict[str, Any]) -> None:
        run["network"]["mean_agg_throughput_l4"] = 27.72
        for flow in run["flows"]:
            flow["mean_throughput_l4"] = 3.5

    change(copied, many, unlike)
    found = [each.text for each in contradictions(findings(copied, "steady_state_synchronous_fairness"))]
    assert found == ["mean_agg_throughput_l4 is 27.72; the flows together have 7"]
    write_site(only(copied, "steady_state_single_flow", "steady_state_synchronous_fairness"), 1)
    file = copied.directory / "experiments" / "steady_state_single_flow.html"
    assert '<p class="bad">These numbers contradict each other' in file.read_text()
    assert "jain_index of a single flow is 0.91, not 1" in Page(file).text
    assert "2 runs have numbers that contradict each other" in Page(copied.directory / "index.html").text


def test_the_same_results_give_the_same_bytes_on_any_number_of_processes(
    made: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = _copy(made, tmp_path / "other")
    for folder in ("figures", "assets", "schemes"):
        shutil.rmtree(other.directory / folder)
    monkeypatch.setattr(pictures, "worth", lambda jobs, _: jobs)  # however few figures there are
    write_site(other, 2)
    files = [file for file in made.directory.rglob("*") if file.suffix in (".html", ".svg", ".css", ".js")]
    assert len(files) > 20
    for file in files:
        assert file.read_bytes() == (other.directory / file.relative_to(made.directory)).read_bytes(), file


def test_figures_are_files_that_follow_the_theme(made: Benchmark) -> None:
    every = pages(made.directory)
    used = {Path(source).name for page in every.values() for source, _ in page.images}
    files = {file.name for file in (made.directory / "figures").iterdir()}
    assert used == files
    kinds = {
        "operating-point",
        "in-flight",
        "plane",
        "distribution",
        "fairness",
        "step",
        "sweep",
        "matrix",
        "completion",
    }
    assert kinds <= {part for name in files for part in name.split(".")}
    for file in (made.directory / "figures").iterdir():
        drawing = file.read_text(encoding="utf-8")
        assert ElementTree.fromstring(drawing).tag.endswith("svg")
        assert "prefers-color-scheme:dark" in drawing
        assert "currentColor" in drawing
    assert all(alt for page in every.values() for _, alt in page.images)


def test_ccperfs_command_line_says_the_same_path_and_flows(made: Benchmark) -> None:
    found = findings(made, "steady_state_synchronous_fairness")
    cell = found.cells[0]
    line = ccperf_line(found, cell, "bbr")
    assert line is not None
    page = Page(made.directory / "experiments" / "steady_state_synchronous_fairness.html")
    assert line in page.text
    assert ccperf_line(found, cell, "copa") is None  # ns-3 has no Copa
    words = shlex.split(line)
    assert words[:2] == ["dumbbell", "ccperf"]
    plan = ccperf_plan(words[2:])
    [path] = plan.own_paths.values()
    assert path.data[1:] == cell.path.data  # behind its access link
    assert path.ack == cell.path.ack
    [made_cell] = plan.cells.values()
    assert [(flow.start_s, flow.stop_s, flow.rtt_ms) for flow in made_cell.flows] == [(0.0, 3.0, None)] * 2
    assert (plan.duration_s, plan.seed, made_cell.axis_values["k"]) == (3.0, 1, "2")


def test_a_run_without_a_packet_log_has_its_throughput_over_time(made: Benchmark) -> None:
    # `sweep` keeps no packets; senders sample what was acknowledged.
    found = findings(made, "sweep")
    cell = next(cell for cell in found.cells if cell.name == "default.bw_factor-1.rtt_ms-40")
    for label in found.labels:
        [run] = cell.good(label)
        folder = found.part.results.folder(run.planned)
        assert not (folder / "packets.parquet").is_file()
        [flow] = run_samples(kept_files(folder), run.content, found.experiment.specification(run.planned)).flows
        time_s, mbps = flow.throughput_mbps
        assert len(time_s) >= 25
        after = time_s > found.experiment.warmup_s + 0.1
        assert fmean(mbps[after]) == pytest.approx(run.content["flows"][0]["goodput_mbps"], rel=0.05)


def test_figures_of_results_that_are_gone_go_too(copied: Benchmark) -> None:
    old = copied.directory / "figures" / "old.svg"
    old.write_text("<svg/>")
    write_site(only(copied, "sweep"), 1)
    assert not old.exists()


def test_an_unreadable_log_costs_its_figure_only(copied: Benchmark) -> None:
    run = copied.directory / "experiments" / "steady_state_single_flow" / "runs" / "default" / "bbr" / "1"
    (run / "flows.parquet").write_bytes(b"no")
    write_site(only(copied, "steady_state_single_flow"), 1)
    page = Page(copied.directory / "experiments" / "steady_state_single_flow.html")
    assert page.text.count("Figure is missing") == 2
    assert page.row("Flow: default", "goodput_mbps")[0][0] != "\u2013"


def test_results_of_another_grid_are_refused_in_one_line(copied: Benchmark) -> None:
    part = copied.parts[1]
    other = replace(part.experiment_file, grid=(replace(part.experiment_file.grid[0], name="k_scaled"),))
    parts = (copied.parts[0], replace(part, experiment_file=other))
    with pytest.raises(UserError, match=r"cell `default\.k-2` is none of the experiment"):
        write_site(replace(copied, parts=parts), 1)


def test_the_index_has_a_number_for_every_experiment_and_scheme(made: Benchmark) -> None:
    page = Page(made.directory / "index.html")
    for part in made.parts:
        found = findings(made, part.name)
        row = page.row(found.membership.group, found.title)
        assert len(row) == 2 + len(found.labels)
        assert all(text != "\u2013" for text, _ in row)
    cells = [
        statistics(made, "sweep", f"default.bw_factor-{rate}.rtt_ms-{rtt}", "bbr")
        for rate in ("0.5", "1", "2")
        for rtt in (20, 40, 80)
    ]
    mean = fmean(run["network"]["utilization"] for [run] in cells)
    shown = page.row("Network variation", "Test of sweep <x>")[2][0]
    assert float(shown) == pytest.approx(mean, abs=1e-4)


def test_a_neutral_metric_has_no_best_value(made: Benchmark) -> None:
    found = findings(made, "steady_state_single_flow")
    membership = replace(found.membership, neutral=("goodput_mbps",))
    found = Findings(replace(found.part, experiment_file=replace(found.part.experiment_file, membership=membership)), 1)
    by_name = {each.name: each for each in found.metrics["flow"]}
    assert (by_name["goodput_mbps"].better, by_name["goodput_mbps"].arrow) == (0, "")
    assert by_name["owd_p95_ms"].better == LESS
    assert "goodput_mbps" in [each.name for each in found.telling]  # it is shown as before


def test_completion_times_of_some_transfers_are_not_the_best(made: Benchmark) -> None:
    found = findings(made, "short")
    [cell] = found.cells
    unfinished = {"bbr": 0, "copa": 9, "cubic": 0}
    runs = {
        label: tuple(
            replace(run, content=run.content | {"network": run.content["network"] | {"fct_incomplete": count}})
            for run in cell.runs[label]
        )
        for label, count in unfinished.items()
    }
    cell = replace(cell, runs=runs)
    labels = ("bbr", "copa", "cubic")
    known = definitions()
    assert rivals([cell], labels, known["network", "fct_mean_s"]) == ["", "copa", ""]
    assert rivals([cell], labels, known["network", "fct_incomplete"]) == ["", "", ""]
    assert rivals([cell], labels, known["network", "owd_p95_ms"]) == ["", "", ""]


def test_a_cells_command_repeats_its_run(made: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made.directory)
    page = (made.directory / "experiments" / "competition.html").read_text()
    name = "default.versus-cubic"
    line = f"dumbbell run experiments/competition/experiment.toml --cell {name} --schemes bbr,copa --out NEW"
    assert line in page
    assert main([*shlex.split(line)[1:-1], str(tmp_path / "new")]) == 0
    for scheme in ("bbr", "copa"):
        there = json.loads((tmp_path / "new" / "runs" / name / scheme / "2" / "stats.json").read_text())
        assert there["flows"] == statistics(made, "competition", name, scheme)[1]["flows"]


def test_experiments_of_the_benchmark_name_metrics_that_are_measured() -> None:
    for plan in catalog.experiments():
        if plan.membership is not None:
            levels = {"flow": plan.membership.flow, "link": plan.membership.link, "network": plan.membership.network}
            for level, names in levels.items():
                for name in names:
                    assert (level, name) in definitions(), f"{plan.name}: {level}_metrics: {name}"


def test_the_scorecard_names_experiments_cells_and_metrics_that_exist() -> None:
    plans = {plan.name: plan for plan in catalog.experiments() if plan.membership is not None}
    criteria = load().criteria
    assert len({criterion.section for criterion in criteria}) == len(criteria) == 25
    for criterion in criteria:
        assert bool(criterion.evidence) != bool(criterion.not_here), criterion.section
        for evidence in criterion.evidence:
            assert evidence.experiment in plans, evidence.experiment
            for metric in evidence.metrics:
                assert (metric.level, metric.name) in definitions(), f"{criterion.section}: {metric}"
        for fact in criterion.facts:
            assert (fact.metric.level, fact.metric.name) in definitions()
            for name in fact.experiments:
                axes = {axis.name: axis.values for axis in plans[name].grid}
                for axis, values in fact.cells:
                    labels = [value["label"] if isinstance(value, dict) else f"{value:g}" for value in axes[axis]]
                    assert set(values) <= set(labels)


def test_a_criterion_with_a_mistake_is_refused_by_its_key(tmp_path: Path) -> None:
    file = tmp_path / "list.toml"
    file.write_text('source = "x"\n[[criterion]]\nsection = "1"\ntitle = "t"\nstrength = "SHALL"\nshow = "s"\n')
    with pytest.raises(UserError, match=r"list\.toml: `criterion\[0\]\.strength` = \"SHALL\": allowed is one of MUST"):
        load(file)


def test_facts_are_marked_where_their_rule_is_met(copied: Benchmark) -> None:
    facts = {fact.name: fact for criterion in load().criteria for fact in criterion.facts}
    fact = facts["Starves a competitor"]
    assert look(Site(copied), fact, "bbr").looked in (0, 1)

    def starved(seconds: float) -> Callable[[dict[str, Any]], None]:
        def edit(run: dict[str, Any]) -> None:
            run["flows"][0]["starvation_time_s"] = 3.0  # its own flow is no competitor
            run["flows"][1]["starvation_time_s"] = seconds

        return edit

    for seconds, count in ((1.4, 0), (1.6, 1)):  # of about 3 s
        for run in (1, 2):
            change(copied, f"competition/runs/default.versus-cubic/bbr/{run}", starved(seconds))
        sight = look(Site(copied), fact, "bbr")
        assert (sight.looked, len(sight.seen)) == (1, count)
    write_site(only(copied, "competition"), 1)
    page = Page(copied.directory / "scorecard.html")
    assert "seen in 1 of 1 cells" in page.text
    assert "a competitor's flow gets less than a tenth of its fair share" in page.text


def test_the_scorecard_says_what_nothing_examines(made: Benchmark) -> None:
    page = Page(made.directory / "scorecard.html")
    for words in (
        "no multipath transport is implemented",
        "encapsulation and decapsulation",
        "Not part of this benchmark",
    ):
        assert words in page.text
    assert page.row("All criteria", "7.10")[2][0] == "not examined here"


def test_numbers_beside_each_other_have_the_same_decimals() -> None:
    assert decimals([94.31, 7.2]) == 2
    assert decimals([0.0123]) == 5
    assert decimals([126395.0, 79390.2]) == 0
    assert decimals([1.0, 3.0]) == 0
    assert decimals([]) == 0
    assert number(-0.0001, 2) == "0.00"
    assert number(0.0, 4) == number(-0.0, 4) == "0"
    assert best(["1.0", "1.0", "0.9", None], [1.04, 0.96, 0.9, None], MORE) == [True, True, False, False]
    assert best(["1.0", "0.9"], [1.0, 0.9], LESS) == [False, True]
    assert best(["1.0", "1.0"], [1.0, 1.0], MORE) == [False, False]


def test_pages_load_nothing_from_elsewhere(made: Benchmark) -> None:
    for file in made.directory.rglob("*.html"):
        (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', file.read_text())
        assert policy.startswith("default-src 'none'; "), file
        assert "http:" not in policy.replace("http-equiv", ""), file
        assert "*" not in policy, file
        assert "script-src 'self' file:;" in policy, "a script in the page itself is somebody else's"
        assert "<script>" not in file.read_text(), file
