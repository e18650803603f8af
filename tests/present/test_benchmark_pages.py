"""Tests of a benchmark's pages: their numbers are those of the runs, and nothing is missing."""

import json
import shlex
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from dumbbell import catalog
from dumbbell.base.errors import UserError
from dumbbell.base.progress import Progress
from dumbbell.cli.main import main
from dumbbell.present.serve import static
from dumbbell.present.serve.benchmark import BenchmarkDocument, first_runs
from dumbbell.present.serve.benchmark_pages import write_benchmark
from dumbbell.results.benchmark_directory import Benchmark
from dumbbell.results.judging.ccperf_line import ccperf_line
from dumbbell.results.judging.checks import contradictions
from dumbbell.results.judging.competition import matches
from dumbbell.results.judging.criteria import load
from dumbbell.results.judging.direction import LESS, definitions
from dumbbell.results.judging.facts import look
from dumbbell.results.judging.measured import MeasuredBenchmark, MeasuredExperiment, rivals
from dumbbell.results.series.run_files import kept_files
from dumbbell.results.series.samples import run_samples
from dumbbell_ccperf.experiment import ccperf_plan
from support.pages.written import handed_over
from support.results.benchmark import make


@pytest.fixture(scope="module")
def made_benchmark(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """Make a benchmark of six experiments, with its pages."""
    benchmark = make(tmp_path_factory.mktemp("site") / "benchmark")
    assert write_page(benchmark) == benchmark.directory / "index.html"
    return benchmark


def write_page(benchmark: Benchmark, jobs: int = 1) -> Path:
    """Write verdicts and pages; return the first page."""
    with Progress() as progress:
        return write_benchmark(benchmark, jobs, progress)


def answer(file: Path) -> Any:  # noqa: ANN401 (whatever it says)
    """Return the JSON that a script of a page hands over."""
    return json.loads(handed_over(file))


def document(benchmark: Benchmark) -> dict[str, Any]:
    """Return the judgements that the pages show."""
    content: dict[str, Any] = BenchmarkDocument(benchmark).content()
    return content


def experiment(benchmark: Benchmark, name: str) -> dict[str, Any]:
    """Return the pages' data of an experiment."""
    entry: dict[str, Any] = next(
        candidate for candidate in document(benchmark)["experiments"] if candidate["name"] == name
    )
    return entry


@pytest.fixture
def copied_benchmark(made_benchmark: Benchmark, tmp_path: Path) -> Benchmark:
    """Return the benchmark in a directory of its own, to be damaged."""
    return _copy(made_benchmark, tmp_path / "copy")


def _copy(benchmark: Benchmark, directory: Path) -> Benchmark:
    shutil.copytree(benchmark.directory, directory)
    parts = []
    for part in benchmark.parts:
        results = type(part.results)(directory / "experiments" / part.name, part.results.experiment)
        parts.append(replace(part, results=results))
    return replace(benchmark, directory=directory, parts=tuple(parts))


def only(benchmark: Benchmark, *names: str) -> Benchmark:
    """Return the benchmark with these experiments alone."""
    return replace(benchmark, parts=tuple(part for part in benchmark.parts if part.name in names))


def statistics(benchmark: Benchmark, experiment: str, cell: str, scheme: str) -> list[dict[str, Any]]:
    """Return the statistics of a cell's runs."""
    folder = benchmark.directory / "experiments" / experiment / "runs" / cell / scheme
    return [json.loads(file.read_text()) for file in sorted(folder.glob("*/stats.json"))]


def change(benchmark: Benchmark, run: str, edit: Callable[[dict[str, Any]], None]) -> None:
    """Rewrite the statistics of a run."""
    file = benchmark.directory / "experiments" / run / "stats.json"
    content = json.loads(file.read_text())
    edit(content)
    file.write_text(json.dumps(content))


def findings(benchmark: Benchmark, name: str) -> MeasuredExperiment:
    """Return one experiment."""
    find = MeasuredBenchmark(benchmark).find(name)
    assert find is not None
    return find


def test_shares_and_harm_are_what_the_runs_say(made_benchmark: Benchmark) -> None:
    measured_experiment = findings(made_benchmark, "competition")
    every = {(match.label, match.competitor): match for match in matches(measured_experiment)}
    assert set(every) == {(name, "cubic") for name in ("bbr", "copa", "cubic")}
    beside = statistics(made_benchmark, "competition", "default.versus-cubic", "bbr")
    alone = statistics(made_benchmark, "competition", "default.versus-alone", "cubic")
    goodputs = [[flow["goodput_mbps"] for flow in run["flows"]] for run in beside]
    match = every["bbr", "cubic"]
    assert match.share is not None
    assert match.share.mean == pytest.approx(
        fmean(own_mbps / (own_mbps + competitor_mbps) for own_mbps, competitor_mbps in goodputs)
    )
    assert (match.fair, match.numbers) == (0.5, "1 : 1")
    harm = {entry.metric.name: entry.harm for entry in match.done}
    solo, with_it = (
        fmean(run["flows"][number]["owd_p95_ms"] for run in runs) for runs, number in ((alone, 0), (beside, 1))
    )
    assert harm["owd_p95_ms"] == pytest.approx((with_it - solo) / with_it)
    (shown_match,) = [
        entry for entry in experiment(made_benchmark, "competition")["matches"] if entry["label"] == "bbr"
    ]
    assert (shown_match["share"]["mean"], shown_match["fair"]) == (match.share.mean, 0.5)
    assert {entry["metric"]["name"]: entry["harm"] for entry in shown_match["done"]} == harm


def test_missing_failed_and_damaged_runs_are_said(copied_benchmark: Benchmark) -> None:
    runs = "steady_state_single_flow/runs/default"
    folder = copied_benchmark.directory / "experiments"
    shutil.rmtree(folder / runs / "bbr" / "1")
    reason = "the queue has no room for <one> packet"
    change(
        copied_benchmark,
        f"{runs}/copa/1",
        lambda run: run.update(status="failed", reason=reason, flows=[], links=[], network={}),
    )
    (folder / runs / "cubic" / "1" / "stats.json").write_text('{"status": ')
    only_one = only(copied_benchmark, "steady_state_single_flow")
    shown_experiment = experiment(only_one, "steady_state_single_flow")
    bad = [
        (entry["scheme"], entry["path"], entry["run"], entry["status"], entry["reason"])
        for entry in shown_experiment["bad"]
    ]
    assert bad[:2] == [
        ("bbr", "default", 1, "missing", "not run: the experiment was stopped before"),
        ("copa", "default", 1, "failed", reason),
    ]
    assert bad[2][:4] == ("cubic", "default", 1, "damaged")
    assert bad[2][4].startswith("stats.json:1: not valid JSON")
    assert shown_experiment["runs"] == 9
    assert {value["cells"] for numbers in shown_experiment["numbers"] for value in numbers["values"].values()} == {2}
    write_page(only_one)
    assert (
        answer(copied_benchmark.directory / "pages/data/benchmark.json.js")["experiments"][0]["bad"]
        == shown_experiment["bad"]
    )


def test_numbers_that_contradict_each_other_are_said(made_benchmark: Benchmark, copied_benchmark: Benchmark) -> None:
    for part in made_benchmark.parts:
        assert list(contradictions(findings(made_benchmark, part.name))) == []
    run = "steady_state_single_flow/runs/default/bbr/1"
    change(copied_benchmark, run, lambda run: run["network"].update(jain_index=0.91))
    texts = [
        contradiction.text for contradiction in contradictions(findings(copied_benchmark, "steady_state_single_flow"))
    ]
    assert texts == ["jain_index of a single flow is 0.91, not 1"]
    fairness_run = "steady_state_synchronous_fairness/runs/default.k-2/bbr/1"

    def unlike(run: dict[str, Any]) -> None:
        run["network"]["mean_agg_throughput_l4"] = 27.72
        for flow in run["flows"]:
            flow["mean_throughput_l4"] = 3.5

    change(copied_benchmark, fairness_run, unlike)
    texts = [
        contradiction.text
        for contradiction in contradictions(findings(copied_benchmark, "steady_state_synchronous_fairness"))
    ]
    assert texts == ["mean_agg_throughput_l4 is 27.72; the flows together have 7"]
    shown_lines = experiment(copied_benchmark, "steady_state_single_flow")["contradictions"]
    expected = {"scheme": "bbr", "path": "default", "run": 1}
    assert shown_lines == [expected | {"text": "jain_index of a single flow is 0.91, not 1"}]


def test_the_same_results_give_the_same_bytes_on_any_number_of_processes(
    made_benchmark: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = _copy(made_benchmark, tmp_path / "other")
    monkeypatch.setattr(static, "worth", lambda jobs, _: jobs)  # however few runs there are
    write_page(other, 2)
    files = [file for file in (made_benchmark.directory / "pages").rglob("*") if file.is_file()]
    assert len(files) > 100
    for file in [*files, made_benchmark.directory / "index.html", made_benchmark.directory / "verdicts.json"]:
        assert file.read_bytes() == (other.directory / file.relative_to(made_benchmark.directory)).read_bytes(), file


def test_ccperfs_command_line_says_the_same_path_and_flows(made_benchmark: Benchmark) -> None:
    measured_experiment = findings(made_benchmark, "steady_state_synchronous_fairness")
    cell = measured_experiment.cells[0]
    line = ccperf_line(measured_experiment, cell, "bbr")
    assert line is not None
    commands = experiment(made_benchmark, "steady_state_synchronous_fairness")["commands"]
    assert line in commands[0]["ccperf"]
    assert ccperf_line(measured_experiment, cell, "copa") is None  # ns-3 has no Copa
    words = shlex.split(line)
    assert words[:2] == ["dumbbell", "ccperf"]
    plan = ccperf_plan(words[2:])
    [path] = plan.own_paths.values()
    assert path.data[1:] == cell.path.data  # behind its access link
    assert path.ack == cell.path.ack
    [made_cell] = plan.cells.values()
    assert [(flow.start_s, flow.stop_s, flow.rtt_ms) for flow in made_cell.flows] == [(0.0, 3.0, None)] * 2
    assert (plan.duration_s, plan.seed, made_cell.axis_values["k"]) == (3.0, 1, "2")


def test_a_run_without_a_packet_log_has_its_throughput_over_time(made_benchmark: Benchmark) -> None:
    # `sweep` keeps no packets; senders sample the acknowledged bytes.
    measured_experiment = findings(made_benchmark, "sweep")
    cell = next(cell for cell in measured_experiment.cells if cell.name == "default.bw_factor-1.rtt_ms-40")
    for label in measured_experiment.labels:
        [run] = cell.good(label)
        folder = measured_experiment.part.results.folder(run.planned)
        assert not (folder / "packets.parquet").is_file()
        [flow] = run_samples(
            kept_files(folder), run.content, measured_experiment.experiment.specification(run.planned)
        ).flows
        time_s, mbps = flow.throughput_mbps
        assert len(time_s) >= 25
        after = time_s > measured_experiment.experiment.warmup_s + 0.1
        assert fmean(mbps[after]) == pytest.approx(run.content["flows"][0]["goodput_mbps"], rel=0.05)


def test_an_unreadable_log_costs_the_series_of_its_run_only(copied_benchmark: Benchmark) -> None:
    run = "steady_state_single_flow/runs/default/bbr/1"
    (copied_benchmark.directory / "experiments" / run / "flows.parquet").write_bytes(b"no")
    write_page(only(copied_benchmark, "steady_state_single_flow"))
    pages = copied_benchmark.directory / "pages/data/run/d1/default"
    assert (pages / "bbr/1/facts.json.js").read_text().startswith('dumbbell.fail("')
    assert answer(pages / "copa/1/facts.json.js")["scheme"] == "copa"
    assert experiment(copied_benchmark, "steady_state_single_flow")["bad"] == []


def test_pages_of_runs_are_of_the_first_of_each_cell(made_benchmark: Benchmark) -> None:
    facts_of = {
        tuple(file.parts[-5:-1]): answer(file)
        for file in (made_benchmark.directory / "pages/data/run").rglob("facts.json.js")
    }
    cells = {
        (f"d{number}", run.path, run.scheme, "1")
        for number, part in enumerate(made_benchmark.parts, 1)
        for run in part.results.planned()
    }
    assert set(facts_of) == cells
    for (place, path, scheme, number), facts in facts_of.items():
        name = made_benchmark.parts[int(place[1:]) - 1].name
        folder = made_benchmark.directory / "pages" / facts["files_at"]
        assert (
            folder.resolve()
            == (made_benchmark.directory / "experiments" / name / "runs" / path / scheme / number).resolve()
        )
        assert {file["name"] for file in facts["files"]} == {file.name for file in folder.iterdir()}
    assert len(first_runs(made_benchmark, 4)) == 4
    assert {scheme for _, _, scheme in first_runs(made_benchmark, 12)} == {"bbr", "copa"}


def test_results_of_another_grid_are_refused_in_one_line(copied_benchmark: Benchmark) -> None:
    part = copied_benchmark.parts[1]
    other = replace(part.experiment_file, grid=(replace(part.experiment_file.grid[0], name="k_scaled"),))
    parts = (copied_benchmark.parts[0], replace(part, experiment_file=other))
    with pytest.raises(UserError, match=r"cell `default\.k-2` is none of the experiment"):
        write_page(replace(copied_benchmark, parts=parts))


def test_there_is_a_number_for_every_experiment_and_scheme(made_benchmark: Benchmark) -> None:
    for part in made_benchmark.parts:
        shown_experiment = experiment(made_benchmark, part.name)
        assert set(shown_experiment["numbers"][0]["values"]) == set(shown_experiment["labels"])
    cells = [
        statistics(made_benchmark, "sweep", f"default.bw_factor-{rate}.rtt_ms-{rtt}", "bbr")
        for rate in ("0.5", "1", "2")
        for rtt in (20, 40, 80)
    ]
    mean = fmean(run["network"]["utilization"] for [run] in cells)
    shown_experiment = experiment(made_benchmark, "sweep")["numbers"][0]
    assert shown_experiment["metric"]["name"] == "utilization"
    assert shown_experiment["comparable"]
    assert shown_experiment["values"]["bbr"]["mean"] == pytest.approx(mean)
    assert shown_experiment["values"]["bbr"]["cells"] == 9


def test_a_neutral_metric_has_no_best_value(made_benchmark: Benchmark) -> None:
    measured_experiment = findings(made_benchmark, "steady_state_single_flow")
    membership = replace(measured_experiment.membership, neutral=("goodput_mbps",))
    measured_experiment = MeasuredExperiment(
        replace(
            measured_experiment.part,
            experiment_file=replace(measured_experiment.part.experiment_file, membership=membership),
        ),
        1,
    )
    by_name = {metric.name: metric for metric in measured_experiment.metrics["flow"]}
    assert by_name["goodput_mbps"].better == 0
    assert by_name["owd_p95_ms"].better == LESS


def test_completion_times_of_some_transfers_are_not_the_best(made_benchmark: Benchmark) -> None:
    measured_experiment = findings(made_benchmark, "short")
    [cell] = measured_experiment.cells
    unfinished_counts = {"bbr": 0, "copa": 9, "cubic": 0}
    runs = {
        label: tuple(
            replace(run, content=run.content | {"network": run.content["network"] | {"fct_incomplete": count}})
            for run in cell.runs[label]
        )
        for label, count in unfinished_counts.items()
    }
    cell = replace(cell, runs=runs)
    labels = ("bbr", "copa", "cubic")
    metric_of = definitions()
    assert rivals([cell], labels, metric_of["network", "fct_mean_s"]) == ["", "copa", ""]
    assert rivals([cell], labels, metric_of["network", "fct_incomplete"]) == ["", "", ""]
    assert rivals([cell], labels, metric_of["network", "owd_p95_ms"]) == ["", "", ""]


def test_a_cells_command_repeats_its_run(
    made_benchmark: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made_benchmark.directory)
    name = "default.versus-cubic"
    line = f"dumbbell run experiments/competition/experiment.toml --cell {name} --schemes bbr,copa --out NEW"
    assert line in [command["again"] for command in experiment(made_benchmark, "competition")["commands"]]
    assert main([*shlex.split(line)[1:-1], str(tmp_path / "new")]) == 0
    for scheme in ("bbr", "copa"):
        repeated_statistics = json.loads((tmp_path / "new" / "runs" / name / scheme / "2" / "stats.json").read_text())
        assert repeated_statistics["flows"] == statistics(made_benchmark, "competition", name, scheme)[1]["flows"]


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


def test_facts_are_marked_where_their_rule_is_met(copied_benchmark: Benchmark) -> None:
    facts = {fact.name: fact for criterion in load().criteria for fact in criterion.facts}
    fact = facts["Starves a competitor"]
    assert look(MeasuredBenchmark(copied_benchmark), fact, "bbr").examined_count in (0, 1)

    def starve(seconds: float) -> Callable[[dict[str, Any]], None]:
        def edit(run: dict[str, Any]) -> None:
            run["flows"][0]["starvation_time_s"] = 3.0  # its own flow is no competitor
            run["flows"][1]["starvation_time_s"] = seconds

        return edit

    for seconds, count in ((1.4, 0), (1.6, 1)):  # of about 3 s
        for run in (1, 2):
            change(copied_benchmark, f"competition/runs/default.versus-cubic/bbr/{run}", starve(seconds))
        sight = look(MeasuredBenchmark(copied_benchmark), fact, "bbr")
        assert (sight.examined_count, len(sight.cells_met)) == (1, count)
    (shown_fact,) = [
        entry
        for criterion in document(only(copied_benchmark, "competition"))["criteria"]
        for entry in criterion["facts"]
        if entry["name"] == fact.name
    ]
    assert shown_fact["rule"].startswith("a competitor's flow gets less than a tenth of its fair share")
    sights = {
        scheme_sight["scheme"]: (scheme_sight["looked"], [place["label"] for place in scheme_sight["seen"]])
        for scheme_sight in shown_fact["sights"]
    }
    assert sights["bbr"] == (1, ["versus cubic"])


def test_the_scorecard_says_what_nothing_examines(made_benchmark: Benchmark) -> None:
    criteria = {criterion["section"]: criterion for criterion in document(made_benchmark)["criteria"]}
    reasons = " ".join(criterion["not_here"] for criterion in criteria.values())
    assert "no multipath transport is implemented" in reasons
    assert "encapsulation and decapsulation" in reasons
    assert criteria["7.10"]["evidence"] == []
    assert any(criterion["missing"] for criterion in criteria.values())
