"""Training job: its settings, its status, and the file of the learned controller."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell.base.progress import Piece, Progress
from dumbbell.core.environments import train_controller
from dumbbell.results.files import write_atomically


@dataclass(frozen=True)
class Trained:
    """Result of a training: its file, its last status line, and True in `interrupted` after an interrupt."""

    file: Path
    said: str
    interrupted: bool


@dataclass
class Job:
    """Input of a trainer. The trainer calls `tell` every other second at least, or lets the core do so (`in_core`)."""

    kind: str
    settings: dict[str, Any]
    file: Path
    seed: int
    minutes: float
    jobs: int
    start: bytes | None
    """Contents of an earlier training's file, to resume from."""
    progress: Progress
    last_status: str = ""
    is_kept: bool = False
    """True if the file contains a result of this training."""

    def run(self, train: "Callable[[Job], None]") -> Trained:
        """Run the training. An interrupt is not an error once a result is in the file."""
        self._stage = self.progress.expect("training", [Piece(self.kind, self.minutes * 60.0)])
        self._stage.begin(0)
        was_interrupted = False
        try:
            train(self)
        except KeyboardInterrupt:
            if not self.is_kept:
                raise
            was_interrupted = True
        return Trained(self.file, self.last_status, was_interrupted)

    def tell(self, text: str, learned: bytes | None = None) -> None:
        """Report the status, and write `learned` to the file unless it is None."""
        if learned is not None:
            write_atomically(self.file, learned)
            self.is_kept = True
        self.last_status = text
        self._stage.label(0, text)

    def in_core(self, name: str, settings: dict[str, Any]) -> None:
        """Train with the core's trainer `name`."""
        words = (name, settings, self.seed, self.jobs, self.minutes * 60.0, self.start)
        contents = train_controller(*words, self.tell)
        self.tell(self.last_status, contents)
