"""Throughput under random loss: figure 8 of the BBR paper, as ReBBR measured it again."""

from validation.fidelity.measured import Run, Runs, carried_mbps
from validation.fidelity.published_check import Check, RowValues, Work

CUBIC = (1e-5, 1e-4, 1e-3, 1e-2, 2e-2, 5e-2)
BEFORE = CUBIC
PUBLISHED_CUBIC, PUBLISHED_BBR = "cubic-4.11", "bbr-4.11"
"""Schemes of the experiment with the kernel, the pacing and the sockets of the publication."""
BEHIND = (1e-4, 1e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.15, 0.2)
STARTED = ("--warmup", "5")
REAL = ("--backend", "emu", "--schemes", "kernel-bbr", "--runs", "1")
REAL_LOSSES = (0.01, 0.05)


def cells(path: str, axis: str, losses: tuple[float, ...]) -> tuple[str, str]:
    """Return the option that chooses loss rates."""
    return "--cell", ",".join(f"{path}.{axis}-{loss:g}" for loss in losses)


def delivery_rate(run: Run) -> float:
    """Return the rate at the receiver's end of the path after the start, headers included, Mbit/s."""
    return carried_mbps(run, 0)


def rule(runs: Runs, scheme: str, loss: float) -> dict[str, float]:
    """Return BBR's throughput with loss in front of the link, as in netem: of the whole minute, and after the start."""
    cell = runs.where(scheme, loss_before=loss)
    return {"whole": cell.mean("flows.0.throughput_mbps"), "started": cell.mean(delivery_rate)}


def simulate(work: Work, count: int) -> list[RowValues]:
    """Return ReBBR's table with the loss behind the link, and BBR's rule with the loss in front of it."""
    losses = tuple(sorted({*CUBIC, *BEHIND}))
    table = ("--schemes", f"{PUBLISHED_CUBIC},{PUBLISHED_BBR}", *cells("loss-behind", "loss", losses))
    behind = Runs.of(work.repetitions("bbr-loss", *table, count=count))
    rules = ("--schemes", "bbr", *STARTED, *cells("loss-before", "loss_before", BEFORE))
    before = Runs.of(work.repetitions("bbr-loss-before", *rules, count=count))
    return [
        {f"cubic/{loss:g}": measure_sent(repetition, PUBLISHED_CUBIC, loss) for loss in CUBIC}
        | {f"behind/{loss:g}": measure_sent(repetition, PUBLISHED_BBR, loss) for loss in BEHIND}
        | {f"rule/{loss:g}": rule(other, "bbr", loss) for loss in BEFORE}
        for repetition, other in zip(behind.repetitions(count), before.repetitions(count), strict=True)
    ]


def measure_sent(runs: Runs, scheme: str, loss: float) -> dict[str, float]:
    """Return the rate that the link sent in the whole minute, before the loss behind it."""
    return {"mbps": runs.where(scheme, loss=loss).mean("links.0.throughput_mbps")}


def real(work: Work) -> RowValues:
    """Return the throughput of the kernel's BBR with the loss in front of the link."""
    words = (*STARTED, *REAL, *cells("loss-before", "loss_before", REAL_LOSSES))
    runs = Runs.of(work.results("bbr-loss-before", *words))
    return {f"rule/{loss:g}": rule(runs, "kernel-bbr", loss) for loss in REAL_LOSSES}


CHECK = Check("R12", "r12_loss_sweep", simulate, real)
