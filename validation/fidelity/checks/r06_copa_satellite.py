"""Two flows over a satellite: figure 9 of the Copa paper."""

from validation.fidelity.measured import Run, Runs, carried_mbps, value
from validation.fidelity.published_check import Check, Row, Work

RATE_MBPS, ONE_WAY_MS, BUFFER = 42.0, 400.0, 4_200_000
PUBLISHED = {
    "copa": "-",
    "copa-gcc2017": "-",
    "cubic": "below 4 %",
    "pcc": "near full use, queue of about 700 ms",
    "bbr": "about 50 %, queue of about 100 ms",
    "vegas": "below 4 %",
}
TOLD = ("--set", "copa.min_rtt_window_s=3600")
"""A base RTT that was seen once, in an empty queue, and is never forgotten: what being told it comes to."""
SCRIPT = (
    "the script that the figure was made with tells the sender the base RTT (`MIN_RTT`, "
    "venkatarun95/CopaEvaluation@0e0f087, long-run.sh)"
)
WHY = {
    "copa": "the paper's rule, which nobody measured: what slow start puts into the queue outlasts the 10 s after "
    "which the smallest RTT is forgotten, docs/papers/copa-loss.md",
    "copa-gcc2017": "the authors' program of the time, not told the base RTT: chance decides what it takes for it",
}
REAL = ("--backend", "emu", "--runs", "1")
SHORT = ("--duration", "40")
CELL = ("--cell", "satellite.queue_bytes-4200000")
KNOWING = ("--schemes", "copa", "--runs", "10", *CELL, *TOLD)
KNOWING_REAL = (*REAL, "--schemes", "copa", *CELL, *TOLD)
CUBIC_REAL = (*REAL, "--schemes", "kernel-cubic", *SHORT, *CELL)


def queue_ms(run: Run) -> float:
    """Median queueing delay of the slower flow after the warm-up."""
    return max(value(run, f"flows.{flow}.owd_p50_ms") for flow in (0, 1)) - ONE_WAY_MS


def use(run: Run) -> float:
    """What both flows get of the link after the warm-up, headers included, as the link's log has it."""
    return (carried_mbps(run, 0) + carried_mbps(run, 1)) / RATE_MBPS


def text(runs: Runs, scheme: str) -> tuple[str, float, float]:
    """Use of the link and queue, in words and numbers."""
    cell = runs.where(scheme, queue_bytes=BUFFER)
    used, queue = cell.mean(use), cell.mean(queue_ms)
    return f"{used:.1%}, {queue:.0f} ms", used, queue


def told(work: Work) -> Row:
    """Copa that knows the base RTT."""
    found = [text(Runs.of(work.results("copa-satellite", *KNOWING)), "copa")]
    if work.emulate:
        real = work.results("copa-satellite", *KNOWING_REAL)
        found.append(text(Runs.of(real), "copa"))
    return Row(
        "copa that knows the base RTT: share of 42 Mbit/s and median queue after 20 s",
        "near full use, queue of about 1 ms",
        "> 90 %, < 20 ms",
        *(one[0] for one in found),
        passed=all(used > 0.9 and queue < 20.0 for _, used, queue in found),
        why=SCRIPT,
    )


def run(work: Work) -> list[Row]:
    """Use and queue with a buffer of one BDP."""
    simulated = Runs.of(work.results("copa-satellite", "--schemes", ",".join(PUBLISHED), *CELL))
    real = Runs(())
    if work.emulate:
        real = Runs.of(work.results("copa-satellite", *CUBIC_REAL))
    rows = [told(work)]
    for scheme, published in PUBLISHED.items():
        name = {"cubic": "kernel-cubic"}.get(scheme, scheme)
        found = [text(simulated, scheme)] + ([text(real, name)] if real.where(name).runs else [])
        rows.append(
            Row(
                f"{scheme}: share of 42 Mbit/s and median queue after 20 s",
                published,
                "< 10 %" if scheme == "cubic" else "",
                *(one[0] for one in found),
                passed=all(used < 0.1 for _, used, _ in found) if scheme == "cubic" else None,
                why=WHY.get(scheme, ""),
            )
        )
    return rows


CHECK = Check(
    id="R6",
    title="Copa over a satellite with random loss (Copa paper, figure 9)",
    source="Arun and Balakrishnan, NSDI 2018, section 5.4; venkatarun95/CopaEvaluation@a7492d9",
    commands=(
        f"dumbbell run copa-satellite {' '.join(KNOWING)}",
        "dumbbell run copa-satellite",
        f"dumbbell run copa-satellite {' '.join(KNOWING_REAL)}",
        f"dumbbell run copa-satellite {' '.join(CUBIC_REAL)}",
    ),
    run=run,
)
