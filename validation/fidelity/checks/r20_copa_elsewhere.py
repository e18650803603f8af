"""One Copa flow alone, and the staircase of ten flows, over the three paths of the reproduction's appendix."""

from validation.fidelity.measured import Runs, value
from validation.fidelity.published_check import Check, RowValues, Work
from validation.fidelity.staircase import JAIN, QUICK

COPA = "copa-gcc2018"
OTHERS = ("cubic-linux", "bbr", "reno", "vegas")
ALONE = ("--schemes", ",".join((COPA, *OTHERS)), *QUICK)
TEN = ("--schemes", ",".join((COPA, *OTHERS, "pcc")), *QUICK)


def simulate(work: Work, count: int) -> list[RowValues]:
    """Return the utilisation of single flows, and the lead of Copa's median over the largest other one."""
    alone = Runs.of(work.repetitions("copa-alone", *ALONE, count=count)).repetitions(count)
    ten = Runs.of(work.repetitions("copa-fairness-variants", *TEN, count=count)).repetitions(count)
    return [used(single) | leads(ten_flows) for single, ten_flows in zip(alone, ten, strict=True)]


def used(runs: Runs) -> dict[str, dict[str, float]]:
    """Return the utilisation of Copa's flow, and the smallest one of the other schemes, %."""
    utilization_of = {run["scheme"]: 100.0 * value(run, "network.utilization") for run in runs.runs}
    least = min(utilization_of[scheme] for scheme in OTHERS)
    return {"alone": {"utilisation": utilization_of[COPA]}, "others": {"utilisation": least}}


def leads(runs: Runs) -> dict[str, dict[str, float]]:
    """Return Copa's median of Jain's index on each path, minus the largest of the other schemes."""
    jain_of: dict[str, dict[str, float]] = {}
    for run in runs.runs:
        jain_of.setdefault(run["path"].partition(".")[0], {})[run["scheme"]] = value(run, f"network.{JAIN}")
    return {
        path: {"lead": path_jain[COPA] - max(jain for scheme, jain in path_jain.items() if scheme != COPA)}
        for path, path_jain in jain_of.items()
    }


CHECK = Check("R20", "r20_copa_elsewhere", simulate)
