"""What it does to share the limit of the queue with the delay line before it, as Mininet builds links."""

from dumbbell import _core
from validation.fidelity.published_check import Check, Row, Work
from validation.fidelity.staircase import FAST, Medians, medians

WHY = {"cubic": "by little: 0.7 of what fills the path and half a BDP of queue still fills the path"}


def run(work: Work) -> list[Row]:
    """Utilisation and delay over both queues."""
    directory = work.results("copa-fairness", *FAST)
    used, delays = medians(directory, "utilization"), medians(directory, "owd_p95_ms")
    rows = []
    for scheme in ("cubic", "reno"):
        plain, shared = used["ideal-46", scheme], used["mininet-46", scheme]
        low, high, _ = _core.difference(list(plain.values), list(shared.values), False, 0.95) or (0.0, 0.0, 1.0)
        rows.append(
            Row(
                f"{scheme}: utilisation, plain queue, then shared limit",
                "falls",
                "95 % interval of the difference below 0",
                f"{plain.mean:.1%}, {shared.mean:.1%} [{low:+.1%}, {high:+.1%}]",
                passed=high < 0,
                why=WHY.get(scheme, ""),
            )
        )
    return [*rows, *(_delay(delays, scheme) for scheme in ("cubic", "bbr"))]


def _delay(delays: dict[tuple[str, str], Medians], scheme: str) -> Row:
    """77 packets take 20.3 ms at the link's rate: behind 10 ms of delay, or with them inside."""
    plain, shared = (delays[path, scheme].mean for path in ("ideal-46", "mininet-46"))
    slots_ms = 77 * 1514 * 8 / 46e3
    return Row(
        f"{scheme}: 95th percentile of the one-way delay, ms",
        f"{10 + slots_ms:.1f}, {slots_ms:.1f} (computed)",
        "1 ms",
        f"{plain:.1f}, {shared:.1f}",
        passed=abs(plain - 10 - slots_ms) <= 1.0 and abs(shared - slots_ms) <= 1.0,
    )


CHECK = Check(
    id="R3",
    title="A queue of 77 packets, and one that shares them with the delay line (Mininet)",
    source="mininet/mininet, `mininet/link.py` (`bwCmds`, `delayCmds`); nadinelyab/Copa_Reproduction@72499f0",
    commands=(f"dumbbell run copa-fairness {' '.join(FAST)}",),
    run=run,
)
