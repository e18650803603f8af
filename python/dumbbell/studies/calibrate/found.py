"""What a calibration finds: the path, how far it is off, and everything that was tried on the way."""

from dataclasses import dataclass
from typing import Any

from dumbbell.catalog.path import PathModel
from dumbbell.studies.calibrate.ladder import Ladder
from dumbbell.studies.calibrate.path_models import Model
from dumbbell.studies.calibrate.target import Target
from dumbbell.studies.calibrate.uncertainty import Interval


@dataclass(frozen=True)
class Found:
    """A path that was found, how well it does, and everything that was tried on the way."""

    path: PathModel
    target: Target
    ladder: Ladder
    parameters: tuple[Interval, ...]
    model: Model

    @property
    def error(self) -> float:
        """Pantheon's replication error over the schemes it was fitted to."""
        return self.ladder.fits[self.model.name].error

    @property
    def held_out_error(self) -> float | None:
        """The same over schemes that were left out; None where none were."""
        held = self.ladder.held_out.get(self.model.name)
        return None if held is None else held.error

    def compared(self) -> list[list[str]]:
        """For people: each model, its error over the schemes it knows and over others, and what it is."""
        rows = []
        for name, fit in self.ladder.fits.items():
            held = self.ladder.held_out.get(name)
            told = "" if held is None else f"{held.error:.1%} ± {held.standard_error:.1%}"
            chosen = ", chosen" if name == self.model.name else ""
            rows.append([name, f"{fit.error:.1%}", told, f"{fit.model.title}{chosen}"])
        return rows

    def as_json(self) -> dict[str, Any]:
        """Everything, for programs."""
        held = self.ladder.held_out
        return {
            "path": {"name": self.path.name} | self.path.table(),
            "model": self.model.name,
            "error": self.error,
            "held_out_error": self.held_out_error,
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
                    "error": fit.error,
                    "held_out_error": held[name].error if name in held else None,
                    "standard_error": held[name].standard_error if name in held else None,
                    "values": fit.values,
                    "paths_tried": len(fit.trials),
                }
                for name, fit in self.ladder.fits.items()
            },
            "left_out": list(self.target.left_out),
        }
