"""Random loss: figure 7 of the Copa paper."""

from validation.fidelity.measured import Runs
from validation.fidelity.published_check import Check, Row, Work

RATE_MBPS = 12.0
CASES = (  # scheme, loss, least and most of the rate, what the paper says
    ("copa", 0.01, 0.90, 1.01, "near capacity"),
    ("bbr", 0.01, 0.90, 1.01, "near capacity"),
    ("cubic", 0.02, 0.0, 0.30, "collapses"),
    ("pcc", 0.01, None, None, "near capacity"),
    ("copa", 0.05, None, None, "near capacity"),
    ("reno", 0.02, None, None, "collapses"),
    ("vegas", 0.01, None, None, "between"),
)
REAL = ("--backend", "emu", "--schemes", "copa,kernel-bbr,kernel-cubic", "--runs", "1", "--duration", "15")
REAL_CELLS = ("--cell", "copa-loss.loss_both_ways-0.01,copa-loss.loss_both_ways-0.02")
REAL_NAMES = {"bbr": "kernel-bbr", "cubic": "kernel-cubic"}


def share(runs: Runs, scheme: str, loss: float) -> float | None:
    """Throughput over the link's rate; None where it was not run."""
    cell = runs.where(scheme, loss_both_ways=loss)
    return cell.mean("flows.0.throughput_mbps") / RATE_MBPS if cell.runs else None


def run(work: Work) -> list[Row]:
    """Shares of 12 Mbit/s."""
    simulated = Runs.of(work.results("copa-random-loss"))
    real = Runs.of(work.results("copa-random-loss", *REAL, *REAL_CELLS)) if work.emulate else Runs(())
    rows = []
    for scheme, loss, least, most, published in CASES:
        shares = [share(simulated, scheme, loss), share(real, REAL_NAMES.get(scheme, scheme), loss)]
        judged = [one for one in shares if one is not None]
        rows.append(
            Row(
                f"{scheme} at {loss:.0%} loss: throughput, share of 12 Mbit/s",
                published,
                "" if least is None else f">= {least:.0%}" if least else f"< {most:.0%}",
                *("" if one is None else f"{one:.1%}" for one in shares),
                passed=None if least is None else all(least <= one <= most for one in judged),
            )
        )
    return rows


CHECK = Check(
    id="R5",
    title="Copa, BBR and CUBIC under random loss (Copa paper, figure 7)",
    source="Arun and Balakrishnan, NSDI 2018, figure 7; venkatarun95/CopaEvaluation@a7492d9, "
    "`experiment-loss-qdisc.sh`",
    commands=("dumbbell run copa-random-loss", f"dumbbell run copa-random-loss {' '.join(REAL)}"),
    run=run,
)
