"""The true path, where the user knows it, beside the one that was found: both judged by the same fresh runs."""

from dataclasses import dataclass
from statistics import mean
from typing import cast

from dumbbell.base.errors import UserError, argument
from dumbbell.catalog.path import PathModel
from dumbbell_calibrate.fitting import Fit, Fitter
from dumbbell_calibrate.journal import Candidate
from dumbbell_calibrate.target import PLACE, Target


@dataclass(frozen=True)
class Score:
    """A path in runs with seeds that no fit has seen."""

    error: float
    """Pantheon's, over the schemes of the fit."""
    unlikelihood: float
    """What searches minimise."""
    by_point: dict[tuple[str, int], float]


@dataclass(frozen=True)
class Truth:
    """The true path beside the one that was found."""

    name: str
    true: Score
    found: Score


def truth_of(path: PathModel, target: Target) -> Candidate:
    """The true path as a candidate.

    Raises:
        UserError: its datagrams are longer or shorter than those of the target.
    """
    frame = target.experiment.paths[PLACE]
    if path.overhead_bytes != frame.overhead_bytes:
        raise UserError(
            f"adds {path.overhead_bytes} bytes to each datagram, {target.source} {frame.overhead_bytes}",
            argument="truth",
            value=path.name,
            fix=f"{argument('overhead_bytes')} {path.overhead_bytes} says that they are the same",
        )
    spec = path.spec()
    return cast("Candidate", {"data": spec["data"], "ack": spec["ack"]})


def beside(fitter: Fitter, name: str, candidate: Candidate, fit: Fit) -> Truth:
    """Both scores. Hosts are no part of a path: the true one has those that were found."""
    best = fit.best.candidate
    hosted: Candidate = {**candidate, "hosts": best["hosts"]} if "hosts" in best else candidate
    return Truth(name, _score(fitter, hosted), _score(fitter, best))


def _score(fitter: Fitter, candidate: Candidate) -> Score:
    found = fitter.predict(candidate, fitter.target.schemes)
    by_point = {key: each.replication for key, each in found.items()}
    return Score(mean(by_point.values()), fitter.unlikelihood(candidate), by_point)
