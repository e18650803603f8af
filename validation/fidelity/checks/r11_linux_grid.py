"""CUBIC and BBR of Linux over 128 paths: the IMC'23 replication of "When to use and when not to use BBR"."""

import csv
import statistics
from collections.abc import Iterable, Iterator
from pathlib import Path

from validation.fidelity.measured import Runs
from validation.fidelity.published_check import Check, RowValues, Work

DATA = Path(__file__).resolve().parents[2] / "data" / "linux-5.15-cubic-bbr.csv"
CONTROLLERS = ("cubic", "bbr")
GROUPS = ((10000, range(1001)), (100, range(101)), (100, range(101, 1001)))
"""Parts of the grid: buffer in kB, bandwidths in Mbit/s."""
REAL_CELLS = ((102400, 100, 100), (102400, 50, 200))  # where the two controllers differ
TESTBED_US = 300
"""Lateness of the hosts, us, estimated from the short queues of fast links of this table (docs/how-to/hosts.md)."""
RETRANSMITTED = ("bbr", 100, 100, 5)
"""Cell that this estimate excludes."""
SHORT = [(100, rate, rtt) for rate in (250, 500, 750, 1000) for rtt in (5, 10, 25, 50, 75, 100, 150, 200)]
"""Short queues of fast links, where the lateness of hosts matters."""
REAL = ("--backend", "emu", "--schemes", "kernel-cubic,kernel-bbr")
Key = tuple[str, int, int, int]
"""Controller, buffer in kB, bandwidth in Mbit/s, RTT in ms."""


def table() -> dict[Key, dict[str, str]]:
    """Return every published cell."""
    with DATA.open(encoding="utf-8") as text:
        return {
            (cell["cca"], int(cell["buffer_kB"]), int(cell["bandwidth_mbit"]), int(cell["rtt_ms"])): cell
            for cell in csv.DictReader(text)
        }


def published_percents() -> dict[Key, float]:
    """Return the utilisation of every cell, %."""
    percent_of = {key: 100.0 * float(cell["goodput_mean_mbit"]) / key[2] for key, cell in table().items()}
    # Published values of 10 Mbit/s with 10 MB of buffer count bytes that drained after the end.
    return {key: value for key, value in percent_of.items() if key[1:3] != (10000, 10)}


def measure(runs: Runs) -> dict[Key, float]:
    """Return the simulated utilisation of the cells that were run, %."""
    percent_of = {}
    for (scheme, queue, rate, rtt), cell in runs.groups("queue_bytes", "bw_factor", "rtt_ms"):
        key = (scheme.removeprefix("kernel-"), queue // 1024, round(rate), round(rtt))
        percent_of[key] = 100.0 * cell.mean("flows.0.goodput_mbps") / rate
    return percent_of


def off(own_percents: dict[Key, float], linux_percents: dict[Key, float], keys: list[Key]) -> dict[str, float]:
    """Return the mean, and the median of the absolute differences in points."""
    return {
        "mean": statistics.fmean(own_percents[key] for key in keys),
        "median_off": statistics.median(abs(own_percents[key] - linux_percents[key]) for key in keys),
    }


def grid_rows(
    own_percents: dict[Key, float], linux_percents: dict[Key, float]
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield a row for each controller and part of the grid."""
    for cca in CONTROLLERS:
        for buffer, rates in GROUPS:
            keys = [key for key in linux_percents if key[0] == cca and key[1] == buffer and key[2] in rates]
            yield f"{cca}/{buffer}/{min(key[2] for key in keys)}", off(own_percents, linux_percents, keys)


def names(keys: Iterable[tuple[int, int, int]]) -> str:
    """Return the names of cells in results, by bytes of queue, Mbit/s and ms."""
    return ",".join(f"linux.queue_bytes-{queue}.bw_factor-{rate}.rtt_ms-{rtt}" for queue, rate, rtt in keys)


def late_rows(late_runs: Runs, linux_percents: dict[Key, float]) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the cells for which the hosts' lateness matters, simulated with hosts as late as those of the table."""
    own_percents = measure(late_runs)
    for cca in CONTROLLERS:
        yield (
            f"{cca}/late",
            off(own_percents, linux_percents, [key for key in linux_percents if key[0] == cca and key[1:] in SHORT]),
        )
    cca, _, rate, rtt = RETRANSMITTED
    cell = late_runs.where(cca, bw_factor=float(rate), rtt_ms=float(rtt))
    yield f"{cca}/retransmissions", {"packets": cell.mean("flows.0.retransmissions")}


def simulate(work: Work, count: int) -> list[RowValues]:
    """Return the grid, and a part of it with late hosts."""
    linux_percents = published_percents()
    cells = names((102400, rate, rtt) for _, rate, rtt in [*SHORT, RETRANSMITTED[1:]])
    exact = Runs.of(work.repetitions("linux-grid", count=count))
    late = Runs.of(
        work.repetitions("linux-grid", "--set", f"host_jitter_us={TESTBED_US}", "--cell", cells, count=count)
    )
    return [
        {**dict(grid_rows(measure(repetition), linux_percents)), **dict(late_rows(other, linux_percents))}
        for repetition, other in zip(exact.repetitions(count), late.repetitions(count), strict=True)
    ]


def real(work: Work) -> RowValues:
    """Return some cells with the running kernel."""
    own_percents = measure(Runs.of(work.results("linux-grid", *REAL, "--cell", names(REAL_CELLS))))
    return {"kernel": off(own_percents, published_percents(), list(own_percents))}


CHECK = Check("R11", "r11_linux_grid", simulate, real)
