"""Ten flows join a second apart and leave again: figure 4 of the Copa paper, figures 6 and 7 of its reproduction."""

from validation.fidelity.published_check import Check, Row, Work
from validation.fidelity.staircase import FAST, PAPER, PUBLISHED, QUICK, REAL, REPRODUCTION, Medians, medians

IDEAL, MININET = "ideal-46", "mininet-46"
ALLOWED = {"copa-gcc2018": (0.90, 1.0), "cubic": (0.80, 0.95), "bbr": (0.50, 0.90), "pcc": (0.50, 0.95)}
EMULATED = (
    *("--backend", "emu", "--schemes", "copa-gcc2018,kernel-cubic,kernel-bbr,pcc"),
    *("--runs", "1", "--cell", "ideal-46.staircase-1s", *QUICK),
)
NEAR = 0.05
TOO_WIDE = {"pcc": "runs differ by 0.3: the one with real packets is shown, the mean of the simulated ones is judged"}
WHY = {
    "bbr": "runs differ by 0.2; where the limit counts super-packets of four segments, as offloads "
    "make them on such a host, BBR has 0.67 and CUBIC 0.85 (`copa-fairness-causes`)",
    "pcc": "newcomers keep the rate with which they leave their start phase: 0.85 where that begins at 16 instead of "
    "2 Mbit/s; a host whose times wander by a millisecond makes 0.58 of 0.41 (`copa-fairness-causes`)",
}


def run(work: Work) -> list[Row]:
    """Medians of Jain's index: the ranges, who is fairest, and how far each is from both publications."""
    ours = medians(work.results("copa-fairness", *FAST))
    real = medians(work.results("copa-fairness", *EMULATED)) if work.emulate else {}
    rows = []
    for scheme, (least, most) in ALLOWED.items():
        found = [ours[IDEAL, scheme], *filter(None, [real.get((IDEAL, REAL.get(scheme, scheme)))])]
        judged = found[:1] if scheme in TOO_WIDE else found
        rows.append(
            Row(
                f"{scheme}: median of Jain's index, 46 Mbit/s, 20 ms, 77 packets",
                f"{PUBLISHED[scheme][PAPER]} and {PUBLISHED[scheme][REPRODUCTION]}",
                f"{least} to {most}",
                *map(str, found),
                passed=all(least <= each.mean <= most for each in judged),
                why=TOO_WIDE.get(scheme, ""),
            )
        )
    rows.append(_fairest(ours, real))
    rows += [_near(ours, scheme, path, source) for scheme in ALLOWED for path, source in NEAREST]
    return rows


NEAREST = ((IDEAL, PAPER), (MININET, REPRODUCTION))
"""Each publication with the queue that it had."""


def _fairest(ours: dict[tuple[str, str], Medians], real: dict[tuple[str, str], Medians]) -> Row:
    def fairest(found: dict[tuple[str, str], Medians]) -> str:
        known = {scheme: found[IDEAL, name] for scheme in ALLOWED if (IDEAL, name := _name(found, scheme)) in found}
        return max(known, key=lambda scheme: known[scheme].mean, default="")

    found = [fairest(ours), *([fairest(real)] if real else [])]
    return Row("fairest", "Copa", "Copa", *found, passed=set(found) == {"copa-gcc2018"})


def _name(found: dict[tuple[str, str], Medians], scheme: str) -> str:
    return scheme if (IDEAL, scheme) in found else REAL.get(scheme, scheme)


def _near(ours: dict[tuple[str, str], Medians], scheme: str, path: str, source: str) -> Row:
    found, published = ours[path, scheme], PUBLISHED[scheme][source]
    off = abs(found.mean - published)
    queue = "a plain queue" if path == IDEAL else "the limit shared with the delay"
    return Row(
        f"{scheme}: the same beside the {source} ({queue})",
        f"{published}",
        f"{NEAR}, shown: off by {off:.2f}",
        str(found),
        why="" if off <= NEAR else WHY.get(scheme, ""),
    )


CHECK = Check(
    id="R1",
    title="Jain's index while ten flows join and leave, a second apart",
    source="Arun and Balakrishnan, NSDI 2018, figure 4 (corrected version); nadinelyab/Copa_Reproduction@72499f0",
    commands=(
        f"dumbbell run copa-fairness {' '.join(FAST)}",
        f"dumbbell run copa-fairness {' '.join(EMULATED)}",
        "dumbbell run copa-fairness-causes",
    ),
    run=run,
)
