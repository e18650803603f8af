"""One Copa flow alone, and the staircase of ten flows over the three paths of the reproduction's appendix."""

from validation.fidelity.measured import Runs, value
from validation.fidelity.published_check import Check, Measured, Work
from validation.fidelity.staircase import JAIN, QUICK

COPA = "copa-gcc2018"
OTHERS = ("cubic-linux", "bbr", "reno", "vegas")
ALONE = ("--schemes", ",".join((COPA, *OTHERS)), *QUICK)
TEN = ("--schemes", ",".join((COPA, *OTHERS, "pcc")), *QUICK)


def simulated(work: Work, count: int) -> list[Measured]:
    """Utilisation of single flows, and how far Copa's median is above the largest of the others."""
    alone = Runs.of(work.repetitions("copa-alone", *ALONE, count=count)).repetitions(count)
    ten = Runs.of(work.repetitions("copa-fairness-variants", *TEN, count=count)).repetitions(count)
    return [used(one) | leads(many) for one, many in zip(alone, ten, strict=True)]


def used(runs: Runs) -> dict[str, dict[str, float]]:
    """Utilisation of Copa's flow, and the least of the other schemes', %."""
    found = {run["scheme"]: 100.0 * value(run, "network.utilization") for run in runs.runs}
    least = min(found[scheme] for scheme in OTHERS)
    return {"alone": {"utilisation": found[COPA]}, "others": {"utilisation": least}}


def leads(runs: Runs) -> dict[str, dict[str, float]]:
    """Copa's median of Jain's index on each path, less the largest of the other schemes."""
    found: dict[str, dict[str, float]] = {}
    for run in runs.runs:
        found.setdefault(run["path"].partition(".")[0], {})[run["scheme"]] = value(run, f"network.{JAIN}")
    return {
        path: {"lead": own[COPA] - max(jain for scheme, jain in own.items() if scheme != COPA)}
        for path, own in found.items()
    }


CHECK = Check("R20", "r20_copa_elsewhere", simulated)
