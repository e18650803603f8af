"""Tests of the page on video calls: figures from a call's packets, their agreement, and the tables."""

import json
import math
from pathlib import Path
from typing import Any

import numpy
import pytest

from dumbbell import catalog
from dumbbell.catalog.run_request import RunRequest
from dumbbell.execution.check import check
from dumbbell.experiment import resolve
from validation import webrtc, webrtc_figures
from validation.webrtc_figures import Call, Figure


def call(
    arrival_times: list[float],
    delay: list[float] | None = None,
    drop_times: list[float] | None = None,
    size: float = 1250.0,
) -> Call:
    times = numpy.array(arrival_times)
    delays = numpy.array(delay if delay is not None else [20.0] * len(arrival_times))
    sizes = numpy.full(len(arrival_times), size)
    return Call(times - delays / 1e3, sizes, times, sizes, delays, numpy.array(drop_times or []))


def steady(mbps: float, start: float, end: float) -> list[float]:
    """Return arrivals of 1250 bytes at a constant rate."""
    return list(numpy.arange(start, end, 0.01 / mbps))


def figure(name: str, path: str = "steady-4mbps") -> Figure:
    return next(figure for figure in webrtc_figures.SCENARIOS[path] if figure.name == name)


def test_media_starts_with_the_first_large_packet() -> None:
    made_call = call([0.5, 0.6, 0.7])
    assert Call(
        made_call.send_times, numpy.array([92.0, 128.0, 1200.0]), *([made_call.arrival_times] * 4)
    ).start == pytest.approx(0.68)
    assert math.isinf(call([0.5], size=92.0).start)


def test_rates_count_what_arrives_in_the_time() -> None:
    made_call = call(steady(2.0, 0.0, 5.0) + steady(4.0, 5.0, 10.0))
    assert made_call.rate(1.0, 5.0) == pytest.approx(2.0, rel=0.01)
    assert made_call.rate(4.0, 6.0) == pytest.approx(3.0, rel=0.01)
    assert made_call.rate(11.0, 12.0) == 0.0


def test_a_rate_is_reached_when_its_first_full_second_ends() -> None:
    made_call = call(steady(2.0, 0.0, 25.0) + steady(4.0, 25.0, 32.0))
    assert made_call.reaches(3.9, 20.0) == pytest.approx(6.0, abs=0.11)
    assert made_call.reaches(3.9, 20.0, 3.0) == pytest.approx(8.0, abs=0.21)
    assert made_call.reaches(4.5, 20.0) == webrtc_figures.NEVER


def test_the_queue_of_a_drop_is_gone_before_the_first_second_without_late_packets() -> None:
    late = {10.5: 200.0, 11.2: 300.0, 12.1: 130.0, 15.0: 130.0}
    times = [10.0, 10.5, 11.2, 11.5, 12.1, 12.5, 15.0]
    made_call = call(times, [late.get(time, 25.0) for time in times])
    assert made_call.queued_after(10.0, 20.0) == pytest.approx(2.1)
    assert call([10.0, 11.0]).queued_after(10.0, 20.0) == 0.0


def test_loss_counts_packets_dropped_and_delivered() -> None:
    made_call = call([1.0, 2.0, 3.0], drop_times=[1.5])
    assert (made_call.loss_percent(), made_call.drops(1.0, 2.0), made_call.drops(2.0, 3.0)) == (25.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("own_values", "real", "apart"),
    [
        ([1.0, 2.0], [1.5], 0.0),
        ([1.0, 2.0], [2.5, 3.0], 0.5),
        ([4.0], [2.5, 3.0], 1.0),
        ([math.inf], [math.inf], 0.0),
        ([5.0], [math.inf], math.inf),
        ([math.nan, 1.0], [1.0], 0.0),
    ],
)
def test_values_are_as_far_apart_as_their_ranges(own_values: list[float], real: list[float], apart: float) -> None:
    assert webrtc_figures.gap(own_values, real) == apart


def test_a_figure_agrees_up_to_its_share_or_its_least() -> None:
    rate = figure("mean, Mbit/s")
    assert rate.agrees([3.61], [4.0])
    assert not rate.agrees([3.59], [4.0])
    assert rate.agrees([0.1], [0.2]), "0.1 Mbit/s are always allowed"
    assert not rate.agrees([math.inf], [4.0])
    assert not rate.agrees([0.6, 0.7, 0.7, 0.8, 3.9], [4.0]), "one odd value decides nothing"
    assert rate.agrees([0.6, 3.7, 3.9, 4.0, 4.0], [4.0])


def test_differences_are_percent_of_rates_and_units_of_the_rest() -> None:
    assert figure("mean, Mbit/s").difference([3.0, 3.3, 9.0], [3.0]) == "+10.0 %"
    assert figure("delay p95, ms").difference([60.0], [71.0]) == "-11"
    assert figure("delay p95, ms").difference([70.9], [71.1]) == "0"
    assert figure("first second above 80 % of the link ends, s").difference([math.inf], [2.0]) == "-"


def test_a_row_has_our_range_all_of_theirs_and_a_verdict() -> None:
    own_calls, real = (
        [[call(steady(mbps, 0.02, 32.0))] for mbps in several] for several in ((2.0, 2.1, 2.2), (2.0, 1.0))
    )
    mean = figure("mean, Mbit/s")
    row = webrtc.row(mean, own_calls, [], real, "known")
    assert row == ["mean, Mbit/s", "2.10 (2.00 to 2.20)", "-", "2.00, 1.00", "+40.0 %", "within"]
    assert webrtc.row(mean, own_calls, [], real[1:], "known")[-1] == "known"
    assert webrtc.row(mean, own_calls, [], [], "known")[-3:] == ["-", "-", "-"]
    two = figure("second, Mbit/s", "two-calls")
    assert webrtc.row(two, [[call([1.0])]], [], [], "known")[1] == "-", "there is no second call"


def test_reasons_are_of_figures_that_exist() -> None:
    for path, scheme, name in webrtc.REASONS:
        assert figure(name, path)
        assert scheme in webrtc.PAIRS


def test_runs_that_are_not_good_are_left_out_and_listed() -> None:
    bad = {"path": "steady-4mbps", "scheme": "chromium-gcc", "run": 1, "status": "failed", "reason": "no media"}
    bad["directory"] = "runs/steady-4mbps/chromium-gcc/1"
    part = webrtc.Part(runs=[bad])
    text = "\n".join(webrtc.validity([part]))
    assert "| chromium-gcc, steady-4mbps, 1 | failed [1] | 1 | - |" in text
    assert "1. no media" in text
    assert webrtc.table("steady-4mbps", "gcc", webrtc.Part(), webrtc.Part(), part, webrtc.Notes())[0][-1] == "-"


def listed_scheme(scheme: str) -> dict[str, Any]:
    return catalog.schemes().find(scheme).table()


@pytest.mark.parametrize("scheme", ["gcc", "scream"])
def test_our_schemes_are_those_of_the_catalog_but_for_their_limits(scheme: str) -> None:
    table = catalog.experiments().find("webrtc").own_schemes[scheme].table()
    assert table["controller"] == listed_scheme(scheme)["controller"]
    assert table["transport"] == listed_scheme(scheme)["transport"]
    application = table["application"]
    assert (application["fps"], application["start_rate_mbps"], application["max_rate_mbps"]) == (30.0, 0.3, 10.0)
    assert str(catalog.schemes().find("chromium-" + scheme).parameters["max_mbps"]) == "10"


def test_the_experiment_can_be_simulated_and_read(tmp_path: Path) -> None:
    plan = catalog.experiments().find("webrtc")
    options = RunRequest(
        schemes=("gcc", "scream"), path=("two-calls",), settings={"backend": "sim", "flows": 2, "interval_s": 0.5}
    )
    check(resolve(plan, options))
    out = tmp_path / "calls"
    arguments = ["webrtc", "--backend", "sim", "--schemes", "gcc", "--path", "two-calls", "--flows", "2", "--runs", "1"]
    assert webrtc.run_command([*arguments, "--interval", "0.5", "--duration", "4", "--out", str(out)]) is None
    part = webrtc.read_part(out)
    ((first, second),) = part.calls["two-calls", "gcc"]
    assert (first.start, second.start) == pytest.approx((0.0, 0.5), abs=0.01)
    assert first.freezes == 0.0
    stats = json.loads((out / "runs/two-calls/gcc/1/stats.json").read_text())
    packets = stats["flows"][0]
    assert len(first.arrival_times) == packets["packets_delivered"]
    assert len(first.drop_times) == packets["packets_dropped"]
