"""The scheme and the path values in a file's name, for runs recorded without Pantheon."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from dumbbell import catalog
from dumbbell.catalog.outside.pantheon_names import Counterpart

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable

_KERNEL = {"cubic": Counterpart("cubic-linux")}
"""Congestion controls of Linux's TCP that share a name with another scheme of dumbbell: Linux's CUBIC has HyStart."""
_ROLE = re.compile(r"-(?:tcp|udp)-(?:sent|received)$")
"""Ending that an import adds if the flows of one capture are several runs."""
_NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,6})?"
_BUFFER = r"(?:buf(?:fer)?s?|queue)(?:[-_]?(?:size|len))?"
_STATED = re.compile(
    rf"(?<![a-z0-9])(?:"
    rf"{_BUFFER}[-_]?{_NUMBER}(?:bdp|[km]?bytes|[km]i?b|pkts?|packets|[bkmp])?"
    rf"|(?:loss[-_]?|q[-_]?){_NUMBER}(?:pct|bdp|[km]?bytes|[km]i?b|pkts?|packets)"
    rf"|{_NUMBER}(?:bdp|pkts?|packets|[kmg]bps|[kmg]bits?|ms|pct)(?:[-_]?{_BUFFER})?"
    rf"|{_NUMBER}(?:[km]i?b|[km]?bytes)[-_]?{_BUFFER}"
    rf")(?![a-z0-9])",
    re.IGNORECASE,
)
"""A buffer, rate, delay or loss with its unit. Seconds are a duration, and a bare number counts runs."""
_COUNT = re.compile(r"[-_.]?(?:run|flow)?[-_.]?[0-9]+$", re.IGNORECASE)


def tool_facts(statistics: RunTable) -> Mapping[str, object]:
    """Return the facts that an import recorded about a tool's test; empty if no tool made the run."""
    return statistics.get("iperf3") or statistics.get("iperf") or statistics.get("flent") or {}


def recorded_scheme(label: str, statistics: RunTable) -> str:
    """Return the scheme that made a run's traffic: from its tool, else from the file's name, else the whole name.

    `cubic_1`, `site-a_cubic_run2`, `cubic-100pkts` and `cubic` have the scheme `cubic`.
    """
    tool_scheme = tool_facts(statistics).get("sender_tcp_congestion")
    if tool_scheme:
        return str(tool_scheme)
    scheme_names = catalog.schemes().names()
    name_part = _ROLE.sub("", label)
    bare = re.sub(r"([-_.])[-_.]+", r"\1", _STATED.sub("", name_part)).strip("-_.")
    texts = (name_part, _COUNT.sub("", name_part), bare, _COUNT.sub("", bare))
    for name in texts:
        if name in scheme_names:
            return name
    parts = {part for text in texts for part in text.split("_") if part in scheme_names}
    return parts.pop() if len(parts) == 1 else name_part


def stated_path(label: str) -> tuple[str, ...]:
    """Return the parts of a file's name that state a path value, in lower case: `cubic_100pkts_2` has one."""
    return tuple(match[0].lower() for match in _STATED.finditer(label))


def kernel_counterparts(statistics: RunTable) -> Mapping[str, Counterpart]:
    """Return the schemes that stand for the kernel's congestion controls; empty without the kernel's TCP."""
    capture_flows = statistics.get("capture", {}).get("flows")
    flows = capture_flows if isinstance(capture_flows, list) else []
    is_tcp = bool(tool_facts(statistics)) or "ss" in statistics or any(flow["protocol"] == "TCP" for flow in flows)
    return _KERNEL if is_tcp else {}
