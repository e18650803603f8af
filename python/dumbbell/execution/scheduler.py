"""Campaigns: rounds of runs at scheduled times, for days."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.errors import UserError, printable
from dumbbell.base.progress import Progress, span
from dumbbell.execution.estimate import pieces, seconds_of
from dumbbell.execution.pool import Outcome, Tell
from dumbbell.experiment import Run
from dumbbell.results import ResultsDirectory
from dumbbell.results.campaign_state import Schedule, StateKeeper, read_state, stamp

if TYPE_CHECKING:
    from dumbbell.contract.run import RunStatistics

Make = Callable[[list[Run], Tell], Outcome]
"""Function that makes the runs of a round, and reports each."""

_LOOK_EVERY_S = 0.5
_LATE_S = 1.0
"""Delay from which a begin is reported as late, s."""


def perform_campaign(
    results: ResultsDirectory,
    todo: Sequence[Run],
    make: Make,
    jobs: int,
    progress: Progress,
    clock: Clock = SYSTEM_CLOCK,
) -> Outcome:
    """Make the runs in `todo` whose time is still to come, and report the missed ones.

    The first call sets the times of the rounds; a resuming call continues the schedule. If a round overruns, the
    next one begins late. A round whose time was over before its begin is missed.
    """
    experiment = results.experiment
    assert experiment.every_s is not None
    earlier = read_state(results.directory)
    schedule = Schedule(earlier.began_s if earlier else clock.time(), experiment.every_s, experiment.runs)
    rounds = {number: list(runs) for number, runs in groupby(todo, lambda run: run.run)}
    with StateKeeper(results.directory, schedule, earlier, clock) as heart:
        campaign = _Campaign(results, schedule, rounds, heart, progress, clock)
        campaign.announce(jobs, is_resumed=earlier is not None)
        return campaign.perform(make)


@dataclass
class _Campaign:
    results: ResultsDirectory
    schedule: Schedule
    left: dict[int, list[Run]]
    """Runs of each remaining round."""
    heart: StateKeeper
    progress: Progress
    clock: Clock
    outcome: Outcome = field(default_factory=Outcome)
    late_because: str = ""
    """Reason for the delay of the next round."""

    def announce(self, jobs: int, is_resumed: bool) -> None:
        """Print the plan, or its remaining part."""
        schedule, now_s = self.schedule, self.clock.time()
        end = stamp(float(int(schedule.due_s(schedule.rounds + 1))))
        every = f"one every {span(schedule.every_s)} until {end}"
        if not is_resumed:
            self._say(f"campaign: {schedule.rounds} rounds, {every}")
        else:
            coming = sum(number >= schedule.current(now_s) for number in self.left)
            self._say(f"campaign: {coming} of {schedule.rounds} rounds are left, {every}")
        runs = next(iter(self.left.values()), [])
        takes_s = seconds_of([piece.seconds for piece in pieces(self.results.experiment, runs)], jobs)
        if takes_s > schedule.every_s:
            self._say(f"a round takes about {span(takes_s)}, and one begins every {span(schedule.every_s)}: late")

    def perform(self, make: Make) -> Outcome:
        """Make all remaining rounds."""
        try:
            while self._drop_missed():
                number = min(self.left)
                if self._wait_for(number):
                    self._round(number, self.left.pop(number), make)
                if self.outcome.interrupted:
                    break
        except KeyboardInterrupt:
            self.outcome.interrupted = True
        self.outcome.missed = self.heart.missed
        stop_reason = self.outcome.full or "interrupted"
        self.heart.end(stop_reason if self.outcome.interrupted else "")
        return self.outcome

    def _drop_missed(self) -> bool:
        """Drop the rounds whose time is over; return True if any remain."""
        current = self.schedule.current(self.clock.time())
        for number in [number for number in self.left if number < current]:
            missing = [run for run in self.left.pop(number) if self._is_missing(run)]
            if missing:
                runs = f"{len(missing)} {'run' if len(missing) == 1 else 'runs'}"
                self._miss(f"round {number}, due at {self._due(number)}: {runs}")
        return bool(self.left)

    def _is_missing(self, run: Run) -> bool:
        try:
            return self.results.statistics(run) is None
        except UserError:
            return True

    def _wait_for(self, number: int) -> bool:
        """Wait until a round is due; return False if its time is over by then, as after a sleep of the machine."""
        due_s = self.schedule.due_s(number)
        if self.clock.time() < due_s:
            self.heart.waiting(number, self._next(self.left[number][0]))
            self.late_because = ""
            activity = f"waiting for round {number} of {self.schedule.rounds}, due at {self._due(number)}"
            self.progress.doing(activity, seldom=True)
        while (left_s := due_s - self.clock.time()) > 0.0:
            self.clock.sleep(min(left_s, _LOOK_EVERY_S))
        return self.schedule.current(self.clock.time()) == number

    def _round(self, number: int, runs: list[Run], make: Make) -> None:
        late_s = self.clock.time() - self.schedule.due_s(number)
        late = f", {span(late_s)} late{self.late_because}" if late_s >= _LATE_S else ""
        self._say(f"round {number} of {self.schedule.rounds} begins{late}: {len(runs)} runs")
        self.heart.running(number, self._next(runs[0]))
        waiting = list(runs)

        def tell(run: Run, statistics: RunStatistics) -> None:
            waiting.remove(run)
            following = waiting[0] if waiting else next((runs_[0] for _, runs_ in sorted(self.left.items())), None)
            last = {"run": run.label, "status": statistics["status"], "ended_at": stamp(float(int(self.clock.time())))}
            self.heart.tell(last=last, next={} if following is None else self._next(following))

        began_s = self.clock.time()
        try:
            self._add(make(runs, tell))
        except UserError as error:
            self._miss(f"round {number}, due at {self._due(number)}: {error}")
        took_s = self.clock.time() - began_s
        self.late_because = f" (round {number} took {span(took_s)}, longer than until this one)"

    def _add(self, round_outcome: Outcome) -> None:
        """Add the outcome of a round."""
        total = self.outcome
        total.finished += round_outcome.finished
        total.failed += round_outcome.failed
        total.logs += round_outcome.logs
        total.degraded += round_outcome.degraded
        total.unrecorded += [failure for failure in round_outcome.unrecorded if failure not in total.unrecorded]
        total.interrupted, total.full = round_outcome.interrupted, round_outcome.full

    def _next(self, run: Run) -> dict[str, object]:
        return {"run": run.label, "round": run.run, "due_at": self._due(run.run)}

    def _due(self, number: int) -> str:
        return stamp(self.schedule.due_s(number))

    def _miss(self, text: str) -> None:
        self.heart.miss(text)
        self._say(f"missed: {text}")

    def _say(self, text: str) -> None:
        self.progress.line(printable(text))
