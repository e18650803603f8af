"""Starvation of delay-convergent controllers: one of two flows meets what is not congestion."""

from typing import Any

from validation.fidelity.measured import Run, Runs, value
from validation.fidelity.published_check import Check, Measured, Work

Place = dict[str, Any]
CASES: dict[str, tuple[str, Place, Place]] = {
    # experiment: scheme, adversarial cell, control
    "copa": ("copa-delay-remembers", {"path": "fast-at-first"}, {"path": "never-fast"}),
    "bbr": ("bbr", {"rtts": [40.0, 80.0]}, {"rtts": [40.0, 40.0]}),
    "vivace": ("vivace", {"path": "held-acks"}, {"path": "free-acks"}),
    "allegro": ("pcc", {"path": "one-loses"}, {"path": "none-loses"}),
}
BOTH_MODES = "copa-remembers"


def ratio(run: Run) -> float:
    """Goodput of the flow that has more over the other's."""
    one, other = (value(run, f"flows.{flow}.goodput_mbps") for flow in (0, 1))
    return max(one, other) / max(min(one, other), 1e-6)


def starved(runs: Runs) -> dict[str, float]:
    """Both flows' goodput, and their ratio."""
    one, two = (runs.mean(f"flows.{flow}.goodput_mbps") for flow in (0, 1))
    return {"one": one, "two": two, "ratio": runs.mean(ratio)}


def simulated(work: Work, count: int) -> list[Measured]:
    """Each pair under the adversary, and without."""
    found: list[dict[str, dict[str, float]]] = [{} for _ in range(count)]
    for name, (scheme, adversarial, control) in CASES.items():
        schemes = f"{scheme},{BOTH_MODES}" if name == "copa" else scheme
        runs = Runs.of(work.repetitions(f"starvation-{name}", "--schemes", schemes, count=count))
        for measured, one in zip(found, runs.repetitions(count), strict=True):
            measured[name] = starved(one.where(scheme, **adversarial))
            measured[f"{name}/control"] = {"ratio": one.where(scheme, **control).mean(ratio)}
            if name == "copa":
                measured["copa-both"] = starved(one.where(BOTH_MODES, **adversarial))
    return list(found)


CHECK = Check("R17", "r17_starvation", simulated)
