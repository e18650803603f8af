"""What the library offers: which trainers there are, and a training with one of them."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

from dumbbell.base.errors import UserError, nearest
from dumbbell.base.input_files import TRAINING, read_bytes
from dumbbell.base.interrupts import interruptible
from dumbbell.base.progress import Progress
from dumbbell.machine.description import cpus
from dumbbell.results.files import only_writer
from dumbbell_train.job import Job, Trained
from dumbbell_train.kinds import KINDS
from dumbbell_train.trainer import Trainer


def trainers() -> tuple[Trainer, ...]:
    """Everything that `train_controller` can train, each with its `name`, `summary` and `settings`."""
    return tuple(KINDS.values())


def train_controller(
    kind: str,
    *,
    out: str | PathLike[str] | None = None,
    seed: int = 1,
    minutes: float | None = None,
    jobs: int | None = None,
    resume: bool = False,
    **settings: object,
) -> Trained:
    """Trains a controller and keeps what was learned in a file, as `dumbbell train` does. Progress goes to stderr.

    Args:
        kind: one of the names of `trainers()`.
        out: the file; `KIND` with the kind's suffix unless given. It is replaced whenever there is something better.
        seed: what every random draw follows from.
        minutes: how long.
        jobs: threads; one per processor unless given. What is learned in a number of steps does not depend on it.
        resume: go on from what is in `out`.
        settings: the trainer's own, by name.

    Raises:
        dumbbell.Error: a setting or a file that cannot be, in one line; nothing was written.
    """
    trainer = KINDS.get(kind)
    if trainer is None:
        raise UserError(f"unknown trainer `{kind}`{nearest(kind, KINDS)}: allowed are {', '.join(KINDS)}")
    chosen = _settings(trainer, settings)
    file = Path(out if out is not None else f"{trainer.name}{trainer.suffix}")
    if file.is_dir() or not file.parent.is_dir():
        raise UserError(f"--out {file}: allowed is a file in a folder that is there")
    length = trainer.minutes if minutes is None else minutes
    with only_writer(file), interruptible(), Progress() as progress:
        start = _start(file, resume)
        return Job(trainer.name, chosen, file, seed, length, jobs or cpus(), start, progress).run(trainer.train)


def _settings(trainer: Trainer, given: dict[str, object]) -> dict[str, Any]:
    """All of the trainer's settings, those that are not given at their defaults."""
    known = {setting.name: setting for setting in trainer.settings}
    for name in given:
        if name not in known:
            raise UserError(f"unknown setting `{name}`{nearest(name, known)}: allowed are {_listed(known)}")
    return {name: setting.value(given.get(name)) for name, setting in known.items()}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _start(file: Path, resume: bool) -> bytes | None:
    """What is in the file to go on from. A file is replaced only by what continues it."""
    if file.exists() and not resume:
        raise UserError(f"{file}: exists already: add --resume to go on from it, or choose another name")
    if not resume:
        return None
    if not file.is_file():
        raise UserError(f"{file}: there is nothing to resume: leave out --resume")
    return read_bytes(file, TRAINING)
