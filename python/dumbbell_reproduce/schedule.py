"""The times at which the flows of a recorded run started and ended."""

from dataclasses import dataclass

from dumbbell.catalog.grids.flows import FlowPlan
from dumbbell_reproduce.measured_set import MeasuredRun, MeasuredSet

_SHORT_S = 5.0
"""Runs shorter than this, s, have times rounded to tenths of seconds, others to seconds. Equal schedules are simulated
once."""
_LATE_S = 0.3
"""Largest delay of a flow that counts as started as planned, s."""


@dataclass(frozen=True)
class Schedule:
    """Duration of a run, s, and the start and stop times of its flows."""

    duration_s: float
    spans_s: tuple[tuple[float, float], ...]

    @property
    def flows(self) -> tuple[FlowPlan, ...]:
        """The flows as an experiment lists them. A flow that stopped at the end of the run has no stop time."""
        return tuple(
            FlowPlan(start_s=start, stop_s=stop if stop < self.duration_s else None) for start, stop in self.spans_s
        )


def schedule_of(run: MeasuredRun) -> Schedule:
    """Return the schedule of a run, from its packets if logged, else from its flows' times."""
    if run.has_packets:
        spans = [run.packets.span_ms(int(flow["flow"])) for flow in run.statistics["flows"]]
        times = [(start / 1e3, stop / 1e3) for start, stop in spans]
    else:
        times = [(flow["start_s"] or 0.0, flow["stop_s"] or 0.0) for flow in run.statistics["flows"]]
    first, last = min(start for start, _ in times), max(stop for _, stop in times)
    digits = 0 if last - first >= _SHORT_S else 1
    duration = max(round(last - first, digits), 0.1)
    # A flow that stops within a second of the last one stops with it, since nobody ends two programs at the same
    # instant.
    late = duration - max(1.0, 0.02 * duration)
    spans = []
    for start, stop in ((start - first, stop - first) for start, stop in times):
        start_s = round(start, 1)
        spans.append((start_s, duration if stop > late else max(round(stop, 1), start_s + 0.1)))
    return Schedule(duration, tuple(spans))


def own_schedule(run: MeasuredRun, measured_set: MeasuredSet) -> Schedule | None:
    """Return the schedule of a run; None if its flows started as planned by its set."""
    experiment = measured_set.content.experiment
    if not measured_set.metadata:
        return schedule_of(run)
    if experiment.flows < 2 or not run.has_packets:
        return None
    schedule = schedule_of(run)
    starts = [start for start, _ in schedule.spans_s]
    late = [abs(start - number * experiment.interval_s) for number, start in enumerate(starts)]
    has_all = len(starts) == experiment.flows and all(stop > start for start, stop in schedule.spans_s)
    return schedule if has_all and max(late) > _LATE_S else None
