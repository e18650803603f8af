"""Starvation of delay-convergent controllers: one of two flows meets delay that is no congestion."""

from typing import Any

from validation.fidelity.measured import Run, Runs, value
from validation.fidelity.published_check import Check, RowValues, Work

Place = dict[str, Any]
CASES: dict[str, tuple[str, Place, Place]] = {
    # Columns: scheme of the experiment, adversarial cell, control.
    "copa": ("copa-delay-remembers", {"path": "fast-at-first"}, {"path": "never-fast"}),
    "bbr": ("bbr", {"rtts": [40.0, 80.0]}, {"rtts": [40.0, 40.0]}),
    "vivace": ("vivace", {"path": "held-acks"}, {"path": "free-acks"}),
    "allegro": ("pcc", {"path": "one-loses"}, {"path": "none-loses"}),
}
BOTH_MODES = "copa-remembers"


def ratio(run: Run) -> float:
    """Return the larger goodput divided by the smaller one."""
    first, other = (value(run, f"flows.{flow}.goodput_mbps") for flow in (0, 1))
    return max(first, other) / max(min(first, other), 1e-6)


def starvation(runs: Runs) -> dict[str, float]:
    """Return both flows' goodput, and their ratio."""
    first, two = (runs.mean(f"flows.{flow}.goodput_mbps") for flow in (0, 1))
    return {"one": first, "two": two, "ratio": runs.mean(ratio)}


def simulate(work: Work, count: int) -> list[RowValues]:
    """Return each pair's values under the adversary, and without."""
    figures_of: list[dict[str, dict[str, float]]] = [{} for _ in range(count)]
    for name, (scheme, adversarial, control) in CASES.items():
        schemes = f"{scheme},{BOTH_MODES}" if name == "copa" else scheme
        runs = Runs.of(work.repetitions(f"starvation-{name}", "--schemes", schemes, count=count))
        for figures, repetition in zip(figures_of, runs.repetitions(count), strict=True):
            figures[name] = starvation(repetition.where(scheme, **adversarial))
            figures[f"{name}/control"] = {"ratio": repetition.where(scheme, **control).mean(ratio)}
            if name == "copa":
                figures["copa-both"] = starvation(repetition.where(BOTH_MODES, **adversarial))
    return list(figures_of)


CHECK = Check("R17", "r17_starvation", simulate)
