"""Kills of runs between two machines: any process of a run, on either machine, at any moment."""

import contextlib
import os
import random
import signal
import subprocess
from collections.abc import Iterable
from pathlib import Path

from support.commands.kills import COMMAND, LossError, Subject, Victim

from .bed import Bed, eventually
from .traces import both_machines, left_behind

GONE_WITHIN_S = 20.0
_PARTS = ("iperf3", "sshd", "bin/ssh ", "remote serve", "resource_tracker", "spawn_main", "dumbbell run")
"""Texts in command lines that tell the processes of a run apart, the most specific first."""


class RemoteVictim(Victim):
    """An experiment on two machines of its own: any process of it is killed, on either machine."""

    of_others = 0.9
    goes_on_s = 2.0

    def __init__(self, subject: Subject, folder: Path, draw: random.Random) -> None:
        """Make the machines too."""
        place = folder / "bed"
        place.mkdir()
        self._bed = Bed(place).__enter__()
        try:
            allow_file = Path(self._bed.far.environment["HOME"], ".config/dumbbell/allow")
            allow_file.parent.mkdir(parents=True)
            allow_file.write_text("iperf3\n")
            self._before: dict[str, frozenset[str]] = {}
            self.by_part: dict[str, int] = {}
            super().__init__(subject, folder, draw)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the machines."""
        self._bed.__exit__()

    def run(self, folder: Path, words: Iterable[str]) -> None:
        """Run a command on the near machine."""
        self._bed.near.run("env", "-C", folder, *COMMAND, *words)
        # Permanent files that a first run makes in its home directory are no trace of a run.
        self._before = self._before or self._settled()

    def start(self, words: Iterable[str]) -> "subprocess.Popen[bytes]":
        """Start the command on the near machine."""
        near = self._bed.near
        return subprocess.Popen(
            near.words("env", "-C", self.place, *COMMAND, *words),
            env=near.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def lasts_s(self) -> float:
        """Return the approximate duration of the remaining work, s: the runs take most of it."""
        left = len(self.expected) - len(self.subject.parts(self.place))
        return self.takes_s * max(1, left) / len(self.expected)

    def children(self, process: int) -> list[int]:
        """Return one random process of a random part of the run."""
        parts: dict[str, list[int]] = {}
        for side in (self._bed.near, self._bed.far):
            running = side.running()
            for number, line in running.items():
                if number != process:
                    parts.setdefault(f"{side.name} {_part(number, line, running)}", []).append(number)
        if not parts:
            self.remark = ": the command"
            return []
        programs = sorted(part for part in parts if "iperf3" in part)  # they live shortest
        target = self.draw.choice(programs if programs and self.draw.random() < 0.5 else sorted(parts))
        self.by_part[target] = self.by_part.get(target, 0) + 1
        self.remark = f": {target}"
        return [self.draw.choice(sorted(parts[target]))]

    def check_gone(self, session: int) -> None:
        """Wait until both machines are as they were before."""
        if not eventually(lambda: not left_behind(self._bed, self._before), GONE_WITHIN_S):
            left = left_behind(self._bed, self._before)
            self._end_left()
            raise LossError(f"{self.subject.name}{self.remark}: stays behind: {left}")

    def _settled(self) -> dict[str, frozenset[str]]:
        if not self._bed.near.empty(GONE_WITHIN_S) or not self._bed.far.empty(GONE_WITHIN_S):
            raise LossError(f"{self.subject.name}: an undisturbed run leaves {self._bed.near.running()}")
        return both_machines(self._bed)

    def _end_left(self) -> None:
        for side in (self._bed.near, self._bed.far):
            for number in side.running():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)


def _part(number: int, line: str, running: dict[int, str]) -> str:
    """Return the part that a process plays in a run."""
    part = next((part for part in _PARTS if part in line), line.split()[0])
    if part != "remote serve":
        return part
    return "peer" if _parent(number) in running and "remote serve" in running[_parent(number)] else "guardian"


def _parent(number: int) -> int:
    try:
        return int(Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
