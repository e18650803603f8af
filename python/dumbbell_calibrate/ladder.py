"""Every model fitted to all schemes, then to all but some, and the choice: the simplest that is as good as the best."""

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
    """A fit that some schemes were held out of, and Pantheon's error over those."""

    schemes: tuple[str, ...]
    fit: Fit
    error: float


@dataclass(frozen=True)
class HeldOut:
    """What a model says of schemes that it was not fitted to, in runs with seeds that no fit has seen."""

    error: float
    """Pantheon's, each scheme predicted by a fit that did not know it."""
    standard_error: float | None
    """Of that mean over schemes; None of a single one."""
    by_point: dict[Key, float]
    folds: tuple[FoldFit, ...] = ()
    """Each with all its parameters fitted anew; none where the schemes are in no fit at all."""

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the folds' errors; None of a single one."""
        return stdev(fold.error for fold in self.folds) if len(self.folds) > 1 else None

    @classmethod
    def of(cls, found: Mapping[Key, PointError], folds: tuple[FoldFit, ...] = ()) -> "HeldOut":
        """From the errors of points. Flows of a scheme are no independent draws: schemes say how sure the mean is."""
        by_point = {key: each.replication for key, each in found.items()}
        schemes = [
            mean(value for key, value in by_point.items() if key[0] == name) for name in {key[0] for key in found}
        ]
        error = stdev(schemes) / len(schemes) ** 0.5 if len(schemes) > 1 else None
        return cls(mean(by_point.values()), error, by_point, folds)


@dataclass
class Ladder:
    """All models that were fitted, and the one that was chosen."""

    fits: dict[str, Fit]
    held_out: dict[str, HeldOut]
    chosen: str
    folds: tuple[tuple[str, ...], ...]
    unfitted: dict[str, HeldOut] = field(default_factory=dict)
    """What the fit of each model to all schemes says of those that are in no fit."""


def fold_schemes(schemes: Sequence[str], count: int | None, seed: int) -> tuple[tuple[str, ...], ...]:
    """The schemes in so many groups, each of which is left out once; None: each scheme is a group."""
    order = sorted(schemes)
    random.Random(seed).shuffle(order)
    groups = len(order) if count is None else min(count, len(order))
    return tuple(tuple(order[index::groups]) for index in range(groups))


def climb(fitter: Fitter, models: Sequence[Model], folds: tuple[tuple[str, ...], ...]) -> Ladder:
    """Fits all models and chooses. Without folds the one with the least error is chosen."""
    schemes = fitter.target.schemes
    fits: dict[str, Fit] = {}
    for model in models:
        fits[model.name] = fitter.fit(model, schemes, fits.get(model.after), model.name)
    held: dict[str, HeldOut] = {}
    parts: dict[tuple[str, int], Fit] = {}
    for model in sorted(models, key=lambda model: fits[model.name].error) if folds else ():
        names = [f"{model.name} without {', '.join(fold)}" for fold in folds]
        if held and fits[model.name].error > _limit(held):
            # a model that says less of schemes it knows cannot say more of others
            for name in names:
                fitter.skip(name)
            continue
        for number, (fold, name) in enumerate(zip(folds, names, strict=True)):
            training = [scheme for scheme in schemes if scheme not in fold]
            parts[model.name, number] = fitter.fit(model, training, parts.get((model.after, number)), name)
        held[model.name] = _held_out(fitter, [parts[model.name, number] for number in range(len(folds))], folds)
    chosen = _simplest(models, held) if held else min(models, key=lambda model: fits[model.name].error).name
    return Ladder(fits, held, chosen, folds, _unfitted(fitter, fits))


def _held_out(fitter: Fitter, parts: Sequence[Fit], folds: Sequence[tuple[str, ...]]) -> HeldOut:
    """Each scheme predicted by the fit that did not know it."""
    found: dict[Key, PointError] = {}
    made = []
    for part, fold in zip(parts, folds, strict=True):
        predicted = fitter.predict(part.best.candidate, fold)
        found |= predicted
        made.append(FoldFit(fold, part, mean(each.replication for each in predicted.values())))
    return HeldOut.of(found, tuple(made))


def _unfitted(fitter: Fitter, fits: Mapping[str, Fit]) -> dict[str, HeldOut]:
    """The schemes that are in no fit, predicted by the fits to all others."""
    schemes = names_of(fitter.target.unfitted)
    if not schemes:
        return {}
    return {name: HeldOut.of(fitter.predict(fit.best.candidate, schemes)) for name, fit in fits.items()}


def _limit(held: dict[str, HeldOut]) -> float:
    """One standard error above the best."""
    best = min(held.values(), key=lambda each: each.error)
    return best.error + (best.standard_error or 0.0)


def _simplest(models: Sequence[Model], held: dict[str, HeldOut]) -> str:
    limit = _limit(held)
    good = [model for model in models if model.name in held and held[model.name].error <= limit]
    return min(good, key=lambda model: len(model.knobs)).name
