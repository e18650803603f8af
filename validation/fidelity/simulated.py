"""Single simulated flows, for checks whose paths no experiment has."""

from __future__ import annotations

from typing import Any

import dumbbell

TCP = {"profile": "tcp", "payload_bytes": 1448}
# BBR keeps its own window during recovery.
BBR = {**TCP, "recovery": "immediate"}


def late(mean_ms: float, deviation_ms: float) -> dict[str, Any]:
    """Return a host's lateness, a uniform random time."""
    return {
        "kind": "jitter",
        "name": "lateness",
        "distribution": "uniform",
        "mean_ms": mean_ms,
        "deviation_ms": deviation_ms,
    }


HOST_OF_2022 = {"data": late(0.67, 0.63), "ack": late(0.72, 0.49)}
"""Host of gtqifan/pantheon@48b2df3, by direction, derived from its nine runs of schemes other than those of P1 and P2
(`dumbbell reproduce DIR --hold-out bbr,cubic,vegas,ledbat,fillp,fillp_sheep`, docs/how-to/reproduce.md, the host
profile)."""


def simulate(
    controller: str,
    data: list[dict[str, Any]],
    ack: list[dict[str, Any]],
    seconds: float,
    **changes: Any,  # noqa: ANN401 (keys of the run)
) -> dict[str, Any]:
    """Simulate one flow alone; return its statistics with the bottleneck's under `link`."""
    usual = BBR if controller == "bbr" else TCP
    spec = {
        "seed": changes.get("seed", 1),
        "duration_s": seconds,
        "log": "none",
        "warmup_s": changes.get("warmup_s", 0.0),
        "path": {"data": data, "ack": ack, **changes.get("path", {})},
        "flows": [
            {
                "scheme": controller,
                "controller": controller,
                "parameters": changes.get("parameters", {}),
                "transport": changes.get("transport", usual),
            }
        ],
    }
    stats: dict[str, Any] = dumbbell.simulate(spec).statistics
    return {**stats["flows"][0], "link": stats["links"][0]}


def delay(milliseconds: float) -> dict[str, Any]:
    """Return a fixed delay."""
    return {"kind": "delay", "delay_ms": milliseconds}
