"""Public functions: a list of trainers, and a training with one of them."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

from dumbbell.base.errors import UserError, argument, nearest
from dumbbell.base.input_files import TRAINING, read_bytes
from dumbbell.base.interrupts import interruptible
from dumbbell.base.progress import Progress
from dumbbell.machine.description import cpus
from dumbbell.results.files import only_writer
from dumbbell_train.job import Job, Trained
from dumbbell_train.kinds import KINDS
from dumbbell_train.trainer import Trainer


def trainers() -> tuple[Trainer, ...]:
    """Return all trainers that `train_controller` supports, each with `name`, `summary` and `settings`."""
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
    """Train a controller and write it to a file, as `dumbbell train` does. Progress goes to stderr.

    Args:
        kind: one of the names of `trainers()`.
        out: file of the controller; default: `KIND` with the kind's suffix. Each improvement replaces it.
        seed: seed of all random draws.
        minutes: duration of the training, min.
        jobs: number of threads; default: one per CPU. The result of a number of steps does not depend on it.
        resume: True to continue the training in `out`.
        settings: settings of the trainer by name.

    Raises:
        dumbbell.Error: a setting or file is not allowed. The message is one line; nothing was written.
    """
    trainer = KINDS.get(kind)
    if trainer is None:
        raise UserError(f"unknown trainer `{kind}`{nearest(kind, KINDS)}: allowed are {', '.join(KINDS)}")
    chosen_settings = _settings(trainer, settings)
    file = Path(out if out is not None else f"{trainer.name}{trainer.suffix}")
    if file.is_dir() or not file.parent.is_dir():
        raise UserError(argument="out", value=file, allowed="a file in a folder that is there")
    length = trainer.minutes if minutes is None else minutes
    with only_writer(file), interruptible(), Progress() as progress:
        start = _start(file, resume)
        return Job(trainer.name, chosen_settings, file, seed, length, jobs or cpus(), start, progress).run(
            trainer.train
        )


def _settings(trainer: Trainer, values: dict[str, object]) -> dict[str, Any]:
    """Return all settings of the trainer, with defaults for those that `given` lacks."""
    settings = {setting.name: setting for setting in trainer.settings}
    for name in values:
        if name not in settings:
            raise UserError(f"unknown setting `{name}`{nearest(name, settings)}: allowed are {_list_text(settings)}")
    return {name: setting.value(values.get(name)) for name, setting in settings.items()}


def _list_text(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _start(file: Path, resume: bool) -> bytes | None:
    """Return the contents of the file to resume from. A file is only replaced by its continuation."""
    if file.exists() and not resume:
        remedy = f"add {argument('resume', 'True')} to go on from it, or choose another name"
        raise UserError(f"{file}: exists already", fix=remedy)
    if not resume:
        return None
    if not file.is_file():
        raise UserError(f"{file}: there is nothing to resume", fix=f"leave out {argument('resume', 'True')}")
    return read_bytes(file, TRAINING)
