"""The benchmark of a Linux module for LEDBAT that measured one segment per delayed ACK."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from statistics import mean

import dumbbell
from validation.fidelity.published_check import Check, Failed, Row, Work

OURS, KERNEL = "ledbat-2017", "bpf-ledbat-2017"
REAL = ("--backend", "emu", "--schemes", KERNEL, "--mix", f"{KERNEL}*2", "--duration", "8")
NEAR = ("--rate", "100mbit", "--rtt", "2ms", "--queue", "1000p")
QUICK = (
    "Linux's receiver acknowledges the first segments at once, ours delays from the start on; "
    "what else let 90 pass in a second is not known"
)

INFLATED = (
    "real: not judged. Linux doubles a delayed ACK that it waited for in vain, up to 200 ms where the round trip is as "
    "long: from the fourth second on a segment takes 435 ms, not 275. The published 5 has another reason, or path"
)


def rates(directory: Path, path: str, scheme: str, flow: int | None = 1) -> list[float]:
    """KBytes/s of the server's whole seconds; flow `None` is the sum."""
    (run,) = [run for run in dumbbell.open(directory).runs if run.scheme == scheme and path in run.path]
    transfers = run.transfers(1.0)
    rows = transfers.of("server", total=False) if transfers else []
    return [row.kbytes_per_s for row in rows if row.flow == flow and row.end_s - row.start_s == 1.0]


def shown(values: list[float]) -> str:
    """The mean and where the rows lie."""
    return f"{mean(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def row(what: str, published: str, middle: float, off: float, found: list[list[float]]) -> Row:
    """A row of what was found in simulation and, if it was looked for, with real packets; without the first second."""
    steady = [values[1:] for values in found]
    passed = all(abs(mean(values) - middle) <= off for values in steady)
    texts = [shown(values) for values in steady]
    return Row(what, published, f"mean {middle:g} +/- {off:g}", *texts, passed=passed)


def far(found: list[list[float]]) -> Row:
    """The long path: only the simulation is judged, which has the fixed delayed ACK that explains the figure."""
    judged = row("Europe to Asia, one stream", "about 5", 5.0, 0.5, found[:1])
    return replace(judged, emu=shown(found[1][1:]), why=INFLATED) if len(found) > 1 else judged


def run(work: Work) -> list[Row]:
    """One stream, two, near and far."""
    places: list[tuple[Path, str]] = [(work.results("ledbat-2017"), OURS)]
    if work.emulate:
        # A kernel that takes no controllers in BPF has none of it.
        with suppress(Failed):
            places.append((work.results("ledbat-2017", *REAL), KERNEL))

    def both(path: str, streams: int, flow: int | None) -> list[list[float]]:
        name: Callable[[str], str] = lambda scheme: scheme if streams == 1 else f"{scheme}*{streams}"  # noqa: E731
        return [rates(directory, path, name(scheme), flow) for directory, scheme in places]

    near = rates(work.results("ledbat-2017", *NEAR), "2ms", OURS)
    first = both("zone", 2, None)
    return [
        row("one zone, one stream, KBytes/s", "31.6, some seconds 30.2", 31.6, 1.5, both("zone", 1, 1)),
        row("two streams: each of them", "31.6, some seconds 30.2", 31.6, 1.5, both("zone", 2, 2)),
        row("two streams: [SUM]", "63.2, some seconds 60.5", 63.2, 3.0, both("zone", 2, None)),
        replace(
            row("one stream, RTT 2 ms, 100 Mbit/s (nothing derived from the table)", "31.6", 31.6, 1.5, [near]),
            why="23.8 segments of 1408 bytes per second",
        ),
        far(both("continents", 1, 1)),
        Row("two streams: first second of [SUM]", "248", "shown", *(f"{values[0]:.0f}" for values in first), why=QUICK),
    ]


CHECK = Check(
    id="R8",
    title="LEDBAT's kernel module of 2017: stop and wait",
    source="Task 5 - Custom Network, KTH (Linux 4.9.0, silviov/TCP-LEDBAT@4e30e77, iperf 2); "
    "[LEDBAT](papers/ledbat.md)",
    commands=(
        "dumbbell run ledbat-2017",
        "dumbbell run ledbat-2017 --backend emu --schemes bpf-ledbat-2017 --mix 'bpf-ledbat-2017*2'",
    ),
    run=run,
)
