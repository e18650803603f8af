"""What a calibration finds: the path, how far it is off, and everything that was tried on the way."""

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
class Found:
    """A path that was found, how well it does, and everything that was tried on the way."""

    path: PathModel
    target: Target
    ladder: Ladder
    parameters: tuple[Interval, ...]
    model: Model
    truth: Truth | None = None
    """The true path beside this one, where the user knows it."""

    @property
    def fit(self) -> Fit:
        """The chosen model, fitted to all schemes but those that are in no fit."""
        return self.ladder.fits[self.model.name]

    @property
    def in_sample_error(self) -> float:
        """Pantheon's replication error over the schemes it was fitted to."""
        return self.fit.error

    @property
    def held_out(self) -> HeldOut | None:
        """The chosen model over schemes that a fit did not know; None without folds."""
        return self.ladder.held_out.get(self.model.name)

    @property
    def unfitted(self) -> HeldOut | None:
        """The chosen model over schemes that are in no fit; None where there are none."""
        return self.ladder.unfitted.get(self.model.name)

    @property
    def held_out_error(self) -> float | None:
        """Pantheon's replication error over schemes that were left out; None where none were."""
        return None if self.held_out is None else self.held_out.error

    @property
    def hosts(self) -> dict[str, object]:
        """What was found of the hosts, which a path file cannot hold, by the settings that it stands for."""
        return dict(self.fit.best.candidate.get("hosts", {}))

    def host_words(self) -> list[str]:
        """Return what a command needs beside the path file to run with hosts as they were taken and found."""
        schemes = self.target.experiment.schemes
        labels = self.target.experiment.labels
        sized = self.buffered if "send_buffer_bytes" in self.hosts else []  # in the place of Linux's buffers
        linux = [name for name in labels if schemes[name].transport.get("profile") == LINUX and name not in sized]
        words = [f"--set {name}.transport.profile={LINUX}" for name in linux]
        for name, value in self.hosts.items():
            keys = [name] if name == "host_jitter_us" else [f"{each}.transport.{name}" for each in self.buffered]
            words += [f"--set {key}={value:.12g}" for key in keys]
        return words

    @property
    def buffered(self) -> list[str]:
        """The schemes that a sender's buffer is of."""
        schemes = self.target.experiment.schemes
        return [name for name in self.target.experiment.labels if takes_buffer(schemes[name].transport)]

    def compared(self) -> list[list[str]]:
        """For people: each model, its error over the schemes it knows and over others, and what it is."""
        rows = []
        for name, fit in self.ladder.fits.items():
            others = [each.get(name) for each in (self.ladder.held_out, self.ladder.unfitted)]
            chosen = ", chosen" if name == self.model.name else ""
            parameters = f"{len(fit.knobs)} / {fit.numbers}"
            rows.append([name, parameters, f"{fit.error:.1%}", *map(spread_text, others), f"{fit.model.title}{chosen}"])
        return rows

    def beside_truth(self) -> list[list[str]]:
        """For people: the path that was found and the true one, in the same runs; empty where nobody knows it."""
        if self.truth is None:
            return []
        scores = [("found", self.truth.found), (f"{self.truth.name}, the true path", self.truth.true)]
        return [[name, f"{score.error:.1%}", f"{score.unlikelihood:.4g}"] for name, score in scores]

    def as_json(self) -> dict[str, object]:
        """Everything, for programs."""
        held = self.ladder.held_out
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
                each.knob.name: {
                    "value": each.value,
                    "low": each.low,
                    "high": each.high,
                    "unit": each.knob.unit,
                    "determined": each.determined,
                }
                for each in self.parameters
            },
            "models": {
                name: {
                    "in_sample_error": fit.error,
                    "fitted_parameters": len(fit.knobs),
                    "fitted_numbers": fit.numbers,
                    "held_out": _held_out(held.get(name)),
                    "unfitted": _held_out(self.ladder.unfitted.get(name)),
                    "values": fit.values,
                    "paths_tried": len(fit.trials),
                }
                for name, fit in self.ladder.fits.items()
            },
            "unfitted": {point.label: point.unfitted for point in self.target.unfitted},
            "left_out": list(self.target.left_out),
        }


def spread_text(held: HeldOut | None) -> str:
    """`14.5% ± 2.8% (folds 5.6%)`: the standard error, and how far folds are apart; empty of nothing."""
    if held is None:
        return ""
    sure = "" if held.standard_error is None else f" ± {held.standard_error:.1%}"
    apart = "" if held.deviation is None else f" (folds {held.deviation:.1%})"
    return f"{held.error:.1%}{sure}{apart}"


def _held_out(held: HeldOut | None) -> dict[str, object] | None:
    if held is None:
        return None
    schemes: dict[str, list[float]] = {}
    for (scheme, _), error in held.by_point.items():
        schemes.setdefault(scheme, []).append(error)
    told: dict[str, object] = {"error": held.error, "standard_error": held.standard_error}
    told["schemes"] = {scheme: mean(each) for scheme, each in schemes.items()}
    if not held.folds:
        return told
    folds = [
        {"held_out": list(fold.schemes), "error": fold.error, "in_sample_error": fold.fit.error}
        | {"fitted_numbers": fold.fit.numbers, "values": fold.fit.values}
        for fold in held.folds
    ]
    return told | {"deviation_of_folds": held.deviation, "folds": folds}


def _truth(truth: Truth) -> dict[str, object]:
    def told(score: Score) -> dict[str, float]:
        return {"error": score.error, "unlikelihood": score.unlikelihood}

    return {"path": truth.name, "true": told(truth.true), "found": told(truth.found)}
