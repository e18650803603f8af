"""The run spec of one run for the core."""

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
"""Name of the senders' host among the elements of a path."""


def specification(
    settings: Settings, seed: int, path: PathModel, plans: list[FlowPlan], schemes: dict[str, Scheme]
) -> RunSpec:
    """Return the run spec for this seed with these flows on `path`; `schemes` contains the schemes of the flows."""
    flows = _expand(settings, seed, plans)
    late = starts_s(settings, seed, [flow.start_s for flow in flows])
    flows = [replace(flow, start_s=start_s) for flow, start_s in zip(flows, late, strict=True)]
    return _specify(settings, seed, path, flows, schemes)


def template(settings: Settings, path: PathModel, plans: list[FlowPlan], schemes: dict[str, Scheme]) -> RunSpec | None:
    """Return the run spec from which the runs of all seeds differ in seed and starts only.

    Return None if arrivals or sizes of flows are drawn from the seed.
    """
    if any(plan.arrivals or isinstance(plan.application.get("bytes"), dict) for plan in plans):
        return None
    return _specify(settings, 0, path, _expand(settings, 0, plans), schemes)


def starts_s(settings: Settings, seed: int, planned_s: Sequence[float]) -> list[float]:
    """Return the start times of the flows for a seed, s: each is late by a random part of the start spread."""
    spread_s = settings.start_spread_ms / 1e3
    if not spread_s:
        return list(planned_s)
    draw = random.Random(seed)
    return [start_s + round(draw.uniform(0.0, spread_s), 6) for start_s in planned_s]


def _expand(settings: Settings, seed: int, plans: list[FlowPlan]) -> list[FlowPlan]:
    """Return all single flows, as planned."""
    return expand(plans, seed, settings.duration_s - settings.start_spread_ms / 1e3)


def _specify(
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
    """Return the path with the host's mean delay for processing ACKs at its end: exponential, without reordering.

    A path without elements is returned unchanged, and refused later.
    """
    if settings.capabilities.real_packets or not settings.host_jitter_us or not (path["data"] or path["ack"]):
        return path
    # the last element, so that the others keep their random streams
    mean_ms = settings.host_jitter_us / 1e3
    late: JitterElement = {"kind": "jitter", "name": HOST, "distribution": "exponential", "mean_ms": mean_ms}
    return {**path, "ack": [*path["ack"], late]}


def _flow(flow: FlowPlan, scheme: Scheme, path: PathModel, real_packets: bool) -> FlowSpec:
    flow_spec = {
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
    return cast("FlowSpec", flow_spec)  # the core checks transport and application, which come from TOML


def _sender(scheme: Scheme, path: PathModel) -> dict[str, object]:
    """Return the source of a flow's packets: program, kernel or controller."""
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
    """Return the place of a controller for the built-in transport."""
    if not scheme.is_outside:
        return {"controller": scheme.controller}
    sha256 = {"sha256": scheme.files[scheme.code]} if scheme.code in scheme.files else {}
    return {"controller": scheme.controller, scheme.kind: {CODE[scheme.kind]: scheme.code, **sha256}}


def fitted_transport(scheme: Scheme, path: PathModel) -> Transport:
    """Return the scheme's transport with packets that fit the path's MTU, unless the scheme sets `payload_bytes`.

    Path MTU discovery does this for real programs: 1412 bytes in Pantheon's tunnel.
    """
    if "payload_bytes" in scheme.transport:
        return scheme.transport
    try:
        config = complete_transport(scheme.transport)
    except core.Error:
        # `check` reports this error, and names the faulty scheme or flow
        return scheme.transport
    room = path.mtu_bytes - path.overhead_bytes - int(config["header_bytes"])
    if room < 1:
        raise UserError(f"{path.file}: `mtu_bytes` = {path.mtu_bytes}: leaves no room for data of `{scheme.name}`")
    if int(config["payload_bytes"]) <= room:
        return scheme.transport
    return scheme.transport | {"payload_bytes": room}
