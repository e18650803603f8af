"""Tests of the page on agreement: the bounds of agreement, and the tables' entries for bad runs."""

import itertools
import json
from pathlib import Path

import pytest

from dumbbell import _core, catalog
from dumbbell.base.backend import EMULATION
from dumbbell.catalog.experiment_file import parse_experiment_file
from dumbbell.catalog.outside.availability import missing
from dumbbell.catalog.run_request import RunRequest
from dumbbell.catalog.scheme import Scheme
from dumbbell.catalog.toml_tables import TomlTable, read_toml
from dumbbell.execution.check import check
from dumbbell.experiment import resolve
from support.commands.command import Dumbbell, replace_options
from support.punctual import Punctual, Run, runs_of
from validation import agreement

Numbers = agreement.Numbers


def run(throughput: float = 10.0, p95: float = 50.0, **changes: object) -> Run:
    flow = {"throughput_mbps": throughput, "delay_p95_ms": p95, "loss_rate": 0.01}
    good = {"run": 1, "status": "done", "reason": None, "flows": [flow]}
    return good | {"emulation": {"lateness_us": {"p99": 250}}} | changes


def tables(sim: Run | None, emu: Run | None, late: list[Run] | None = None) -> str:
    cell = ("wire", "reno")
    runs = [{cell: [only]} if only else {} for only in (sim, emu)]
    return "\n".join(agreement.backend_tables({"wire": "A wire"}, ["reno"], *runs, {cell: late or []}))


@pytest.mark.parametrize(
    ("throughput", "p95", "good"),
    [
        (95.0, 100.0, True),
        (105.0, 100.0, True),
        (94.9, 100.0, False),
        (105.1, 100.0, False),
        (100.0, 110.0, True),
        (100.0, 90.0, True),
        (100.0, 110.1, False),
        (100.0, 89.9, False),
        (94.9, 110.1, False),
    ],
)
def test_backends_agree_up_to_the_bounds(throughput: float, p95: float, good: bool) -> None:
    assert agreement.BACKENDS.hold(Numbers(100.0, 100.0, 0.0), Numbers(throughput, p95, 0.0)) is good


@pytest.mark.parametrize(("p95", "good"), [(7.0, True), (7.1, False), (3.0, True), (2.9, False)])
def test_two_milliseconds_of_delay_are_always_allowed(p95: float, good: bool) -> None:
    assert agreement.BACKENDS.hold(Numbers(100.0, 5.0, 0.0), Numbers(100.0, p95, 0.0)) is good


def test_a_metric_may_be_within_the_spread_and_the_other_within_bounds() -> None:
    spread = agreement.Spread((70.0, 90.0), (20.0, 30.0))
    own_numbers = Numbers(100.0, 100.0, 0.0)
    assert agreement.BACKENDS.hold(own_numbers, Numbers(70.0, 101.0, 0.0), spread)
    assert agreement.BACKENDS.hold(own_numbers, Numbers(90.0, 20.0, 0.0), spread)
    assert not agreement.BACKENDS.hold(own_numbers, Numbers(69.9, 101.0, 0.0), spread)
    assert not agreement.BACKENDS.hold(own_numbers, Numbers(90.0, 30.1, 0.0), spread)
    assert not agreement.BACKENDS.hold(own_numbers, Numbers(90.1, 20.0, 0.0), spread)


def test_a_good_run_is_a_row_with_both_values() -> None:
    text = tables(run(), run(10.2, 51.0))
    row = "| reno | 10.00 / 10.20 | +2.0 % | 50.0 / 51.0 | +1.0 (+2.0 %) | 1.00 / 1.00 | 0.25 | within |"
    assert row in text
    assert "Of 1 cells 1 are within bounds (5 % of throughput, 10 % or 2 ms of delay)" in text


def test_a_degraded_run_is_shown_with_its_reason_but_not_judged() -> None:
    text = tables(run(), run(status="degraded", reason="the emulator was late"))
    assert "| degraded [1] |" in text
    assert "1. the emulator was late" in text
    assert "0 are within bounds" in text
    assert "1 have no good run" in text


def test_runs_without_numbers_are_rows_that_say_why() -> None:
    assert "| reno | - | - | - | - | - | - | missing |" in tables(run(), None)
    assert "| missing |" in tables(None, run())
    failed_tables = tables(run(), run(status="failed", reason="no such device", flows=[]))
    assert "| failed: no such device |" in failed_tables
    assert "1 have no good run" in failed_tables


def test_a_difference_without_a_reason_is_said_to_have_none() -> None:
    text = tables(run(), run(8.0))
    assert f"| {agreement.UNEXPLAINED} |" in text
    assert "1 are not explained" in text


def test_a_difference_inside_the_repetitions_is_shown_with_their_ranges() -> None:
    late = [run(7.0, 49.0), run(9.5, 51.0), run(1.0, flows=[])]
    text = tables(run(), run(9.2), late)
    assert "| spread: 7.00 to 9.50 Mbit/s, 49.0 to 51.0 ms |" in text
    assert "1 more within the spread" in text
    far = tables(run(), run(8.0), late)
    assert "| wide: 7.00 to 9.50 Mbit/s, 49.0 to 51.0 ms |" in far
    assert "0 more within the spread of repetitions, 1 further apart than a spread can excuse" in far


def test_a_reason_for_the_cell_comes_before_one_for_the_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement, "REASONS", {("reno", ""): "everywhere", ("reno", "wire"): "here"})
    text = tables(run(), run(8.0))
    assert "| [1] |" in text
    assert "1. here" in text
    assert agreement.find_reason(agreement.REASONS, "reno", "sea") == "everywhere"
    assert agreement.find_reason(agreement.REASONS, "cubic", "wire") is None


def test_equal_reasons_are_one_note() -> None:
    notes = agreement.Notes()
    assert [notes.mark(text) for text in ("one", "two", "one")] == ["[1]", "[2]", "[1]"]
    assert notes.lines() == ["1. one", "2. two"]


def test_every_pair_has_its_table() -> None:
    titles = {"wire": "A wire"}
    emu = {("wire", pair): [run()] for pair in agreement.PAIRS.values()}
    real = {("wire", scheme): [run(10.9)] for scheme in agreement.PAIRS} | agreement.left_out(
        ["libutp"], ["wire"], "no such program"
    )
    text = "\n".join(agreement.pair_tables("agreement", titles, emu, real, {}))
    assert text.count("| wire | 10.00 / 10.90 | +9.0 %") == len(agreement.PAIRS) - 1
    assert "### kernel-bbr beside our bbr" in text
    assert "| left out: no such program |" in text


def test_a_flow_that_delivered_nothing_is_no_division_by_zero() -> None:
    assert "| 0.00 / 10.00 | - |" in tables(run(0.0, 0.0), run())


def is_left_out(scheme: Scheme) -> bool:
    """Return True for traffic without a controller, for compared controllers in ns-3's manner, and for learned ones."""
    return scheme.is_traffic or scheme.transport.get("profile") == "ns3-compat" or is_learned(scheme)


def is_learned(scheme: Scheme) -> bool:
    """Return True if a file determines the controller."""
    return scheme.controller in _core.needed_files()


def test_every_learned_controller_that_has_its_file_is_compared() -> None:
    plan = catalog.experiments().find("agreement-learned")
    available_controllers = {
        scheme.controller for scheme in catalog.schemes() if is_learned(scheme) and missing(scheme) is None
    }
    assert available_controllers == {catalog.schemes().find(name).controller for name in plan.schemes}
    assert {path for scheme, path in agreement.REASONS if scheme in plan.schemes} <= {"", *plan.paths}


def test_every_compared_scheme_meets_a_rate_that_steps_down_and_up() -> None:
    steps = catalog.experiments().find("agreement-steps")
    also = {steps.name, "agreement-reordering"}
    other_schemes = [catalog.experiments().find(name).schemes for name in agreement.TITLES if name not in also]
    assert sorted(steps.schemes) == sorted(scheme for schemes in other_schemes for scheme in schemes)
    assert set(agreement.PAIRS.values()) <= set(steps.schemes)
    (path,) = steps.paths
    (link, _) = catalog.paths().find(path).data
    rates = [link["rate_mbps"], *(change["rate_mbps"] for change in link["schedule"])]
    seconds = [change["at_s"] for change in link["schedule"]]
    # Down and up within the shortest run that the script makes.
    assert rates[:3] == [40.0, 10.0, 40.0]
    assert seconds[1] < 10.0
    assert {before > after for before, after in itertools.pairwise(rates)} == {True, False}


def test_the_two_experiments_have_every_built_in_controller_and_real_ones_stand_beside_them() -> None:
    plan = catalog.experiments().find("agreement")
    more = catalog.experiments().find("agreement-more")
    compared_names = [scheme.name for scheme in catalog.schemes() if not scheme.real and not is_left_out(scheme)]
    assert sorted(plan.schemes + more.schemes) == sorted(compared_names)
    real = catalog.experiments().find("agreement-real")
    assert real.schemes == list(agreement.PAIRS)
    assert set(agreement.PAIRS.values()) <= set(plan.schemes)
    assert (real.paths, real.own_paths) == (plan.paths, plan.own_paths)
    assert real.backend == EMULATION
    reasons = [*agreement.REASONS, *agreement.REAL_REASONS]
    steps = catalog.experiments().find("agreement-steps")
    late = catalog.experiments().find("agreement-reordering")
    assert {path for _, path in reasons} <= {"", *plan.paths, *steps.paths, *late.paths}
    find = catalog.experiments().find("agreement-learned")
    assert {scheme for scheme, _ in reasons} <= {
        *plan.schemes,
        *more.schemes,
        *real.schemes,
        *find.schemes,
        *agreement.WITH_REAL["agreement-reordering"],
    }


@pytest.mark.usefixtures("real_packets")
def test_learned_schemes_do_with_real_packets_what_they_do_in_simulation(
    dumbbell: Dumbbell, punctual: Punctual[list[Run]]
) -> None:
    # There is one scheme for each way from a decision to packets: a window, a window over CUBIC, rules with pacing, a
    # half at the receiver. None of them has two modes here. In 40 simulated runs with hosts that are 20, 100 and 1000
    # us late, each throughput is within 10 % of its median (`tao-100x` randomly has 4.2 or 10.6 Mbit/s).
    schemes = ["indigo", "orca", "tao-10x", "ten-tms"]
    options = ["--schemes", ",".join(schemes), "--path", "steady-12mbps", "--duration", "4"]

    def measure(name: str, *more: str, scheme: str | None = None) -> list[Run]:
        only = options if scheme is None else replace_options(options, "--schemes", scheme)
        dumbbell("run", "agreement-learned", *only, *more, "--out", name, expect=None)
        return runs_of(dumbbell, name)

    def by_scheme(runs: list[Run]) -> dict[str, list[Run]]:
        return {scheme: [run for run in runs if run["scheme"] == scheme] for scheme in schemes}

    # Each scheme runs on its own, so that a punctual run is not repeated.
    real = [
        punctual(lambda scheme=scheme: measure(f"emu-{scheme}", "--backend", "emu", scheme=scheme))[0]
        for scheme in schemes
    ]
    simulated_runs = by_scheme(measure("sim"))
    # A busy machine answers 0.1 to 1 ms late; the simulated runs show the effect on each scheme.
    late = [
        by_scheme(measure(f"late-{jitter_us}", "--runs", "10", "--set", f"host_jitter_us={jitter_us}"))
        for jitter_us in (100, 1000)
    ]
    bounds = agreement.Bounds(throughput=0.2, p95=0.2, p95_ms=20.0)
    for scheme, run in zip(schemes, real, strict=True):
        measured_flow, expected = agreement.only_flow(run), agreement.only_flow(simulated_runs[scheme][0])
        assert measured_flow.status == "done", scheme
        spread = agreement.spread([run for runs in late for run in runs[scheme]])
        assert bounds.hold(expected, measured_flow, spread), (scheme, expected, measured_flow, spread)


def test_packets_of_the_late_experiment_are_late() -> None:
    plan = catalog.experiments().find("agreement")
    table = agreement.late_experiment(resolve(plan).table(), 0.2)
    overrides = RunRequest(schemes=("reno",), path=("steady-12mbps",), settings={"duration_s": 2.0, "warmup_s": 0.0})
    experiment = resolve(parse_experiment_file(TomlTable(table, "late.toml")), overrides)
    check(experiment)
    runs = experiment.all_runs()
    assert len(runs) == agreement.REPETITIONS
    assert runs[0].seed == resolve(plan, overrides).all_runs()[0].seed
    flow = json.loads(_core.simulate(json.dumps(experiment.specification(runs[0])), None))["flows"][0]
    # 30 ms and the 95th percentile of an exponential distribution: three times its mean of 0.2 ms.
    assert flow["acklink"]["delay_p95_ms"] == pytest.approx(30.6, abs=0.2)
    assert flow["owd_mean_ms"] > 31.1


@pytest.mark.parametrize("name", agreement.WITH_REAL)
def test_a_real_implementation_has_the_seeds_of_ours(name: str) -> None:
    plan = catalog.experiments().find(name)
    raw = read_toml(Path(catalog.experiments().find("agreement-real").file)).raw
    for scheme, own_scheme in agreement.WITH_REAL[name].items():
        table = agreement.real_experiment(raw, scheme, plan)
        experiment = resolve(parse_experiment_file(TomlTable(table, "real.toml")))
        seeds = {(run.path, run.seed) for run in experiment.all_runs()}
        assert seeds == {(run.path, run.seed) for run in resolve(plan, RunRequest(schemes=(own_scheme,))).all_runs()}
        (flow,) = experiment.specification(experiment.all_runs()[0])["flows"]
        assert flow["scheme"] == scheme
        assert "controller" not in flow


def test_differences_of_zero_have_no_sign() -> None:
    assert [agreement.with_sign(value) for value in (0.04, -0.04, 0.06, -0.06)] == ["0.0", "0.0", "+0.1", "-0.1"]


def test_facts_name_machine_version_and_dates_once() -> None:
    facts = {"cpu": "Z80", "cpus": 2, "kernel": "Linux 6", "dumbbell": "0.1.0"}
    git = {"commit": "0123456789"}
    environments = [
        facts | {"git": git, "started_at": "2026-01-02T03:04:05Z"},
        facts | {"git": git, "started_at": "2026-01-03T03:04:05Z"},
        facts | {"git": None, "started_at": "2026-01-02T09:04:05Z"},
    ]
    assert agreement.machine(environments) == (
        "Machine: Z80, 2 processors, Linux 6. dumbbell 0.1.0 (0123456), 2026-01-02 to 2026-01-03."
    )
