"""Throughput under random loss: figure 8 of the BBR paper, as ReBBR measured it again."""

from validation.fidelity.measured import Run, Runs, carried_mbps, value
from validation.fidelity.published_check import Check, Row, Work

RATE_MBPS = 100.0
PUBLISHED = {  # kernel 4.11.1, 60 s: what leaves the link, in Mbit/s
    "cubic": {1e-5: 98.81, 1e-4: 34.14, 1e-3: 5.92, 1e-2: 1.62, 2e-2: 1.00, 5e-2: 0.61},
    "bbr": {1e-4: 95.19, 1e-3: 94.94, 1e-2: 85.37, 2e-2: 84.10, 5e-2: 76.89, 0.1: 74.56, 0.15: 70.34, 0.2: 67.38},
}
CAPPED = "published behind a receive buffer of 6.55 MB"
BEYOND = "1.25 (1 - p) is below 1 from 20 % on: BBR cannot find a higher rate, and any start decays"
STARTED = ("--warmup", "5")
"""The rule is of what loss costs; the start costs 2 to 3 % of a minute, with or without loss."""
REAL = ("--backend", "emu", "--schemes", "kernel-bbr", "--runs", "1")
REAL_CELLS = ("--cell", "loss-before.loss_before-0.01,loss-before.loss_before-0.05")


def run(work: Work) -> list[Row]:
    """ReBBR's table with the loss behind the link, and BBR's rule with the loss in front of it."""
    behind = Runs.of(work.results("bbr-loss", "--schemes", "cubic,bbr"))
    before = Runs.of(work.results("bbr-loss-before", *STARTED))
    real = Runs.of(work.results("bbr-loss-before", *STARTED, *REAL, *REAL_CELLS)) if work.emulate else Runs(())
    rows = [
        *(cubic(loss, behind) for loss in PUBLISHED["cubic"]),
        *(rule(loss, before, real) for loss in (1e-5, 1e-4, 1e-3, 1e-2, 2e-2, 5e-2)),
    ]
    for loss, published in PUBLISHED["bbr"].items():
        mine = behind.where("bbr", loss=loss).mean("links.0.throughput_mbps")
        rows.append(
            Row(
                f"bbr at {loss:.2%}, lost behind the link: sent by the link, Mbit/s",
                f"{published:.2f}",
                "",
                f"{mine:.2f}",
                why=(CAPPED if 1e-3 < loss < 0.1 else BEYOND if loss >= 0.1 else ""),
            )
        )
    return rows


def cubic(loss: float, behind: Runs) -> Row:
    """CUBIC's throughput beside the published one."""
    published = PUBLISHED["cubic"][loss]
    mine = behind.where("cubic", loss=loss).mean("links.0.throughput_mbps")
    return Row(
        f"cubic at {loss:.3%}: sent by the link, Mbit/s",
        f"{published:.2f}",
        "within a factor of 2",
        f"{mine:.2f}",
        passed=0.5 <= mine / published <= 2.0,
    )


def delivered(run: Run) -> float:
    """What the receiver's end of the path saw after the start, headers included, Mbit/s."""
    return carried_mbps(run, 0)


def with_start(run: Run) -> float:
    """The same of the whole minute."""
    return value(run, "flows.0.throughput_mbps")


def rule(loss: float, before: Runs, real: Runs) -> Row:
    """BBR's throughput where loss comes first, as netem has it."""
    least = 0.95 * (1.0 - loss) * RATE_MBPS
    cells = [before.where("bbr", loss_before=loss)]
    kernel = real.where("kernel-bbr", loss_before=loss)
    if kernel.runs:
        cells.append(kernel)
    found = [cell.mean(delivered) for cell in cells]
    return Row(
        f"bbr at {loss:.3%}, lost in front of the link: delivered after 5 s, Mbit/s",
        f"(1 - p) of the rate: {(1.0 - loss) * RATE_MBPS:.1f}",
        f">= 95 % of that: {least:.1f}",
        *(f"{one:.2f}" for one in found),
        passed=all(one >= least for one in found),
        why=f"from the start on: {', '.join(f'{cell.mean(with_start):.2f}' for cell in cells)}",
    )


CHECK = Check(
    id="R12",
    title="Random loss on 100 Mbit/s, 100 ms (BBR paper, figure 8)",
    source="Cardwell et al. 2016, figure 8; jervisfm/rebbr@a15c6b3, `mahimahi/data_20170604_jmuindi/figure8.csv`",
    commands=(
        "dumbbell run bbr-loss",
        f"dumbbell run bbr-loss-before {' '.join(STARTED)}",
        f"dumbbell run bbr-loss-before {' '.join((*STARTED, *REAL, *REAL_CELLS))}",
    ),
    run=run,
)
