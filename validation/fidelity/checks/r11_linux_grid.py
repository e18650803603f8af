"""CUBIC and BBR of Linux over 128 paths: the IMC'23 replication of "When to use and when not to use BBR"."""

import csv
import statistics
from collections.abc import Iterable, Iterator
from pathlib import Path

from validation.fidelity.measured import Runs
from validation.fidelity.published_check import Check, Row, Work

DATA = Path(__file__).resolve().parents[2] / "data" / "linux-5.15-cubic-bbr.csv"
GROUPS = (  # buffer in kB, bandwidths in Mbit/s, most points that the median may be off, simulated
    (10000, range(0, 1001), 10.0),
    (100, range(0, 101), 15.0),
    (100, range(101, 1001), None),
)
MOST_REAL = 5.0
REAL_CELLS = ((102400, 100, 100), (102400, 50, 200))  # where the two controllers differ
TESTBED_US = 300
"""How late hosts answer, estimated from the short queues of fast links of this table (docs/hosts.md)."""
RETRANSMITTED = ("bbr", 100, 100, 5)
"""A cell that did not go into that estimate."""
REAL = ("--backend", "emu", "--schemes", "kernel-cubic,kernel-bbr")
Key = tuple[str, int, int, int]
"""Controller, buffer in kB, bandwidth in Mbit/s, RTT in ms."""


def table() -> dict[Key, dict[str, str]]:
    """Every cell as it was published."""
    with DATA.open(encoding="utf-8") as text:
        return {
            (cell["cca"], int(cell["buffer_kB"]), int(cell["bandwidth_mbit"]), int(cell["rtt_ms"])): cell
            for cell in csv.DictReader(text)
        }


def published() -> dict[Key, float]:
    """Utilisation in percent of every cell."""
    found = {key: 100.0 * float(cell["goodput_mean_mbit"]) / key[2] for key, cell in table().items()}
    # Published values of 10 Mbit/s with 10 MB of buffer count bytes that drained after the end.
    return {key: value for key, value in found.items() if key[1:3] != (10000, 10)}


def measured(runs: Runs) -> dict[Key, float]:
    """Ours of the same cells, as far as they were run."""
    found = {}
    for (scheme, queue, rate, rtt), cell in runs.groups("queue_bytes", "bw_factor", "rtt_ms"):
        key = (scheme.removeprefix("kernel-"), queue // 1024, round(rate), round(rtt))
        found[key] = 100.0 * cell.mean("flows.0.goodput_mbps") / rate
    return found


def off(ours: dict[Key, float], theirs: dict[Key, float], keys: list[Key]) -> tuple[str, float]:
    """Means and the median and largest absolute difference in points, in words; the median."""
    errors = sorted((abs(ours[key] - theirs[key]), key) for key in keys)
    median, (largest, (_, buffer, rate, rtt)) = statistics.median(error for error, _ in errors), errors[-1]
    mean = statistics.mean(ours[key] for key in keys)
    text = f"{mean:.1f} (median {median:.1f} off; most {largest:.0f}: {rate} Mbit/s, {rtt} ms, {buffer} kB)"
    return text, median


def simulated_rows(ours: dict[Key, float], theirs: dict[Key, float]) -> Iterator[Row]:
    """One for each controller and part of the grid."""
    for cca in ("cubic", "bbr"):
        for buffer, rates, most in GROUPS:
            keys = [key for key in theirs if key[0] == cca and key[1] == buffer and key[2] in rates and key in ours]
            text, median = off(ours, theirs, keys)
            yield Row(
                f"{cca}, {buffer} kB, {min(key[2] for key in keys)} to {max(key[2] for key in keys)} Mbit/s: "
                f"utilisation, mean of {len(keys)} paths, %",
                f"{statistics.mean(theirs[key] for key in keys):.1f}",
                "" if most is None else f"median <= {most:g} points off",
                text,
                passed=None if most is None else median <= most,
                why="" if most else f"hosts answer late, and 67 packets are soon over: {TESTBED_US} us of it below",
            )


def names(keys: Iterable[tuple[int, int, int]]) -> str:
    """What cells are called in results, of bytes of queue, Mbit/s and ms."""
    return ",".join(f"linux.queue_bytes-{queue}.bw_factor-{rate}.rtt_ms-{rtt}" for queue, rate, rtt in keys)


def late_rows(work: Work, theirs: dict[Key, float]) -> Iterator[Row]:
    """The cells that the simulated hosts' promptness matters for, with hosts as late as those of the table."""
    cells = sorted({key[1:] for key in theirs if key[1] == 100 and key[2] > 100} | {RETRANSMITTED[1:]})
    late = ("--set", f"host_jitter_us={TESTBED_US}", "--cell", names((102400, rate, rtt) for _, rate, rtt in cells))
    found = Runs.of(work.results("linux-grid", *late))
    ours = measured(found)
    for cca in ("cubic", "bbr"):
        keys = [key for key in theirs if key[0] == cca and key[1:] in cells and key[1:] != RETRANSMITTED[1:]]
        yield Row(
            f"{cca}, the same {len(keys)} paths, hosts {TESTBED_US} us late",
            f"{statistics.mean(theirs[key] for key in keys):.1f}",
            "",
            off(ours, theirs, keys)[0],
            why=f"{TESTBED_US} us are fitted to these cells of CUBIC, docs/hosts.md"
            if cca == "cubic"
            else "not fitted",
        )
    cca, _, rate, rtt = RETRANSMITTED
    cell = found.where(cca, bw_factor=float(rate), rtt_ms=float(rtt))
    yield Row(
        f"{cca}, 100 kB, {rate} Mbit/s, {rtt} ms, hosts {TESTBED_US} us late: retransmissions in 60 s",
        f"{float(table()[RETRANSMITTED]['retransmits_mean']):.0f}",
        "",
        f"{cell.mean('flows.0.retransmissions'):.0f}",
        why="not fitted; exact hosts: 168",
    )


def real_row(work: Work, theirs: dict[Key, float]) -> Row:
    """The running kernel over some cells."""
    ours = measured(Runs.of(work.results("linux-grid", *REAL, "--cell", names(REAL_CELLS))))
    text, median = off(ours, theirs, list(ours))
    return Row(
        f"the running kernel over a sample: utilisation, mean of {len(ours)} runs, %",
        f"{statistics.mean(theirs[key] for key in ours):.1f}",
        f"median <= {MOST_REAL:g} points off",
        emu=text,
        passed=median <= MOST_REAL,
        why="more runs in docs/papers/linux-grid.md",
    )


def run(work: Work) -> list[Row]:
    """The grid simulated, and a sample with the kernel."""
    theirs = published()
    rows = [*simulated_rows(measured(Runs.of(work.results("linux-grid"))), theirs), *late_rows(work, theirs)]
    return [*rows, real_row(work, theirs)] if work.emulate else rows


CHECK = Check(
    id="R11",
    title="CUBIC and BBR of Linux over a grid of 128 paths",
    source="Cao et al., IMC 2019, replicated in sdatta97/imcbbrrepro@f22ef77 "
    "([logs of kernel 5.15](../validation/data/README.md))",
    commands=(
        "dumbbell run linux-grid",
        f"dumbbell run linux-grid --set host_jitter_us={TESTBED_US} --cell CELLS",
        f"dumbbell run linux-grid {' '.join(REAL)} --cell CELLS",
    ),
    run=run,
)
