"""The pages of a benchmark: numbers are those of the runs, and nothing goes missing."""

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
def made(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """Six experiments; their pages are written."""
    benchmark = make(tmp_path_factory.mktemp("site") / "benchmark")
    assert written(benchmark) == benchmark.directory / "index.html"
    return benchmark


def written(benchmark: Benchmark, jobs: int = 1) -> Path:
    """Write verdicts and pages; return the first page."""
    with Progress() as progress:
        return write_benchmark(benchmark, jobs, progress)


def answer(file: Path) -> Any:  # noqa: ANN401 (whatever it says)
    """Return the JSON that a script of a page hands over."""
    return json.loads(handed_over(file))


def document(benchmark: Benchmark) -> dict[str, Any]:
    """Return the judgements that the pages show."""
    found: dict[str, Any] = BenchmarkDocument(benchmark).content()
    return found


def experiment(benchmark: Benchmark, name: str) -> dict[str, Any]:
    """Return what the pages show of an experiment."""
    found: dict[str, Any] = next(each for each in document(benchmark)["experiments"] if each["name"] == name)
    return found


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


def statistics(benchmark: Benchmark, experiment: str, cell: str, scheme: str) -> list[dict[str, Any]]:
    """What the runs of a cell wrote."""
    folder = benchmark.directory / "experiments" / experiment / "runs" / cell / scheme
    return [json.loads(file.read_text()) for file in sorted(folder.glob("*/stats.json"))]


def change(benchmark: Benchmark, run: str, edit: Callable[[dict[str, Any]], None]) -> None:
    """Rewrites the statistics of a run."""
    file = benchmark.directory / "experiments" / run / "stats.json"
    content = json.loads(file.read_text())
    edit(content)
    file.write_text(json.dumps(content))


def findings(benchmark: Benchmark, name: str) -> MeasuredExperiment:
    """One experiment."""
    found = MeasuredBenchmark(benchmark).find(name)
    assert found is not None
    return found


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
    (shown,) = [each for each in experiment(made, "competition")["matches"] if each["label"] == "bbr"]
    assert (shown["share"]["mean"], shown["fair"]) == (match.share.mean, 0.5)
    assert {each["metric"]["name"]: each["harm"] for each in shown["done"]} == harm


def test_missing_failed_and_damaged_runs_are_said(copied: Benchmark) -> None:
    runs = "steady_state_single_flow/runs/default"
    folder = copied.directory / "experiments"
    shutil.rmtree(folder / runs / "bbr" / "1")
    reason = "the queue has no room for <one> packet"
    change(
        copied, f"{runs}/copa/1", lambda run: run.update(status="failed", reason=reason, flows=[], links=[], network={})
    )
    (folder / runs / "cubic" / "1" / "stats.json").write_text('{"status": ')
    only_one = only(copied, "steady_state_single_flow")
    shown = experiment(only_one, "steady_state_single_flow")
    bad = [(each["scheme"], each["path"], each["run"], each["status"], each["reason"]) for each in shown["bad"]]
    assert bad[:2] == [
        ("bbr", "default", 1, "missing", "not run: the experiment was stopped before"),
        ("copa", "default", 1, "failed", reason),
    ]
    assert bad[2][:4] == ("cubic", "default", 1, "damaged")
    assert bad[2][4].startswith("stats.json:1: not valid JSON")
    assert shown["runs"] == 9
    assert {each["cells"] for numbers in shown["numbers"] for each in numbers["values"].values()} == {2}
    written(only_one)
    assert answer(copied.directory / "pages/data/benchmark.json.js")["experiments"][0]["bad"] == shown["bad"]


def test_numbers_that_contradict_each_other_are_said(made: Benchmark, copied: Benchmark) -> None:
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
    said = experiment(copied, "steady_state_single_flow")["contradictions"]
    expected = {"scheme": "bbr", "path": "default", "run": 1}
    assert said == [expected | {"text": "jain_index of a single flow is 0.91, not 1"}]


def test_the_same_results_give_the_same_bytes_on_any_number_of_processes(
    made: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = _copy(made, tmp_path / "other")
    monkeypatch.setattr(static, "worth", lambda jobs, _: jobs)  # however few runs there are
    written(other, 2)
    files = [file for file in (made.directory / "pages").rglob("*") if file.is_file()]
    assert len(files) > 100
    for file in [*files, made.directory / "index.html", made.directory / "verdicts.json"]:
        assert file.read_bytes() == (other.directory / file.relative_to(made.directory)).read_bytes(), file


def test_ccperfs_command_line_says_the_same_path_and_flows(made: Benchmark) -> None:
    found = findings(made, "steady_state_synchronous_fairness")
    cell = found.cells[0]
    line = ccperf_line(found, cell, "bbr")
    assert line is not None
    shown = experiment(made, "steady_state_synchronous_fairness")["commands"]
    assert line in shown[0]["ccperf"]
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


def test_an_unreadable_log_costs_the_series_of_its_run_only(copied: Benchmark) -> None:
    run = "steady_state_single_flow/runs/default/bbr/1"
    (copied.directory / "experiments" / run / "flows.parquet").write_bytes(b"no")
    written(only(copied, "steady_state_single_flow"))
    pages = copied.directory / "pages/data/run/d1/default"
    assert (pages / "bbr/1/facts.json.js").read_text().startswith('dumbbell.fail("')
    assert answer(pages / "copa/1/facts.json.js")["scheme"] == "copa"
    assert experiment(copied, "steady_state_single_flow")["bad"] == []


def test_pages_of_runs_are_of_the_first_of_each_cell(made: Benchmark) -> None:
    found = {
        tuple(file.parts[-5:-1]): answer(file) for file in (made.directory / "pages/data/run").rglob("facts.json.js")
    }
    cells = {
        (f"d{number}", run.path, run.scheme, "1")
        for number, part in enumerate(made.parts, 1)
        for run in part.results.planned()
    }
    assert set(found) == cells
    for (place, path, scheme, number), facts in found.items():
        name = made.parts[int(place[1:]) - 1].name
        folder = made.directory / "pages" / facts["files_at"]
        assert folder.resolve() == (made.directory / "experiments" / name / "runs" / path / scheme / number).resolve()
        assert {each["name"] for each in facts["files"]} == {file.name for file in folder.iterdir()}
    assert len(first_runs(made, 4)) == 4
    assert {scheme for _, _, scheme in first_runs(made, 12)} == {"bbr", "copa"}


def test_results_of_another_grid_are_refused_in_one_line(copied: Benchmark) -> None:
    part = copied.parts[1]
    other = replace(part.experiment_file, grid=(replace(part.experiment_file.grid[0], name="k_scaled"),))
    parts = (copied.parts[0], replace(part, experiment_file=other))
    with pytest.raises(UserError, match=r"cell `default\.k-2` is none of the experiment"):
        written(replace(copied, parts=parts))


def test_there_is_a_number_for_every_experiment_and_scheme(made: Benchmark) -> None:
    for part in made.parts:
        shown = experiment(made, part.name)
        assert set(shown["numbers"][0]["values"]) == set(shown["labels"])
    cells = [
        statistics(made, "sweep", f"default.bw_factor-{rate}.rtt_ms-{rtt}", "bbr")
        for rate in ("0.5", "1", "2")
        for rtt in (20, 40, 80)
    ]
    mean = fmean(run["network"]["utilization"] for [run] in cells)
    shown = experiment(made, "sweep")["numbers"][0]
    assert shown["metric"]["name"] == "utilization"
    assert shown["comparable"]
    assert shown["values"]["bbr"]["mean"] == pytest.approx(mean)
    assert shown["values"]["bbr"]["cells"] == 9


def test_a_neutral_metric_has_no_best_value(made: Benchmark) -> None:
    found = findings(made, "steady_state_single_flow")
    membership = replace(found.membership, neutral=("goodput_mbps",))
    found = MeasuredExperiment(
        replace(found.part, experiment_file=replace(found.part.experiment_file, membership=membership)), 1
    )
    by_name = {each.name: each for each in found.metrics["flow"]}
    assert by_name["goodput_mbps"].better == 0
    assert by_name["owd_p95_ms"].better == LESS


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
    name = "default.versus-cubic"
    line = f"dumbbell run experiments/competition/experiment.toml --cell {name} --schemes bbr,copa --out NEW"
    assert line in [each["again"] for each in experiment(made, "competition")["commands"]]
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
    assert look(MeasuredBenchmark(copied), fact, "bbr").examined_count in (0, 1)

    def starved(seconds: float) -> Callable[[dict[str, Any]], None]:
        def edit(run: dict[str, Any]) -> None:
            run["flows"][0]["starvation_time_s"] = 3.0  # its own flow is no competitor
            run["flows"][1]["starvation_time_s"] = seconds

        return edit

    for seconds, count in ((1.4, 0), (1.6, 1)):  # of about 3 s
        for run in (1, 2):
            change(copied, f"competition/runs/default.versus-cubic/bbr/{run}", starved(seconds))
        sight = look(MeasuredBenchmark(copied), fact, "bbr")
        assert (sight.examined_count, len(sight.cells_met)) == (1, count)
    (shown,) = [
        each
        for criterion in document(only(copied, "competition"))["criteria"]
        for each in criterion["facts"]
        if each["name"] == fact.name
    ]
    assert shown["rule"].startswith("a competitor's flow gets less than a tenth of its fair share")
    seen = {each["scheme"]: (each["looked"], [place["label"] for place in each["seen"]]) for each in shown["sights"]}
    assert seen["bbr"] == (1, ["versus cubic"])


def test_the_scorecard_says_what_nothing_examines(made: Benchmark) -> None:
    criteria = {each["section"]: each for each in document(made)["criteria"]}
    reasons = " ".join(each["not_here"] for each in criteria.values())
    assert "no multipath transport is implemented" in reasons
    assert "encapsulation and decapsulation" in reasons
    assert criteria["7.10"]["evidence"] == []
    assert any(each["missing"] for each in criteria.values())
