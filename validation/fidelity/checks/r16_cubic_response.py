"""CUBIC's mean window under periodic loss: tables 1 and 2 of RFC 9438."""

from validation.fidelity.measured import Runs
from validation.fidelity.published_check import Check, RowValues, Work


def simulate(work: Work, count: int) -> list[RowValues]:
    """Return mean windows."""
    runs = Runs.of(work.repetitions("cubic-response", count=count))
    return [
        {
            f"{p}/{rtt_ms}": {"segments": repetition.where(path=f"p-{p}-{rtt_ms}ms").mean("flows.0.mean_cwnd_l4")}
            for p in ("1e-3", "1e-4", "1e-5")
            for rtt_ms in (100, 10)
        }
        for repetition in runs.repetitions(count)
    ]


CHECK = Check("R16", "r16_cubic_response", simulate)
