"""Random loss: figure 7 of the Copa paper."""

from validation.fidelity.measured import Runs
from validation.fidelity.published_check import Check, RowValues, Work

RATE_MBPS = 12.0
CASES = (("copa", 0.01), ("bbr", 0.01), ("cubic", 0.02), ("pcc", 0.01), ("copa", 0.05), ("reno", 0.02), ("vegas", 0.01))
"""Schemes with the loss rates for which the paper has results."""
REAL_CASES = CASES[:3]
CELLS = ("--cell", ",".join(f"copa-loss.loss_both_ways-{loss:g}" for loss in (0.01, 0.02, 0.05)))
REAL = ("--backend", "emu", "--schemes", "copa,kernel-bbr,kernel-cubic", "--runs", "1", "--duration", "15")
REAL_CELLS = ("--cell", "copa-loss.loss_both_ways-0.01,copa-loss.loss_both_ways-0.02")
REAL_NAMES = {"bbr": "kernel-bbr", "cubic": "kernel-cubic"}


def share(runs: Runs, scheme: str, loss: float) -> dict[str, float]:
    """Return the throughput as a share of the link's rate."""
    return {"share": runs.where(scheme, loss_both_ways=loss).mean("flows.0.throughput_mbps") / RATE_MBPS}


def simulate(work: Work, count: int) -> list[RowValues]:
    """Return shares of 12 Mbit/s."""
    runs = Runs.of(work.repetitions("copa-random-loss", *CELLS, count=count))
    return [
        {f"{scheme}/{loss:g}": share(repetition, scheme, loss) for scheme, loss in CASES}
        for repetition in runs.repetitions(count)
    ]


def real(work: Work) -> RowValues:
    """Return the shares with the kernel's BBR and CUBIC."""
    runs = Runs.of(work.results("copa-random-loss", *REAL, *REAL_CELLS))
    return {f"{scheme}/{loss:g}": share(runs, REAL_NAMES.get(scheme, scheme), loss) for scheme, loss in REAL_CASES}


CHECK = Check("R5", "r05_copa_loss", simulate, real)
