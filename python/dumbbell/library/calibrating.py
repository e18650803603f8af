"""The path model under which our schemes behave as they were measured."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

from dumbbell.calibrate import EVALUATIONS, FOLDS
from dumbbell.calibrate.fitting import Fitter, Watcher
from dumbbell.calibrate.journal import Journal, head_of
from dumbbell.calibrate.ladder import Ladder, climb, fold_schemes
from dumbbell.calibrate.model import MODELS, Model
from dumbbell.calibrate.objective import Objective
from dumbbell.calibrate.target import Asked, Target, read_target
from dumbbell.calibrate.uncertainty import Interval, intervals
from dumbbell.calibrate.workers import workers
from dumbbell.catalog.path import PathModel
from dumbbell.errors import UserError, listed, nearest
from dumbbell.execution.interrupts import interruptible
from dumbbell.library.selection import Names, listed_names
from dumbbell.machine.description import cpus
from dumbbell.names import require_names
from dumbbell.progress import Piece, Progress, Stage, span

_RUN_S = 0.05
"""What a run is expected to take until it is known."""


@dataclass(frozen=True)
class CalibratedPath:
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

    def save(self, file: str | PathLike[str]) -> list[Path]:
        """Writes the path as a file that `--path` takes; beside it, in `NAME.calibration`, a page and its figure.

        Raises:
            OSError: it cannot be written.
        """
        from dumbbell.calibrate.page import write

        return write(self, Path(file))


def calibrate_path(
    target: str | PathLike[str],
    out: str | PathLike[str] | None = None,
    *,
    name: str | None = None,
    path: str | None = None,
    schemes: Names = (),
    stands_for: Mapping[str, str] | None = None,
    models: Names = (),
    folds: int = FOLDS,
    evaluations: int = EVALUATIONS,
    equal_weights: bool = False,
    minutes: float | None = None,
    runs: int | None = None,
    duration: float | None = None,
    flows: int | None = None,
    interval: float | None = None,
    overhead_bytes: int | None = None,
    seed: int = 1,
    jobs: int | None = None,
    cluster: str | None = None,
    resume: bool = False,
) -> CalibratedPath:
    """Looks for the path model under which our schemes behave as they were measured, as `dumbbell calibrate` does.

    Progress goes to stderr. docs/calibration.md says what is done.

    Args:
        target: a results directory, a table (`.csv`), or an experiment with published numbers, by name or file.
        out: the path file to be; its journal is in `NAME.calibration` beside it. Without it nothing is kept.
        name: of the path; default: that of `out`.
        path: which one, where the target has several.
        schemes: only these of the target.
        stands_for: schemes of the target by the name of ours that simulates each.
        models: only these of the ladder.
        folds: into how many groups schemes are put, each of which is held out once; 0: none is.
        evaluations: most paths that a search tries.
        equal_weights: minimise Pantheon's error as it is, whatever the runs of a scheme differ by.
        minutes: how long all may take, about.
        runs: repetitions of each scheme on each path that is tried; default: the target's.
        duration: of each run, s; default: the target's.
        flows: flows of the same scheme in each run; default: the target's.
        interval: between the starts of flows, s.
        overhead_bytes: what the path adds to each datagram; default: the target's.
        seed: what every random draw follows from.
        jobs: processes; one per processor unless given.
        cluster: address of a Dask scheduler whose workers execute the runs.
        resume: go on with what is in the journal.

    Raises:
        dumbbell.Error: something that is not allowed, in one line.
    """
    file = None if out is None else Path(out)
    own_name = name or (file.stem if file else "calibrated")
    require_names("path", (own_name,), "")
    ladder = _models(listed_names(models))
    asked = Asked(
        path=path,
        schemes=listed_names(schemes),
        stands_for=stands_for or {},
        runs=runs,
        duration_s=duration,
        flows=flows,
        interval_s=interval,
        overhead_bytes=overhead_bytes,
        seed=seed,
    )
    found = read_target(str(target), asked)
    if folds == 1:
        raise UserError("--folds 1: allowed is 0, or 2 and more: what is held out is predicted by the others")
    journal = Journal(None if file is None else journal_directory(file), head_of(found.experiment), resume)
    try:
        with Progress() as progress, workers(jobs or cpus(), cluster) as crew, interruptible():
            for text in found.left_out:
                progress.line(f"left out: {text}")
            groups = fold_schemes(found.schemes, folds, seed)
            pieces = _pieces(found, len(ladder), len(groups), evaluations, jobs or cpus())
            until = None if minutes is None else time.monotonic() + 60.0 * minutes
            watcher = _Said(progress.expect("paths", pieces), evaluations, until)
            objective = Objective(found, crew, journal)
            fitter = Fitter(
                found, objective, evaluations, not equal_weights, seed, until, len(ladder) * (1 + len(groups)), watcher
            )
            climbed = climb(fitter, ladder, groups)
    finally:
        journal.close()
    return _calibrated(found, climbed, ladder, own_name, not equal_weights, seed)


def journal_directory(file: Path) -> Path:
    """Where the journal, the page and its figure are."""
    return file.with_name(f"{file.stem}.calibration")


def _models(names: tuple[str, ...]) -> list[Model]:
    known = {model.name: model for model in MODELS}
    for name in names:
        if name not in known:
            raise UserError(f"unknown model `{name}`{nearest(name, known)}: allowed are {listed(known)}")
    return [model for model in MODELS if not names or model.name in names]


class _Said(Watcher):
    """Progress: how many paths were tried, which search goes on, and how good its best path is."""

    def __init__(self, stage: Stage, evaluations: int, until: float | None) -> None:
        self._stage, self._evaluations, self._until = stage, evaluations, until
        self._name, self._end, self._done, self._since = "", 0, 0, 0.0

    def begin(self, name: str) -> None:
        """The next search."""
        self._name, self._end, self._since = name, self._end + self._evaluations, time.monotonic()
        self._go_on("")

    def tell(self, tried: int, error: float) -> None:
        """So many paths were tried, and the best is so far off."""
        until = min(self._end - self._evaluations + tried, self._end)
        now = time.monotonic()
        seconds = (now - self._since) / max(until - self._done, 1)
        self._since = now
        while self._done < until:
            self._stage.step(self._done, seconds=seconds)
            self._done += 1
        self._go_on(f", best {error:.1%} off")

    def end(self) -> None:
        """It has ended, or is not worth it: the rest of its paths is not tried."""
        while self._done < self._end:
            self._stage.step(self._done)
            self._done += 1

    def _go_on(self, what: str) -> None:
        if self._done < self._end:
            self._stage.begin(self._done)
            left = "" if self._until is None else f", over in {span(max(self._until - time.monotonic(), 0.0))} at most"
            self._stage.label(self._done, f"{self._name}{what}{left}")


def _pieces(target: Target, models: int, folds: int, evaluations: int, jobs: int) -> list[Piece]:
    """All paths that may be tried: first by each model over all schemes, then over all but some."""
    cost_s = len(target.schemes) * target.experiment.runs * target.experiment.duration_s / 30.0 * _RUN_S / jobs
    share = (folds - 1) / folds if folds else 1.0
    whole, parts = Piece("path", cost_s, "all"), Piece("path", cost_s * share, "some")
    return [whole] * (models * evaluations) + [parts] * (models * folds * evaluations)


def _calibrated(
    target: Target, ladder: Ladder, models: list[Model], name: str, weighed: bool, seed: int
) -> CalibratedPath:
    model = next(each for each in models if each.name == ladder.chosen)
    fit = ladder.fits[model.name]
    parameters = tuple(intervals(target, fit, weighed, seed))
    frame = next(iter(target.experiment.paths.values()))
    from dumbbell.calibrate.page import provenance

    result = CalibratedPath(
        PathModel(
            name=name,
            title=f"{target.source}, calibrated: {model.title}",
            overhead_bytes=frame.overhead_bytes,
            mtu_bytes=frame.mtu_bytes,
            fragment=frame.fragment,
            data=fit.best.elements["data"],
            ack=fit.best.elements["ack"],
        ),
        target,
        ladder,
        parameters,
        model,
    )
    return replace(result, path=replace(result.path, provenance=provenance(result, datetime.now(tz=UTC).date())))
