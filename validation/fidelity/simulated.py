"""One flow alone in the simulator, for checks whose paths no experiment has."""

from __future__ import annotations

from typing import Any

import dumbbell

TCP = {"profile": "tcp", "payload_bytes": 1448}
# BBR keeps its own window during recovery
BBR = {**TCP, "recovery": "immediate"}


def simulate(
    controller: str,
    data: list[dict[str, Any]],
    ack: list[dict[str, Any]],
    seconds: float,
    **changes: Any,  # noqa: ANN401 (keys of the run)
) -> dict[str, Any]:
    """One flow alone; returns its statistics with the bottleneck's under `link`."""
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
    """A fixed delay."""
    return {"kind": "delay", "delay_ms": milliseconds}
