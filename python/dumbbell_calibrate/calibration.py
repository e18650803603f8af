"""The result of a calibration: the path, its errors, and all tried paths."""

from dataclasses import dataclass
from statistics import mean

from dumbbell.catalog.path import PathModel
from dumbbell_calibrate.fitting import Fit
from dumbbell_calibrate.ladder import HeldOut, Ladder
from dumbbell_calibrate.objective import takes_buffer
from dumbbell_calibrate.path_models import Model
from dumbbell_calibrate.target import Target
from dumbbell_calibrate.truth import Score, Truth
from dumbbell_calibrate.uncertainty import Interval
from dumbbell_reproduce.kernel_tcp import LINUX


@dataclass(frozen=True)
class Calibration:
    """A calibrated path, its errors, and all tried paths."""

    path: PathModel
    target: Target
    ladder: Ladder
    parameters: tuple[Interval, ...]
    model: Model
    truth: Truth | None = None
    """Scores of the true path and of this one, if the user knows the true path."""

    @property
    def fit(self) -> Fit:
        """The chosen model, fitted to all schemes except those in no fit."""
        return self.ladder.fits[self.model.name]

    @property
    def in_sample_error(self) -> float:
        """Pantheon's replication error over the schemes of the fit."""
        return self.fit.error

    @property
    def held_out(self) -> HeldOut | None:
        """Errors of the chosen model over held-out schemes; None without folds."""
        return self.ladder.held_out.get(self.model.name)

    @property
    def unfitted(self) -> HeldOut | None:
        """Errors of the chosen model over schemes in no fit; None without such schemes."""
        return self.ladder.predictions.get(self.model.name)

    @property
    def held_out_error(self) -> float | None:
        """Pantheon's replication error over held-out schemes; None without folds."""
        return None if self.held_out is None else self.held_out.error

    @property
    def hosts(self) -> dict[str, object]:
        """Calibrated settings of hosts, which a path file cannot contain."""
        return dict(self.fit.best.candidate.get("hosts", {}))

    def host_words(self) -> list[str]:
        """Return the options that a command needs with the path file, to run with the hosts of the calibration."""
        schemes = self.target.experiment.schemes
        labels = self.target.experiment.labels
        schemes_with_buffer = (
            self.buffered if "send_buffer_bytes" in self.hosts else []
        )  # in the place of Linux's buffers
        linux = [
            name
            for name in labels
            if schemes[name].transport.get("profile") == LINUX and name not in schemes_with_buffer
        ]
        words = [f"--set {name}.transport.profile={LINUX}" for name in linux]
        for name, value in self.hosts.items():
            keys = [name] if name == "host_jitter_us" else [f"{scheme}.transport.{name}" for scheme in self.buffered]
            words += [f"--set {key}={value:.12g}" for key in keys]
        return words

    @property
    def buffered(self) -> list[str]:
        """Names of the schemes that get the sender's buffer."""
        schemes = self.target.experiment.schemes
        return [name for name in self.target.experiment.labels if takes_buffer(schemes[name].transport)]

    def compared(self) -> list[list[str]]:
        """Return a table row for each model: its errors over known and over other schemes, and its title."""
        rows = []
        for name, fit in self.ladder.fits.items():
            prediction_errors = [
                predictions.get(name) for predictions in (self.ladder.held_out, self.ladder.predictions)
            ]
            suffix = ", chosen" if name == self.model.name else ""
            parameters = f"{len(fit.knobs)} / {fit.numbers}"
            rows.append(
                [
                    name,
                    parameters,
                    f"{fit.error:.1%}",
                    *map(spread_text, prediction_errors),
                    f"{fit.model.title}{suffix}",
                ]
            )
        return rows

    def beside_truth(self) -> list[list[str]]:
        """Return table rows with the scores of the calibrated and the true path in the same runs; empty if unknown."""
        if self.truth is None:
            return []
        scores = [("found", self.truth.calibrated_score), (f"{self.truth.name}, the true path", self.truth.true)]
        return [[name, f"{score.error:.1%}", f"{score.unlikelihood:.4g}"] for name, score in scores]

    def as_json(self) -> dict[str, object]:
        """Return the result as JSON values."""
        held_out = self.ladder.held_out
        return {
            "path": {"name": self.path.name} | self.path.table(),
            "model": self.model.name,
            "in_sample_error": self.in_sample_error,
            "held_out_error": self.held_out_error,
            "unfitted_error": None if self.unfitted is None else self.unfitted.error,
            "fitted_numbers": self.fit.numbers,
            "hosts": self.hosts,
            "truth": None if self.truth is None else _truth(self.truth),
            "parameters": {
                interval.knob.name: {
                    "value": interval.value,
                    "low": interval.low,
                    "high": interval.high,
                    "unit": interval.knob.unit,
                    "determined": interval.determined,
                }
                for interval in self.parameters
            },
            "models": {
                name: {
                    "in_sample_error": fit.error,
                    "fitted_parameters": len(fit.knobs),
                    "fitted_numbers": fit.numbers,
                    "held_out": _held_out(held_out.get(name)),
                    "unfitted": _held_out(self.ladder.predictions.get(name)),
                    "values": fit.values,
                    "paths_tried": len(fit.trials),
                }
                for name, fit in self.ladder.fits.items()
            },
            "unfitted": {point.label: point.excluded_because for point in self.target.predicted_points},
            "left_out": list(self.target.left_out),
        }


def spread_text(predictions: HeldOut | None) -> str:
    """Return `14.5% ± 2.8% (folds 5.6%)`: the error, its standard error, and the deviation of folds; or nothing."""
    if predictions is None:
        return ""
    sure = "" if predictions.standard_error is None else f" ± {predictions.standard_error:.1%}"
    apart = "" if predictions.deviation is None else f" (folds {predictions.deviation:.1%})"
    return f"{predictions.error:.1%}{sure}{apart}"


def _held_out(predictions: HeldOut | None) -> dict[str, object] | None:
    if predictions is None:
        return None
    schemes: dict[str, list[float]] = {}
    for (scheme, _), error in predictions.by_point.items():
        schemes.setdefault(scheme, []).append(error)
    facts: dict[str, object] = {"error": predictions.error, "standard_error": predictions.standard_error}
    facts["schemes"] = {scheme: mean(scheme_errors) for scheme, scheme_errors in schemes.items()}
    if not predictions.folds:
        return facts
    folds = [
        {"held_out": list(fold.schemes), "error": fold.error, "in_sample_error": fold.fit.error}
        | {"fitted_numbers": fold.fit.numbers, "values": fold.fit.values}
        for fold in predictions.folds
    ]
    return facts | {"deviation_of_folds": predictions.deviation, "folds": folds}


def _truth(truth: Truth) -> dict[str, object]:
    def score_json(score: Score) -> dict[str, float]:
        return {"error": score.error, "unlikelihood": score.unlikelihood}

    return {"path": truth.name, "true": score_json(truth.true), "found": score_json(truth.calibrated_score)}
