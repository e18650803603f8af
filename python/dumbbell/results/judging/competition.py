"""Who gets what beside whom: shares, and the harm that flows do to each other (Ware et al., HotNets 2019; RFC 9743)."""

from dataclasses import dataclass

from dumbbell import _core
from dumbbell.results.analysis.shares import share_of
from dumbbell.results.analysis.summary import Estimate
from dumbbell.results.judging.direction import MORE, Metric, definitions
from dumbbell.results.judging.measured import Flows, MeasuredCell, MeasuredExperiment, estimate

VICTIM_METRICS = (
    "mean_throughput_l4",
    "owd_p95_ms",
    "packet_loss_rate",
    "media.media_rate_mbps",
    "media.frame_delay_p95_ms",
)
"""What a victim can lose, if the core measures it."""

_AXIS = "versus"


@dataclass(frozen=True)
class Harm:
    """What flows of `victim` lose in one metric beside the others, compared with the same flows alone."""

    metric: Metric
    solo: Estimate
    beside: Estimate
    harm: float


@dataclass(frozen=True)
class Match:
    """The flows of one scheme under test beside those of a competitor, in one cell."""

    cell: MeasuredCell
    label: str
    competitor: str
    ours: int
    theirs: int
    share: Estimate | None
    done: tuple[Harm, ...]
    suffered: tuple[Harm, ...]

    @property
    def fair(self) -> float:
        """The share of the flows under test if all flows got the same."""
        return self.ours / (self.ours + self.theirs)

    @property
    def numbers(self) -> str:
        """How many against how many."""
        return f"{self.ours} : {self.theirs}"


def axis_of(findings: MeasuredExperiment) -> str:
    """The axis that names the competitors."""
    return findings.membership.victims or _AXIS


def has_matches(findings: MeasuredExperiment) -> bool:
    """Whether the experiment lets schemes compete."""
    return any(cell.axis_values.get("scheme") for cell in findings.cells) and axis_of(findings) in _axes(findings)


def matches(findings: MeasuredExperiment) -> list[Match]:
    """Every competition of the experiment, cell by cell, in the order of its schemes."""
    if not has_matches(findings):
        return []
    return [
        _match(findings, cell, label) for cell in findings.cells for label in findings.labels if _theirs(cell, label)
    ]


def surroundings(findings: MeasuredExperiment, cell: MeasuredCell) -> tuple[str, ...]:
    """Where a cell is on all axes but that of competitors."""
    return (cell.base, *(cell.place(axis) for axis in _axes(findings) if axis != axis_of(findings)))


def _axes(findings: MeasuredExperiment) -> list[str]:
    return [axis.name for axis in findings.part.experiment_file.grid]


def _theirs(cell: MeasuredCell, label: str) -> tuple[int, ...]:
    return cell.theirs_of(label) if cell.axis_values.get("scheme") else ()


def _match(findings: MeasuredExperiment, cell: MeasuredCell, label: str) -> Match:
    ours, theirs = cell.ours_of(label), _theirs(cell, label)
    competitor = cell.plans[label][theirs[0] - 1].scheme
    return Match(
        cell=cell,
        label=label,
        competitor=competitor,
        ours=len(ours),
        theirs=len(theirs),
        share=estimate(_shares(cell, label, ours)),
        done=_harms(findings, cell, label, theirs, competitor),
        suffered=_harms(findings, cell, label, ours, label),
    )


def _shares(cell: MeasuredCell, label: str, ours: tuple[int, ...]) -> list[float]:
    """The part of the payload delivered that our flows got, in each run."""
    shares = ([share_of(flow) for flow in run.flows(ours)] for run in cell.good(label))
    return [sum(known) for found in shares if (known := [share for share in found if share is not None])]


def _harms(
    findings: MeasuredExperiment, cell: MeasuredCell, label: str, flows: tuple[int, ...], victim: str
) -> tuple[Harm, ...]:
    """What `flows` lose compared with as many flows of the same scheme alone, where that was run."""
    alone = _alone(findings, cell, victim, len(flows))
    if alone is None:
        return ()
    found = []
    for name in VICTIM_METRICS:
        metric = definitions().get(("flow", name))
        if metric is None:
            continue
        solo = estimate(alone.flow_values(Flows(victim, alone.ours_of(victim)), name))
        beside = estimate(cell.flow_values(Flows(label, flows), name))
        if solo is None or beside is None:
            continue
        harm = _core.harm(solo.mean, beside.mean, metric.better == MORE)
        if harm is not None:
            found.append(Harm(metric, solo, beside, harm))
    return tuple(found)


def _alone(findings: MeasuredExperiment, cell: MeasuredCell, victim: str, count: int) -> MeasuredCell | None:
    """The cell with the same surroundings in which `count` flows of `victim` have the path for themselves."""
    if victim not in findings.labels:
        return None
    for other in findings.cells:
        if other.axis_values.get("scheme") or surroundings(findings, other) != surroundings(findings, cell):
            continue
        if len(other.plans[victim]) == count:
            return other
    return None
