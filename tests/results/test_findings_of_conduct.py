"""Tests of rules for conduct: schemes that look wrong are accused first and not praised; no others are accused."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import dumbbell as library
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.experiment import Experiment, resolve
from dumbbell.results.analysis.findings import all_findings, findings, remark, run_remarks
from dumbbell.results.analysis.findings.conduct import (
    CONDUCT,
    LEAST_DRAINED,
    LEAST_RTTS,
    LEAST_SHARE,
    MOST_LOST,
    MOST_REPEATED,
    MOST_STANDING,
    MOST_TIMEOUTS,
)
from dumbbell.results.analysis.summary import repetitions
from support.inputs.paths import SMALL

Table = dict[str, Any]

FLOW = {
    "packets_sent": 50_000,
    "packets_delivered": 50_000,
    "packets_dropped": 0,
    "retransmissions": 0,
    "timeouts": 0,
    "owd_min_ms": 20.0,
    "owd_mean_ms": 25.0,
    "self_inflicted_delay_p10_ms": 2.0,
    "queueing_delay_mean_ms": 5.0,
    "mean_srtt_l4": 45.0,
    "mean_est_qdelay_l4": 5.0,
    "starvation_time_s": 0.0,
}
"""A flow of 10 s on 60 Mbit/s with a base RTT of 40 ms, without any fault."""
LINK = {
    "link": "data/bottleneck",
    "direction": "data",
    "capacity_mbps": 60.0,
    "packets_dropped": 0,
    "mean_queue_packets": 25.0,
    "max_queue_packets": 100.0,
    "mean_queue_delay_ms": 5.0,
    "max_queue_delay_ms": 20.0,
}
NETWORK = {"goodput_mbps": 50.0, "ingress_mbps": 60.0, "owd_p95_ms": 30.0, "packet_loss_rate": 0.0}


def made_up(
    scheme: str = "cubic",
    flow: Mapping[str, Any] | None = None,
    link: Mapping[str, Any] | None = None,
    network: Mapping[str, Any] | None = None,
    flows: int = 1,
    number: int = 1,
) -> Table:
    flow_fields = {"scheme": scheme, "start_s": 0.0, "stop_s": 10.0, **FLOW, **(flow or {})}
    return {
        "path": "p",
        "scheme": scheme,
        "run": number,
        "seed": number,
        "status": "done",
        "reason": None,
        "axes": {},
        "flows": [{"flow": index + 1, **flow_fields} for index in range(flows)],
        "links": [{**LINK, **(link or {})}],
        "network": {**NETWORK, **(network or {})},
    }


def lossy(scheme: str, rate: float, by_path: float = 0.0, **more: object) -> Table:
    """Return a run that loses `rate` of its packets, and `by_path` of all packets outside of queues."""
    sent_packets = more.pop("sent", 50_000)
    dropped_packets = round(sent_packets * rate)
    flow = {
        "packets_sent": sent_packets,
        "packets_delivered": sent_packets - dropped_packets,
        "packets_dropped": dropped_packets,
    }
    flow["retransmissions"] = dropped_packets
    in_queues = (dropped_packets - round(sent_packets * by_path)) * more.get("flows", 1)
    network = {"packet_loss_rate": rate, **more.pop("network", {})}
    return made_up(scheme, {**flow, **more.pop("flow", {})}, {"packets_dropped": in_queues}, network, **more)


def beside(competing_share: float, **flow: object) -> Table:
    """Return two flows that compete from 1 to 10 s; the second one has the given share."""
    run = made_up(flows=2, network={"competing_from_s": 1.0, "competing_to_s": 10.0})
    run["flows"][0]["competing_share"] = 1 - competing_share
    run["flows"][1] |= {"competing_share": competing_share, **flow}
    return run


def experiment() -> Experiment:
    path = {"p": library.PathModel.from_toml(f'name = "p"\n{SMALL}')}
    return resolve(
        ExperimentFile(name="made-up", title="", schemes=["cubic"], paths=["p"], own_paths=path, warmup_s=1.0)
    )


def remark_of(*runs: Table) -> str:
    (group,) = repetitions(runs).values()
    return remark(group)


STANDING = {
    "flow": {"self_inflicted_delay_p10_ms": 90.0, "queueing_delay_mean_ms": 110.0},
    "link": {"mean_queue_delay_ms": 110.0},
}


@pytest.mark.parametrize(
    ("run", "text"),
    [
        (lossy("cubic", 0.993), "99.3 % of the packets are lost after the warm-up"),
        (lossy("cubic", 0.12, 0.02), "12.0 % of the packets are lost after the warm-up (by the path itself: 2 %)"),
        (made_up(flow={"retransmissions": 21_500}), "43.0 % of the packets repeat payload that was not lost"),
        (beside(0.02), "flow 2 gets 2.0 % of the payload (fair: 50 %)"),
        (
            made_up(**STANDING),
            "a queue stands: nine of ten packets wait at least 90 ms (base RTT: 40 ms)",
        ),
        (
            made_up(
                flow={"self_inflicted_delay_p10_ms": 38.0, "queueing_delay_mean_ms": 39.0, "packets_dropped": 50},
                link={"mean_queue_delay_ms": 39.0, "max_queue_delay_ms": 40.0, "packets_dropped": 50},
            ),
            "a queue stands: nine of ten packets wait at least 38 ms (base RTT: 40 ms)",
        ),
        (made_up(flow={"timeouts": 4}), "24 timeouts a minute in each flow"),
        (
            lossy("cubic", 0.3, flow={"retransmissions": 25_000}),
            "30.0 % of the packets are lost after the warm-up; 20.0 % of the packets repeat payload that was not lost",
        ),
    ],
)
def test_conduct_that_looks_wrong_had_no_remark(run: Table, text: str) -> None:
    assert remark_of(run) == text
    assert run_remarks(run) == [f"{part[0].upper()}{part[1:]}." for part in text.split("; ")]
    assert findings(experiment(), [run])[: len(run_remarks(run))] == [f"cubic: {part}." for part in text.split("; ")]


@pytest.mark.parametrize(
    "run",
    [
        made_up(),
        lossy("cubic", 0.05),
        lossy("cubic", 0.3, 0.3),
        # the path began to lose after the warm-up
        lossy("cubic", 0.25, 0.25, network={"packet_loss_rate": 0.35}),
        # far below the capacity only bursts are lost
        lossy("cubic", 0.2, network={"ingress_mbps": 20.0}),
        # slow start overflows path and buffer once
        lossy("cubic", 0.08, flow={"stop_s": 1.5}, sent=7_500),
        # 4 packets in flight: Reno loses 9 %
        lossy("cubic", 0.08, sent=1_000),
        # 12 RTTs are mostly slow start.
        lossy("cubic", 0.2, flow={"stop_s": 0.5}),
        made_up(flow={"retransmissions": 2_000}),
        beside(0.06),
        # The application wants no more.
        beside(0.02, starvation_time_s=None),
        # LEDBAT yields to other schemes.
        beside(0.02, scheme="ledbat"),
        # CUBIC drains half of a buffer of 1 BDP.
        made_up(
            flow={"self_inflicted_delay_p10_ms": 21.0, "queueing_delay_mean_ms": 30.0, "packets_dropped": 50},
            link={"mean_queue_delay_ms": 30.0, "max_queue_delay_ms": 40.0, "packets_dropped": 50},
        ),
        # One of eight flows at a time drains its part.
        made_up(
            flow={"self_inflicted_delay_p10_ms": 36.0, "queueing_delay_mean_ms": 38.0, "packets_dropped": 50},
            link={
                "mean_queue_delay_ms": 38.0,
                "max_queue_delay_ms": 40.0,
                "mean_queue_packets": 190.0,
                "packets_dropped": 400,
            },
            flows=8,
        ),
        # the path's delay grew
        made_up(flow={"self_inflicted_delay_p10_ms": 90.0}),
        # a queue of 60 ms, and a longer route for half of the time
        made_up(
            flow={"self_inflicted_delay_p10_ms": 60.0, "queueing_delay_mean_ms": 85.0},
            link={"mean_queue_delay_ms": 60.0},
        ),
        # a slow link: five packets are a long queue
        made_up(flow={"self_inflicted_delay_p10_ms": 90.0}, link={"mean_queue_delay_ms": 90, "mean_queue_packets": 5}),
        made_up(flow={"timeouts": 2}),
        # The path loses packets, holds them, or has room only for a window of a few packets.
        made_up(flow={"timeouts": 4, "packets_dropped": 10}),
        made_up(flow={"timeouts": 4}, link={"max_queue_delay_ms": 900.0}),
        made_up(flow={"timeouts": 4}, link={"capacity_mbps": 1.0}),
        made_up(flow={"timeouts": 4}, link={"max_queue_packets": 1.0}),
        made_up(flow={"timeouts": 4, "acklink": {"loss_rate": 0.3}}),
    ],
)
def test_conduct_that_the_path_explains_is_not_accused(run: Table) -> None:
    assert run_remarks(run) == []


def test_runs_without_a_metric_are_not_judged_by_the_rules_that_need_it() -> None:
    bad = lossy("cubic", 0.993, flow={"timeouts": 40, **STANDING["flow"]}, flows=2)
    bad["network"] |= {"competing_from_s": 1.0, "competing_to_s": 10.0}
    bad["links"][0] |= STANDING["link"] | {"max_queue_delay_ms": 120.0}
    for flow, share in zip(bad["flows"], (0.99, 0.01), strict=True):
        flow |= {"competing_share": share, "packets_sent": 90_000, "retransmissions": 80_000}
    assert len(run_remarks(bad)) > 3
    for name in ("flows", "links"):
        for key in bad[name][0]:
            if key not in ("flow", "scheme"):
                for lacking in ({}, {key: None}):
                    tables = [{k: v for k, v in table.items() if k != key} | lacking for table in bad[name]]
                    run_remarks(bad | {name: tables})
    for lacking in ({"links": []}, {"network": {}}, {"flows": [{"flow": 1, "scheme": "cubic"}]}):
        run_remarks(bad | lacking)
    assert run_remarks(bad | {"links": [], "network": {}, "flows": [{"flow": 1, "scheme": "cubic"}]}) == []


def test_a_path_without_delay_of_data_is_no_internal_error() -> None:
    # All delay is in the direction of the ACKs: the window of a flow was 0, and 1 / 0 ended `show`.
    assert run_remarks(lossy("cubic", 0.3, flow={"owd_min_ms": 0.0, "owd_mean_ms": 0.0})) == []


def test_a_scheme_that_loses_nearly_everything_was_in_front_and_had_the_most_goodput() -> None:
    better = {"goodput_mbps": 55.0, "owd_p95_ms": 25.0}
    runs = [
        lossy("blast", 0.993, network=better),
        made_up("cubic"),
        made_up("bbr", network={"goodput_mbps": 49.0}),
    ]
    report = all_findings(experiment(), runs)
    sentences = report["sentences"]
    assert report["left_out"] == {"p": ["blast"]}, "what the explorer's charts leave out"
    assert sentences[0] == "blast: 99.3 % of the packets are lost after the warm-up."
    assert sentences[1] == (
        "Without blast, on p most goodput and least p95 one-way delay: cubic (50.00 Mbit/s, 30.0 ms)."
    )
    assert sentences[2].startswith("Without blast, most goodput: 50.00 Mbit/s, cubic; ")
    assert not any("blast" in sentence.replace("Without blast", "") for sentence in sentences[1:])
    # One of two schemes remains, and is compared with no other.
    sentences = findings(experiment(), runs[:2])
    assert sentences[1].startswith("cubic carries 50.00 Mbit/s of goodput on p")


def test_schemes_that_all_look_wrong_are_compared() -> None:
    runs = [lossy("blast", 0.993), lossy("flood", 0.8, network={"goodput_mbps": 40.0})]
    sentences = findings(experiment(), runs)
    assert sentences[0] == "Everywhere: 80.0 to 99.3 % of the packets are lost after the warm-up."
    assert "delay: blast (50.00 Mbit/s, 30.0 ms)" in sentences[1]


def test_a_standing_queue_is_marked_where_its_scheme_is_in_front() -> None:
    slow = made_up("cubic", network={"owd_p95_ms": 140.0}, **STANDING)
    sentences = findings(experiment(), [slow, made_up("copa", network={"goodput_mbps": 40.0})])
    assert sentences[0].startswith("cubic: a queue stands")
    assert "copa (40.00 Mbit/s, 30.0 ms) and cubic (50.00 Mbit/s, 140.0 ms, standing queue)" in sentences[1]
    assert sentences[2].startswith("Most goodput: 50.00 Mbit/s, cubic (standing queue); ")


def test_of_schemes_that_are_equal_only_those_with_a_standing_queue_are_marked() -> None:
    slow = made_up("cubic", network={"owd_p95_ms": 140.0}, **STANDING)
    sentences = findings(experiment(), [slow, made_up("bbr"), made_up("copa", network={"goodput_mbps": 40.0})])
    (best,) = (sentence for sentence in sentences if sentence.startswith("Most goodput"))
    assert best.startswith("Most goodput: 50.00 Mbit/s, cubic (standing queue) and bbr; ")


def test_what_looks_wrong_pushes_no_other_finding_out() -> None:
    bad = lossy("blast", 0.5, flow={"retransmissions": 40_000})
    other_runs = [made_up("cubic"), made_up("bbr", network={"goodput_mbps": 49.0})]
    sentences = findings(experiment(), [bad, *other_runs])
    assert [sentence.split(" ")[1] for sentence in sentences[:2]] == ["50.0", "30.0"]
    alone = [f"{sentence[10:]}" for sentence in findings(experiment(), other_runs)[:2]]
    assert [sentence.removeprefix("Without blast, ")[10:] for sentence in sentences[2:4]] == alone


LINK_TABLE = """
[path.p]
data = [
    { kind = "link", rate_mbps = 2.0, queue = { kind = "droptail", packets = 20 } },
    { kind = "delay", delay_ms = 20.0 }%s
]
ack = [{ kind = "delay", delay_ms = 20.0 }]
"""


@pytest.mark.parametrize(
    ("schemes", "more", "accused_schemes"),
    [
        # 4 Mbit/s of UDP into 2 Mbit/s
        (["cubic", "copa", "udp-cbr"], "", {"udp-cbr"}),
        # a tenth is lost at random
        (["cubic", "reno", "bbr", "copa"], ', { kind = "loss", probability = 0.1 }', set()),
        # Each packet is late by up to 15 ms.
        (
            ["cubic", "reno", "bbr", "copa"],
            ', { kind = "jitter", distribution = "uniform", mean_ms = 5.0, deviation_ms = 5.0 }',
            set(),
        ),
    ],
)
def test_simulated_schemes_are_accused_of_what_they_do(
    schemes: list[str], more: str, accused_schemes: set[str], tmp_path: Path
) -> None:
    file = tmp_path / "e.toml"
    names = ", ".join(f'"{scheme}"' for scheme in schemes)
    head = f'name = "e"\npaths = ["p"]\nschemes = [{names}]\nduration_s = 12.0\nlog = "none"\n'
    file.write_text(head + LINK_TABLE % more)
    results = library.run(file, out=tmp_path / "out", jobs=1)
    assert {
        run.scheme for run in results.runs if any("lost" in text for text in run_remarks(run.statistics))
    } == accused_schemes
    for scheme in accused_schemes:
        assert results.findings[0].startswith(f"{scheme}: 5")
        assert not any(f"{scheme} (" in finding for finding in results.findings)


def test_the_page_has_the_bounds_of_the_rules() -> None:
    page = Path("docs/reference/findings.md").read_text()
    rows = dict(re.findall(r"^\| (\w+): [^|]*\| ([^|]*) \|", page.split("### Conduct that looks wrong")[1], re.M))
    assert list(rows) == list(CONDUCT)
    assert rows["loss"].startswith(f"{100 * MOST_LOST:g} %")
    assert rows["repeats"].startswith(f"{100 * MOST_REPEATED:g} %")
    assert rows["starved"].startswith("less than a tenth")
    assert rows["queue"].startswith(f"{MOST_STANDING:g} base RTTs; or {100 * (1 - LEAST_DRAINED):g} %")
    assert LEAST_SHARE == 0.1
    assert rows["timeouts"].startswith(f"{MOST_TIMEOUTS:g},")
    assert f"last for {LEAST_RTTS} base RTTs" in page
