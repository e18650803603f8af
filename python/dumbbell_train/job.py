"""One training: what it was asked for, what it says, and the file that keeps what was learned."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell import _core
from dumbbell.base.progress import Piece, Progress
from dumbbell.results.files import write_atomically


@dataclass(frozen=True)
class Trained:
    """What a training came to: its file, and the last that it said."""

    file: Path
    said: str
    interrupted: bool


@dataclass
class Job:
    """What a trainer is given. It calls `tell` at least every other second, or lets the core do so (`in_core`)."""

    kind: str
    settings: dict[str, Any]
    file: Path
    seed: int
    minutes: float
    jobs: int
    start: bytes | None
    """What an earlier training has learned, to go on from."""
    progress: Progress
    said: str = ""
    is_kept: bool = False
    """Whether the file has something of this training."""

    def run(self, train: "Callable[[Job], None]") -> Trained:
        """Trains. An interrupt is no error once there is something to keep."""
        self._stage = self.progress.expect("training", [Piece(self.kind, self.minutes * 60.0)])
        self._stage.begin(0)
        interrupted = False
        try:
            train(self)
        except KeyboardInterrupt:
            if not self.is_kept:
                raise
            interrupted = True
        return Trained(self.file, self.said, interrupted)

    def tell(self, text: str, learned: bytes | None = None) -> None:
        """Says where the training stands, and keeps what was learned up to now, if that is given."""
        if learned is not None:
            write_atomically(self.file, learned)
            self.is_kept = True
        self.said = text
        self._stage.label(0, text)

    def in_core(self, name: str, settings: dict[str, Any]) -> None:
        """Trains with the core's trainer called `name`."""
        words = (name, json.dumps(settings), self.seed, self.jobs, self.minutes * 60.0, self.start)
        learned = _core.train_controller(*words, self.tell)
        self.tell(self.said, learned)
