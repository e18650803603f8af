"""Competition of flows: shares, and harm to each other (Ware et al., HotNets 2019; RFC 9743)."""

from dataclasses import dataclass

from dumbbell import core
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
"""Metrics in which a victim can lose, if the core measures them."""

_AXIS = "versus"


@dataclass(frozen=True)
class Harm:
    """Loss of the flows of `victim` in one metric beside others, compared with the same flows alone."""

    metric: Metric
    solo: Estimate
    beside: Estimate
    harm: float


@dataclass(frozen=True)
class Match:
    """Flows of one scheme under test beside those of a competitor, in one cell."""

    cell: MeasuredCell
    label: str
    competitor: str
    own_flows: int
    competing_flows: int
    share: Estimate | None
    done: tuple[Harm, ...]
    suffered: tuple[Harm, ...]

    @property
    def fair(self) -> float:
        """Share of the flows under test if all flows got the same."""
        return self.own_flows / (self.own_flows + self.competing_flows)

    @property
    def numbers(self) -> str:
        """Number of flows on either side: `1 : 1`."""
        return f"{self.own_flows} : {self.competing_flows}"


def axis_of(findings: MeasuredExperiment) -> str:
    """Return the axis that names the competitors."""
    return findings.membership.victims or _AXIS


def has_matches(findings: MeasuredExperiment) -> bool:
    """Return True if the experiment lets schemes compete."""
    return any(cell.axis_values.get("scheme") for cell in findings.cells) and axis_of(findings) in _axes(findings)


def matches(findings: MeasuredExperiment) -> list[Match]:
    """Return every competition of the experiment, cell by cell, in the order of its schemes."""
    if not has_matches(findings):
        return []
    return [
        _match(findings, cell, label) for cell in findings.cells for label in findings.labels if _competing(cell, label)
    ]


def surroundings(findings: MeasuredExperiment, cell: MeasuredCell) -> tuple[str, ...]:
    """Return the place of a cell on all axes except that of competitors."""
    return (cell.base, *(cell.place(axis) for axis in _axes(findings) if axis != axis_of(findings)))


def _axes(findings: MeasuredExperiment) -> list[str]:
    return [axis.name for axis in findings.part.experiment_file.grid]


def _competing(cell: MeasuredCell, label: str) -> tuple[int, ...]:
    return cell.theirs_of(label) if cell.axis_values.get("scheme") else ()


def _match(findings: MeasuredExperiment, cell: MeasuredCell, label: str) -> Match:
    own_plans, competing = cell.ours_of(label), _competing(cell, label)
    competitor = cell.plans[label][competing[0] - 1].scheme
    return Match(
        cell=cell,
        label=label,
        competitor=competitor,
        own_flows=len(own_plans),
        competing_flows=len(competing),
        share=estimate(_shares(cell, label, own_plans)),
        done=_harms(findings, cell, label, competing, competitor),
        suffered=_harms(findings, cell, label, own_plans, label),
    )


def _shares(cell: MeasuredCell, label: str, own_plans: tuple[int, ...]) -> list[float]:
    """Return the part of the delivered payload that the flows under test got, in each run."""
    shares = ([share_of(flow) for flow in run.flows(own_plans)] for run in cell.good(label))
    return [
        sum(known_shares)
        for run_shares in shares
        if (known_shares := [share for share in run_shares if share is not None])
    ]


def _harms(
    findings: MeasuredExperiment, cell: MeasuredCell, label: str, flows: tuple[int, ...], victim: str
) -> tuple[Harm, ...]:
    """Return the losses of `flows` compared with as many flows of their scheme alone, if that was run."""
    alone = _alone(findings, cell, victim, len(flows))
    if alone is None:
        return ()
    harms = []
    for name in VICTIM_METRICS:
        metric = definitions().get(("flow", name))
        if metric is None:
            continue
        solo = estimate(alone.flow_values(Flows(victim, alone.ours_of(victim)), name))
        beside = estimate(cell.flow_values(Flows(label, flows), name))
        if solo is None or beside is None:
            continue
        harm = core.harm(solo.mean, beside.mean, metric.better == MORE)
        if harm is not None:
            harms.append(Harm(metric, solo, beside, harm))
    return tuple(harms)


def _alone(findings: MeasuredExperiment, cell: MeasuredCell, victim: str, count: int) -> MeasuredCell | None:
    """Return the cell with the same surroundings in which `count` flows of `victim` are alone on the path."""
    if victim not in findings.labels:
        return None
    for candidate in findings.cells:
        if candidate.axis_values.get("scheme") or surroundings(findings, candidate) != surroundings(findings, cell):
            continue
        if len(candidate.plans[victim]) == count:
            return candidate
    return None
