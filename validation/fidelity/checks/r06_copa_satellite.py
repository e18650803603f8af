"""Two flows over a satellite: figure 9 of the Copa paper."""

from validation.fidelity.measured import Run, Runs, carried_mbps, value
from validation.fidelity.published_check import Check, RowValues, Work

RATE_MBPS, ONE_WAY_MS, LOSS = 42.0, 400.0, 0.0074
OURS = ("copa", "copa-gcc2017")
PUBLISHED = {"cubic": "cubic-iperf", "pcc": "pcc", "bbr": "bbr-iperf", "vegas": "vegas-iperf"}
"""The experiment's schemes with the sockets and the pacing of the publication."""
WHOLE = ("--warmup", "0")
"""Option for the script's graph, which covers the whole log of 100 s."""
CELL = ("--path", "mahimahi", "--cell", "mahimahi.queue_bytes-4200000")
TOLD = ("--set", "copa.min_rtt_window_s=3600")
"""Option for a base RTT that was seen once, in an empty queue, and is never forgotten. A known base RTT has the same
effect."""
REAL = ("--backend", "emu", "--runs", "1", "--cell", "satellite.queue_bytes-4200000")


def queue_ms(run: Run) -> float:
    """Return the median queueing delay of the slower flow after the warm-up, ms."""
    return max(value(run, f"flows.{flow}.owd_p50_ms") for flow in (0, 1)) - ONE_WAY_MS


def use(run: Run) -> float:
    """Return the link's use by both flows after the warm-up, headers included, before the loss, as in its log."""
    return (carried_mbps(run, 0) + carried_mbps(run, 1)) / (1.0 - LOSS) / RATE_MBPS


def measure(runs: Runs, scheme: str) -> dict[str, float]:
    """Return the use of the link and the queueing delay after the warm-up."""
    cell = runs.where(scheme)
    return {"share": cell.mean(use), "queue_ms": cell.mean(queue_ms)}


def simulate(work: Work, count: int) -> list[RowValues]:
    """Return use and queueing delay with a buffer of one BDP."""
    runs_told = Runs.of(work.repetitions("copa-satellite", "--schemes", "copa", *CELL, *TOLD, count=count))
    own_runs = Runs.of(work.repetitions("copa-satellite", "--schemes", ",".join(OURS), *CELL, count=count))
    words = ("--schemes", ",".join(PUBLISHED.values()), *WHOLE, *CELL)
    other_runs = Runs.of(work.repetitions("copa-satellite", *words, count=count))
    return [
        {"told": measure(first, "copa")}
        | {scheme: measure(two, scheme) for scheme in OURS}
        | {key: measure(three, scheme) for key, scheme in PUBLISHED.items()}
        for first, two, three in zip(
            *(runs.repetitions(count) for runs in (runs_told, own_runs, other_runs)), strict=True
        )
    ]


def real(work: Work) -> RowValues:
    """Return the values of Copa with a known base RTT, and of the kernel's CUBIC over 40 s."""
    runs_told = Runs.of(work.results("copa-satellite", *REAL, "--schemes", "copa", *TOLD))
    words = (*REAL, "--schemes", "kernel-cubic", "--duration", "40")
    cubic = Runs.of(work.results("copa-satellite", *words))
    return {"told": measure(runs_told, "copa"), "cubic": measure(cubic, "kernel-cubic")}


CHECK = Check("R6", "r06_copa_satellite", simulate, real)
