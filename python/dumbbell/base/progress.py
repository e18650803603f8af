"""What a command is doing, on stderr: how much of all its work is done, and how long the rest takes.

On a terminal it is one line that is rewritten, with others below it if somebody watches, elsewhere plain lines. A
thread of its own says it, so that nothing is silent for long, whatever the others do.
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
"""Nothing is silent for more than two seconds."""

SELDOM_LINE_EVERY_S = 300.0
"""While hours are waited, it has been said until when."""

PLAIN_COLUMNS = 160
"""Of lines where there is no terminal."""

FIRST_LINE_AFTER_S = 1.5
REWRITE_EVERY_S = 0.2
LOOK_EVERY_S = 0.1

BELIEF_S = 0.5
"""So many seconds of work have to be done before their measured cost counts as much as what was expected."""


@dataclass(frozen=True)
class Piece:
    """One piece of work and what it is expected to cost. Pieces of a `kind` are as far off as each other."""

    label: str
    seconds: float
    kind: str = ""


@dataclass
class _Spent:
    """Of pieces that are done: what was expected, and what they took."""

    expected_s: float = 0.0
    measured_s: float = 0.0

    def factor(self, belief: float) -> float:
        """How much longer than expected such pieces take; `belief` where nothing is known yet."""
        return (self.measured_s + BELIEF_S * belief) / (self.expected_s + BELIEF_S)


class Stage:
    """A part of the work: pieces that are done in any order, `workers` of them at once, which take time to start."""

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
        """When each was begun, as far as it does something; the one that was begun last is the last."""
        self._said: dict[int, str] = {}
        self._all = _Spent()
        self._kinds: dict[str, _Spent] = {}
        self._began: float | None = None
        self._stood_still_s = 0.0
        self._still_since: dict[int, float] = {}

    def begin(self, number: int) -> None:
        """Somebody works on a piece."""
        with self._progress.speaking:
            now = self._progress.clock.monotonic()
            if self._began is None:
                self._began = now
            self._waiting.pop(number, None)
            self._running[number] = now
            self._progress.at(self)

    def each(self, items: Iterable[T]) -> Iterator[T]:
        """What the pieces are of, in their order: each is worked on until the next one is asked for."""
        for number, item in enumerate(items):
            self.begin(number)
            began = self._progress.clock.monotonic()
            yield item
            self.step(number, seconds=self._progress.clock.monotonic() - began)

    def say(self, number: int, text: str, stands_still: bool = False) -> None:
        """What happens to a piece that is worked on; its time begins anew then, or when it no longer stands still."""
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
        """What a piece that is worked on is at; its time goes on."""
        with self._progress.speaking:
            if number in self._running:
                self._said[number] = text
                self._progress.at(self)

    def step(self, number: int, status: str = "done", reason: str | None = None, seconds: float | None = None) -> None:
        """A piece is done, and took so long; `reason` tells why it does not count, if it does not."""
        with self._progress.speaking:
            self._waiting.pop(number, None)
            self._running.pop(number, None)
            self._said.pop(number, None)
            self._still_since.pop(number, None)
            self.done += 1
            piece = self.pieces[number]
            if seconds is not None:
                for spent in (self._all, self._kinds.setdefault(piece.kind, _Spent())):
                    spent.expected_s += piece.seconds
                    spent.measured_s += seconds
            self.failed += status not in ("done", "degraded")
            if reason is not None:
                self._progress.line(printable(f"{status}: {piece.label}: {reason}"))
            self._progress.at(self, piece.label)

    def left_s(self, now: float) -> float:
        """Return the time that the rest takes, s. All workers share it; it ends at `until` at the latest."""
        left_s = self._work_left_s(now)
        return left_s if self.until is None else min(left_s, max(self.until - now, 0.0))

    def _work_left_s(self, now: float) -> float:
        measured, actual = self._all.factor(1.0), self.worked(now).factor(self._progress.slowness(now, self))
        factors = {kind: spent.factor(measured) / measured * actual for kind, spent in self._kinds.items()}

        def cost_s(number: int) -> float:
            piece = self.pieces[number]
            return piece.seconds * factors.get(piece.kind, actual)

        rest = [cost_s(number) for number in self._waiting]
        for number, begun in self._running.items():
            rest.append(cost_s(number) if begun is None else max(cost_s(number) - (now - begun), 0.0))
        starting_s = self.start_s * actual if self.done == 0 else 0.0
        return starting_s + max(sum(rest) / self.workers, max(rest, default=0.0))

    def worked(self, now: float) -> _Spent:
        """What all pieces that are done took of the workers' time: more than they measured themselves."""
        if self._began is None or not self.done:
            return _Spent()
        still_s = self._stood_still_s + sum(now - since for since in self._still_since.values())
        under_way_s = sum(now - begun for begun in self._running.values() if begun is not None)
        spent_s = (now - self._began - self.start_s) * self.workers - still_s - under_way_s
        return _Spent(self._all.expected_s, max(spent_s, self._all.measured_s))

    def doing(self) -> str:
        """What is worked on: first of all what has something to say."""
        for number, said in self._said.items():
            return f"{self.pieces[number].label}: {said}"
        return next((self.pieces[number].label for number in self._running), "")


class Progress:
    """All of a command's work. Stages are announced before they begin, so that their time counts from the start."""

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
        _shown.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        _shown.remove(self)
        with self.speaking:
            self._erase()

    def expect(
        self, noun: str, pieces: Sequence[Piece], workers: int = 1, start_s: float = 0.0, until: float | None = None
    ) -> Stage:
        """A stage, after those that were announced before; in the place of the one with this name, if there is one.

        Work that goes on when the clock reads `until` is not begun any more.
        """
        with self.speaking:
            stage = self._stages[noun] = Stage(self, noun, pieces, workers, start_s, until)
            return stage

    def doing(self, what: str, seldom: bool = False) -> None:
        """What is being done now that has no pieces; of what lasts for hours a plain line is said `seldom`."""
        with self.speaking:
            self._current = None
            self._doing = what
            self._seldom, self._said_once = seldom, False
            self._show()

    def at(self, stage: Stage, label: str = "") -> None:
        """A stage goes on."""
        self._current = stage
        self._doing = label
        self._seldom = False
        self._show()

    @contextmanager
    def below(self, lines: Callable[[int], Sequence[str]]) -> Iterator[None]:
        """Say more below the line, as long as the context lasts: lines of so many columns at most."""
        with self.speaking:
            self._below = lines
        try:
            yield
        finally:
            with self.speaking:
                self._below = None

    def line(self, text: str) -> None:
        """A line that stays."""
        with self.speaking:
            self._erase()
            print(text, file=sys.stderr, flush=True)

    def slowness(self, now: float, stage: Stage) -> float:
        """How much longer than expected the other stages have taken: this machine may be busy."""
        others = [each.worked(now) for each in self._stages.values() if each is not stage]
        expected_s = sum(spent.expected_s for spent in others)
        return _Spent(expected_s, sum(spent.measured_s for spent in others)).factor(1.0)

    def left_s(self) -> float:
        """How long the rest of all stages takes."""
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
        gone = f"{span(now - self._started)} gone"
        left = f", about {span(left_s)} left" if (left_s := self.left_s()) >= 1.0 else ""
        stage = self._current
        if stage is None:
            return f"{self._doing}: {gone}{left}" if self._doing else f"{gone}{left}"
        failed = f", {stage.failed} failed" if stage.failed else ""
        return f"{stage.done}/{len(stage.pieces)} {stage.noun}{failed}, {gone}{left}: {stage.doing() or self._doing}"

    def _erase(self) -> None:
        if self._terminal:
            print("\r\x1b[J", end="", file=sys.stderr, flush=True)


def _fitting(lines: Sequence[str], most: int) -> Sequence[str]:
    """As many lines as there is room for; the last one says how many are left out."""
    if len(lines) <= most:
        return lines
    kept = max(most - 1, 0)
    return [*lines[:kept], f"(and {len(lines) - kept} more lines)"] if most > 0 else ()


_shown: list[Progress] = []
"""What says on stderr how far the work is, the newest last."""


def print_line(text: str) -> None:
    """Print a line to stderr, whole, wherever a line of progress stands."""
    if _shown:
        _shown[-1].line(text)
    else:
        print(text, file=sys.stderr, flush=True)


def started_s(now_s: float) -> float:
    """When the command began, if this program is the command: Python takes a while to start, too."""
    began_s = starting.began_s
    return now_s if began_s is None else began_s


def span(seconds: float) -> str:
    """A length of time as people say it."""
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    minutes, seconds_left = divmod(whole, 60)
    if minutes < 120:
        return f"{minutes} min {seconds_left} s" if seconds_left else f"{minutes} min"
    hours, minutes_left = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes_left} min" if minutes_left else f"{hours} h"
    return f"{hours // 24} d {hours % 24} h" if hours % 24 else f"{hours // 24} d"
