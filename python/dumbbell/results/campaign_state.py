"""State of a campaign in the file `campaign.json`: its progress, and by the file's age a sign of life."""

import os
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError
from dumbbell.base.json_text import read_json, to_json
from dumbbell.base.json_types import typed
from dumbbell.results.directory import DAMAGED
from dumbbell.results.files import write_atomically

STATE_FILE = "campaign.json"
BEAT_S = 5.0
SILENT_S = 30.0
"""Age of the last beat, s, after which a campaign counts as dead: a busy machine may miss one beat, or three."""

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_RUNNING, _WAITING, _DONE, _STOPPED = "running", "waiting", "done", "stopped"


@dataclass(frozen=True)
class Schedule:
    """Schedule of rounds, numbered from 1, which begin `every_s` apart; `began_s` is the first start (Unix time)."""

    began_s: float
    every_s: float
    rounds: int

    def due_s(self, number: int) -> float:
        """Return the start time of a round. The round after the last one starts at the end of the campaign."""
        return self.began_s + (number - 1) * self.every_s

    def current(self, now_s: float) -> int:
        """Return the current round; 0 before the first round, `rounds + 1` after the last one."""
        return min(max(int((now_s - self.began_s) // self.every_s) + 1, 0), self.rounds + 1)


@dataclass(frozen=True, kw_only=True)
class State:
    """State of a campaign, as in its file. Moments are in UTC, as in `2026-01-02T03:04:05Z`.

    `last` is the last completed run (`run`, `status`, `ended_at`), `next` the next one (`run`, `round`, `due_at`).
    `missed` are the rounds that were not made at their time, each with a reason. The writer is `process`, on the
    machine that was started as `boot`.
    """

    state: str
    began_at: str
    every_s: float
    rounds: int
    round: int = 0
    last: dict[str, object] = field(default_factory=dict)
    next: dict[str, object] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)
    reason: str = ""
    process: int = 0
    boot: str = ""

    @property
    def began_s(self) -> float:
        """Start of the campaign, Unix time."""
        return datetime.fromisoformat(self.began_at).timestamp()

    def in_words(self, alive: bool, seen_at: str) -> str:
        """Return the state in a line, for people."""
        last = f"; last run: {self.last['run']}, {self.last['status']}, {self.last['ended_at']}" if self.last else ""
        following = f"; next: {self.next['run']}, due at {self.next['due_at']}" if self.next else ""
        missed_text = f"; missed: {'; '.join(self.missed)}" if self.missed else ""
        if self.state == _DONE:
            return f"campaign: over: {self.rounds} rounds{missed_text}"
        place = f"round {self.round} of {self.rounds}"
        if self.state == _STOPPED:
            return f"campaign: stopped in {place}: {self.reason}{last}{following}{missed_text}"
        if not alive:
            return f"campaign: dead since {seen_at}, in {place}{last}{following}{missed_text}"
        return f"campaign: {self.state}, {place}{last}{following}{missed_text}"


def stamp(moment_s: float) -> str:
    """Return a Unix time as ISO 8601 in UTC, to the millisecond unless it is a whole second."""
    text = datetime.fromtimestamp(moment_s, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "").removesuffix(".000") + "Z"


def read_state(directory: Path) -> State | None:
    """Return the state in the file of a campaign, or None without such a file.

    Raises:
        UserError: The file is damaged.
    """
    file = Entry.of(directory) / STATE_FILE
    try:
        content = read_json(file, object)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return _check_state(content)
    except (TypeError, ValueError, KeyError):
        raise UserError(f"{file}: not the state of a campaign: it is damaged, and can be removed") from None


def _check_state(content: object) -> State:
    """Return the state in `content`, which anybody may have written.

    Raises:
        TypeError, ValueError, KeyError: A campaign has no such state.
    """
    has_known_keys = typed(content, dict[str, object]).keys() <= {state_field.name for state_field in fields(State)}
    state = typed(content, State)
    if not has_known_keys or state.every_s <= 0:
        raise ValueError
    stamp(state.began_s)
    for table, keys in ((state.last, ("run", "status", "ended_at")), (state.next, ("run", "due_at"))):
        if table and not all(isinstance(table[key], str) for key in keys):
            raise TypeError
    return state


def as_json(directory: Path, clock: Clock = SYSTEM_CLOCK) -> dict[str, object] | None:
    """Return the state with `alive`, `seen_at` (the last beat) and `in_words`; None without a campaign.

    For a damaged file, return the fault as `damaged`: the runs are readable all the same.
    """
    try:
        state = read_state(directory)
        if state is None:
            return None
        seen_s, seen_at = _last_beat(Entry.of(directory) / STATE_FILE)
    except UserError as error:
        return {DAMAGED: str(error).replace(f"{directory}/", "")}
    is_going = state.state in (_RUNNING, _WAITING)
    alive = is_going and clock.time() - seen_s < SILENT_S and not _is_gone(state)
    content = {key: value for key, value in asdict(state).items() if key not in ("process", "boot")}
    return content | {"alive": alive, "seen_at": seen_at, "in_words": state.in_words(alive, seen_at)}


def _last_beat(file: Entry) -> tuple[float, str]:
    """Return the time of the last change of the file: as Unix time, and as `stamp` writes it.

    Raises:
        UserError: The time has no date.
    """
    status = file.status()
    seen_s = 0.0 if status is None else status.st_mtime
    try:
        return seen_s, stamp(float(int(seen_s)))
    except (ValueError, OverflowError, OSError):
        raise UserError(f"{file}: was changed at a time that has no date: `touch` gives it another") from None


def _is_gone(state: State) -> bool:
    """Return True if the campaign's process was one of this machine and no longer exists."""
    if not state.boot or state.boot != _boot():
        return False
    try:
        os.kill(state.process, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        pass  # the process belongs to somebody else
    return False


def _boot() -> str:
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""


class StateKeeper:
    """Writer of the state file during a campaign; a thread touches the file every few seconds."""

    def __init__(self, directory: Path, schedule: Schedule, earlier: State | None, clock: Clock = SYSTEM_CLOCK) -> None:
        self._file = Entry.of(directory) / STATE_FILE
        self._clock = clock
        self._over = threading.Event()
        self._state = State(
            state=_WAITING,
            began_at=stamp(schedule.began_s),
            every_s=schedule.every_s,
            rounds=schedule.rounds,
            last=earlier.last if earlier else {},
            missed=earlier.missed if earlier else [],
            process=os.getpid(),
            boot=_boot(),
        )
        self._beating = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> "StateKeeper":
        self.tell()
        self._beating.start()
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self._over.set()
        self._beating.join()
        if error is not None:
            self.tell(state=_STOPPED, reason="interrupted" if isinstance(error, KeyboardInterrupt) else str(error))

    @property
    def missed(self) -> list[str]:
        """Rounds missed so far."""
        return self._state.missed

    def tell(self, **changes: Any) -> None:  # noqa: ANN401 (fields of `State`)
        """Write the changed fields."""
        self._state = replace(self._state, **changes)
        write_atomically(self._file, to_json(asdict(self._state)))

    def miss(self, reason: str) -> None:
        """Record a round that was not made at its time."""
        self.tell(missed=[*self._state.missed, reason])

    def running(self, number: int, following: Mapping[str, object]) -> None:
        """Record the start of a round; `following` is the next run."""
        self.tell(state=_RUNNING, round=number, next=dict(following))

    def waiting(self, number: int, following: Mapping[str, object]) -> None:
        """Record the wait for a round."""
        self.tell(state=_WAITING, round=number, next=dict(following))

    def end(self, reason: str = "") -> None:
        """Record the end of the campaign, or the reason of its stop."""
        self.tell(**({"state": _STOPPED, "reason": reason} if reason else {"state": _DONE, "next": {}}))

    def _beat(self) -> None:
        while not self._clock.wait(self._over.wait, BEAT_S):
            try:
                self._file.touch()
            except OSError:
                continue  # a disk that is full or absent for a while does not end a campaign
