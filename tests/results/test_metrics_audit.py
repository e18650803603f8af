"""Audit of every metric: the core's numbers against those of `support.by_hand.metrics`, computed from logs."""

import json
from pathlib import Path
from typing import Any

import pytest

from dumbbell import _core
from support.by_hand.metrics import flow_metrics
from support.by_hand.network import link_metrics, network_metrics
from support.by_hand.run import Run, Values

Table = dict[str, Any]


QUEUE = {"kind": "droptail", "packets": 30}


def link(rate_mbps: float = 10.0, name: str = "bottleneck", **more: Any) -> Table:  # noqa: ANN401 (JSON values)
    return {"kind": "link", "name": name, "rate_mbps": rate_mbps, "queue": QUEUE} | more


def opportunities(kind: str, **more: Any) -> Table:  # noqa: ANN401
    return {"kind": kind, "name": "bottleneck", "queue": QUEUE} | more


def aqm(kind: str, **more: Any) -> Table:  # noqa: ANN401
    return link(queue={"kind": kind, "packets": 200} | more)


def delay(delay_ms: float = 10.0, **more: Any) -> Table:  # noqa: ANN401
    return {"kind": "delay", "delay_ms": delay_ms} | more


def flow(controller: str = "reno", start_s: float = 0.0, stop_s: float | None = None, **more: Any) -> Table:  # noqa: ANN401
    transport = {"profile": "tcp"} | more.pop("transport", {})
    application = more.pop("application", {"kind": "greedy"})
    fields = {"scheme": controller, "controller": controller, "parameters": {}, "start_s": start_s, "stop_s": stop_s}
    return fields | {"transport": transport, "application": application} | more


def transfer(controller: str, start_s: float, size: int) -> Table:
    return flow(controller, start_s, application={"kind": "fixed", "bytes": size})


def video(**more: Any) -> Table:  # noqa: ANN401
    return flow("gcc", transport={"profile": "datagram"}, application={"kind": "encoder"} | more)


def run(data: list[Table], *flows: Table, ack: list[Table] | None = None, **more: Any) -> Table:  # noqa: ANN401
    defaults = {"seed": 1, "duration_s": 4.0, "sample_interval_s": 0.1, "warmup_s": 0.0, "convergence_delta": 0.2}
    path = {"data": data, "ack": ack or [delay()]} | more.pop("path", {})
    return defaults | {"log": "full", "path": path, "flows": list(flows) or [flow()]} | more


ECN = {"ecn": "ect0"}
MARKED = (flow(transport=ECN), flow("cubic", 0.5))
RUNS: dict[str, Table] = {
    "one-flow": run([link(), delay()]),
    "three-flows": run([link(), delay()], flow(), flow("cubic", 0.73, rtt_ms=60.0), flow("bbr", 1.3, 3.1, rtt_ms=35.0)),
    "reverse": run([link(), delay()], flow(), flow("cubic", 0.5, reverse=True), ack=[link(5.0, name="back"), delay()]),
    "transfers": run(
        [link(), delay()],
        flow(),
        transfer("cubic", 1.0, 50_000),
        transfer("cubic", 1.25, 1000),
        transfer("reno", 1.5, 300_000),
        transfer("reno", 2.5, 50_000),
        transfer("reno", 3.5, 9_000_000),
    ),
    "two-transfers": run([link(), delay()], transfer("reno", 0.0, 2_000_000), transfer("cubic", 0.25, 1_500_000)),
    "random-loss": run([link(), {"kind": "loss", "probability": 0.02}, delay()]),
    "codel": run([aqm("codel", ecn=True), delay()], *MARKED),
    "pie": run([aqm("pie", ecn=True), delay()], *MARKED),
    "red": run([aqm("red", ecn=True, min_threshold_packets=5, max_threshold_packets=15), delay()], *MARKED),
    "dualpi2": run([aqm("dualpi2"), delay()], flow("prague", transport={"ecn": "ect1"}), flow("cubic", 0.5)),
    "policer": run([{"kind": "policer", "name": "policer", "rate_mbps": 5.0, "burst_bytes": 15_000}, delay()]),
    "shaper": run([link(kind="shaper", burst_bytes=15_000), delay()]),
    "trace": run([opportunities("trace", even={"lines": 833, "period_ms": 1000}), delay()]),
    "cellular": run([opportunities("cellular", mean_mbps=5.0), delay()]),
    "rate-up": run(
        [link(schedule=[{"at_s": 2.0, "rate_mbps": 20.0}]), delay()], flow("cubic"), flow("cubic", 0.55, 3.96)
    ),
    "rate-down": run([link(schedule=[{"at_s": 2.0, "rate_mbps": 5.0}]), delay()], flow("cubic")),
    "pulse": run(
        [
            link(schedule=[{"at_s": at, "rate_mbps": rate} for at, rate in [(1.0, 5.0), (2.0, 10.0), (3.0, 5.0)]]),
            delay(schedule=[{"at_s": 2.53, "delay_ms": 20.0}]),
        ],
        flow("cubic"),
    ),
    "outage": run(
        [link(schedule=[{"at_s": 1.0, "rate_mbps": 0.0}, {"at_s": 2.5, "rate_mbps": 10.0}]), delay()], flow("cubic")
    ),
    "cbr": run(
        [link(), delay()],
        flow("unresponsive", transport={"profile": "datagram"}, application={"kind": "constant", "rate_mbps": 3.0}),
        flow("reno", 0.5),
    ),
    "warm-up": run([link(), delay()], flow(), flow("cubic", 2.03, 3.4), warmup_s=1.55, duration_s=4.05),
    "over-before-warm-up": run([link(), delay()], flow(), flow("cubic", 0.5, 1.0), warmup_s=2.0),
    "shorter-than-a-sample": run([link(), delay()], flow(), flow("cubic", 0.51, 0.59)),
    "nothing-delivered": run([link(), delay()], flow(), flow("cubic", 3.9999)),
    "coarse-samples": run([link(), delay()], flow(), flow("cubic", 0.4), sample_interval_s=0.25),
    "delayed-acks": run([link(), delay()], flow(transport={"ack_every": 4, "ack_delay_ms": 100.0})),
    "quic": run([link(), delay()], flow("cubic", transport={"profile": "quic"})),
    "ns3": run([link(), delay()], flow(transport={"profile": "ns3-compat"})),
    "send-buffer": run([link(), delay()], flow(transport={"send_buffer_bytes": 400_000})),
    "parking-lot": run(
        [link(10.0, "hop-1"), link(8.0, "hop-2"), delay()],
        flow(),
        flow("cubic", 0.2, enter="hop-1", leave="hop-1", rtt_ms=30.0),
        flow("cubic", 0.4, enter="hop-2", leave="hop-2", rtt_ms=30.0),
    ),
    "duplicates": run([link(), {"kind": "duplicate", "probability": 0.05}, delay()]),
    "reordering": run([link(), {"kind": "reorder", "probability": 0.01, "delay_ms": 10.0}, delay()]),
    "dropped-feedback": run(
        [link(), delay()],
        flow(transport={"receiver": {"kind": "drop-feedback", "probability": 0.3}}),
        flow("cubic", 0.5),
    ),
    "lost-acks": run([link(), delay()], ack=[{"kind": "loss", "probability": 0.2}, delay()]),
    "overhead": run([link(framing_bytes=38), delay()], path={"overhead_bytes": 36, "mtu_bytes": 1536}),
    "long-queue": run([link(2.0, queue={"kind": "infinite"}), delay()], flow(), flow("cubic", 0.5)),
    "video": run([link(1.0), delay()], video(), warmup_s=1.0),
    "video-both-ways": run(
        [link(1.0), delay()],
        video(),
        video() | {"reverse": True},
        ack=[link(0.6, name="back"), delay()],
    ),
    "video-stalls": run(
        [link(1.0, schedule=[{"at_s": 2.0, "rate_mbps": 0.0}, {"at_s": 3.0, "rate_mbps": 1.0}]), delay()],
        video(),
        flow("cubic", 0.5, 3.5),
        warmup_s=0.5,
        duration_s=6.0,
    ),
    "video-pauses": run(
        [link(1.0), delay()], video(pauses=[[0.5, 1.5], [2.0, 2.5], [3.5, 9.0]]), warmup_s=1.0, duration_s=5.0
    ),
}
NOT_AT_LINKS = ("reverse", "policer", "video-both-ways")
"""Runs whose packet log does not say what passed a link: it has no queue, or other flows' ACKs pass it."""

NOT_IN_THE_LOG = {
    *("flow", "scheme", "start_s", "stop_s", "link", "direction", "invalid_reason", "convergence_delta"),
    *("convergence_window_s", "jain_window_s", "sample_interval_s", "utilization"),
    *("media", "media.frames_written", "media.frames_skipped"),
    *(f"rtt_{name}_ms" for name in ("min", "mean", "p50", "p95", "p99")),  # of what one end alone saw
}
"""Labels, and values that the files of a run do not contain a second time."""
ROUNDED = {
    # Sample files have times in whole ns and rates in whole bit/s; the core integrated exact values.
    **dict.fromkeys(("mean_srtt_ms", "mean_srtt_l4", "mean_est_qdelay_l4"), 1e-6),
    **dict.fromkeys(("mean_network_power_l4", "mean_delivery_rate_l4"), 1e-6),
}


def flat(values: Values) -> Values:
    """Return values with the name `a.b` for key `b` of the object `a`."""
    tables = {key: value for key, value in values.items() if isinstance(value, dict)}
    inner = {f"{outer}.{key}": value for outer, table in tables.items() for key, value in table.items()}
    return {key: value for key, value in values.items() if key not in tables} | inner


def compare(place: str, by_hand: Values, core_values: Values) -> list[str]:
    core_values = flat(core_values)
    unknown = set(by_hand) - set(core_values)
    assert not unknown, f"{place}: the core has no {unknown}"
    return [
        f"{place}.{name}: {core_values[name]}, by hand {value}"
        for name, value in by_hand.items()
        if not equal(value, core_values[name], ROUNDED.get(name, 1e-9))
    ]


def equal(first: Any, other: Any, relative: float) -> bool:  # noqa: ANN401 (any metric)
    if first is None or other is None or isinstance(first, bool | list):
        return bool(first == other)
    return bool(first == pytest.approx(other, rel=relative, abs=1e-9))


def audit(specification: Table, folder: Path) -> tuple[Run, Values]:
    document = json.loads(_core.simulate(json.dumps(specification), str(folder)))
    return Run(folder, specification), document


@pytest.mark.parametrize("name", RUNS)
def test_what_the_core_says_follows_from_the_log_by_the_definitions(name: str, tmp_path: Path) -> None:
    audited_run, core_values = audit(RUNS[name], tmp_path)
    different = compare("network", network_metrics(audited_run), core_values["network"])
    for audited_flow, metrics in zip(audited_run.flows, core_values["flows"], strict=True):
        different += compare(f"flow {audited_flow.number}", flow_metrics(audited_flow), metrics)
    if name not in NOT_AT_LINKS:
        links = {link_values["link"]: link_values for link_values in core_values["links"]}
        for label, metrics in link_metrics(audited_run).items():
            different += compare(label, metrics, links[label])
    assert not different, "\n".join(different)


def test_the_audit_leaves_no_metric_out(tmp_path: Path) -> None:
    specification = RUNS["video-stalls"]
    audited_run, core_values = audit(specification, tmp_path)
    [(label, metrics)] = link_metrics(audited_run).items()
    pairs: list[tuple[Values, Values]] = [
        (network_metrics(audited_run), core_values["network"]),
        (flow_metrics(audited_run.flows[0]), core_values["flows"][0]),
        (metrics, next(link_values for link_values in core_values["links"] if link_values["link"] == label)),
    ]
    assert [set(flat(all_values)) - set(by_hand) - NOT_IN_THE_LOG for by_hand, all_values in pairs] == [set()] * 3
