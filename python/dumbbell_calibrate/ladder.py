"""Fits of all models to all schemes, then without each fold, and the choice of the simplest model that fits well."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, stdev

from dumbbell_calibrate.error import PointError
from dumbbell_calibrate.fitting import Fit, Fitter
from dumbbell_calibrate.path_models import Model
from dumbbell_calibrate.target import names_of

Key = tuple[str, int]
"""A scheme and one of its flows (0: all flows together)."""


@dataclass(frozen=True)
class FoldFit:
    """A fit without some schemes, and Pantheon's error over those schemes."""

    schemes: tuple[str, ...]
    fit: Fit
    error: float


@dataclass(frozen=True)
class HeldOut:
    """Prediction errors of a model over schemes outside its fit, in runs with seeds that no fit used."""

    error: float
    """Pantheon's error over schemes, each predicted by a fit without it."""
    standard_error: float | None
    """Standard error of the mean over schemes; None for a single scheme."""
    by_point: dict[Key, float]
    folds: tuple[FoldFit, ...] = ()
    """One fit for each fold, with all parameters fitted again; empty if the schemes are in no fit at all."""

    @property
    def deviation(self) -> float | None:
        """Standard deviation of the folds' errors; None for a single fold."""
        return stdev(fold.error for fold in self.folds) if len(self.folds) > 1 else None

    @classmethod
    def of(cls, point_errors: Mapping[Key, PointError], folds: tuple[FoldFit, ...] = ()) -> "HeldOut":
        """Return the errors of points. The standard error is over schemes, since their flows are not independent."""
        by_point = {key: point_error.replication for key, point_error in point_errors.items()}
        schemes = [
            mean(value for key, value in by_point.items() if key[0] == name)
            for name in {key[0] for key in point_errors}
        ]
        error = stdev(schemes) / len(schemes) ** 0.5 if len(schemes) > 1 else None
        return cls(mean(by_point.values()), error, by_point, folds)


@dataclass
class Ladder:
    """All fitted models, and the name of the chosen one."""

    fits: dict[str, Fit]
    held_out: dict[str, HeldOut]
    choice: str
    folds: tuple[tuple[str, ...], ...]
    predictions: dict[str, HeldOut] = field(default_factory=dict)
    """Errors of each model, fitted to all other schemes, over the schemes in no fit."""


def fold_schemes(schemes: Sequence[str], count: int | None, seed: int) -> tuple[tuple[str, ...], ...]:
    """Return the schemes in `count` groups, each of which is left out once; None: each scheme is a group."""
    order = sorted(schemes)
    random.Random(seed).shuffle(order)
    groups = len(order) if count is None else min(count, len(order))
    return tuple(tuple(order[index::groups]) for index in range(groups))


def climb(fitter: Fitter, models: Sequence[Model], folds: tuple[tuple[str, ...], ...]) -> Ladder:
    """Fit all models and choose one: without folds the model with the least error."""
    schemes = fitter.target.schemes
    fits: dict[str, Fit] = {}
    for model in models:
        fits[model.name] = fitter.fit(model, schemes, fits.get(model.after), model.name)
    held_out: dict[str, HeldOut] = {}
    parts: dict[tuple[str, int], Fit] = {}
    for model in sorted(models, key=lambda model: fits[model.name].error) if folds else ():
        names = [f"{model.name} without {', '.join(fold)}" for fold in folds]
        if held_out and fits[model.name].error > _limit(held_out):
            # a model with a large error over known schemes cannot predict others better
            for name in names:
                fitter.skip(name)
            continue
        for number, (fold, name) in enumerate(zip(folds, names, strict=True)):
            training = [scheme for scheme in schemes if scheme not in fold]
            parts[model.name, number] = fitter.fit(model, training, parts.get((model.after, number)), name)
        held_out[model.name] = _held_out(fitter, [parts[model.name, number] for number in range(len(folds))], folds)
    choice = _simplest(models, held_out) if held_out else min(models, key=lambda model: fits[model.name].error).name
    return Ladder(fits, held_out, choice, folds, _unfitted(fitter, fits))


def _held_out(fitter: Fitter, parts: Sequence[Fit], folds: Sequence[tuple[str, ...]]) -> HeldOut:
    """Return the errors of all schemes, each predicted by the fit without it."""
    point_errors: dict[Key, PointError] = {}
    fold_fits = []
    for part, fold in zip(parts, folds, strict=True):
        fold_errors = fitter.predict(part.best.candidate, fold)
        point_errors |= fold_errors
        fold_fits.append(FoldFit(fold, part, mean(point_error.replication for point_error in fold_errors.values())))
    return HeldOut.of(point_errors, tuple(fold_fits))


def _unfitted(fitter: Fitter, fits: Mapping[str, Fit]) -> dict[str, HeldOut]:
    """Return the prediction errors over schemes in no fit, predicted by the fits to all others."""
    schemes = names_of(fitter.target.predicted_points)
    if not schemes:
        return {}
    return {name: HeldOut.of(fitter.predict(fit.best.candidate, schemes)) for name, fit in fits.items()}


def _limit(held_out: dict[str, HeldOut]) -> float:
    """Return the smallest error plus one standard error."""
    best = min(held_out.values(), key=lambda errors: errors.error)
    return best.error + (best.standard_error or 0.0)


def _simplest(models: Sequence[Model], held_out: dict[str, HeldOut]) -> str:
    limit = _limit(held_out)
    good = [model for model in models if model.name in held_out and held_out[model.name].error <= limit]
    return min(good, key=lambda model: len(model.knobs)).name
