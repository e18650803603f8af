"""The specification of one run, as the core is given it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from dumbbell import core
from dumbbell.base.errors import UserError
from dumbbell.catalog.experiment_settings import Settings
from dumbbell.catalog.families import family
from dumbbell.catalog.grids.flows import FlowPlan
from dumbbell.catalog.open_tables import Transport
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.scheme import CODE, Scheme
from dumbbell.core.paths import complete_transport
from dumbbell.experiment.arrivals import expand

if TYPE_CHECKING:
    from dumbbell.contract.specification import FlowSpec, JitterElement, LogLevel, PathSpec, RunSpec

HOST = "host"
"""What the host of the senders is called among the elements of a path."""


def specification(
    settings: Settings, seed: int, path: PathModel, plans: list[FlowPlan], schemes: dict[str, Scheme]
) -> RunSpec:
    """The run of this seed with these flows on `path`; `schemes` are those that the flows name."""
    flows = _expanded(settings, seed, plans)
    late = starts_s(settings, seed, [flow.start_s for flow in flows])
    flows = [replace(flow, start_s=start_s) for flow, start_s in zip(flows, late, strict=True)]
    return _specified(settings, seed, path, flows, schemes)


def template(settings: Settings, path: PathModel, plans: list[FlowPlan], schemes: dict[str, Scheme]) -> RunSpec | None:
    """Return the specification from which the runs of all seeds differ in seed and starts only.

    Return None where flows arrive, or have sizes, that are drawn from the seed.
    """
    if any(plan.arrivals or isinstance(plan.application.get("bytes"), dict) for plan in plans):
        return None
    return _specified(settings, 0, path, _expanded(settings, 0, plans), schemes)


def starts_s(settings: Settings, seed: int, planned_s: Sequence[float]) -> list[float]:
    """Return when the flows of the run of a seed start, s: each up to the start spread later than planned."""
    spread_s = settings.start_spread_ms / 1e3
    if not spread_s:
        return list(planned_s)
    draw = random.Random(seed)
    return [start_s + round(draw.uniform(0.0, spread_s), 6) for start_s in planned_s]


def _expanded(settings: Settings, seed: int, plans: list[FlowPlan]) -> list[FlowPlan]:
    """Return every single flow, as planned."""
    return expand(plans, seed, settings.duration_s - settings.start_spread_ms / 1e3)


def _specified(
    settings: Settings, seed: int, path: PathModel, flows: list[FlowPlan], schemes: dict[str, Scheme]
) -> RunSpec:
    return {
        "seed": seed,
        "duration_s": settings.duration_s,
        "sample_interval_s": settings.sample_interval_s,
        "convergence_delta": settings.convergence_delta,
        "jain_window_s": settings.jain_window_s,
        "warmup_s": settings.warmup_s or 0.0,
        "most_events_per_s": settings.most_events_per_s,
        "most_packets": settings.most_packets,
        "log": cast("LogLevel", settings.log),
        "path": between_hosts(path.spec(), settings),
        "flows": [_flow(flow, schemes[flow.scheme], path, settings.capabilities.real_packets) for flow in flows],
    }


def between_hosts(path: PathSpec, settings: Settings) -> PathSpec:
    """The path with the time that a host takes to notice ACKs, on average, at its end: exponential, and in order.

    A path without any element stays one, and is refused.
    """
    if settings.capabilities.real_packets or not settings.host_jitter_us or not (path["data"] or path["ack"]):
        return path
    # the last element: others keep their streams of random numbers
    mean_ms = settings.host_jitter_us / 1e3
    late: JitterElement = {"kind": "jitter", "name": HOST, "distribution": "exponential", "mean_ms": mean_ms}
    return {**path, "ack": [*path["ack"], late]}


def _flow(flow: FlowPlan, scheme: Scheme, path: PathModel, real_packets: bool) -> FlowSpec:
    made = {
        "scheme": scheme.name,
        **_sender(replace(scheme, transport=scheme.transport | flow.transport), path),
        **({"loss_based": True} if real_packets and family(scheme.name) == "loss" else {}),
        "application": flow.application or scheme.application,
        "start_s": flow.start_s,
        "stop_s": flow.stop_s,
        "rtt_ms": flow.rtt_ms,
        "reverse": flow.reverse,
        **flow.section(),
    }
    return cast("FlowSpec", made)  # transport and application are as TOML has them: the core checks them


def _sender(scheme: Scheme, path: PathModel) -> dict[str, object]:
    """What makes a flow's packets."""
    if scheme.program is not None:
        return {"program": scheme.program.spec(scheme.parameters)}
    if scheme.real:
        return {"kernel": {"congestion_control": scheme.controller, **scheme.transport}}
    return {
        **_controller(scheme),
        "parameters": scheme.parameters,
        "transport": fitted_transport(scheme, path),
    }


def _controller(scheme: Scheme) -> dict[str, object]:
    """Where a controller over our transport is."""
    if not scheme.is_outside:
        return {"controller": scheme.controller}
    sha256 = {"sha256": scheme.files[scheme.code]} if scheme.code in scheme.files else {}
    return {"controller": scheme.controller, scheme.kind: {CODE[scheme.kind]: scheme.code, **sha256}}


def fitted_transport(scheme: Scheme, path: PathModel) -> Transport:
    """The scheme's transport, its packets made to fit the path's MTU unless it fixes `payload_bytes` itself.

    This is what path MTU discovery does for the programs behind the schemes: 1412 bytes in Pantheon's tunnel.
    """
    if "payload_bytes" in scheme.transport:
        return scheme.transport
    try:
        config = complete_transport(scheme.transport)
    except core.Error:
        # left to `check`, which names the scheme or the flow at fault
        return scheme.transport
    room = path.mtu_bytes - path.overhead_bytes - int(config["header_bytes"])
    if room < 1:
        raise UserError(f"{path.file}: `mtu_bytes` = {path.mtu_bytes}: leaves no room for data of `{scheme.name}`")
    if int(config["payload_bytes"]) <= room:
        return scheme.transport
    return scheme.transport | {"payload_bytes": room}
