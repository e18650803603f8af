"""Conversion of ccperf's command line into an experiment: schemes by name, the path, and the flows."""

import argparse
from collections.abc import Sequence
from dataclasses import replace

from dumbbell import catalog
from dumbbell.base.errors import UserError
from dumbbell.base.names import RULE, is_name
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.grids.cell import Cell
from dumbbell.catalog.grids.flows import FlowPlan
from dumbbell.catalog.ns3 import names
from dumbbell.catalog.open_tables import Application, Element
from dumbbell.catalog.options.parser import StrictParser
from dumbbell.catalog.options.values import shell_words
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.quantities import rate_mbps
from dumbbell.catalog.scheme import Scheme
from dumbbell_ccperf.arguments import add_arguments, check_program
from dumbbell_ccperf.traffic import application
from dumbbell_ccperf.values import counterpart, items, parameters, probability, queue_limit, seconds, whole_number

ACCESS_MBPS = 10_000.0
FRAMING_BYTES = 2
DEVICE_PACKETS = 1
"""Queue length of the access links and the bottleneck's device, packets.

This length and `FRAMING_BYTES` give the numbers of ccperf's experiment #15 in ns-3.41.

`docs/how-to/ccperf.md` has the set-up.
"""

UDP_SCHEMES = {"constant": "udp-cbr", "poisson": "udp-poisson"}
NO_ALGORITHM = ("", "-", "none")


def ccperf_plan(command: str | Sequence[str] | argparse.Namespace) -> ExperimentFile:
    """Return the experiment of a command that ccperf prints: a string, its arguments, or parsed options.

    The program's name may precede them. Options for the output of results are ignored.

    Raises:
        dumbbell.Error: an option or value that is not allowed, or a name without counterpart.
    """
    arguments = command if isinstance(command, argparse.Namespace) else _parse(command)
    check_program(arguments.program)
    values = parameters(arguments.parameters)
    duration_s = seconds("--stop-time", arguments.stop_time)
    rtts_ms = [1e3 * seconds("--rtts", rtt) for rtt in items(arguments.rtts)]
    _check_nodes(arguments, len(rtts_ms))
    flows, schemes = _flows(arguments, rtts_ms, duration_s)
    under_test = values.get("aut") if arguments.aut is None else arguments.aut
    label = flows[0].scheme
    if under_test is not None and under_test not in schemes:
        label = counterpart("--aut", under_test, dict(names().cca))
        schemes[label] = _scheme(label, arguments.profile)
    elif under_test is not None:
        label = under_test
    path = _path(arguments, values.get("path"), min(rtts_ms))
    name = arguments.experiment_name
    if not is_name(name):
        raise UserError(f"--experiment-name `{name}`: allowed are {RULE}")
    return ExperimentFile(
        name=name,
        schemes=[label],
        paths=[path.name],
        duration_s=duration_s,
        warmup_s=0.0,
        host_jitter_us=0.0,
        start_spread_ms=0.0,
        seed=whole_number("--seed", arguments.seed),
        cells={path.name: Cell(path, tuple(flows), values, path.name)},
        own_schemes=schemes,
        own_paths={path.name: path},
        file="dumbbell ccperf",
    )


def _parse(command: str | Sequence[str]) -> argparse.Namespace:
    parser = StrictParser(prog="dumbbell ccperf", allow_abbrev=False)
    add_arguments(parser)
    return parser.parse_args(shell_words(command, "ccperf") if isinstance(command, str) else command)


def _path(arguments: argparse.Namespace, name: str | None, rtt_ms: float) -> PathModel:
    """Return ccperf.net's dumbbell topology as in ns-3.41: loss and the whole propagation delay behind the bottleneck.

    Its delay is the shortest flow's; flows with a longer one bring the difference along.
    """
    if name is not None:
        catalog.paths().find(name)
    rate = float(rate_mbps(arguments.bw, "--bw"))
    loss = probability("--loss", arguments.loss)
    queue = names().qdisc[counterpart("--qdisc", arguments.qdisc, dict(names().qdisc))]
    link = {"kind": "link", "framing_bytes": FRAMING_BYTES}
    delay = {"kind": "delay", "delay_ms": rtt_ms / 2}
    device: Element = link | {"rate_mbps": rate, "device_packets": DEVICE_PACKETS}
    bottleneck = device | {"name": "bottleneck", "queue": queue | queue_limit("--qlen", arguments.qlen)}
    lossy = [{"kind": "loss", "probability": loss}] if loss else []
    description = f"{rate:g} Mbit/s, RTT {rtt_ms:g} ms, {arguments.qlen}, {arguments.qdisc}"
    return PathModel(
        name=name or "dumbbell",
        title=description + (f", loss {loss:g}" if loss else ""),
        provenance="the options of `dumbbell ccperf`",
        data=[link | {"name": "access", "rate_mbps": ACCESS_MBPS}, bottleneck, *lossy, delay],
        ack=[device | {"name": "return"}, delay],
        file="dumbbell ccperf",
    )


def _flows(
    arguments: argparse.Namespace, rtts_ms: list[float], duration_s: float
) -> tuple[list[FlowPlan], dict[str, Scheme]]:
    """Return all flows, and the schemes that they use."""
    count = len(rtts_ms)
    algorithms = _list(arguments, "algs", count, "")
    protocols = _list(arguments, "protocols", count, "TCP")
    recoveries = _list(arguments, "recoveries", count, "TcpPrrRecovery")
    starts = _list(arguments, "start_times", count, "0s")
    stops = _list(arguments, "stop_times", count, arguments.stop_time)
    models = _list(arguments, "traffic_models", count, "Greedy(bytes=0)")
    flows: list[FlowPlan] = []
    schemes: dict[str, Scheme] = {}
    for index in range(count):
        traffic = application(models[index])
        scheme = _flow_scheme(index + 1, protocols[index], algorithms[index], traffic, arguments.profile)
        schemes[scheme.name] = scheme
        tcp = protocols[index] == "TCP"
        recovery = names().recovery[counterpart("--recoveries", recoveries[index], dict(names().recovery))]
        start, stop = seconds("--start-times", starts[index]), seconds("--stop-times", stops[index])
        if not start < stop <= duration_s:
            raise UserError(
                f"--stop-times: flow {index + 1} sends from {starts[index]} to {stops[index]}: "
                f"allowed are times in this order, up to --stop-time {arguments.stop_time}"
            )
        flows.append(
            FlowPlan(
                scheme=scheme.name,
                start_s=start,
                stop_s=stop,
                rtt_ms=rtts_ms[index] if rtts_ms[index] != min(rtts_ms) else None,
                application=traffic,
                transport={"recovery": recovery[arguments.profile]} if tcp else {},
            )
        )
    return flows, schemes


def _list(arguments: argparse.Namespace, key: str, count: int, default: str) -> list[str]:
    """Return the values of an option, one per flow."""
    text = getattr(arguments, key)
    if text is None:
        return [default] * count
    entries = items(text)
    if len(entries) != count:
        option = f"--{key.replace('_', '-')}"
        raise UserError(
            f"{option} `{text}`: has {len(entries)} values, --rtts has {count}: needed is one for each flow"
        )
    return entries


def _check_nodes(arguments: argparse.Namespace, count: int) -> None:
    """Check that every flow has its own pair of nodes, in order."""
    for key, node in (("sources", "src"), ("destinations", "dst")):
        node_names = [f"{node}_{index}" for index in range(count)]
        if _list(arguments, key, count, "") != node_names and getattr(arguments, key) is not None:
            raise UserError(f"--{key} `{getattr(arguments, key)}`: allowed is a node per flow: {','.join(node_names)}")


def _flow_scheme(number: int, protocol: str, algorithm: str, traffic: Application, profile: str) -> Scheme:
    if protocol == "TCP":
        return _scheme(counterpart("--algs", algorithm, dict(names().cca)), profile)
    if protocol != "UDP":
        raise UserError(f"--protocols `{protocol}`: allowed are TCP and UDP")
    if algorithm not in NO_ALGORITHM:
        raise UserError(f"--algs `{algorithm}`: flow {number} is UDP, which has none: allowed is -")
    if traffic["kind"] not in UDP_SCHEMES:
        raise UserError(
            f"--traffic-models: flow {number} is UDP, whose rate nothing limits: allowed are CBR and Poisson"
        )
    return catalog.schemes().find(UDP_SCHEMES[traffic["kind"]])


def _scheme(name: str, profile: str) -> Scheme:
    """Return the scheme that stands for ns-3's TypeId `name`, under that name."""
    scheme = catalog.schemes().find(names().cca[name][profile])
    transport = scheme.transport | {"profile": profile}
    return replace(scheme, name=name, title=name, aliases=(), transport=transport, file="dumbbell ccperf")
