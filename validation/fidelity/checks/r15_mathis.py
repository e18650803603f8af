"""The constant of Mathis' model for Reno, with p counted as window halvings."""

from math import sqrt

from validation.fidelity.measured import Run, Runs, value
from validation.fidelity.published_check import Check, Measured, Work

SECONDS = 1000
COUNTED = {"halvings": "loss_episodes", "losses": "packets_dropped"}
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


def simulated(work: Work, count: int) -> list[Measured]:
    """Both constants of every cell."""
    runs = Runs.of(work.repetitions("mathis", "--duration", f"{SECONDS}", count=count))
    return [
        {
            f"{flows}/{rtt_ms:g}": {
                name: one.where(k=flows, rtt_ms=rtt_ms).mean(lambda run, counted=counted: constant(run, counted))
                for name, counted in COUNTED.items()
            }
            for flows in (10, 50)
            for rtt_ms in (20.0, 100.0, 200.0)
        }
        for one in runs.repetitions(count)
    ]


CHECK = Check("R15", "r15_mathis", simulated)
