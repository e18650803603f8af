"""Counters of a machine before and after a run, and the packets that the machine itself lost."""

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
    """Counters of a machine by name: counts of events since the kernel started, and ticks of processors."""

    interfaces: dict[str, dict[str, int]]
    udp: dict[str, int]
    softnet: dict[str, int]
    cpu: dict[str, dict[str, int]]


Differences = dict[str, Any]
"""Counts between two moments, by the same names; of processors the shares of their time."""


def counters() -> Counters:
    """The kernel's counters since it started; those of this process's network namespace. What is not there is absent.

    `interfaces` by name, `udp` over IPv4 and IPv6 together, `softnet` (packets that waited for a processor: `dropped`
    ones found no place), `cpu` and each `cpuN` in ticks.
    """
    found: Counters = {
        "interfaces": _interfaces(),
        "udp": _udp(),
        "softnet": _softnet(),
        "cpu": _processors(),
    }
    return cast("Counters", {key: value for key, value in found.items() if value})


def difference(before: Counters, after: Counters) -> Differences:
    """Return the counts between two moments. Of the processors it has shares of their time: `busy`, and `steal`.

    `busiest` is the share of the processor that was busy most. A counter that one side lacks, or that was set back, is
    absent.
    """
    found: Differences = {
        "udp": _grown(before.get("udp", {}), after.get("udp", {})),
        "softnet": _grown(before.get("softnet", {}), after.get("softnet", {})),
    }
    names = [name for name in after.get("interfaces", {}) if name in before.get("interfaces", {})]
    pairs = {name: (before["interfaces"][name], after["interfaces"][name]) for name in names}
    found["interfaces"] = {name: _grown(*pair) for name, pair in pairs.items()}
    ticks = before.get("cpu", {}), after.get("cpu", {})
    each = {name: _grown(ticks[0][name], ticks[1][name]) for name in ticks[1] if name in ticks[0]}
    found["cpu"] = _shares(each)
    return {key: value for key, value in found.items() if value}


def own_losses(differences: Mapping[str, Differences], duration_s: float, drops: Mapping[str, int]) -> str | None:
    """Return why a run counts as degraded of which the machines lost packets, with the figure; None if they lost none.

    How busy a machine was is no reason: what came in time and was not lost tells of the path.

    Args:
        differences: those of `difference`, by side (`local`, `remote`).
        duration_s: of the run.
        drops: packets that were lost by dumbbell's own making, by where.
    """
    reasons = [f"{count:,} packets were lost {where}" for where, count in drops.items() if count]
    for side, counted in differences.items():
        if dropped := counted.get("softnet", {}).get("dropped"):
            reasons.append(f"{side}: {dropped:,} packets found no place to wait for a processor")
    return f"{reasons[0]} in {duration_s:.10g} s: not the path was the bottleneck" if reasons else None


def _grown(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    return {name: after[name] - before[name] for name in after if name in before and after[name] >= before[name]}


def _shares(ticks: Mapping[str, Mapping[str, int]]) -> dict[str, float]:
    shares = {name: share for name, each in ticks.items() if (share := _busy(each)) is not None}
    if "cpu" not in shares:
        return {}
    whole = ticks["cpu"]
    found = {"busy": shares.pop("cpu")}
    if "steal" in whole:
        found["steal"] = round(whole["steal"] / sum(whole.values()), 4)
    return found | ({"busiest": max(shares.values())} if shares else {})


def _busy(ticks: Mapping[str, int]) -> float | None:
    """The share of the time in which a processor worked, for whomever."""
    total = sum(ticks.values())
    idle = sum(ticks.get(name, 0) for name in _IDLE)
    return round(1.0 - idle / total, 4) if total else None


def _interfaces() -> dict[str, dict[str, int]]:
    found = {}
    for entry in up(_SYSTEM / "class/net"):
        values = {name: read(entry / "statistics" / name) for name in _INTERFACE}
        found[entry.name] = {name: int(value) for name, value in values.items() if value is not None}
    return {name: values for name, values in found.items() if values}


def _udp() -> dict[str, int]:
    """The counters of UDP, both families."""
    rows = [line.split() for line in (read(_PROCESSES / "net/snmp") or "").splitlines() if line.startswith("Udp:")]
    found = dict(zip(rows[0][1:], map(int, rows[1][1:]), strict=True)) if len(rows) == 2 else {}
    found = {name: value for name, value in found.items() if name in _UDP}
    for line in (read(_PROCESSES / "net/snmp6") or "").splitlines():
        name, _, value = line.partition(" ")
        if name.startswith("Udp6") and name.removeprefix("Udp6") in _UDP:
            found[name.removeprefix("Udp6")] = found.get(name.removeprefix("Udp6"), 0) + int(value)
    return found


def _softnet() -> dict[str, int]:
    """Per processor a row of hexadecimal numbers; the first three are processed, dropped, squeezed."""
    rows = [line.split() for line in (read(_PROCESSES / "net/softnet_stat") or "").splitlines()]
    names = ("processed", "dropped", "squeezed")
    return {name: sum(int(row[place], 16) for row in rows) for place, name in enumerate(names)} if rows else {}


def _processors() -> dict[str, dict[str, int]]:
    rows = [line.split() for line in (read(_PROCESSES / "stat") or "").splitlines() if line.startswith("cpu")]
    return {row[0]: dict(zip(_TICKS, map(int, row[1:]), strict=False)) for row in rows}
