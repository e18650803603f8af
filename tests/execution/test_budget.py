"""Tests of resource limits: no run begins that could exceed them, finished runs stay, and the reason is reported."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dumbbell import catalog
from dumbbell.base.backend import Backend, Capabilities, Wording
from dumbbell.base.errors import UserError
from dumbbell.catalog.run_request import RunRequest
from dumbbell.execution.budget import Budget, budgets, in_words, size_of
from dumbbell.execution.check import check
from dumbbell.experiment import Experiment, Run, resolve
from dumbbell.results import ResultsDirectory
from support.commands.command import Dumbbell, show
from support.commands.played_backend import register

RUNS = [Run("p", scheme, number, 1) for number in (1, 2, 3) for scheme in ("a", "b")]


def test_the_first_run_is_guessed_and_later_ones_are_like_the_largest_of_their_scheme() -> None:
    budget = Budget("quota", 1000, lambda _: 300, lambda run, _: {"a": 100, "b": 200}[run.scheme])
    first, second = RUNS[:2]
    assert budget.refusal(first) == ""
    budget.begin(first)
    assert budget.need(second) == 300
    budget.begin(second)
    assert budget.refusal(RUNS[2]) == "", "two runs may take 600: a third one fits"
    budget.begin(RUNS[2])
    assert budget.refusal(RUNS[3]) == "quota of 1 kB: 900 B are used, and b on p, run 2 may take 300 B"
    budget.finish(first, {})
    assert budget.need(RUNS[2]) == 125
    assert budget.refusal(RUNS[3]) == ""
    budget.finish(second, {})
    assert (budget.used, budget.need(RUNS[3])) == (300, 250)


def test_a_run_that_tells_nothing_is_taken_to_have_used_what_was_set_aside() -> None:
    budget = Budget("cap", 1000, lambda _: 300, lambda *_: None)
    budget.begin(RUNS[0])
    budget.finish(RUNS[0], {"flows": []})
    assert (budget.used, budget.largest) == (300, {})
    budget.finish(RUNS[1], {"flows": []})
    assert budget.used == 600, "one that was made before likewise"


QUOTA = ("--schemes", "reno,bbr", "--rate", "20mbit", "--rtt", "40ms", "--duration", "5", "--runs", "4", "--out", "out")


def test_a_disk_quota_is_kept_and_can_be_raised(dumbbell: Dumbbell, folder: Path) -> None:
    result = dumbbell("run", *QUOTA, "--disk-quota", "1MB", "--json", expect=1)
    assert re.search(r"stopped \(disk quota of 1 MB: [\d.]+ kB are used, and \S+ on .*, run \d may take", result.stderr)
    assert size_of(folder / "out") <= 1e6
    statuses = [run["status"] for run in show(dumbbell, "out", expect=1)["runs"]]
    assert 0 < statuses.count("done") < 8
    assert statuses.count("done") + statuses.count("missing") == 8
    again = dumbbell("run", "--resume", "--out", "out", expect=1)
    assert "disk quota of 1 MB" in again.stderr
    dumbbell("run", "--resume", "--out", "out", "--disk-quota", "100MB")
    assert [run["status"] for run in show(dumbbell, "out")["runs"]] == ["done"] * 8
    refusal = dumbbell("run", *QUOTA, "--seed", "2", "--resume", expect=2)
    assert "cannot resume" in refusal.stderr


def test_a_quota_without_room_for_one_run_makes_none(dumbbell: Dumbbell, folder: Path) -> None:
    result = dumbbell("run", *QUOTA, "--disk-quota", "1kB", expect=1)
    assert "disk quota of 1 kB" in result.stderr
    assert not list((folder / "out/runs").rglob("stats.json"))


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--disk-quota", "5xB"), "argument --disk-quota: `5xB`"),
        (("--disk-quota", "10"), "argument --disk-quota: `10`: allowed is a size with its unit, like 500MB"),
        (("--data-cap", "0GB"), "argument --data-cap: `0GB`: allowed is 1B to 1000TB"),
        (("--bandwidth-cap", "5"), "argument --bandwidth-cap: `5`: allowed is a rate with its unit"),
        (("--bandwidth-cap", "5mbit"), "`bandwidth_cap_mbps` = 5.0 (--bandwidth-cap): allowed over a network only"),
        (("--data-cap", "5GB"), "`data_cap_bytes` = 5000000000 (--data-cap): allowed over a network only"),
        (("--data-cap", "5GB", "--backend", "emu"), "--backend emu sends nothing over anybody's link"),
        (("--set", "data_cap_bytes=0"), "--set: `data_cap_bytes` = 0: allowed is a whole number"),
    ],
)
def test_what_cannot_be_protected_is_refused(
    dumbbell: Dumbbell, folder: Path, words: tuple[str, ...], line: str
) -> None:
    result = dumbbell("run", "--schemes", "reno", "--path", "small.toml", "--out", "out", *words, expect=2)
    assert line in result.stderr
    assert not (folder / "out").exists()


@pytest.fixture
def link(tmp_path: Path) -> Iterator[None]:
    """Register a backend whose packets pass a link that others use."""
    can = Capabilities(real_packets=True, max_jobs=1, shared_link=True)
    with register(Backend("link:WHERE", can, Wording("play", "Played")), tmp_path / "more"):
        yield


def over_the_link(**settings: object) -> Experiment:
    overrides = RunRequest(schemes=("reno",), settings={"backend": "link:far", "runs": 3} | settings)
    return resolve(catalog.experiments().find("quick"), overrides)


@pytest.mark.usefixtures("link")
def test_over_somebodys_link_caps_are_polite_unless_others_are_given(tmp_path: Path) -> None:
    experiment = over_the_link(duration_s=10.0)
    check(experiment)
    assert (experiment.bandwidth_cap_mbps, experiment.data_cap_bytes) == (100.0, 10**10)
    assert experiment.table()["data_cap_bytes"] == 10**10, "what protected the link is recorded"
    assert over_the_link(bandwidth_cap_mbps=8.0).bandwidth_cap_mbps == 8.0
    experiment = over_the_link(duration_s=10.0, bandwidth_cap_mbps=8.0, data_cap_bytes=25_000_000)
    (budget,) = budgets(ResultsDirectory(tmp_path / "none", experiment))
    first, second, third = [run for run in experiment.all_runs() if run.path == "to-far"]
    budget.begin(first)
    assert budget.aside == {first: 10_000_000}, "8 Mbit/s for 10 s"
    budget.finish(first, {"flows": [{"bytes_sent": 6_000_000}, {"bytes_sent": 2_000_000}]})
    assert budget.need(second) == 10_000_000, "a quarter more than the largest"
    budget.begin(second)
    budget.finish(second, {"flows": []})
    assert budget.refusal(third) == ("data cap of 25 MB: 18 MB are used, and reno on to-far, run 3 may take 10 MB"), (
        "a failed run may have sent what it was allowed to"
    )


def test_nobody_elses_link_no_caps() -> None:
    experiment = resolve(catalog.experiments().find("quick"), RunRequest(schemes=("reno",)))
    assert experiment.data_cap_bytes is None
    with pytest.raises(UserError, match="over a network only"):
        check(resolve(catalog.experiments().find("quick"), RunRequest(settings={"data_cap_bytes": 1})))


def test_sizes_in_words() -> None:
    assert [in_words(size) for size in (7, 1500, 2_000_000, 12_345_678_901)] == ["7 B", "1.5 kB", "2 MB", "12.35 GB"]
