"""The benchmark of a Linux module for LEDBAT that measured one segment per delayed ACK."""

from pathlib import Path
from statistics import fmean

import dumbbell
from validation.fidelity.published_check import Check, RowValues, Work

OURS, KERNEL = "ledbat-2017", "bpf-ledbat-2017"
REAL = ("--backend", "emu", "--schemes", KERNEL, "--mix", f"{KERNEL}*2", "--duration", "8")
NEAR = ("--rate", "100mbit", "--rtt", "2ms", "--queue", "1000p")


def rates(directory: Path, path: str, scheme: str, number: int = 1, flow: int | None = 1) -> list[float]:
    """Return the KBytes/s of the server's whole seconds in one run; flow `None` is the sum."""
    (run,) = [
        run for run in dumbbell.open(directory).runs if (run.scheme, run.run) == (scheme, number) and path in run.path
    ]
    transfers = run.transfers(1.0)
    rows = transfers.of("server", total=False) if transfers else []
    return [row.kbytes_per_s for row in rows if row.flow == flow and row.end_s - row.start_s == 1.0]


def steady(values: list[float]) -> dict[str, float]:
    """Return the mean without the first second, and the smallest second."""
    return {"mean": fmean(values[1:]), "least": min(values[1:])}


def measure(directory: Path, scheme: str, number: int = 1) -> dict[str, dict[str, float]]:
    """Return the rates of one stream and of two, in one zone and to another continent."""
    total = rates(directory, "zone", f"{scheme}*2", number, None)
    return {
        "zone/1": steady(rates(directory, "zone", scheme, number)),
        "zone/2": steady(rates(directory, "zone", f"{scheme}*2", number, 2)),
        "zone/sum": steady(total),
        "far": steady(rates(directory, "continents", scheme, number)),
        "far/2": steady(rates(directory, "continents", f"{scheme}*2", number, 2)),
        "first": {"mean": total[0]},
    }


def measure_whole(directory: Path, number: int) -> dict[str, dict[str, float]]:
    """Return the mean and the transfer with the first second included, in the 17.5 s of the published transfer."""
    single_rates, two = (rates(directory, "zone", scheme, number) for scheme in (OURS, f"{OURS}*2"))
    return {"zone/average": {"mean": fmean(single_rates)}, "zone/transfer": {"kbytes": sum(two) + _HALF * two[-1]}}


_HALF = 0.5
"""Length of the last interval of 17.5 s, s; its rate is that of the second before it."""


def simulate(work: Work, count: int) -> list[RowValues]:
    """Return the values of one stream and of two, near and far."""
    usual = work.repetitions("ledbat-2017", count=count)
    near = work.repetitions("ledbat-2017", *NEAR, count=count)
    return [
        measure(usual, OURS, number) | measure_whole(usual, number) | {"near": steady(rates(near, "2ms", OURS, number))}
        for number in range(1, count + 1)
    ]


def real(work: Work) -> RowValues:
    """Return the values of the kernel with the same rule as a BPF controller."""
    return measure(work.results("ledbat-2017", *REAL), KERNEL)


CHECK = Check("R8", "r08_stop_and_wait", simulate, real)
