"""The constant of Mathis' model for Reno, with p counted as window halvings."""

from functools import partial
from math import sqrt

from validation.fidelity.measured import Run, Runs, value
from validation.fidelity.published_check import Check, RowValues, Work

SHORT_S, PUBLISHED_S = 1000, 10_800
AS_PUBLISHED = ((10, 100), (10, 200), (50, 200))
"""Flows and RTT in ms of the cells that run as long as published: halvings are rare, so slow start's losses would count
for more in less time."""
CELLS = tuple((flows, rtt_ms) for flows in (10, 50) for rtt_ms in (20, 100, 200))
COUNTED = {"halvings": "loss_episodes", "losses": "packets_dropped"}
SEGMENT_BITS = 8 * 1448


def constant(run: Run, event_count: str) -> float:
    """Return C of rate = C * segment / (RTT sqrt(p)), fitted to all flows; p = `event_count` / packets sent."""
    above = below = 0.0
    for flow in range(len(run["flows"])):
        segments_per_s = value(run, f"flows.{flow}.mean_throughput_l4") * 1e6 / SEGMENT_BITS
        p = value(run, f"flows.{flow}.{event_count}") / value(run, f"flows.{flow}.packets_sent")
        model = 1.0 / (value(run, f"flows.{flow}.mean_srtt_l4") / 1e3 * sqrt(p))
        above, below = above + segments_per_s * model, below + model * model
    return above / below


def measure(runs: Runs, flows: int, rtt_ms: int) -> dict[str, float]:
    """Return both constants of a cell."""
    cell = runs.where(k=flows, rtt_ms=float(rtt_ms))
    return {name: cell.mean(partial(constant, counted=event_count)) for name, event_count in COUNTED.items()}


def simulate(work: Work, count: int) -> list[RowValues]:
    """Return both constants of every cell, of three hours as published where halvings are rare."""
    values_of: list[dict[str, dict[str, float]]] = [{} for _ in range(count)]
    others_cells = [cell for cell in CELLS if cell not in AS_PUBLISHED]
    for cells, seconds in ((others_cells, SHORT_S), (AS_PUBLISHED, PUBLISHED_S)):
        labels = ",".join(f"mathis.k-{flows}.rtt_ms-{rtt_ms}" for flows, rtt_ms in cells)
        runs = Runs.of(work.repetitions("mathis", "--cell", labels, "--duration", f"{seconds}", count=count))
        for values, repetition in zip(values_of, runs.repetitions(count), strict=True):
            values |= {f"{flows}/{rtt_ms}": measure(repetition, flows, rtt_ms) for flows, rtt_ms in cells}
    return list(values_of)


CHECK = Check("R15", "r15_mathis", simulate)
