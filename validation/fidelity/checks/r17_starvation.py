"""Starvation of delay-convergent controllers: one of two flows meets what is not congestion."""

import statistics
from typing import Any

from validation.fidelity.measured import Run, Runs, value
from validation.fidelity.published_check import Check, Row, Work

STARVED, FAIR = 5.0, 2.0
Place = dict[str, Any]
CASES: tuple[tuple[str, str, str, Place, Place, str, str], ...] = (
    # experiment, scheme, what, adversarial cell, control, published, remark
    (
        "copa",
        "copa-delay-remembers",
        "Copa in default mode, 1 ms",
        {"path": "fast-at-first"},
        {"path": "never-fast"},
        "8.8 / 95 (10.8)",
        "5.2 follows from the rule: 2 / q against 2 / (q + 1 ms)",
    ),
    ("bbr", "bbr", "BBR, 40 and 80 ms", {"rtts": [40.0, 80.0]}, {"rtts": [40.0, 40.0]}, "8.3 / 107 (12.9)", ""),
    (
        "vivace",
        "vivace",
        "Vivace, ACKs every 60 ms",
        {"path": "held-acks"},
        {"path": "free-acks"},
        "9.9 / 99.4 (10.0)",
        "",
    ),
    (
        "allegro",
        "pcc",
        "Allegro, 2 % loss",
        {"path": "one-loses"},
        {"path": "none-loses"},
        "10.3 / 99.1 (9.6)",
        "chance decides: some runs starve the flow more than tenfold, most do not; the published figure is one run",
    ),
)


def ratio(run: Run) -> float:
    """Goodput of the flow that has more over the other's."""
    one, other = (value(run, f"flows.{flow}.goodput_mbps") for flow in (0, 1))
    return max(one, other) / max(min(one, other), 1e-6)


def rates(runs: Runs) -> str:
    """Both flows' goodput, and the ratios of all runs."""
    means = " / ".join(f"{runs.mean(f'flows.{flow}.goodput_mbps'):.1f}" for flow in (0, 1))
    return f"{means} ({', '.join(f'{one:.1f}' for one in sorted(map(ratio, runs.runs)))})"


def run(work: Work) -> list[Row]:
    """Two rows for each pair: under the adversary, and without."""
    rows = []
    for name, scheme, what, adversarial, control, published, remark in CASES:
        runs = Runs.of(work.results(f"starvation-{name}"))
        bad, good = runs.where(scheme, **adversarial), runs.where(scheme, **control)
        starved, fair = (statistics.median(map(ratio, cell.runs)) for cell in (bad, good))
        rows += [
            Row(
                f"{what}: Mbit/s (ratios of the runs)",
                published,
                f"median ratio >= {STARVED:g}",
                rates(bad),
                passed=starved >= STARVED,
                why=remark,
            ),
            Row(f"{what}: the control", "fair", f"median ratio <= {FAIR:g}", rates(good), passed=fair <= FAIR),
        ]
    switching = Runs.of(work.results("starvation-copa")).where("copa-remembers", path="fast-at-first")
    text = "its competitive mode, which one of them enters, gives back a part"
    rows.append(Row("Copa with both modes, 1 ms: Mbit/s (ratios)", "-", "", rates(switching), why=text))
    return rows


CHECK = Check(
    id="R17",
    title="Starvation by what is not congestion",
    source="Arun, Alizadeh and Balakrishnan, Starvation in end-to-end congestion control, SIGCOMM 2022, section 5",
    commands=tuple(f"dumbbell run starvation-{case[0]}" for case in CASES),
    run=run,
)
