"""Tests of path measurements on packets of simulated runs, whose ground truth is known."""

import json
import math
import random
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inline_snapshot import snapshot

from dumbbell import _core
from dumbbell.base.errors import UserError
from dumbbell.catalog.path import PathModel
from dumbbell_remote.pathfinding import idle, load, probe_budget, traffic, trains
from dumbbell_remote.pathfinding.ecn import codepoints
from dumbbell_remote.pathfinding.findings import Findings, Way
from dumbbell_remote.pathfinding.flow_log import FlowLog, flow_logs
from dumbbell_remote.pathfinding.intervals import Estimate, median, share
from dumbbell_remote.pathfinding.policer import policer
from dumbbell_remote.pathfinding.probing import WAYS, probe_result
from dumbbell_remote.pathfinding.simulated_path import path_model
from dumbbell_remote.pathfinding.trains import Train
from support.commands.command import Dumbbell
from support.told import transcript


def link(mbps: float, queue_bytes: int) -> dict[str, Any]:
    return {"kind": "link", "rate_mbps": mbps, "queue": {"kind": "droptail", "bytes": queue_bytes}}


def delay(ms: float) -> dict[str, Any]:
    return {"kind": "delay", "delay_ms": ms}


def log_flows(run: dict[str, Any], *data: dict[str, Any], seed: int = 1) -> list[FlowLog]:
    """Return the flows of a run over this path, with 20 ms in the backward direction."""
    run = run | {"seed": seed, "path": run["path"] | {"data": list(data), "ack": [delay(20.0)]}}
    table = _core.simulate_in_memory(json.dumps(run))[1]
    assert table is not None
    return flow_logs(table, len(run["flows"]), run["duration_s"])


# Intervals


@pytest.mark.parametrize(
    ("hits", "cases", "low", "high"),
    [(0, 10, 0.0, 0.30850), (5, 10, 0.18709, 0.81291), (1, 1000, 2.532e-5, 0.0055589), (10, 10, 0.69150, 1.0)],
)
def test_shares_have_the_interval_of_clopper_and_pearson(hits: int, cases: int, low: float, high: float) -> None:
    estimate = share(hits, cases, "")
    assert estimate.low == pytest.approx(low, rel=1e-3, abs=1e-9)
    assert estimate.high == pytest.approx(high, rel=1e-3)


def test_large_numbers_of_cases_are_no_problem() -> None:
    estimate = share(2000, 100_000, "")
    half = 1.96 * math.sqrt(0.02 * 0.98 / 100_000)
    assert estimate.low == pytest.approx(0.02 - half, rel=2e-3)
    assert estimate.high == pytest.approx(0.02 + half, rel=2e-3)


def test_the_interval_of_a_median_covers_it() -> None:
    generator = random.Random(1)
    assert (median([3.0, 1.0, 2.0], "", "").low, median([3.0, 1.0, 2.0], "", "").high) == (1.0, 3.0)
    hits = 0
    for _ in range(2000):
        estimate = median([generator.expovariate(1.0) for _ in range(12)], "", "")
        assert estimate.low is not None
        assert estimate.high is not None
        hits += estimate.low <= math.log(2) <= estimate.high
    assert 0.945 < hits / 2000 < 0.985  # 0.961 in theory


def test_what_is_unknown_has_no_value() -> None:
    assert share(0, 0, "x").text() == "unknown"
    assert median([], "ms", "x").value is None
    assert Estimate(None, 3.0, None, "ms", "").text() == "at least 3 ms"
    assert Estimate(2.0, 1.0, 3.0, "", "").text() == "2 (1 to 3)"


# Trains


def train(numbers: list[int], spacing_us: float, left_mbps: float = 1e4) -> Train:
    return Train(tuple((number, round(number * spacing_us * 1e3), 1500) for number in numbers), left_mbps)


def test_the_spacing_of_a_train_tells_the_rate() -> None:
    assert train(list(range(30)), 600.0).mbps() == pytest.approx(20.0)


def test_losses_in_trains_do_not_matter_wherever_they_are() -> None:
    # Packets lost behind the link leave holes in time.
    assert train([0, 1, 2, 5, 6, 9, 10, 11], 600.0).mbps() == pytest.approx(20.0)
    # Packets lost before the link leave none.
    queue = Train(((0, 0, 1500), (1, 600_000, 1500), (2, 1_200_000, 1500), (7, 1_800_000, 1500)), 1e4)
    assert queue.mbps() == pytest.approx(20.0)
    assert train([0, 5], 600.0).mbps() is None
    assert train([], 600.0).mbps() is None


def test_trains_that_arrive_as_they_left_tell_a_bound_only() -> None:
    rate = trains.rate([train(list(range(30)), 600.0, left_mbps=30.0)] * 12)
    assert rate.value is None
    assert rate.low is not None
    assert rate.low <= 20.0
    assert trains.rate([train(list(range(30)), 10.0)] * 12).value is None  # 0.3 ms in all: machines are no more exact
    assert trains.rate([]).text() == "unknown"
    rate = trains.rate([train(list(range(30)), 600.0 + index) for index in range(12)])
    assert rate.value == pytest.approx(12e3 / 605.5, rel=1e-3)


def test_what_one_side_sent_and_the_other_heard_is_put_together() -> None:
    bursts = [{"packets": 1, "bytes": 104, "ecn": 2}] * 2 + [{"packets": 3, "bytes": 1500, "ecn": 2}]
    sender = {"sent": [(5, 0, 1), (6, 0, 1), (7, 0, 36_000)]}
    arrivals = [(5, 0, 10, 104, 2), (6, 0, 20, 104, 0), (7, 0, 100, 1500, 3), (9, 0, 200, 1500, 2)]
    result = probe_result(bursts, sender, {"arrived": arrivals, "duplicates": 4})
    assert result.trains == [Train(((7, 100, 1500), (9, 200, 1500)), 1000.0)]
    assert (result.marked_counts, result.duplicates) == ((1, 2), 4)
    assert result.codepoints.verdict(2) == "changed: 1 as not-ECT, 1 as ECT(0)"


def test_codepoints_are_judged() -> None:
    sent_packets = [(4 * index + code, 1, code) for index in range(5) for code in range(4)]
    as_sent = codepoints(sent_packets, [(number, code) for number, _, code in sent_packets])
    assert as_sent.passes
    assert as_sent.words() == "all codepoints arrive as sent"
    bleached_result = codepoints(sent_packets, [(number, 0) for number, _, code in sent_packets if code != 3])
    assert [bleached_result.verdict(code) for code in range(4)] == ["as sent", "bleached", "bleached", "lost"]
    assert not bleached_result.passes


# Load: the truth is the path of a simulation


@pytest.mark.parametrize(
    ("mbps", "one_way_ms", "bdp", "loss"),
    [
        (2.0, 2.5, 2.0, 0.0),
        (2.0, 25.0, 1.0, 0.01),
        (20.0, 50.0, 0.2, 0.02),
        (20.0, 100.0, 4.0, 0.0),
        (50.0, 20.0, 1.0, 0.0),
        (100.0, 20.0, 0.5, 0.005),
        (200.0, 5.0, 1.0, 0.0),
    ],
)
def test_a_rate_above_that_of_the_path_tells_rate_queue_and_loss(
    mbps: float, one_way_ms: float, bdp: float, loss: float
) -> None:
    queue_bytes = max(round(mbps * 125.0 * (one_way_ms + 20.0) * bdp), 1600)
    lossy = [{"kind": "loss", "probability": loss}] if loss else []
    run = traffic.flood(probe_budget.FLOODS_AT * mbps, probe_budget.FLOOD_S, reverse=False)
    [log] = log_flows(run, link(mbps, queue_bytes), *lossy, delay(one_way_ms))
    busy_rate = load.busy_rate(log, "")
    assert busy_rate.value == pytest.approx(mbps, rel=0.005)
    assert busy_rate.low is not None
    assert busy_rate.high is not None
    assert busy_rate.low <= mbps <= busy_rate.high
    queue = load.queue(log)
    assert queue.full
    length = queue.bytes(mbps, 1500)
    assert length is not None
    assert abs(length - queue_bytes) <= 3000
    assert float(np.nanmin(log.delay_ms)) == pytest.approx(one_way_ms + 12.0 / mbps, abs=0.01)
    assert policer(log, mbps) is None


def test_a_transfer_that_fills_the_queue_tells_the_same() -> None:
    [log] = log_flows(traffic.transfer(10.0, reverse=False), link(20.0, 100_000), delay(20.0))
    queue = load.queue(log.full())
    assert queue.full
    assert queue.depth_ms.value == pytest.approx(40.0, rel=0.03)
    assert load.busy_rate(log.full(), "").value == pytest.approx(20.0, rel=0.005)
    assert load.random_losses([log], 40.0)[0] == 0


def test_a_transfer_that_random_loss_keeps_short_has_seen_no_full_queue() -> None:
    lossy = {"kind": "loss", "probability": 0.02}
    [log] = log_flows(traffic.transfer(10.0, reverse=False), link(20.0, 500_000), lossy, delay(40.0))
    assert not load.queue(log.full()).full
    estimate = share(*load.random_losses([log], 200.0), "")
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low < 0.02 < estimate.high < 0.035


@pytest.mark.parametrize(("mbps", "burst"), [(12.0, 60_000), (20.0, 200_000), (2.0, 15_000), (100.0, 1_000_000)])
def test_a_policer_is_known_by_loss_without_a_queue(mbps: float, burst: int) -> None:
    bucket = {"kind": "policer", "rate_mbps": mbps, "burst_bytes": burst}
    [log] = log_flows(traffic.flood(3 * mbps, 4.0, reverse=False), bucket, link(10 * mbps, 10**6), delay(20.0))
    policer_found = policer(log, 10 * mbps)
    assert policer_found is not None
    assert policer_found.rate_mbps.value == pytest.approx(mbps, rel=0.01)
    assert policer_found.burst_bytes.value is not None
    assert abs(policer_found.burst_bytes.value - burst) <= max(0.02 * burst, 3000)
    assert policer(log, mbps) is None  # trains that are no faster: a short queue


@pytest.mark.parametrize(
    "elements",
    [
        [link(20.0, 50_000)],
        [link(20.0, 3000)],
        [{"kind": "shaper", "rate_mbps": 20.0, "burst_bytes": 60_000, "queue": {"kind": "droptail", "bytes": 100_000}}],
        [link(60.0, 10**6), {"kind": "loss", "probability": 0.02}],
    ],
)
def test_other_things_that_lose_packets_are_no_policers(elements: list[dict[str, Any]]) -> None:
    [log] = log_flows(traffic.flood(40.0, 4.0, reverse=False), *elements, delay(20.0))
    fast = 100.0 if elements[0]["kind"] == "shaper" else elements[0]["rate_mbps"]
    assert policer(log, fast) is None


# Idle


def test_few_small_packets_tell_constants_and_loss() -> None:
    lossy = {"kind": "loss", "probability": 0.02}
    [forward, back] = log_flows(traffic.idle(60.0), link(2.0, 10_000), lossy, delay(30.0))
    delays = idle.delays(forward, (-1.0, 2.0))
    assert delays is not None
    assert delays.packet_bytes == probe_budget.IDLE_BYTES - 16  # a tag is added on the way between machines
    exact = 30.0 + delays.packet_bytes * 8e-3 / 2.0
    assert delays.least.value == pytest.approx(exact, abs=0.001)
    assert delays.least.low == pytest.approx(exact - 1.0, abs=0.001)
    assert delays.least.high == pytest.approx(exact + 2.0, abs=0.001)
    assert not delays.jitters
    loss_share = share(*idle.losses(forward), "")
    assert loss_share.low is not None
    assert loss_share.high is not None
    assert loss_share.low < 0.02 < loss_share.high
    assert idle.losses(back)[0] == 0
    assert len(back.sent_s) == pytest.approx(60.0 * probe_budget.IDLE_PER_S, rel=0.02)


def test_no_more_is_sent_than_allowed() -> None:
    for run in (traffic.transfer(10.0, False, 10**6), traffic.flood(20.0, 10.0, False, 10**6)):
        [log] = log_flows(run, link(20.0, 100_000), delay(20.0))
        assert 900_000 < log.size_bytes.sum() < 1_160_000


def test_jitter_is_seen() -> None:
    jitter = {"kind": "jitter", "distribution": "exponential", "mean_ms": 3.0}
    [forward, _] = log_flows(traffic.idle(40.0), jitter, delay(30.0))
    delays = idle.delays(forward, (0.0, 0.0))
    assert delays is not None
    assert delays.jitters
    assert delays.mean_above == pytest.approx(3.0, rel=0.15)


def test_reordered_packets_are_counted_and_how_long_they_were_held() -> None:
    reorder_element = {"kind": "reorder", "probability": 0.01, "delay_ms": 8.0}
    [log] = log_flows(traffic.flood(10.0, 10.0, reverse=False), link(20.0, 10**6), reorder_element, delay(30.0))
    reordering = idle.reordering(log)
    assert reordering.share.value == pytest.approx(0.01, rel=0.3)
    assert reordering.held_ms == pytest.approx(8.0, abs=0.1)
    [log] = log_flows(traffic.flood(10.0, 5.0, reverse=False), link(20.0, 10**6), delay(30.0))
    assert idle.reordering(log) == idle.Reordering(share(0, len(log.sent_s), "packets came after later ones"), None)


# The resulting path.


def way(**changes: Any) -> Way:  # noqa: ANN401 (fields of any type)
    log = log_flows(traffic.idle(10.0), link(20.0, 100_000), delay(20.0))[0]
    defaults = {
        "mtu_bytes": 1500,
        "trains": Estimate(20.0, 19.0, 21.0, "Mbit/s", "trains"),
        "ecn": codepoints([(0, 1, 2)], [(0, 2)]),
        "marked_counts": (0, 100),
        "delays": idle.delays(log, (-1.0, 1.0)),
        "idle_losses": idle.losses(log),
        "idle_reordering": idle.reordering(log),
        "copies": 0,
        "packets": 1000,
    }
    return Way(**(defaults | changes))  # type: ignore[arg-type]


def findings(forward: Way, back: Way) -> Findings:
    clocks = {"rtt_ms": 40.2}
    return Findings(dict(zip(WAYS, (forward, back), strict=True)), [40.3, 40.5, 44.0], [], clocks, 10**6, ["busy"])


def test_the_path_reads_back_and_simulates_what_was_seen() -> None:
    [log] = log_flows(traffic.transfer(10.0, reverse=False), link(20.0, 100_000), delay(20.0))
    measurements = {"busy": load.busy_rate(log.full(), "x"), "queue": load.queue(log.full())}
    measured_findings = findings(way(**measurements), way(mtu_bytes=1400, idle_losses=(5, 1000)))
    path = path_model(measured_findings, "to-lab", "measured", date(2026, 11, 23))
    assert PathModel.from_toml(path.to_toml()) == path
    assert path.mtu_bytes == 1400
    assert path.describe().base_rtt_ms == pytest.approx(40.0, abs=0.1)
    bottleneck, constant = path.data
    assert bottleneck["rate_mbps"] == pytest.approx(20.0, rel=0.005)
    assert bottleneck["queue"]["bytes"] == pytest.approx(100_000, rel=0.03)
    assert constant["delay_ms"] == pytest.approx(20.0, abs=0.01)
    assert [element["kind"] for element in path.ack] == ["link", "loss", "delay"]
    for part in ("2026-11-23", "calibration refines", "loss 0.005 (0.001", "queue assumed", "Note: busy."):
        assert part in path.provenance
    estimate = Estimate(None, 500.0, None, "Mbit/s", "trains")
    measured_findings.ways[WAYS[0]] = way(
        trains=estimate, busy=Estimate(3e3, 2e3, 4e3, "Mbit/s", "machines"), copies=50
    )
    path = path_model(measured_findings, "to-lab", "measured", date(2026, 11, 23))
    assert [element["kind"] for element in path.data] == ["duplicate", "delay"]
    assert "rate at least 500 Mbit/s" in path.provenance


def test_losses_count_together_where_they_are_the_same_thing() -> None:
    assert way(idle_losses=(2, 100), random_losses=(180, 9900)).loss.value == pytest.approx(0.0182)
    assert way(idle_losses=(0, 1000), random_losses=(900, 9000)).loss.value == 0.0
    assert way(idle_losses=(3, 1000)).loss.value == 0.003


def test_a_policer_comes_before_what_trains_saw() -> None:
    bucket = {"kind": "policer", "rate_mbps": 10.0, "burst_bytes": 50_000}
    [log] = log_flows(traffic.flood(60.0, 4.0, reverse=False), bucket, link(100.0, 10**6), delay(20.0))
    fast = Estimate(100.0, 99.0, 101.0, "Mbit/s", "trains")
    measured_findings = findings(way(trains=fast, policer=policer(log, 100.0), queue=load.queue(log)), way())
    path = path_model(measured_findings, "to-lab", "measured", date(2026, 11, 23))
    assert [element["kind"] for element in path.data] == ["policer", "link", "delay"]
    assert path.data[0]["rate_mbps"] == pytest.approx(10.0, rel=0.01)
    assert path.data[1]["rate_mbps"] == 100.0
    assert measured_findings.table()["ways"]["there"]["policer"]["burst_bytes"]["value"] == pytest.approx(
        50_000, rel=0.05
    )


# The budget of sent bytes.


def test_caps_are_kept() -> None:
    budget = probe_budget.make_budget(300.0, 100_000_000, None)
    assert budget.transfer_of_s(2.0) == probe_budget.TRANSFER_S
    for mbps in (10.0, 100.0, 1000.0):
        sent_bytes = (
            2
            * mbps
            * 125_000
            * (budget.transfer_of_s(mbps) + probe_budget.FLOODS_AT * budget.flood_of_s(probe_budget.FLOODS_AT * mbps))
        )
        sent_bytes += 2 * budget.steady_bytes
        assert sent_bytes <= 0.9 * 100_000_000
    assert budget.train_packets(1500) * 1500 * probe_budget.TRAINS <= 0.03 * 100_000_000
    assert (
        probe_budget.make_budget(3600.0, 20_000_000, None).idle_s * probe_budget.IDLE_PER_S * probe_budget.IDLE_BYTES
        <= 600_000
    )
    assert "at most 100 MB in all" in budget.words()
    capped_budget = probe_budget.make_budget(300.0, 10**9, 5.0)
    assert not capped_budget.transfers
    assert 100 * 1500 * 8e-6 / capped_budget.spaced_s(100, 1500, 0.3) == pytest.approx(2.5)
    assert budget.spaced_s(100, 1500, 0.3) == 0.3
    packets, gap_s = probe_budget.train_packets(2.0, 1500)
    assert packets * 1500 * 8e-6 / gap_s <= 0.2 * 2.0
    assert probe_budget.train_packets(None, 1500)[0] == probe_budget.MOST_PACKETS // 2
    assert probe_budget.train_packets(20.0, 1500)[0] == 20
    assert probe_budget.train_packets(20.0, 1500, jitter_s=0.003)[0] == 100


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--duration", "5s"), snapshot("dumbbell: --duration 5: allowed is 30 to 3600 s")),
        (("--data-cap", "10kB"), snapshot("dumbbell: --data-cap: 10000 bytes: at least 20 MB are needed")),
        (
            ("--data-cap", "10 elephants"),
            snapshot(
                """\
dumbbell: argument --data-cap: `10 elephants`: allowed is a size with its unit, like 500MB, 10GB or
  2GiB (`dumbbell path --help` shows what is possible)\
"""
            ),
        ),
        (
            ("--bandwidth-cap", "20"),
            snapshot(
                """\
dumbbell: argument --bandwidth-cap: `20`: allowed is a rate with its unit, like 20mbit, 500kbit,
  1gbit or 20Mbps (bits per second; bytes: 2.5MB/s) (`dumbbell path --help` shows what is possible)\
"""
            ),
        ),
        (("--bandwidth-cap", "100kbit"), snapshot("dumbbell: --bandwidth-cap 0.1: at least 0.2 Mbit/s are needed")),
        (
            ("--udp-ports", "7"),
            snapshot(
                """\
dumbbell: argument --udp-ports: `7`: allowed is FROM-TO, two ports of 1 to 65535 (`dumbbell path
  --help` shows what is possible)\
"""
            ),
        ),
        (
            ("--ntp", "a b"),
            snapshot(
                """\
dumbbell: host `a b`: a name of a host has letters, digits and `._-`, and no `-` at its beginning;
  allowed is [user@]HOST[:PORT], with an IPv6 address in brackets\
"""
            ),
        ),
        (
            ("--name", "a/b"),
            snapshot(
                """\
dumbbell: dumbbell: path "a/b": allowed are letters, digits and `._+-`, starting with a letter, a
  digit or `_`, at most 100 characters\
"""
            ),
        ),
        (("--out", "x.json"), snapshot("dumbbell: --out x.json: allowed is a file name that ends in .toml")),
        (("--out", "no/where.toml"), snapshot("dumbbell: --out no/where.toml: there is no directory no")),
        (
            ("--quick", "--duration", "60s"),
            snapshot(
                """\
dumbbell: argument --duration: not allowed with argument --quick (`dumbbell path --help` shows what
  is possible)\
"""
            ),
        ),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_sent(
    dumbbell: Dumbbell, words: tuple[str, ...], part: str, tmp_path: Path
) -> None:
    assert transcript(dumbbell("path", "host.invalid", *words, expect=2).stderr, tmp_path) == part


def test_a_host_is_needed(dumbbell: Dumbbell) -> None:
    assert "HOST" in dumbbell("path", expect=2).stderr
    assert "allowed is [user@]HOST" in dumbbell("path", "a b", expect=2).stderr
    with pytest.raises(UserError, match="allowed is 30"):
        probe_budget.make_budget(1.0, 10**9, None)
