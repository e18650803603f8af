"""Every model fitted to all schemes, then to all but some, and the choice: the simplest that is as good as the best."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import stdev

from dumbbell.studies.calibrate.error import errors
from dumbbell.studies.calibrate.fitting import Fit, Fitter
from dumbbell.studies.calibrate.path_models import Model


@dataclass(frozen=True)
class HeldOut:
    """What a model says of schemes that it was not fitted to."""

    error: float
    """Pantheon's, each scheme predicted by the fit that did not know it."""
    standard_error: float
    """Of that mean over schemes."""
    by_point: dict[tuple[str, int], float]


@dataclass
class Ladder:
    """All models that were fitted, and the one that was chosen."""

    fits: dict[str, Fit]
    held_out: dict[str, HeldOut]
    chosen: str
    folds: tuple[tuple[str, ...], ...]


def fold_schemes(schemes: Sequence[str], count: int, seed: int) -> tuple[tuple[str, ...], ...]:
    """The schemes in so many groups, each of which is left out once."""
    order = sorted(schemes)
    random.Random(seed).shuffle(order)
    return tuple(tuple(order[index::count]) for index in range(min(count, len(order)))) if count else ()


def climb(fitter: Fitter, models: Sequence[Model], folds: tuple[tuple[str, ...], ...]) -> Ladder:
    """Fits all models and chooses. Without folds the one with the least error is chosen."""
    schemes = fitter.target.schemes
    fits: dict[str, Fit] = {}
    for model in models:
        fits[model.name] = fitter.fit(model, schemes, fits.get(model.after), model.name)
    if not folds:
        chosen = min(models, key=lambda model: fits[model.name].error).name
        return Ladder(fits, {}, chosen, folds)
    held: dict[str, HeldOut] = {}
    parts: dict[tuple[str, int], Fit] = {}
    for model in sorted(models, key=lambda model: fits[model.name].error):
        names = [f"{model.name} without {', '.join(fold)}" for fold in folds]
        if held and fits[model.name].error > _limit(held):
            # a model that says less of schemes it knows cannot say more of others
            for name in names:
                fitter.skip(name)
            continue
        for number, (fold, name) in enumerate(zip(folds, names, strict=True)):
            training = [scheme for scheme in schemes if scheme not in fold]
            parts[model.name, number] = fitter.fit(model, training, parts.get((model.after, number)), name)
        found = [parts[model.name, number] for number in range(len(folds))]
        held[model.name] = _held_out(fitter, found, folds)
    return Ladder(fits, held, _simplest(models, held), folds)


def _held_out(fitter: Fitter, parts: Sequence[Fit], folds: Sequence[Sequence[str]]) -> HeldOut:
    """Each scheme predicted by the fit that did not know it."""
    by_point: dict[tuple[str, int], float] = {}
    for part, fold in zip(parts, folds, strict=True):
        points = fitter.target.of(fold)
        found = fitter.objective.outcomes([part.best.elements], fold)[0]
        by_point |= {point.key: each.replication for point, each in zip(points, errors(points, found), strict=True)}
    values = list(by_point.values())
    error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return HeldOut(sum(values) / len(values), error, by_point)


def _limit(held: dict[str, HeldOut]) -> float:
    """One standard error above the best."""
    best = min(held.values(), key=lambda each: each.error)
    return best.error + best.standard_error


def _simplest(models: Sequence[Model], held: dict[str, HeldOut]) -> str:
    limit = _limit(held)
    good = [model for model in models if model.name in held and held[model.name].error <= limit]
    return min(good, key=lambda model: len(model.knobs)).name
