"""Runs as command lines of ccperf (ccperf.net, experiments #4 and #15), as far as these can express them."""

import shlex
from collections.abc import Mapping
from typing import Any

from dumbbell.catalog.grids.flows import FlowPlan
from dumbbell.catalog.ns3 import names
from dumbbell.results.analysis.axis_words import axis_words
from dumbbell.results.judging.measured import MeasuredCell, MeasuredExperiment, is_many

_PROFILE = "linux-like"
_LINK = {"kind", "name", "rate_mbps", "framing_bytes", "device_packets", "queue"}


def ccperf_line(experiment: MeasuredExperiment, cell: MeasuredCell, label: str) -> str | None:
    """Return the command with the path and the flows of a cell under `label`; None if ccperf cannot express them."""
    path = _path(cell)
    if path is None:
        return None
    flows = [_flow(experiment, cell, plan) for plan in cell.plans[label]]
    options_of_flows = [flow for flow in flows if flow is not None]
    if len(options_of_flows) < len(flows):
        return None
    parameters = {"aut": options_of_flows[0]["--algs"], "path": cell.base} | dict(cell.axis_values)
    parameter_text = ",".join(f"{key}:{_value(value)}" for key, value in parameters.items())
    options = {
        "--experiment-name": experiment.name,
        "--parameters": f"{{{parameter_text}}}",
        "--aut": options_of_flows[0]["--algs"],
        "--stop-time": f"{experiment.experiment.duration_s:g}s",
        "--seed": str(experiment.experiment.seed),
        **path,
        **{key: ",".join(flow[key] for flow in options_of_flows) for key in options_of_flows[0]},
        "--profile": _PROFILE,
    }
    return shlex.join(["dumbbell", "ccperf", *(f"{key}={value}" for key, value in options.items())])


def _value(value: object) -> str:
    return f"[{','.join(map(axis_words, value))}]" if isinstance(value, list) else axis_words(value)


def _path(cell: MeasuredCell) -> dict[str, str] | None:
    """Return the bottleneck's options, if the path is ccperf's dumbbell and never changes."""
    data = [element for element in cell.path.data if not _is_access(element)]
    kinds = [element["kind"] for element in data]
    acks = [element["kind"] for element in cell.path.ack]
    if kinds not in (["link", "delay"], ["link", "loss", "delay"]) or acks != ["link", "delay"]:
        return None
    link, delay, ack_delay = data[0], data[-1], cell.path.ack[-1]
    lossy = data[1] if len(data) > 2 else {"kind": "loss", "probability": 0.0}
    plain = (
        set(link) <= _LINK
        and set(delay) == set(ack_delay) == {"kind", "delay_ms"}
        and set(lossy) == {"kind", "probability"}
    )
    queue = dict(link.get("queue", {}))
    packets = queue.pop("packets", None)
    qdisc = next((name for name, table in names().qdisc.items() if table == queue), None)
    if not plain or delay["delay_ms"] != ack_delay["delay_ms"] or packets is None or qdisc is None:
        return None
    return {
        "--bw": f"{link['rate_mbps']:.10g}Mbps",
        "--loss": f"{lossy['probability']:.10g}",
        "--qlen": f"{packets}p",
        "--qdisc": qdisc,
    }


def _is_access(element: Mapping[str, Any]) -> bool:
    """Return True for the link from the senders, which is part of ccperf's program."""
    return element.get("kind") == "link" and "queue" not in element


def _flow(experiment: MeasuredExperiment, cell: MeasuredCell, plan: FlowPlan) -> dict[str, str] | None:
    """Return the options of one flow."""
    scheme = experiment.experiment.schemes[plan.scheme]
    algorithm = next(
        (name for name, dumbbell_names in names().cca.items() if dumbbell_names[_PROFILE] == scheme.name), None
    )
    application = plan.application or scheme.application
    size = application.get("bytes", 0)
    if algorithm is None or application["kind"] not in ("greedy", "fixed"):
        return None
    if plan.transport or plan.reverse or plan.section() or is_many(plan):
        return None
    rtt_ms = plan.rtt_ms if plan.rtt_ms is not None else 2 * float(cell.path.ack[-1]["delay_ms"])
    stop_s = plan.stop_s if plan.stop_s is not None else experiment.experiment.duration_s
    return {
        "--rtts": f"{rtt_ms:.10g}ms",
        "--protocols": "TCP",
        "--algs": algorithm,
        "--recoveries": names().recovery_name(scheme.transport.get("recovery", "prr")),
        "--start-times": f"{plan.start_s:.10g}s",
        "--stop-times": f"{stop_s:.10g}s",
        "--traffic-models": f"Greedy(bytes={size})",
    }
