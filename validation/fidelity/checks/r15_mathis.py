"""The constant of Mathis' model for Reno, with p counted as window halvings."""

from math import sqrt

from validation.fidelity.measured import Run, Runs, value
from validation.fidelity.published_check import Check, Row, Work

PUBLISHED = {  # (flows, RTT in ms): C by loss rate, C by halving rate
    (10, 20.0): (1.90, 1.29),
    (10, 100.0): (1.93, 1.29),
    (10, 200.0): (2.54, 1.30),
    (50, 20.0): (1.69, 1.24),
    (50, 100.0): (1.70, 1.25),
    (50, 200.0): (1.74, 1.26),
}
LEAST, MOST = 1.19, 1.31
REAL = ("--backend", "emu", "--schemes", "kernel-reno", "--cell", "mathis.k-10.rtt_ms-20", "--duration", "60")
SEGMENT_BITS = 8 * 1448


def constant(run: Run, counted: str) -> float:
    """C of rate = C * segment / (RTT sqrt(p)), fitted to all flows; p = what is `counted` / packets sent."""
    above = below = 0.0
    for flow in range(len(run["flows"])):
        segments_per_s = value(run, f"flows.{flow}.mean_throughput_l4") * 1e6 / SEGMENT_BITS
        p = value(run, f"flows.{flow}.{counted}") / value(run, f"flows.{flow}.packets_sent")
        model = 1.0 / (value(run, f"flows.{flow}.mean_srtt_l4") / 1e3 * sqrt(p))
        above, below = above + segments_per_s * model, below + model * model
    return above / below


def run(work: Work) -> list[Row]:
    """Both constants of every cell."""
    runs = Runs.of(work.results("mathis"))
    rows = []
    for (flows, rtt_ms), (by_loss, by_halving) in PUBLISHED.items():
        cell = runs.where(k=flows, rtt_ms=rtt_ms)
        mine = cell.mean(lambda run: constant(run, "loss_episodes"))
        lost = cell.mean(lambda run: constant(run, "packets_dropped"))
        rows.append(
            Row(
                f"{flows} flows, {rtt_ms:g} ms: C by the rate of halvings (by loss rate)",
                f"{by_halving:.2f} ({by_loss:.2f})",
                "1.25 +/- 0.06",
                f"{mine:.2f} ({lost:.2f})",
                passed=LEAST <= mine <= MOST,
            )
        )
    return rows


CHECK = Check(
    id="R15",
    title="Mathis' model of Reno",
    source="vinitaparasrampuria/IMC-Revisiting-TCP@7c13d91, README.md, which repeats Philip et al., Revisiting TCP "
    "congestion control throughput models & fairness properties at scale (IMC 2021)",
    commands=("dumbbell run mathis",),
    run=run,
)
