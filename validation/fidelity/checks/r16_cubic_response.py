"""CUBIC's mean window under periodic loss: tables 1 and 2 of RFC 9438."""

from validation.fidelity.measured import Runs
from validation.fidelity.published_check import Check, Row, Work

PUBLISHED = {  # (p, RTT in ms): segments
    ("1e-3", 100): 38,
    ("1e-4", 100): 187,
    ("1e-5", 100): 1054,
    ("1e-3", 10): 38,
    ("1e-4", 10): 120,
    ("1e-5", 10): 379,
}
TOLERANCE = 0.05


def run(work: Work) -> list[Row]:
    """Mean windows."""
    runs = Runs.of(work.results("cubic-response"))
    rows = []
    for (p, rtt_ms), published in PUBLISHED.items():
        mean = runs.where(path=f"p-{p}-{rtt_ms}ms").mean("flows.0.mean_cwnd_l4")
        rows.append(
            Row(
                f"p = {p}, {rtt_ms} ms: mean window, segments",
                f"{published}",
                f"{TOLERANCE:.0%}",
                f"{mean:.1f}",
                passed=abs(mean / published - 1.0) <= TOLERANCE,
            )
        )
    return rows


CHECK = Check(
    id="R16",
    title="Response function of CUBIC",
    source="RFC 9438, section 5.1, tables 1 and 2",
    commands=("dumbbell run cubic-response",),
    run=run,
)
