"""Progress of a command on stderr: the finished share of its work and the estimated remaining time.

On a terminal one line is rewritten, with the lines of a live view below it; elsewhere plain lines are printed. A thread
prints them, so that the command is never silent for long.
"""

import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from dumbbell.base import starting
from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.errors import printable

T = TypeVar("T")

PLAIN_LINE_EVERY_S = 1.8
"""Interval of plain lines, s. No command is silent for more than two seconds."""

SELDOM_LINE_EVERY_S = 300.0
"""Interval of plain lines during a wait of hours, s, since the first line contains the end of the wait."""

PLAIN_COLUMNS = 160
"""Maximum width of a plain line, characters."""

FIRST_LINE_AFTER_S = 1.5
REWRITE_EVERY_S = 0.2
LOOK_EVERY_S = 0.1

BELIEF_S = 0.5
"""Weight of the expected cost, s: measured costs count as much after this much finished work."""


@dataclass(frozen=True)
class Piece:
    """A piece of work with its expected cost. Pieces of one `kind` deviate from it by a common factor."""

    label: str
    seconds: float
    kind: str = ""


@dataclass
class _Cost:
    """Expected and measured cost of finished pieces."""

    expected_s: float = 0.0
    measured_s: float = 0.0

    def factor(self, belief: float) -> float:
        """Return the ratio of measured to expected time; `belief` is the ratio without measurements."""
        return (self.measured_s + BELIEF_S * belief) / (self.expected_s + BELIEF_S)


class Stage:
    """A part of the work: pieces in any order, done by `workers` workers, which need a time to start."""

    def __init__(
        self,
        progress: "Progress",
        noun: str,
        pieces: Sequence[Piece],
        workers: int,
        start_s: float,
        until: float | None,
    ) -> None:
        self.noun = noun
        self.until = until
        self.pieces = pieces
        self.workers = max(min(workers, len(pieces)), 1)
        self.start_s = start_s if pieces else 0.0
        self.done = 0
        self.failed = 0
        self._progress = progress
        self._waiting = dict.fromkeys(range(len(pieces)))
        self._running: dict[int, float | None] = {}
        """Start time of each active piece, None while it stands still; the newest piece is the last."""
        self._said: dict[int, str] = {}
        self._all = _Cost()
        self._kinds: dict[str, _Cost] = {}
        self._began: float | None = None
        self._stood_still_s = 0.0
        self._still_since: dict[int, float] = {}

    def begin(self, number: int) -> None:
        """Mark a piece as started."""
        with self._progress.speaking:
            now = self._progress.clock.monotonic()
            if self._began is None:
                self._began = now
            self._waiting.pop(number, None)
            self._running[number] = now
            self._progress.at(self)

    def iterate(self, items: Iterable[T]) -> Iterator[T]:
        """Yield each item in order. Its piece of work lasts until the next item is requested."""
        for number, item in enumerate(items):
            self.begin(number)
            began = self._progress.clock.monotonic()
            yield item
            self.step(number, seconds=self._progress.clock.monotonic() - began)

    def say(self, number: int, text: str, stands_still: bool = False) -> None:
        """Show the state of an active piece. Its time begins anew now, or when it no longer stands still."""
        with self._progress.speaking:
            if number in self._running:
                now = self._progress.clock.monotonic()
                self._stood_still_s += now - self._still_since.pop(number, now)
                if stands_still:
                    self._still_since[number] = now
                self._running[number] = None if stands_still else now
                self._said[number] = text
                self._progress.at(self)

    def label(self, number: int, text: str) -> None:
        """Show the state of an active piece without a new start of its time."""
        with self._progress.speaking:
            if number in self._running:
                self._said[number] = text
                self._progress.at(self)

    def step(self, number: int, status: str = "done", reason: str | None = None, seconds: float | None = None) -> None:
        """Mark a piece as finished after `seconds`; `reason` explains why it does not count, if so."""
        with self._progress.speaking:
            self._waiting.pop(number, None)
            self._running.pop(number, None)
            self._said.pop(number, None)
            self._still_since.pop(number, None)
            self.done += 1
            piece = self.pieces[number]
            if seconds is not None:
                for cost in (self._all, self._kinds.setdefault(piece.kind, _Cost())):
                    cost.expected_s += piece.seconds
                    cost.measured_s += seconds
            self.failed += status not in ("done", "degraded")
            if reason is not None:
                self._progress.line(printable(f"{status}: {piece.label}: {reason}"))
            self._progress.at(self, piece.label)

    def left_s(self, now: float) -> float:
        """Return the remaining time, s: the work is divided among the workers, and stops at `until`."""
        left_s = self._work_left_s(now)
        return left_s if self.until is None else min(left_s, max(self.until - now, 0.0))

    def _work_left_s(self, now: float) -> float:
        overall, actual = self._all.factor(1.0), self.worked(now).factor(self._progress.slowness(now, self))
        factors = {kind: cost.factor(overall) / overall * actual for kind, cost in self._kinds.items()}

        def cost_s(number: int) -> float:
            piece = self.pieces[number]
            return piece.seconds * factors.get(piece.kind, actual)

        rest = [cost_s(number) for number in self._waiting]
        for number, begun_s in self._running.items():
            rest.append(cost_s(number) if begun_s is None else max(cost_s(number) - (now - begun_s), 0.0))
        starting_s = self.start_s * actual if self.done == 0 else 0.0
        return starting_s + max(sum(rest) / self.workers, max(rest, default=0.0))

    def worked(self, now: float) -> _Cost:
        """Return the cost of all finished pieces in workers' time, which exceeds the sum of the pieces' own times."""
        if self._began is None or not self.done:
            return _Cost()
        still_s = self._stood_still_s + sum(now - since for since in self._still_since.values())
        under_way_s = sum(now - begun_s for begun_s in self._running.values() if begun_s is not None)
        spent_s = (now - self._began - self.start_s) * self.workers - still_s - under_way_s
        return _Cost(self._all.expected_s, max(spent_s, self._all.measured_s))

    def doing(self) -> str:
        """Return a description of the active work, from a piece with a message if possible."""
        for number, message in self._said.items():
            return f"{self.pieces[number].label}: {message}"
        return next((self.pieces[number].label for number in self._running), "")


class Progress:
    """All work of a command. Stages are announced before they begin, so that the estimate includes them."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self.speaking = threading.RLock()
        self.clock = clock
        self._stages: dict[str, Stage] = {}
        self._current: Stage | None = None
        self._doing = ""
        self._seldom = self._said_once = False
        self._started = started_s(clock.monotonic())
        self._terminal = sys.stderr.isatty()
        self._said = self._started if self._terminal else self._started + FIRST_LINE_AFTER_S - PLAIN_LINE_EVERY_S
        self._over = threading.Event()
        self._below: Callable[[int], Sequence[str]] | None = None
        self._speaker = threading.Thread(target=self._speak, daemon=True)

    def __enter__(self) -> "Progress":
        self._speaker.start()
        _displays.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        _displays.remove(self)
        with self.speaking:
            self._erase()

    def expect(
        self, noun: str, pieces: Sequence[Piece], workers: int = 1, start_s: float = 0.0, until: float | None = None
    ) -> Stage:
        """Return a new stage after those announced before; it replaces a stage of this name.

        When the clock reads `until`, no further work begins.
        """
        with self.speaking:
            stage = self._stages[noun] = Stage(self, noun, pieces, workers, start_s, until)
            return stage

    def doing(self, activity: str, seldom: bool = False) -> None:
        """Show an activity without pieces; `seldom` makes plain lines rare, for one that lasts for hours."""
        with self.speaking:
            self._current = None
            self._doing = activity
            self._seldom, self._said_once = seldom, False
            self._show()

    def at(self, stage: Stage, label: str = "") -> None:
        """Show the progress of a stage."""
        self._current = stage
        self._doing = label
        self._seldom = False
        self._show()

    @contextmanager
    def below(self, lines: Callable[[int], Sequence[str]]) -> Iterator[None]:
        """Show additional lines below the progress line during the context. `lines` takes the maximum width."""
        with self.speaking:
            self._below = lines
        try:
            yield
        finally:
            with self.speaking:
                self._below = None

    def line(self, text: str) -> None:
        """Print a line that remains."""
        with self.speaking:
            self._erase()
            print(text, file=sys.stderr, flush=True)

    def slowness(self, now: float, stage: Stage) -> float:
        """Return the ratio of measured to expected cost of the other stages, which is high on a busy machine."""
        costs = [other.worked(now) for other in self._stages.values() if other is not stage]
        expected_s = sum(cost.expected_s for cost in costs)
        return _Cost(expected_s, sum(cost.measured_s for cost in costs)).factor(1.0)

    def left_s(self) -> float:
        """Return the remaining time of all stages, s."""
        now = self.clock.monotonic()
        return sum(stage.left_s(now) for stage in self._stages.values())

    def _speak(self) -> None:
        while not self.clock.wait(self._over.wait, LOOK_EVERY_S):
            with self.speaking:
                self._show()

    def _show(self) -> None:
        now = self.clock.monotonic()
        plain_s = SELDOM_LINE_EVERY_S if self._seldom and self._said_once else PLAIN_LINE_EVERY_S
        if self._over.is_set() or now - self._said < (REWRITE_EVERY_S if self._terminal else plain_s):
            return
        self._said, self._said_once = now, True
        text = self._text(now)
        if self._terminal:
            size = shutil.get_terminal_size()
            width = size.columns - 1
            below = _fitting(self._lines(width), size.lines - 2)
            rest = "".join(f"\n{line[:width]}" for line in below) + (f"\x1b[{len(below)}A" if below else "")
            print(f"\r\x1b[J{text[:width]}{rest}", end="", file=sys.stderr, flush=True)
        else:
            print("\n".join([text, *self._lines(PLAIN_COLUMNS)]), file=sys.stderr, flush=True)

    def _lines(self, width: int) -> Sequence[str]:
        return () if self._below is None else self._below(width)

    def _text(self, now: float) -> str:
        elapsed = f"{span(now - self._started)} gone"
        left = f", about {span(left_s)} left" if (left_s := self.left_s()) >= 1.0 else ""
        stage = self._current
        if stage is None:
            return f"{self._doing}: {elapsed}{left}" if self._doing else f"{elapsed}{left}"
        failures = f", {stage.failed} failed" if stage.failed else ""
        return (
            f"{stage.done}/{len(stage.pieces)} {stage.noun}{failures}, {elapsed}{left}: {stage.doing() or self._doing}"
        )

    def _erase(self) -> None:
        if self._terminal:
            print("\r\x1b[J", end="", file=sys.stderr, flush=True)


def _fitting(lines: Sequence[str], max_lines: int) -> Sequence[str]:
    """Return the lines that fit into `max_lines`. The last one has the number of omitted lines."""
    if len(lines) <= max_lines:
        return lines
    kept_count = max(max_lines - 1, 0)
    return [*lines[:kept_count], f"(and {len(lines) - kept_count} more lines)"] if max_lines > 0 else ()


_displays: list[Progress] = []
"""Active progress displays, the newest last."""


def print_line(text: str) -> None:
    """Print a whole line to stderr, above a progress line if there is one."""
    if _displays:
        _displays[-1].line(text)
    else:
        print(text, file=sys.stderr, flush=True)


def started_s(now_s: float) -> float:
    """Return the start time of the command, if this program is the command, else `now_s`. Python's own start counts."""
    began_s = starting.began_s
    return now_s if began_s is None else began_s


def span(seconds: float) -> str:
    """Return a duration as text for people."""
    whole_s = round(seconds)
    if whole_s < 120:
        return f"{whole_s} s"
    minutes, seconds_left = divmod(whole_s, 60)
    if minutes < 120:
        return f"{minutes} min {seconds_left} s" if seconds_left else f"{minutes} min"
    hours, minutes_left = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes_left} min" if minutes_left else f"{hours} h"
    return f"{hours // 24} d {hours % 24} h" if hours % 24 else f"{hours // 24} d"
