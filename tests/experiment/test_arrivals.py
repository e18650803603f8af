"""Tests of many flows from one table: their starts and sizes, drawn from the run's seed."""

import itertools
import json
import tomllib
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from dumbbell import catalog
from dumbbell.catalog.experiment_file import parse_experiment_file
from dumbbell.catalog.run_request import RunRequest
from dumbbell.catalog.toml_tables import TomlTable
from dumbbell.experiment import Experiment, resolve
from support.commands.command import Dumbbell, show
from support.told import transcript

PLAN = """
schemes = ["reno"]
paths = ["default"]
runs = 2
duration_s = {duration}
{more}

[[flow]]
{flow}
"""


def experiment(flow: str, duration: float = 60.0, more: str = "start_spread_ms = 0.0") -> Experiment:
    text = PLAN.format(flow=flow, duration=duration, more=more)
    return resolve(parse_experiment_file(TomlTable(tomllib.loads(text), "plan.toml")))


def drawn_flows(one_experiment: Experiment, run: int = 0) -> list[tuple[float, int]]:
    """Start and bytes of every flow of a run."""
    flows = one_experiment.specification(one_experiment.all_runs()[run])["flows"]
    return [(flow["start_s"], flow["application"].get("bytes", 0)) for flow in flows]


def test_poisson_arrivals_come_at_their_rate_and_repeat_with_the_seed() -> None:
    poisson_experiment = experiment(
        'arrivals = { kind = "poisson", per_s = 20.0 }\napplication = { kind = "fixed", bytes = 1000 }'
    )
    starts = [start for start, _ in drawn_flows(poisson_experiment)]
    # 1200 expected; three standard deviations of a Poisson count are 104
    assert 1096 < len(starts) < 1304
    assert starts == sorted(starts)
    assert starts[-1] < 60.0
    gaps = [later - earlier for earlier, later in itertools.pairwise(starts)]
    # e^-1 of exponential gaps are longer than their mean
    assert sum(gap > 0.05 for gap in gaps) / len(gaps) == pytest.approx(0.368, abs=0.05)
    assert drawn_flows(poisson_experiment) == drawn_flows(poisson_experiment)
    assert drawn_flows(poisson_experiment, 0) != drawn_flows(poisson_experiment, 1)


def test_a_count_limits_arrivals_and_the_end_of_the_run_does_too() -> None:
    assert len(drawn_flows(experiment('count = 50\narrivals = { kind = "poisson", per_s = 20.0 }'))) == 50
    assert len(drawn_flows(experiment('count = 500\narrivals = { kind = "poisson", per_s = 4.0 }', 10.0))) < 80
    every = drawn_flows(experiment("every_s = 0.5\nstart_s = 1.0", 3.0))
    assert [start for start, _ in every] == [1.0, 1.5, 2.0, 2.5]
    assert len(drawn_flows(experiment("every_s = 0.5\ncount = 2", 3.0))) == 2
    assert len(drawn_flows(experiment("every_s = 0.5\nstop_s = 1.6", 3.0))) == 4
    assert drawn_flows(experiment("count = 3")) == [(0.0, 0)] * 3


def test_starts_that_are_spread_stay_within_the_run() -> None:
    spread_experiment = experiment("every_s = 0.1", 2.0, "start_spread_ms = 150.0")
    assert all(start < 2.0 for start, _ in drawn_flows(spread_experiment))


SIZES = {
    '{ kind = "choice", values = [10000, 1000000], weights = [3, 1] }': 257_500,
    '{ kind = "uniform", least = 100000, most = 1000000 }': 550_000,
    '{ kind = "lognormal", mean = 50000, sigma = 1.0 }': 50_000,
    '{ kind = "pareto", mean = 20000, shape = 2.5 }': 20_000,
}


@pytest.mark.parametrize("size", SIZES)
def test_sizes_have_the_mean_of_their_distribution(size: str) -> None:
    sized_experiment = experiment(f'every_s = 0.01\napplication = {{ kind = "fixed", bytes = {size} }}')
    sizes = [size for _, size in drawn_flows(sized_experiment)]
    assert len(sizes) == 6000
    assert sum(sizes) / len(sizes) == pytest.approx(SIZES[size], rel=0.06)
    # The arrivals do not depend on the sizes.
    other = experiment('every_s = 0.01\napplication = { kind = "fixed", bytes = 5 }')
    assert [start for start, _ in drawn_flows(sized_experiment)] == [start for start, _ in drawn_flows(other)]


def test_a_resolved_experiment_with_arrivals_reads_back_as_itself() -> None:
    resolved_experiment = experiment(
        'count = 1\narrivals = { kind = "poisson", per_s = 4.0 }\napplication = { kind = "greedy" }'
    )
    again = resolve(parse_experiment_file(TomlTable(resolved_experiment.table(), "again.toml")))
    assert drawn_flows(again) == drawn_flows(resolved_experiment)
    endless = experiment("every_s = 10.0")
    assert drawn_flows(resolve(parse_experiment_file(TomlTable(endless.table(), "again.toml")))) == drawn_flows(endless)


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        (
            'arrivals = { kind = "pareto", per_s = 1.0 }',
            snapshot('dumbbell: plan.toml: `flow[0].arrivals.kind` = "pareto": allowed is one of poisson'),
        ),
        (
            'arrivals = { kind = "poisson", per_s = 0 }',
            snapshot("dumbbell: plan.toml: `flow[0].arrivals.per_s` = 0: allowed is a number from 1e-06 to 1e+06"),
        ),
        (
            'arrivals = { kind = "poisson" }',
            snapshot(
                "dumbbell: plan.toml: key `flow[0].arrivals.per_s` is missing: needed is a number from 1e-06 to 1e+06"
            ),
        ),
        (
            'every_s = 1.0\narrivals = { kind = "poisson", per_s = 1.0 }',
            snapshot("dumbbell: plan.toml: `flow[0].every_s` = 1.0: allowed is one of every_s, arrivals"),
        ),
        (
            "count = 0",
            snapshot("dumbbell: plan.toml: `flow[0].count` = 0: allowed is a whole number from 1 to 10000"),
        ),
        (
            'application = { kind = "fixed", bytes = { kind = "gauss" } }',
            snapshot(
                """\
dumbbell: plan.toml: `flow[0].application.bytes.kind` = "gauss": allowed is one of choice, uniform,
  lognormal, pareto\
"""
            ),
        ),
        (
            'application = { kind = "fixed", bytes = { kind = "choice", values = [1, 2], weights = [1] } }',
            snapshot(
                """\
dumbbell: plan.toml: `flow[0].application.bytes.weights` = [1.0]: allowed is one for each of the 2
  values, not all 0\
"""
            ),
        ),
        (
            'application = { kind = "fixed", bytes = { kind = "pareto", mean = 10, shape = 1.0 } }',
            snapshot(
                "dumbbell: plan.toml: `flow[0].application.bytes.shape` = 1.0: allowed is a number from 1.001 to 100"
            ),
        ),
        (
            "every_s = 0.001",
            snapshot("dumbbell: plan.toml: reno on default: `flow[0]`: more than 10000 flows in a run"),
        ),
    ],
)
def test_bad_arrivals_are_refused_in_one_line(flow: str, message: str, dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "plan.toml").write_text(PLAN.format(flow=flow, duration=60.0, more=""))
    assert transcript(dumbbell("run", "plan.toml", expect=2).stderr, folder) == message


def test_the_drawn_flows_are_in_the_runs_specification(dumbbell: Dumbbell, folder: Path) -> None:
    flow = 'every_s = 0.5\napplication = { kind = "fixed", bytes = { kind = "uniform", least = 1000, most = 9000 } }'
    (folder / "plan.toml").write_text(PLAN.format(flow=flow, duration=2.0, more="").replace("runs = 2", "runs = 1"))
    dumbbell("run", "plan.toml", "--out", "out")
    run = show(dumbbell, folder / "out")["runs"][0]
    sizes = [flow["data_bytes_delivered"] for flow in run["flows"]]
    assert len(sizes) == 4
    log = (folder / "out" / run["directory"] / "log.txt").read_text()
    line = next(line for line in log.splitlines() if '"flows"' in line)
    document = json.loads(line[line.index("{") :])
    assert [flow["application"]["bytes"] for flow in document["flows"]] == sizes


def test_unresponsive_traffic_is_no_scheme_to_compare() -> None:
    names = {scheme.name for scheme in catalog.schemes()}
    assert {"udp-cbr", "udp-poisson"} <= names
    labels = resolve(catalog.experiments().find("pantheon"), RunRequest(schemes=("all",))).labels
    assert not {"udp-cbr", "udp-poisson"} & set(labels)
