"""Tests of the bindings: input and output of the core."""

import json
import threading
import time
from array import array
from pathlib import Path
from typing import Any

import pytest

from dumbbell import _core
from support.inputs.rules import rules_in_each_other
from support.interrupts import interrupt_after


def specification(**changes: object) -> str:
    """Return the run spec of NewReno on 10 Mbit/s."""
    spec: dict[str, Any] = {
        "seed": 1,
        "duration_s": 2.0,
        "path": {
            "data": [
                {"kind": "link", "rate_mbps": 10.0, "queue": {"kind": "droptail", "packets": 30}},
                {"kind": "delay", "delay_ms": 10.0},
            ],
            "ack": [{"kind": "delay", "delay_ms": 10.0}],
            "overhead_bytes": 0,
            "mtu_bytes": 1500,
            "fragment": True,
        },
        "flows": [{"scheme": "reno", "controller": "reno"}],
    }
    return json.dumps(spec | changes)


def doubles(raw: bytes) -> list[float]:
    """Return bytes as numbers."""
    return array("d", raw).tolist()


def test_a_backend_that_is_none_is_not_taken_for_the_simulator() -> None:
    _core.check_run(specification(), "sim")
    with pytest.raises(_core.Error, match="backend `emulate`: allowed are sim, emu"):
        _core.check_run(specification(), "emulate")


@pytest.fixture
def run(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """Make a run; return its directory and its statistics."""
    return tmp_path, json.loads(_core.simulate(specification(), str(tmp_path)))


def test_a_run_measured_again_from_its_log_gives_the_same_numbers(run: tuple[Path, dict[str, Any]]) -> None:
    directory, statistics = run
    options = {"duration_s": 2.0, "flows": [{"flow": 1, "scheme": "reno"}]}
    again = json.loads(_core.measure_log(str(directory / "packets.parquet"), json.dumps(options)))
    for key in ("throughput_mbps", "delay_p95_ms", "loss_rate", "goodput_mbps", "owd_p50_ms", "packets_sent"):
        assert again["flows"][0][key] == statistics["flows"][0][key], key


def test_a_run_can_be_watched_and_ended_by_who_watches() -> None:
    moments: list[tuple[float, dict[int, dict[str, float]], dict[str, dict[str, float]]]] = []

    def watch(at_s: float, flows: dict[int, dict[str, float]], links: dict[str, dict[str, float]]) -> None:
        moments.append((at_s, flows, links))
        if at_s >= limit_s:
            raise LookupError("seen enough")

    limit_s = 9.0
    watched_run = json.loads(_core.simulate(specification(), watch=watch))
    assert [at_s for at_s, _, _ in moments] == pytest.approx([0.1 * (step + 1) for step in range(20)])
    _, flows, links = moments[-1]
    assert list(flows) == [1]
    assert flows[1]["in_flight"] > 0
    assert list(links) == ["data/link"]
    assert set(links["data/link"]) == {"queue", "queue_bytes", "dropped", "marked", "delivered", "offered"}
    alone = json.loads(_core.simulate(specification()))
    assert watched_run["flows"] == alone["flows"], "being watched changes nothing"
    limit_s = 1.0
    with pytest.raises(LookupError, match="seen enough"):
        _core.simulate(specification(duration_s=1e4), watch=watch)
    assert 1.0 <= moments[-1][0] < 60.0


def test_series_hold_all_bytes(run: tuple[Path, dict[str, Any]]) -> None:
    directory, statistics = run
    series = json.loads(_core.series(str(directory / "packets.parquet"), 0.1))
    bits = sum(series["flows"][0]["egress_mbps"]) * 1e6 * series["bin_s"]
    assert bits / 8 == pytest.approx(statistics["flows"][0]["bytes_delivered"])


def test_delay_points_are_all_or_those_that_can_be_told_apart(run: tuple[Path, dict[str, Any]]) -> None:
    directory, statistics = run
    log = str(directory / "packets.parquet")
    packets_delivered = statistics["flows"][0]["packets_delivered"]
    flows, times, delays = _core.delay_points(log, "data", 10**9)
    assert len(doubles(times)) == len(doubles(delays)) == len(array("I", flows)) == packets_delivered
    assert set(array("I", flows)) == {1}
    assert min(doubles(delays)) == pytest.approx(statistics["flows"][0]["owd_min_ms"], abs=1e-3)
    few_points = [doubles(raw) for raw in _core.delay_points(log, "data", 100)[1:]]
    # A point that is left out has a neighbour that looks equal.
    width, height = max(doubles(times)) / 720, (max(doubles(delays)) - min(doubles(delays))) / 360
    places_seen = {(time_s // width, delay // height) for time_s, delay in zip(*few_points, strict=True)}
    for time_s, delay in zip(doubles(times), doubles(delays), strict=True):
        column, row = time_s // width, delay // height
        assert any((column + right, row + up) in places_seen for right in (-1, 0, 1) for up in (-1, 0, 1))
    assert set(few_points[0]) <= set(doubles(times))
    for kept_values, every in zip(few_points, (doubles(times), doubles(delays)), strict=True):
        assert max(kept_values) == max(every)
    assert min(few_points[1]) == min(doubles(delays))


def test_samples_are_series_by_key_and_field(run: tuple[Path, dict[str, Any]]) -> None:
    directory, _ = run
    flows = {(key, field): doubles(values) for key, field, _, _, values in _core.samples(f"{directory}/flows.parquet")}
    assert any(field == "cwnd" or field.startswith("cwnd") for _, field in flows)
    links = _core.samples(f"{directory}/links.parquet")
    (queue,) = [doubles(values) for key, field, _, _, values in links if field == "queue"]
    assert max(queue) <= 31
    with pytest.raises(_core.Error, match=r"flows\.parquet and links\.parquet"):
        _core.samples(f"{directory}/packets.parquet")


def test_ctrl_c_ends_a_simulation() -> None:
    process_time = time.process_time()
    with interrupt_after(0.3):
        _core.simulate(specification(duration_s=100_000.0, log="none"))
    # The whole work takes a minute of CPU time or more.
    assert time.process_time() - process_time < 20.0


def _long_schedule() -> str:
    changes = [{"at_s": number / 1e3, "delay_ms": 1 + number % 7} for number in range(200)]
    delay = {"kind": "netem", "delay_ms": 1.0, "schedule": changes}
    return json.dumps({"data": [delay] * 1000, "ack": []})


def test_ctrl_c_ends_what_is_done_with_a_path() -> None:
    # Neither of them reacted to the signal, and a schedule took time by the square of its length.
    loss_walk = {"corr": 0.5, "std": 0.1, "min": 0.0, "max": 0.5}
    endless = {"kind": "loss", "probability": 0.1, "walk": {"interval_ms": 0.1, "probability": loss_walk}}
    offers = json.dumps({"data": [{"kind": "poisson", "rate_mbps": 0.02}, endless], "ack": []})
    long = _long_schedule()
    for work in (lambda: _core.opportunities(offers, "data", 1, 1e6), lambda: _core.describe_path(long)):
        process_time = time.process_time()
        with interrupt_after(0.3):
            work()
        assert time.process_time() - process_time < 60.0


def test_ctrl_c_ends_the_check_of_a_run(tmp_path: Path) -> None:
    """Tables of rules and the schedule of a path reacted to no signal until all were read."""
    tables = [tmp_path / f"deep{number}.json" for number in range(200)]
    rules = rules_in_each_other(2500)
    for table in tables:  # one that several flows name is looked at once
        table.write_text(rules)
    flows = [{"scheme": "tao", "controller": "remy", "parameters": {"table": str(table)}} for table in tables]
    path = json.loads(_long_schedule()) | {"overhead_bytes": 0, "mtu_bytes": 1500, "fragment": True}
    for spec in (specification(flows=flows), specification(path=path)):
        process_time = time.process_time()
        with interrupt_after(0.3):
            _core.check_run(spec)
        # The whole work takes half a minute of CPU time or more.
        assert time.process_time() - process_time < 10.0


def test_other_threads_run_while_a_simulation_does() -> None:
    end = threading.Event()
    ticks = 0

    def work() -> None:
        _core.simulate(specification(duration_s=600.0, log="none"))
        end.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not end.wait(0.001):
        ticks += 1
    thread.join()
    assert ticks > 3


def test_refusals_are_one_line_of_one_class() -> None:
    calls = [
        lambda: _core.simulate("{}"),
        lambda: _core.simulate(specification(seeed=1)),
        lambda: _core.check_run(specification(duration_s=-1.0)),
        lambda: _core.check_path("[]"),
        lambda: _core.check_parameters("renno", {}),
        lambda: _core.check_parameters("reno", {"beta": "9"}),
        lambda: _core.transport('{"profile": "sctp"}'),
        lambda: _core.measure_log("/absent.parquet", "{}"),
        lambda: _core.measure_log("/absent.parquet", '{"duration": 1}'),
        lambda: _core.series("/absent.parquet", 0.0),
        lambda: _core.delay_points("/absent.parquet", "sideways", 1),
        lambda: _core.export_pantheon("/absent.parquet", "/absent/a", "/absent/b", 0),
    ]
    for call in calls:
        with pytest.raises(_core.Error) as refusal:
            call()
        assert "\n" not in str(refusal.value)
        assert issubclass(_core.Error, ValueError)


def test_a_directory_that_does_not_exist_is_named() -> None:
    with pytest.raises(_core.Error, match="/absent/"):
        _core.simulate(specification(), "/absent/directory")


def test_a_damaged_log_is_named(tmp_path: Path) -> None:
    log = tmp_path / "packets.parquet"
    _core.simulate(specification(), str(tmp_path))
    log.write_bytes(log.read_bytes()[:1000])
    with pytest.raises(_core.Error, match=r"packets\.parquet"):
        _core.measure_log(str(log), "{}")


def test_raw_tunnel_logs(tmp_path: Path) -> None:
    egress, ingress = tmp_path / "egress.log", tmp_path / "ingress.log"
    egress.write_text("# 'mm-tunnelclient' egress: 1514764800000.000\n1.000 - 0 - 1500\n2.000 - 1 - 500\n")
    ingress.write_text("# 'mm-tunnelserver' ingress: 1514764800000.500\n30.000 - 0 - 1500\n")
    packets = str(tmp_path / "packets.parquet")
    document = json.loads(_core.import_raw_logs([(str(egress), str(ingress))], [], (0.0, 1.5), packets, strict=True))
    assert (document["records"], document["unusable"]) == (3, None)
    # received at 30.000 + 0.500 + 1.5 ms of offset, sent at 1.000: 31 ms
    _, _, delays = _core.delay_points(packets, "data", 10)
    assert doubles(delays) == [31.0]


def test_harm_is_what_a_competitor_takes() -> None:
    assert _core.harm(15.0, 3.0, more_is_better=True) == pytest.approx(0.8)
    assert _core.harm(50.0, 200.0, more_is_better=False) == pytest.approx(0.75)
    assert _core.harm(0.0, 1.0, more_is_better=True) is None


def test_sampled_metrics_say_so_and_the_interval_stands_beside_them() -> None:
    is_sampled = {metric["name"]: metric["sampled"] for metric in json.loads(_core.metrics())}
    assert is_sampled["cov_throughput_l4"]
    assert not is_sampled["mean_throughput_l4"]
    network = json.loads(_core.simulate(specification(sample_interval_s=0.25)))["network"]
    assert network["sample_interval_s"] == 0.25


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.2])
def test_a_delta_that_is_no_fraction_is_refused(delta: float) -> None:
    with pytest.raises(_core.Error, match=rf"^convergence_delta = {delta:g}: must be above 0 and below 1$"):
        _core.check_run(specification(convergence_delta=delta))
