"""Counters of a machine before and after a run, and the packet losses caused by the machine."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict, cast

from dumbbell.machine.description import read
from dumbbell.machine.interfaces import up

_INTERFACE = (
    "rx_bytes",
    "rx_packets",
    "rx_errors",
    "rx_dropped",
    "rx_missed_errors",
    "tx_bytes",
    "tx_packets",
    "tx_errors",
    "tx_dropped",
    "tx_fifo_errors",
)
_UDP = ("InDatagrams", "OutDatagrams", "NoPorts", "InErrors", "RcvbufErrors", "SndbufErrors", "MemErrors")
_TICKS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_IDLE = ("idle", "iowait")
_SYSTEM, _PROCESSES = Path("/sys"), Path("/proc")


class Counters(TypedDict, total=False):
    """Counters of a machine by name: events since the kernel started, and ticks of CPUs."""

    interfaces: dict[str, dict[str, int]]
    udp: dict[str, int]
    softnet: dict[str, int]
    cpu: dict[str, dict[str, int]]


Differences = dict[str, Any]
"""Counts between two moments, under the counters' names. For CPUs: shares of their time."""


def counters() -> Counters:
    """Return the kernel's counters for this process's network namespace. Missing counters are left out.

    `interfaces` by name, `udp` over IPv4 and IPv6 together, `softnet` (packets that waited for a CPU: `dropped`
    ones found the queue full), `cpu` and each `cpuN` in ticks.
    """
    values: Counters = {
        "interfaces": _interfaces(),
        "udp": _udp(),
        "softnet": _softnet(),
        "cpu": _processors(),
    }
    return cast("Counters", {key: value for key, value in values.items() if value})


def difference(before: Counters, after: Counters) -> Differences:
    """Return the counts between two moments, and the shares `busy` and `steal` of all CPUs.

    `busiest` is the share of the busiest CPU. A counter that is missing at one moment, or that was set back, is
    absent.
    """
    differences: Differences = {
        "udp": _grown(before.get("udp", {}), after.get("udp", {})),
        "softnet": _grown(before.get("softnet", {}), after.get("softnet", {})),
    }
    names = [name for name in after.get("interfaces", {}) if name in before.get("interfaces", {})]
    pairs = {name: (before["interfaces"][name], after["interfaces"][name]) for name in names}
    differences["interfaces"] = {name: _grown(*pair) for name, pair in pairs.items()}
    ticks = before.get("cpu", {}), after.get("cpu", {})
    cpu_ticks = {name: _grown(ticks[0][name], ticks[1][name]) for name in ticks[1] if name in ticks[0]}
    differences["cpu"] = _shares(cpu_ticks)
    return {key: value for key, value in differences.items() if value}


def own_losses(differences: Mapping[str, Differences], duration_s: float, drops: Mapping[str, int]) -> str | None:
    """Return the reason, with a count, why machines lost packets of a run, so that it is degraded; None without losses.

    A busy machine is not a reason: packets that arrived in time and were not lost are valid.

    Args:
        differences: results of `difference`, by side (`local`, `remote`).
        duration_s: duration of the run, s.
        drops: packets that dumbbell itself lost, by place.
    """
    reasons = [f"{count:,} packets were lost {place}" for place, count in drops.items() if count]
    for side, side_counts in differences.items():
        if dropped_packets := side_counts.get("softnet", {}).get("dropped"):
            reasons.append(f"{side}: {dropped_packets:,} packets found no place to wait for a processor")
    return f"{reasons[0]} in {duration_s:.10g} s: not the path was the bottleneck" if reasons else None


def _grown(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    return {name: after[name] - before[name] for name in after if name in before and after[name] >= before[name]}


def _shares(ticks: Mapping[str, Mapping[str, int]]) -> dict[str, float]:
    shares = {name: share for name, cpu_ticks in ticks.items() if (share := _busy(cpu_ticks)) is not None}
    if "cpu" not in shares:
        return {}
    all_ticks = ticks["cpu"]
    result = {"busy": shares.pop("cpu")}
    if "steal" in all_ticks:
        result["steal"] = round(all_ticks["steal"] / sum(all_ticks.values()), 4)
    return result | ({"busiest": max(shares.values())} if shares else {})


def _busy(ticks: Mapping[str, int]) -> float | None:
    """Return the share of the time in which a CPU worked."""
    total = sum(ticks.values())
    idle = sum(ticks.get(name, 0) for name in _IDLE)
    return round(1.0 - idle / total, 4) if total else None


def _interfaces() -> dict[str, dict[str, int]]:
    values_by_interface = {}
    for entry in up(_SYSTEM / "class/net"):
        values = {name: read(entry / "statistics" / name) for name in _INTERFACE}
        values_by_interface[entry.name] = {name: int(value) for name, value in values.items() if value is not None}
    return {name: values for name, values in values_by_interface.items() if values}


def _udp() -> dict[str, int]:
    """Return the counters of UDP over IPv4 and IPv6 together."""
    rows = [line.split() for line in (read(_PROCESSES / "net/snmp") or "").splitlines() if line.startswith("Udp:")]
    totals = dict(zip(rows[0][1:], map(int, rows[1][1:]), strict=True)) if len(rows) == 2 else {}
    totals = {name: value for name, value in totals.items() if name in _UDP}
    for line in (read(_PROCESSES / "net/snmp6") or "").splitlines():
        name, _, value = line.partition(" ")
        if name.startswith("Udp6") and name.removeprefix("Udp6") in _UDP:
            totals[name.removeprefix("Udp6")] = totals.get(name.removeprefix("Udp6"), 0) + int(value)
    return totals


def _softnet() -> dict[str, int]:
    """Return the totals of a table with a row of hexadecimal numbers for each CPU: processed, dropped, squeezed."""
    rows = [line.split() for line in (read(_PROCESSES / "net/softnet_stat") or "").splitlines()]
    names = ("processed", "dropped", "squeezed")
    return {name: sum(int(row[place], 16) for row in rows) for place, name in enumerate(names)} if rows else {}


def _processors() -> dict[str, dict[str, int]]:
    rows = [line.split() for line in (read(_PROCESSES / "stat") or "").splitlines() if line.startswith("cpu")]
    return {row[0]: dict(zip(_TICKS, map(int, row[1:]), strict=False)) for row in rows}
