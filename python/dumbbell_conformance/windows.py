"""Windows of checks: a visit to a phase, or a span of time."""

from __future__ import annotations

from dataclasses import dataclass

from dumbbell_conformance.view import NotReachedError, RunView, Visit

EVENTS = ("drop", "mark")
OF = ("run", "at", "after", *EVENTS)
"""For visits: any visit, the visit in which the run was disturbed, or later visits. For spans: the time of 0 s.

`drop` and `mark` are the first such event of the flow; for spans, the `nth` one."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Arguments that select the window of a check."""

    phase: str = ""
    nth: int = 1
    of: str = "run"
    longest: bool = False
    from_s: float = 0.0
    to_s: float | None = None


@dataclass(frozen=True)
class Window:
    """A part of a run. `visit` is the visit to a phase in which the window lies, if a phase is named."""

    start_s: float
    end_s: float
    visit: Visit | None = None

    @property
    def of_phase(self) -> Visit:
        """The visit, even if it has not ended."""
        assert self.visit is not None, "a check of a phase names one"
        return self.visit

    @property
    def complete(self) -> Visit:
        """The visit, which has to have ended.

        Raises:
            NotReachedError: the run ended before the visit.
        """
        if not self.of_phase.after:
            raise NotReachedError(f"the run ended in `{self.of_phase.phase}`, since {self.of_phase.start_s:.3f} s")
        return self.of_phase


def window(view: RunView, place: Place) -> Window:
    """Return the window that the arguments of a check select.

    Raises:
        UnseenError: the controller does not report its phase, or has no such phase.
        NotReachedError: the controller did not reach this phase, or the run was not disturbed.
    """
    to_s = place.to_s
    base = _base(view, place.of, 1 if place.phase else place.nth)
    if not place.phase:
        end_s = view.duration_s if to_s is None else base + to_s
        return Window(base + place.from_s, min(end_s, view.duration_s))
    visit = _visit(view, place.phase, 0 if place.longest else place.nth, place.of, base)
    end_s = visit.end_s if to_s is None else min(visit.start_s + to_s, visit.end_s)
    return Window(visit.start_s + place.from_s, end_s, visit)


def _base(view: RunView, origin: str, nth: int) -> float:
    """Return the time from which a window counts, s."""
    if origin == "run":
        return 0.0
    if origin in EVENTS:
        events = view.packets.of(origin)
        if len(events) < nth:
            raise NotReachedError(f"there were {len(events)} events `{origin}`: {nth} are needed")
        return float(events.time_s[nth - 1])
    if view.moment_s is None:
        raise NotReachedError("the moment at which the case disturbs the run did not come")
    return view.moment_s


def _visit(view: RunView, phase: str, nth: int, origin: str, base: float) -> Visit:
    """Return the `nth` visit; 0 means the longest one."""
    view.require_phase(phase)
    visits = view.visits
    if origin == "at":
        disturbed_visit = next(visit for visit in visits if visit.end_s > base or not visit.after)
        if disturbed_visit.phase != phase:
            raise NotReachedError(f"was in `{disturbed_visit.phase}` when the run was disturbed at {base:.3f} s")
        return disturbed_visit
    candidates = [visit for visit in visits if visit.phase == phase]
    if origin != "run":
        candidates = [visit for visit in candidates if visit.start_s > base]
    if not nth and candidates:
        return max(candidates, key=lambda visit: visit.end_s - visit.start_s)
    if len(candidates) < max(nth, 1):
        again = {0: "", 1: "", 2: " a second time", 3: " a third time"}.get(nth, f" {nth} times")
        raise NotReachedError(f"did not come to `{phase}`{again}")
    return candidates[nth - 1]
