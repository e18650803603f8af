"""Capacity of this machine for real packets: the rates that the emulator carries punctually, tried one by one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from dumbbell.backends.emu import verdict_of
from dumbbell.base.progress import Progress
from dumbbell.core.runs import emulate
from dumbbell.machine.description import cpus
from dumbbell.machine.emulation import gain_rights, require_emulation

if TYPE_CHECKING:
    from dumbbell.contract.specification import RunSpec
    from dumbbell.contract.statistics import EmulatedRun

Verdict = Literal["carried", "not filled", "degraded", "invalid"]

SENDERS: dict[str, tuple[dict[str, Any], tuple[float, ...]]] = {
    "kernel TCP": (
        {"scheme": "kernel-cubic", "kernel": {"congestion_control": "cubic"}, "loss_based": True},
        (100.0, 300.0, 1000.0, 1500.0, 2000.0, 3000.0),
    ),
    "dumbbell's ends": (
        {"scheme": "cubic", "controller": "cubic", "transport": {"profile": "tcp"}, "loss_based": True},
        (100.0, 300.0, 500.0, 1000.0),
    ),
}
"""The flow of each sender, and the rates that are tried, Mbit/s."""
SECONDS = 0.9
"""Length of a run, s; a third of it is warm-up."""
_TRIES = 2
"""Runs at a rate before the rate counts as not carried, since other work on the machine may delay one."""
_DELAY_MS = 5.0
"""Delay of each direction of the path, ms."""
_LEAST_SHARE = 0.9
"""Share of the link's payload rate that a flow alone has to get: CUBIC with two BDP of queue fills a link."""
PAYLOAD_SHARE = 1448 / 1500
"""Payload of a full packet over its length."""


@dataclass(frozen=True)
class CarriedRate:
    """One run over a link of `rate_mbps` by a flow alone.

    The verdict is `carried`, or why not: the flow did not fill the link, or the run was `degraded` (too late) or
    `invalid` (packets were lost outside the path), as any run with real packets would have been.
    """

    sender: str
    rate_mbps: float
    goodput_mbps: float
    late_p50_us: float
    """Median lateness of packets that left the path, us."""
    late_p99_us: float
    lost_outside: int
    """Packets that were lost outside the path."""
    verdict: Verdict
    reason: str
    """The figure behind a verdict other than `carried`; otherwise an empty string."""


@dataclass(frozen=True)
class Capacity:
    """Rates that a machine carries under its load at that time."""

    rates: tuple[CarriedRate, ...]
    load: float
    """Processes that ran or waited for a CPU, as a mean over the minute before."""
    processors: int

    def most_mbps(self, sender: str) -> float | None:
        """Return the highest rate that was carried, Mbit/s; None if none was."""
        carried_rates = [rate.rate_mbps for rate in self.rates if rate.sender == sender and rate.verdict == "carried"]
        return max(carried_rates, default=None)


def measure_capacity() -> Capacity:
    """Measure the rates that this machine carries with real packets, in about ten seconds.

    For each sender the rates go up until one is not carried in two runs. Unless it is root's, the process enters a user
    namespace and stays there: call this in a process of its own that has one thread.

    Raises:
        dumbbell.Error: Nothing can be emulated here; the message has the fix.
    """
    require_emulation()
    gain_rights()
    load = os.getloadavg()[0]
    with Progress() as progress:
        rates = tuple(rate for sender in SENDERS for rate in _climb(sender, progress))
    return Capacity(rates, load, cpus())


def _climb(sender: str, progress: Progress) -> Iterator[CarriedRate]:
    flow, rates = SENDERS[sender]
    for rate_mbps in rates:
        progress.doing(f"{sender}: {rate_mbps:g} Mbit/s")
        for _ in range(_TRIES):
            rate = carried_rate(sender, rate_mbps, emulate(one_flow(flow, rate_mbps, _DELAY_MS, SECONDS)))
            if rate.verdict == "carried":
                break
        yield rate
        if rate.verdict != "carried":
            return


def carried_rate(sender: str, rate_mbps: float, run: EmulatedRun) -> CarriedRate:
    """Return the rate that a run over a link of `rate_mbps` shows."""
    emulation, flow = run["emulation"], run["flows"][0]
    goodput_mbps = flow["goodput_mbps"] or 0.0
    share = goodput_mbps / (rate_mbps * PAYLOAD_SHARE)
    status, reason = verdict_of(emulation)
    verdict: Verdict = "carried" if status == "done" else status
    if verdict == "carried" and share < _LEAST_SHARE:
        verdict, reason = (
            "not filled",
            f"{100 * share:.0f} % of the link's payload rate, bound {100 * _LEAST_SHARE:g} %",
        )
    late = emulation["lateness_us"]
    return CarriedRate(
        sender=sender,
        rate_mbps=rate_mbps,
        goodput_mbps=goodput_mbps,
        late_p50_us=float(late["p50"]),
        late_p99_us=float(late["p99"]),
        lost_outside=int(emulation["tx_dropped"] + emulation["socket_dropped"]),
        verdict=verdict,
        reason=reason or "",
    )


def one_flow(flow: Mapping[str, Any], rate_mbps: float | None, delay_ms: float, seconds: float) -> RunSpec:
    """Return a run of one flow over a link with a queue of two bandwidth-delay products; without a rate, over no link.

    Args:
        flow: Flow, as the core takes it.
        rate_mbps: Rate of the link, Mbit/s.
        delay_ms: Delay of each direction, ms.
        seconds: Length of the run, s; a third of it is warm-up.
    """
    delay = {"kind": "delay", "delay_ms": delay_ms}
    data: list[dict[str, Any]] = [delay]
    if rate_mbps is not None:
        queue = {"kind": "droptail", "bytes": int(rate_mbps * 1e6 * 2 * delay_ms / 1e3 / 8 * 2)}
        data.insert(0, {"kind": "link", "rate_mbps": rate_mbps, "queue": queue})
    spec = {
        "seed": 1,
        "duration_s": seconds,
        "warmup_s": seconds / 3,
        "log": "none",
        "path": {"data": data, "ack": [delay]},
        "flows": [flow],
    }
    return cast("RunSpec", spec)
