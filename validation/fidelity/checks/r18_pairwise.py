"""Every pair of schemes at two bottlenecks, as Prudentia pairs services."""

from itertools import combinations
from statistics import fmean

from validation.fidelity.measured import Run, Runs, value
from validation.fidelity.published_check import Check, RowValues, Work

SCHEMES = ("reno", "cubic", "bbr", "bbr3", "copa", "vegas", "vivace", "pcc")
PATHS = ("8mbit", "50mbit")
EACH = 3
"""Number of runs of a pair in a repetition."""
PATH = ("--rate", "8mbit", "--rtt", "50ms", "--queue", "4bdp")
REAL = ("--backend", "emu", "--schemes", "kernel-cubic,kernel-bbr", *PATH, "--flows", "2", "--duration", "30")


def of_fair(run: Run) -> float:
    """Return the first flow's share as a ratio to the fair half."""
    return 2.0 * value(run, "flows.0.payload_share")


def simulate(work: Work, count: int) -> list[RowValues]:
    """Return the values of self-pairs; in the first repetition also the share of a pair's loser."""
    own_runs = [
        run
        for name in SCHEMES
        for run in Runs.of(
            work.repetitions(
                *("pairwise", "--schemes", name, "--cell", ",".join(f"{path}.versus-{name}" for path in PATHS)),
                count=EACH * count,
            )
        ).runs
    ]
    values = [
        {f"{path}/own": extremes(repetition.where(path=path)) for path in PATHS}
        for repetition in Runs(tuple(own_runs)).repetitions(count, EACH)
    ]
    every = Runs.of(work.repetitions("pairwise", count=EACH))
    values[0] |= {f"{path}/loser": {"share": loser(every.where(path=path))} for path in PATHS}
    return list(values)


def extremes(runs: Runs) -> dict[str, float]:
    """Return the smallest and the largest ratio to the fair half of a scheme against itself."""
    means = [runs.where(name).mean(of_fair) for name in SCHEMES]
    return {"least": min(means), "most": max(means)}


def loser(runs: Runs) -> float:
    """Return the loser's ratio to the fair half, as a mean over the pairs."""
    share = {(name, other): runs.where(name, versus=other).mean(of_fair) for name in SCHEMES for other in SCHEMES}
    return fmean(min(share[pair], share[pair[::-1]]) for pair in combinations(SCHEMES, 2))


def real(work: Work) -> RowValues:
    """Return the values of the kernel's self-pairs."""
    pairs = Runs.of(work.results(*REAL))
    return {"kernel": {name: pairs.where(f"kernel-{name}").mean(of_fair) for name in ("cubic", "bbr")}}


CHECK = Check("R18", "r18_pairwise", simulate, real)
