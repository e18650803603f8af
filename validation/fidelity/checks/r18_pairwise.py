"""Every scheme beside every other at two bottlenecks, as Prudentia pairs services."""

from itertools import combinations
from statistics import mean

from validation.fidelity.measured import Run, Runs, value
from validation.fidelity.published_check import Check, Row, Work

SCHEMES = ("reno", "cubic", "bbr", "bbr3", "copa", "vegas", "vivace", "pcc")
PATH = ("--rate", "8mbit", "--rtt", "50ms", "--queue", "4bdp")
REAL = ("--backend", "emu", "--schemes", "kernel-cubic,kernel-bbr", *PATH, "--flows", "2", "--duration", "30")
PATHS = {"8mbit": "8 Mbit/s", "50mbit": "50 Mbit/s"}
LEAST, MOST = 0.8, 1.2


def of_fair(run: Run) -> float:
    """What the first flow got, over the fair half."""
    return 2.0 * value(run, "flows.0.payload_share")


def run(work: Work) -> list[Row]:
    """Self-pairs, and who loses most."""
    runs = Runs.of(work.results("pairwise", "--runs", "3"))
    rows = []
    for path, title in PATHS.items():
        share = {
            (name, other): runs.where(name, path=path, versus=other).mean(of_fair)
            for name in SCHEMES
            for other in SCHEMES
        }
        own = {name: share[name, name] for name in SCHEMES}
        furthest = max(own, key=lambda name: abs(own[name] - 1.0))
        loser = min(share, key=lambda pair: share[pair])
        losers = [min(share[pair], share[pair[::-1]]) for pair in combinations(SCHEMES, 2)]
        rows += [
            Row(
                f"{title}: share of the fair half in self-pairs of {len(SCHEMES)} schemes",
                "about 1",
                f"all within {LEAST:g} to {MOST:g}",
                f"{min(own.values()):.2f} to {max(own.values()):.2f} (furthest from 1: {furthest})",
                passed=all(LEAST <= one <= MOST for one in own.values()),
            ),
            Row(
                f"{title}: what the loser of a pair gets of the fair half, mean",
                "72 %",
                "",
                f"{mean(losers):.0%} (least: {loser[0]} beside {loser[1]}, {share[loser]:.0%})",
                why="published of services, ours are bulk flows",
            ),
        ]
    return [*rows, *([real_row(work)] if work.emulate else [])]


def real_row(work: Work) -> Row:
    """Self-pairs of the kernel's."""
    pairs = Runs.of(work.results(*REAL))
    found = [pairs.where(name).mean(of_fair) for name in ("kernel-cubic", "kernel-bbr")]
    return Row(
        "8 Mbit/s: self-pairs of the kernel's CUBIC and BBR",
        "about 1",
        f"both within {LEAST:g} to {MOST:g}",
        emu=", ".join(f"{one:.2f}" for one in found),
        passed=all(LEAST <= one <= MOST for one in found),
    )


CHECK = Check(
    id="R18",
    title="Every scheme beside every other, as Prudentia pairs services",
    source="Prudentia, SIGCOMM 2024: 8 and 50 Mbit/s, 50 ms, 4 BDP",
    commands=("dumbbell run pairwise", "dumbbell figure DIR share", f"dumbbell run {' '.join(REAL)}"),
    run=run,
)
