"""Ten flows join a second apart and leave again: figure 4 of the Copa paper, figures 6 and 7 of its reproduction."""

from collections.abc import Mapping

from validation.fidelity.published_check import Check, RowValues, RunFailure, Work
from validation.fidelity.staircase import FAST, QUICK, SCHEMES, values

EMULATED = (
    *("--backend", "emu", "--schemes", "copa-gcc2018,kernel-cubic,kernel-bbr,pcc"),
    *("--runs", "1", "--cell", "ideal-46.staircase-1s", *QUICK),
)
COPA = "copa-gcc2018"
FIRST = {"plain": "mahimahi-46"}
"""Link of the first publication, with a plain queue and the schedule of its script."""


def simulate(work: Work, count: int) -> list[RowValues]:
    """Return medians of Jain's index on the first publication's link and on the reproduction's link."""
    words = ("--path", *FIRST.values(), *FAST)
    first = values(work.repetitions("copa-fairness-original", *words, count=count), count, paths=FIRST)
    again = values(work.repetitions("copa-fairness", *FAST, count=count), count)
    return [
        measure(first_values)
        | {f"{scheme}/plain": {"jain": first_values["plain", scheme]} for scheme in SCHEMES}
        | {f"{scheme}/shared": {"jain": other["shared", scheme]} for scheme in SCHEMES}
        for first_values, other in zip(first, again, strict=True)
    ]


def real(work: Work) -> RowValues:
    """Return the indices over the plain queue, with the kernel's CUBIC and BBR."""
    (jain_values,) = values(work.results("copa-fairness", *EMULATED), 1)
    return measure({(queue, scheme.removeprefix("kernel-")): jain for (queue, scheme), jain in jain_values.items()})


def measure(jain_values: Mapping[tuple[str, str], float]) -> dict[str, dict[str, float]]:
    """Return each scheme's median over the plain queue, and the lead of Copa's median over the largest other one.

    Raises:
        RunFailure: A scheme has no good run.
    """
    for scheme in SCHEMES:
        if ("plain", scheme) not in jain_values:
            raise RunFailure(f"{scheme}: no good run to judge")
    plain_jain = {scheme: jain_values["plain", scheme] for scheme in SCHEMES}
    lead = plain_jain[COPA] - max(jain for scheme, jain in plain_jain.items() if scheme != COPA)
    return {scheme: {"jain": jain} for scheme, jain in plain_jain.items()} | {"fairest": {"lead": lead}}


CHECK = Check("R1", "r01_jain", simulate, real)
