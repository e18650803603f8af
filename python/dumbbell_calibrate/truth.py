"""Scores of the true path, if the user knows it, and of the calibrated path, in the same fresh runs."""

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
    """Errors of a path in runs with seeds that no fit used."""

    error: float
    """Pantheon's error, over the schemes of the fit."""
    unlikelihood: float
    """The search objective."""
    by_point: dict[tuple[str, int], float]


@dataclass(frozen=True)
class Truth:
    """Scores of the true path and of the calibrated path."""

    name: str
    true: Score
    calibrated_score: Score


def truth_of(path: PathModel, target: Target) -> Candidate:
    """Return the true path as a candidate.

    Raises:
        UserError: the path and the target add different numbers of bytes to datagrams.
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


def true_and_calibrated(fitter: Fitter, name: str, candidate: Candidate, fit: Fit) -> Truth:
    """Return both scores. A path has no hosts, so the true path gets the calibrated hosts."""
    best = fit.best.candidate
    with_hosts: Candidate = {**candidate, "hosts": best["hosts"]} if "hosts" in best else candidate
    return Truth(name, _score(fitter, with_hosts), _score(fitter, best))


def _score(fitter: Fitter, candidate: Candidate) -> Score:
    errors_by_point = fitter.predict(candidate, fitter.target.schemes)
    by_point = {key: point_error.replication for key, point_error in errors_by_point.items()}
    return Score(mean(by_point.values()), fitter.unlikelihood(candidate), by_point)
