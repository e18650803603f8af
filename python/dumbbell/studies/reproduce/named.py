"""The scheme of a run that was recorded without Pantheon: as the recording says, else by the name of its file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from dumbbell import catalog
from dumbbell.catalog.outside.pantheon_names import Counterpart

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable

_KERNEL = {"cubic": Counterpart("cubic-linux")}
"""Congestion controls of Linux's TCP whose name is that of another scheme here: its CUBIC has HyStart."""
_ROLE = re.compile(r"-(?:tcp|udp)-(?:sent|received)$")
"""What an import adds where the flows of one capture are several runs."""
_COUNT = re.compile(r"[-_.]?(?:run|flow)?[-_.]?[0-9]+$", re.IGNORECASE)


def tool_facts(statistics: RunTable) -> Mapping[str, object]:
    """Return what an import says of the test of a tool; nothing if it is of something else."""
    return statistics.get("iperf3") or statistics.get("iperf") or statistics.get("flent") or {}


def recorded_scheme(label: str, statistics: RunTable) -> str:
    """Return what made a run's traffic: as its tool says, else the name of a scheme in its file's, else all of it.

    `cubic_1`, `site-a_cubic_run2` and `cubic` are of `cubic`.
    """
    told = tool_facts(statistics).get("sender_tcp_congestion")
    if told:
        return str(told)
    known = catalog.schemes().names()
    whole = _ROLE.sub("", label)
    shortened = _COUNT.sub("", whole)
    for name in (whole, shortened):
        if name in known:
            return name
    parts = {part for text in (whole, shortened) for part in text.split("_") if part in known}
    return parts.pop() if len(parts) == 1 else whole


def kernel_counterparts(statistics: RunTable) -> Mapping[str, Counterpart]:
    """Return which schemes stand for the kernel's congestion controls, of a run over the kernel's TCP."""
    captured = statistics.get("capture", {}).get("flows")
    flows = captured if isinstance(captured, list) else []
    is_tcp = bool(tool_facts(statistics)) or "ss" in statistics or any(flow["protocol"] == "TCP" for flow in flows)
    return _KERNEL if is_tcp else {}
