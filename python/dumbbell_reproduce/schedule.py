"""The times at which the flows of a recorded run started and ended."""

from dataclasses import dataclass

from dumbbell.catalog.grids.flows import FlowPlan
from dumbbell_reproduce.measured_set import MeasuredRun, MeasuredSet

_SHORT_S = 5.0
"""Runs that are shorter differ by tenths of seconds, others by seconds: what is alike is simulated once."""
_LATE_S = 0.3
"""How much later than planned a flow starts at most that started as planned."""


@dataclass(frozen=True)
class Schedule:
    """How long a run took, s, and when each of its flows started and stopped."""

    duration_s: float
    spans_s: tuple[tuple[float, float], ...]

    @property
    def flows(self) -> tuple[FlowPlan, ...]:
        """Its flows as an experiment lists them; those that stopped at the end have no end of their own."""
        return tuple(
            FlowPlan(start_s=start, stop_s=stop if stop < self.duration_s else None) for start, stop in self.spans_s
        )


def schedule_of(run: MeasuredRun) -> Schedule:
    """Return the schedule of a run: by its packets where they are known, else as its flows say."""
    if run.has_packets:
        spans = [run.packets.span_ms(int(flow["flow"])) for flow in run.statistics["flows"]]
        times = [(start / 1e3, stop / 1e3) for start, stop in spans]
    else:
        times = [(flow["start_s"] or 0.0, flow["stop_s"] or 0.0) for flow in run.statistics["flows"]]
    first, last = min(start for start, _ in times), max(stop for _, stop in times)
    digits = 0 if last - first >= _SHORT_S else 1
    duration = max(round(last - first, digits), 0.1)
    # who stops within a second of the last one stops with it: nobody ends two programs at once
    late = duration - max(1.0, 0.02 * duration)
    spans = []
    for start, stop in ((start - first, stop - first) for start, stop in times):
        begun = round(start, 1)
        spans.append((begun, duration if stop > late else max(round(stop, 1), begun + 0.1)))
    return Schedule(duration, tuple(spans))


def own_schedule(run: MeasuredRun, measured: MeasuredSet) -> Schedule | None:
    """Return the schedule of a run; None of one whose flows started as its set planned it."""
    planned = measured.content.experiment
    if not measured.metadata:
        return schedule_of(run)
    if planned.flows < 2 or not run.has_packets:
        return None
    schedule = schedule_of(run)
    starts = [start for start, _ in schedule.spans_s]
    late = [abs(start - number * planned.interval_s) for number, start in enumerate(starts)]
    has_all = len(starts) == planned.flows and all(stop > start for start, stop in schedule.spans_s)
    return schedule if has_all and max(late) > _LATE_S else None
