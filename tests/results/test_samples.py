"""Tests of the time series of a run, of its path's changes over time, and of their figures."""

import json
from pathlib import Path
from typing import Any

import numpy
import pytest

from dumbbell import _core
from dumbbell.catalog.description import describe
from dumbbell.present.model.series import (
    Line,
    distributions,
    flow_lines,
    operating_series,
    queue_series,
    shares,
    window_series,
)
from dumbbell.present.plots import Style, fairness_figure, flow_stroke, for_print, operating_point_figure, styles
from dumbbell.results.series.run_files import kept_files
from dumbbell.results.series.samples import RunSamples, run_samples

LINK = {"kind": "link", "rate_mbps": 10.0, "queue": {"kind": "droptail", "packets": 30}}
DELAY = {"kind": "delay", "delay_ms": 10.0}


def specification(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON values)
    """Return two NewReno flows on 10 Mbit/s and 20 ms; the second one lasts from 2 s to 4 s."""
    flow = {"scheme": "reno", "controller": "reno", "parameters": {}, "transport": {"profile": "tcp"}}
    flow["application"] = {"kind": "greedy"}
    late = flow | {"start_s": 2.05, "stop_s": 4.0}
    base: dict[str, Any] = {
        "seed": 1,
        "duration_s": 6.0,
        "sample_interval_s": 0.1,
        "warmup_s": 0.0,
        "log": "packets",
        "path": {"data": [LINK, DELAY], "ack": [DELAY]},
        "flows": [flow | {"start_s": 0.0, "stop_s": None}, late],
    }
    return base | changes


def run(folder: Path, **changes: Any) -> tuple[RunSamples, dict[str, Any]]:  # noqa: ANN401
    run_specification = specification(**changes)
    statistics: dict[str, Any] = json.loads(_core.simulate(json.dumps(run_specification), str(folder)))
    return run_samples(kept_files(folder), statistics, run_specification), statistics


def test_series_agree_with_the_metrics_of_the_run(tmp_path: Path) -> None:
    samples, statistics = run(tmp_path)
    assert [flow.flow for flow in samples.flows] == [1, 2]
    for flow, metrics in zip(samples.flows, statistics["flows"], strict=True):
        time_s, mbps = flow.throughput_mbps
        assert time_s[-1] <= metrics["stop_s"] + 1e-9
        assert time_s[0] > metrics["start_s"]
        active_s = metrics["stop_s"] - metrics["start_s"]
        # The arrived payload agrees within the contents of the last, shorter interval.
        assert mbps.sum() * 0.1 / active_s == pytest.approx(metrics["goodput_mbps"], rel=0.03)
        # These are time means: sampled here, exact in the metrics.
        assert flow.in_flight_segments[1].mean() == pytest.approx(metrics["mean_in_flight_bytes"] / 1448, rel=0.05)
        assert flow.srtt_ms[1].mean() == pytest.approx(metrics["mean_srtt_ms"], rel=0.05)
        assert flow.cwnd_packets[1].mean() == pytest.approx(metrics["mean_cwnd_bytes"] / 1448, rel=0.05)
        for series in (flow.in_flight_segments, flow.srtt_ms, flow.cwnd_packets, flow.ssthresh_packets):
            assert metrics["start_s"] <= series[0][0]
            assert series[0][-1] <= metrics["stop_s"]
    link = samples.links[0]
    assert link.name == statistics["links"][0]["link"]
    assert link.queue_packets[1].mean() == pytest.approx(statistics["links"][0]["mean_queue_packets"], rel=0.1)
    assert 0 < link.drops_packets[1].sum() <= statistics["links"][0]["packets_dropped"]


def test_jains_index_is_of_the_flows_that_are_active_in_the_whole_interval(tmp_path: Path) -> None:
    samples, _ = run(tmp_path)
    time_s, index = samples.jain
    alone = (time_s < 2.15) | (time_s > 4.05)
    assert index[alone] == pytest.approx(1.0)
    assert (index[~alone] < 1.0).any()
    assert (index[~alone] >= 0.5).all()
    at = int(numpy.flatnonzero(numpy.isclose(time_s, 3.0))[0])
    first, second = (
        float(flow.throughput_mbps[1][numpy.isclose(flow.throughput_mbps[0], 3.0)][0]) for flow in samples.flows
    )
    assert index[at] == pytest.approx((first + second) ** 2 / (2 * (first**2 + second**2)))


def test_a_run_without_packet_log_has_its_series_from_what_was_acknowledged(tmp_path: Path) -> None:
    samples, _ = run(tmp_path, log="none")
    assert all(len(flow.throughput_mbps[0]) > 15 for flow in samples.flows)
    assert len(samples.jain[0])
    assert all(len(flow.srtt_ms[0]) > 15 for flow in samples.flows)
    assert len(samples.links[0].queue_packets[0]) == 60
    drawing = operating_point_figure("f", operating_series(samples, lines_of(samples)))
    assert "no samples" not in drawing


def test_a_run_that_failed_has_no_series(tmp_path: Path) -> None:
    samples = run_samples(kept_files(tmp_path), {"flows": [], "links": []}, specification())
    assert (samples.flows, samples.links, len(samples.jain[0])) == ((), (), 0)
    assert queue_series(samples, "x", flow_stroke(1)) is None


def test_a_damaged_file_of_samples_is_named(tmp_path: Path) -> None:
    _, statistics = run(tmp_path)
    file = tmp_path / "flows.parquet"
    file.write_bytes(file.read_bytes()[:500])
    with pytest.raises(_core.Error, match=r"flows\.parquet"):
        run_samples(kept_files(tmp_path), statistics, specification())


def lines_of(samples: RunSamples) -> dict[int, Line]:
    return flow_lines(samples, {"reno": "TCP NewReno"}, {"reno": Style("#696969", "s")})


def test_flows_are_drawn_as_their_schemes_only_if_these_differ(tmp_path: Path) -> None:
    same_samples, _ = run(tmp_path)
    assert [line.label for line in lines_of(same_samples).values()] == ["Flow 1", "Flow 2"]
    flows = specification()["flows"]
    mixed_samples, _ = run(tmp_path, flows=[flows[0], flows[1] | {"scheme": "cubic", "controller": "cubic"}])
    looks = styles([("reno", "dimgray", "s"), ("cubic", "black", "*")])
    lines = flow_lines(mixed_samples, {"reno": "TCP NewReno", "cubic": "TCP Cubic"}, looks)
    assert [line.label for line in lines.values()] == ["TCP NewReno", "TCP Cubic"]
    assert [line.stroke.style for line in lines.values()] == list(looks.values())


def test_figures_take_the_series_of_a_run(tmp_path: Path) -> None:
    samples, _ = run(tmp_path)
    lines = lines_of(samples)
    time_s, parts = shares(samples, lines)
    assert time_s == pytest.approx(numpy.arange(1, 61) * 0.1)
    second = parts[1].throughput_mbps
    assert (second[:20] == 0).all()
    assert (second[22:39] > 0).all()
    assert (second[40:] == 0).all()
    drawing = fairness_figure("f", time_s, parts, samples.jain)
    assert "Flow 2" in for_print(drawing)
    assert [len(distribution.throughput_mbps) for distribution in distributions(samples, lines)] == [
        len(flow.throughput_mbps[0]) for flow in samples.flows
    ]
    windows = window_series(samples, lines)
    assert windows[0].cwnd is not None
    assert windows[0].pacing_mbps is None


def test_a_path_changes_when_its_schedules_say() -> None:
    path = {
        "data": [
            LINK | {"schedule": [{"at_s": 5.0, "rate_mbps": 40.0}, {"at_s": 9.0, "queue": {"packets": 9}}]},
            LINK | {"rate_mbps": 20.0},
            DELAY | {"schedule": [{"at_s": 3.0, "delay_ms": 50.0}]},
            {"kind": "loss", "probability": 0.1},
            {"kind": "loss", "probability": 0.5, "schedule": [{"at_s": 7.0, "probability": 0.0}]},
        ],
        "ack": [DELAY],
    }
    description = describe(path)
    assert description.rates_mbps == ([0.0, 5.0], [10.0, 20.0])
    assert description.base_rtts_ms == ([0.0, 3.0], [20.0, 60.0])
    assert description.losses is not None
    assert description.losses[0] == [0.0, 7.0]
    assert description.losses[1] == pytest.approx([0.55, 0.1])
    assert description.changes_s == [3.0, 5.0, 7.0]


def test_a_trace_has_no_constant_rate() -> None:
    description = describe({"data": [LINK, {"kind": "trace", "times_ms": [1]}], "ack": []})
    assert (description.rates_mbps, description.base_rtts_ms, description.losses, description.changes_s) == (
        None,
        None,
        None,
        [],
    )
    assert describe({"data": [], "ack": [DELAY]}).rates_mbps is None


def test_what_walks_at_random_does_not_follow_from_the_path() -> None:
    walk = {"interval_ms": 100.0, "rate_mbps": {"corr": 0.5, "std": 1.0, "min": 2.0, "max": 14.0}}
    description = describe({"data": [LINK | {"walk": walk}, DELAY], "ack": [DELAY]})
    assert description.rates_mbps is None
    assert description.base_rtts_ms == ([0.0], [20.0])


def test_the_core_computes_jains_index() -> None:
    assert _core.jain_index([[3.0, 1.0], [2.0, 2.0], [0.0, 0.0], [], [7.0]]) == [
        pytest.approx(0.8),
        1.0,
        None,
        None,
        1.0,
    ]
