"""The path model under which our schemes behave as they were measured."""

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
from dumbbell_calibrate.defaults import EVALUATIONS, FOLDS
from dumbbell_calibrate.fitting import Fitter, Watcher
from dumbbell_calibrate.found import Found
from dumbbell_calibrate.journal import Journal, head_of, journal_directory
from dumbbell_calibrate.ladder import Ladder, climb, fold_schemes
from dumbbell_calibrate.objective import Objective
from dumbbell_calibrate.path_models import MODELS, Model
from dumbbell_calibrate.target import Target, TargetOptions, read_target
from dumbbell_calibrate.truth import beside, truth_of
from dumbbell_calibrate.uncertainty import intervals
from dumbbell_calibrate.workers import workers
from dumbbell_reproduce.kernel_tcp import require_sockets

_RUN_S = 0.05
"""What a run is expected to take until it is known."""


@dataclass(frozen=True)
class CalibratedPath(Found):
    """A path that was found, how well it does, and everything that was tried on the way."""

    def save(self, file: str | PathLike[str]) -> list[Path]:
        """Writes the path as a file that `--path` takes; beside it, in `NAME.calibration`, a page and its figure.

        Raises:
            OSError: it cannot be written.
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
    """Looks for the path model under which our schemes behave as they were measured, as `dumbbell calibrate` does.

    Progress goes to stderr. docs/how-to/calibration.md says what is done.

    Args:
        target: a results directory, a table (`.csv`), or an experiment with published numbers, by name or file.
        out: the path file to be; its journal is in `NAME.calibration` beside it. Without it nothing is kept.
        name: of the path; default: that of `out`.
        path: which one, where the target has several.
        schemes: only these of the target.
        hold_out: schemes of the target that are in no fit; they are predicted.
        truth: the true path, where it is known, by name or file: it is scored beside the one that is found.
        stands_for: the scheme of ours that simulates each of these schemes of the target: `{"theirs": "ours"}`.
        models: only these of the ladder.
        folds: into how many groups schemes are put, each of which is held out once, with all parameters fitted anew;
            `leave-one-out`: as many as there are schemes; 0: none is.
        evaluations: most paths that a search tries.
        equal_weights: minimise Pantheon's error as it is, whatever the runs of a scheme differ by.
        minutes: how long all may take, about.
        runs: repetitions of each scheme on each path that is tried; default: the target's.
        duration: of each run, s; default: the target's.
        flows: flows of the same scheme in each run; default: the target's.
        interval: between the starts of flows, s.
        overhead_bytes: what the path adds to each datagram; default: the target's.
        sockets: buffers of schemes of the kernel's TCP: `linux`, as they are unless somebody changes them, or
            `unlimited`; default: `linux`, and `unlimited` for simulated and emulated results.
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
    found = read_target(str(target), options)
    if folds != LEAVE_ONE_OUT and (not isinstance(folds, int) or folds < 0 or folds == 1):
        allowed = f"{LEAVE_ONE_OUT}, 0, or 2 and more: what is held out is predicted by the others"
        raise UserError(argument="folds", value=folds, allowed=allowed)
    true = None if truth is None else (truth if isinstance(truth, PathModel) else catalog.paths().find(str(truth)))
    true_candidate = None if true is None else truth_of(true, found)
    journal = Journal(None if file is None else journal_directory(file), head_of(found.experiment), resume)
    try:
        with Progress() as progress, workers(jobs or cpus(), cluster) as crew, interruptible():
            for text in found.left_out:
                progress.line(f"left out: {text}")
            for point in found.unfitted:
                progress.line(f"in no fit: {point.label}: {point.unfitted}")
            groups = fold_schemes(found.schemes, None if folds == LEAVE_ONE_OUT else int(folds), seed)
            pieces = _pieces(found, len(ladder), len(groups), evaluations, jobs or cpus())
            until = None if minutes is None else progress.clock.monotonic() + 60.0 * minutes
            watcher = _Said(progress.expect("paths", pieces, until=until), evaluations, progress.clock)
            objective = Objective(found, crew, journal)
            fitter = Fitter(
                found,
                objective,
                evaluations,
                not equal_weights,
                seed,
                until,
                len(ladder) * (1 + len(groups)),
                watcher,
                progress.clock,
            )
            climbed = climb(fitter, ladder, groups)
            scored = None
            if true is not None and true_candidate is not None:
                scored = beside(fitter, true.name, true_candidate, climbed.fits[climbed.chosen])
    finally:
        journal.close()
    return replace(_calibrated(found, climbed, ladder, own_name, not equal_weights, seed), truth=scored)


def _models(names: tuple[str, ...]) -> list[Model]:
    known = {model.name: model for model in MODELS}
    for name in names:
        if name not in known:
            raise UserError(f"unknown model `{name}`{nearest(name, known)}: allowed are {listed(known)}")
    return [model for model in MODELS if not names or model.name in names]


class _Said(Watcher):
    """Progress: how many paths were tried, which search goes on, and how far off its likeliest path is."""

    def __init__(self, stage: Stage, evaluations: int, clock: Clock) -> None:
        self._clock = clock
        self._stage, self._evaluations = stage, evaluations
        self._name, self._end, self._done, self._since = "", 0, 0, 0.0

    def begin(self, name: str) -> None:
        """The next search."""
        self._name, self._end, self._since = name, self._end + self._evaluations, self._clock.monotonic()
        self._go_on("")

    def tell(self, tried: int, error: float) -> None:
        """So many paths were tried, and the best is so far off."""
        until = min(self._end - self._evaluations + tried, self._end)
        now = self._clock.monotonic()
        seconds = (now - self._since) / max(until - self._done, 1)
        self._since = now
        while self._done < until:
            self._stage.step(self._done, seconds=seconds)
            self._done += 1
        # not "best": what is likeliest may have a larger replication error than a path before it
        self._go_on(f", now {error:.1%} off")

    def end(self) -> None:
        """It has ended, or is not worth it: the rest of its paths is not tried."""
        while self._done < self._end:
            self._stage.step(self._done)
            self._done += 1

    def _go_on(self, what: str) -> None:
        if self._done < self._end:
            self._stage.begin(self._done)
            self._stage.label(self._done, f"{self._name}{what}")


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
