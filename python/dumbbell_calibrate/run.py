"""Calibration of a path model under which built-in schemes behave as measured."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

from dumbbell import catalog
from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.errors import UserError, listed, nearest
from dumbbell.base.interrupts import interruptible
from dumbbell.base.names import require_names
from dumbbell.base.progress import Piece, Progress, Stage
from dumbbell.catalog.options.values import LEAVE_ONE_OUT
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.run_request import Names, names_of
from dumbbell.machine.description import cpus
from dumbbell_calibrate.calibration import Calibration
from dumbbell_calibrate.defaults import EVALUATIONS, FOLDS
from dumbbell_calibrate.fitting import Fitter, Watcher
from dumbbell_calibrate.journal import Journal, head_of, journal_directory
from dumbbell_calibrate.ladder import Ladder, climb, fold_schemes
from dumbbell_calibrate.objective import Objective
from dumbbell_calibrate.path_models import MODELS, Model
from dumbbell_calibrate.target import Target, TargetOptions, read_target
from dumbbell_calibrate.truth import true_and_calibrated, truth_of
from dumbbell_calibrate.uncertainty import intervals
from dumbbell_calibrate.workers import workers
from dumbbell_reproduce.kernel_tcp import require_sockets

_RUN_S = 0.05
"""Expected CPU time of a run, s, until runs are measured."""


@dataclass(frozen=True)
class CalibratedPath(Calibration):
    """A calibrated path, its errors, and all tried paths."""

    def save(self, file: str | PathLike[str]) -> list[Path]:
        """Write the path as a file for `--path`, and a page with its figure into `NAME.calibration` beside the file.

        Raises:
            OSError: a file cannot be written.
        """
        from dumbbell_calibrate.page import write

        return write(self, Path(file))


def calibrate_path(
    target: str | PathLike[str],
    out: str | PathLike[str] | None = None,
    *,
    name: str | None = None,
    path: str | None = None,
    schemes: Names = (),
    hold_out: Names = (),
    truth: str | PathLike[str] | PathModel | None = None,
    stands_for: Mapping[str, str] | None = None,
    models: Names = (),
    folds: int | str = FOLDS,
    evaluations: int = EVALUATIONS,
    equal_weights: bool = False,
    minutes: float | None = None,
    runs: int | None = None,
    duration: float | None = None,
    flows: int | None = None,
    interval: float | None = None,
    overhead_bytes: int | None = None,
    sockets: str | None = None,
    seed: int = 1,
    jobs: int | None = None,
    cluster: str | None = None,
    resume: bool = False,
) -> CalibratedPath:
    """Calibrate the path model under which built-in schemes behave as measured, as `dumbbell calibrate` does.

    Progress goes to stderr. docs/how-to/calibration.md describes the method.

    Args:
        target: a results directory, a table (`.csv`), or an experiment with published numbers, by name or file.
        out: path file to write; its journal is in `NAME.calibration` beside the file. By default nothing is written.
        name: name of the path; default: the name of `out`.
        path: path of the target, if it has several.
        schemes: schemes of the target to use; default: all.
        hold_out: schemes of the target in no fit, which are predicted.
        truth: the true path, if known, by name or file, which is scored in the same runs.
        stands_for: built-in schemes by the schemes of the target that they simulate: `{"NAME": "SCHEME"}`.
        models: models to fit; default: all.
        folds: number of groups of schemes, each of which is held out once, with all parameters fitted again;
            `leave-one-out`: one group for each scheme; 0: no scheme is held out.
        evaluations: largest number of paths that a search tries.
        equal_weights: minimise Pantheon's error, without weights for the spread of a scheme's runs.
        minutes: approximate time limit of the calibration, minutes.
        runs: repetitions of each scheme on each tried path; default: the target's.
        duration: duration of each run, s; default: the target's.
        flows: number of flows of the scheme in each run; default: the target's.
        interval: time between the starts of flows, s.
        overhead_bytes: bytes that the path adds to each datagram; default: the target's.
        sockets: buffers of schemes of the kernel's TCP: `linux`, with Linux's defaults, or
            `unlimited`; default: `linux`, and `unlimited` for simulated and emulated results.
        seed: seed of all random draws.
        jobs: processes; one per CPU by default.
        cluster: address of a Dask scheduler whose workers execute the runs.
        resume: continue from the journal.

    Raises:
        dumbbell.Error: invalid input, described in one line.
    """
    file = None if out is None else Path(out)
    own_name = name or (file.stem if file else "calibrated")
    require_names("path", (own_name,), "")
    ladder = _models(names_of(models))
    if sockets is not None:
        require_sockets(sockets)
    options = TargetOptions(
        path=path,
        schemes=names_of(schemes),
        hold_out=names_of(hold_out),
        stands_for=stands_for or {},
        runs=runs,
        duration_s=duration,
        flows=flows,
        interval_s=interval,
        overhead_bytes=overhead_bytes,
        seed=seed,
        sockets=sockets,
    )
    measurements = read_target(str(target), options)
    if folds != LEAVE_ONE_OUT and (not isinstance(folds, int) or folds < 0 or folds == 1):
        allowed_folds = f"{LEAVE_ONE_OUT}, 0, or 2 and more: what is held out is predicted by the others"
        raise UserError(argument="folds", value=folds, allowed=allowed_folds)
    true = None if truth is None else (truth if isinstance(truth, PathModel) else catalog.paths().find(str(truth)))
    true_candidate = None if true is None else truth_of(true, measurements)
    journal = Journal(None if file is None else journal_directory(file), head_of(measurements.experiment), resume)
    try:
        with Progress() as progress, workers(jobs or cpus(), cluster) as crew, interruptible():
            for text in measurements.left_out:
                progress.line(f"left out: {text}")
            for point in measurements.predicted_points:
                progress.line(f"in no fit: {point.label}: {point.excluded_because}")
            groups = fold_schemes(measurements.schemes, None if folds == LEAVE_ONE_OUT else int(folds), seed)
            pieces = _pieces(measurements, len(ladder), len(groups), evaluations, jobs or cpus())
            until = None if minutes is None else progress.clock.monotonic() + 60.0 * minutes
            watcher = _SearchProgress(progress.expect("paths", pieces, until=until), evaluations, progress.clock)
            objective = Objective(measurements, crew, journal)
            fitter = Fitter(
                measurements,
                objective,
                evaluations,
                not equal_weights,
                seed,
                until,
                len(ladder) * (1 + len(groups)),
                watcher,
                progress.clock,
            )
            fitted_ladder = climb(fitter, ladder, groups)
            truth_scores = None
            if true is not None and true_candidate is not None:
                truth_scores = true_and_calibrated(
                    fitter, true.name, true_candidate, fitted_ladder.fits[fitted_ladder.choice]
                )
    finally:
        journal.close()
    return replace(
        _calibrated(measurements, fitted_ladder, ladder, own_name, not equal_weights, seed), truth=truth_scores
    )


def _models(names: tuple[str, ...]) -> list[Model]:
    models_by_name = {model.name: model for model in MODELS}
    for name in names:
        if name not in models_by_name:
            raise UserError(
                f"unknown model `{name}`{nearest(name, models_by_name)}: allowed are {listed(models_by_name)}"
            )
    return [model for model in MODELS if not names or model.name in names]


class _SearchProgress(Watcher):
    """Progress on the terminal: the number of tried paths, the current search, and the error of its likeliest path."""

    def __init__(self, stage: Stage, evaluations: int, clock: Clock) -> None:
        self._clock = clock
        self._stage, self._evaluations = stage, evaluations
        self._name, self._end, self._done, self._since = "", 0, 0, 0.0

    def begin(self, name: str) -> None:
        """Begin the next search."""
        self._name, self._end, self._since = name, self._end + self._evaluations, self._clock.monotonic()
        self._go_on("")

    def tell(self, count: int, error: float) -> None:
        """Report the number of tried paths, and the error of the best one."""
        until = min(self._end - self._evaluations + count, self._end)
        now = self._clock.monotonic()
        seconds = (now - self._since) / max(until - self._done, 1)
        self._since = now
        while self._done < until:
            self._stage.step(self._done, seconds=seconds)
            self._done += 1
        # not "best": the likeliest path may have a larger replication error than an earlier one
        self._go_on(f", now {error:.1%} off")

    def end(self) -> None:
        """End the search. The rest of its paths is not tried."""
        while self._done < self._end:
            self._stage.step(self._done)
            self._done += 1

    def _go_on(self, suffix: str) -> None:
        if self._done < self._end:
            self._stage.begin(self._done)
            self._stage.label(self._done, f"{self._name}{suffix}")


def _pieces(target: Target, models: int, folds: int, evaluations: int, jobs: int) -> list[Piece]:
    """Return a piece for each path that may be tried: each model over all schemes, then over all folds."""
    cost_s = len(target.schemes) * target.experiment.runs * target.experiment.duration_s / 30.0 * _RUN_S / jobs
    share = (folds - 1) / folds if folds else 1.0
    all_schemes, parts = Piece("path", cost_s, "all"), Piece("path", cost_s * share, "some")
    return [all_schemes] * (models * evaluations) + [parts] * (models * folds * evaluations)


def _calibrated(
    target: Target, ladder: Ladder, models: list[Model], name: str, is_weighted: bool, seed: int
) -> CalibratedPath:
    model = next(candidate for candidate in models if candidate.name == ladder.choice)
    fit = ladder.fits[model.name]
    parameters = tuple(intervals(target, fit, is_weighted, seed))
    frame = next(iter(target.experiment.paths.values()))
    from dumbbell_calibrate.page import provenance

    result = CalibratedPath(
        PathModel(
            name=name,
            title=f"{target.source}, calibrated: {model.title}",
            overhead_bytes=frame.overhead_bytes,
            mtu_bytes=frame.mtu_bytes,
            fragment=frame.fragment,
            data=fit.best.candidate["data"],
            ack=fit.best.candidate["ack"],
        ),
        target,
        ladder,
        parameters,
        model,
    )
    return replace(result, path=replace(result.path, provenance=provenance(result, SYSTEM_CLOCK.utc().date())))
