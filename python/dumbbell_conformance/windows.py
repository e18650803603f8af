"""Where a check looks: a visit to a phase, or a span of time."""

from __future__ import annotations

from dataclasses import dataclass

from dumbbell_conformance.view import NotReachedError, RunView, Visit

EVENTS = ("drop", "mark")
OF = ("run", "at", "after", *EVENTS)
"""Of visits: any, the one in which the run was disturbed, or those that begin after that; of spans: what 0 s is.

`drop` and `mark` are the first such event of the flow; of spans, the `nth` one."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Arguments that say where a check looks."""

    phase: str = ""
    nth: int = 1
    of: str = "run"
    longest: bool = False
    from_s: float = 0.0
    to_s: float | None = None


@dataclass(frozen=True)
class Window:
    """A part of a run. `visit` is the visit to a phase that it lies in, if it is named by one."""

    start_s: float
    end_s: float
    visit: Visit | None = None

    @property
    def of_phase(self) -> Visit:
        """The visit, whether it has ended or not."""
        assert self.visit is not None, "a check of a phase names one"
        return self.visit

    @property
    def complete(self) -> Visit:
        """The visit, which has to have ended.

        Raises:
            NotReachedError: the run ended first.
        """
        if not self.of_phase.after:
            raise NotReachedError(f"the run ended in `{self.of_phase.phase}`, since {self.of_phase.start_s:.3f} s")
        return self.of_phase


def window(view: RunView, place: Place) -> Window:
    """Return where the arguments of a check say to look.

    Raises:
        UnseenError: the controller does not tell its phase, or has no such phase.
        NotReachedError: it did not come to this phase, or the run was not disturbed.
    """
    to_s = place.to_s
    base = _base(view, place.of, 1 if place.phase else place.nth)
    if not place.phase:
        end_s = view.duration_s if to_s is None else base + to_s
        return Window(base + place.from_s, min(end_s, view.duration_s))
    visit = _visit(view, place.phase, 0 if place.longest else place.nth, place.of, base)
    end_s = visit.end_s if to_s is None else min(visit.start_s + to_s, visit.end_s)
    return Window(visit.start_s + place.from_s, end_s, visit)


def _base(view: RunView, of: str, nth: int) -> float:
    """Return the time that a window is counted from, s."""
    if of == "run":
        return 0.0
    if of in EVENTS:
        found = view.packets.of(of)
        if len(found) < nth:
            raise NotReachedError(f"there were {len(found)} events `{of}`: {nth} are needed")
        return float(found.time_s[nth - 1])
    if view.moment_s is None:
        raise NotReachedError("the moment at which the case disturbs the run did not come")
    return view.moment_s


def _visit(view: RunView, phase: str, nth: int, of: str, base: float) -> Visit:
    """The `nth` visit; 0 is the longest one."""
    view.require_phase(phase)
    visits = view.visits
    if of == "at":
        there = next(each for each in visits if each.end_s > base or not each.after)
        if there.phase != phase:
            raise NotReachedError(f"was in `{there.phase}` when the run was disturbed at {base:.3f} s")
        return there
    found = [each for each in visits if each.phase == phase]
    if of != "run":
        found = [each for each in found if each.start_s > base]
    if not nth and found:
        return max(found, key=lambda each: each.end_s - each.start_s)
    if len(found) < max(nth, 1):
        again = {0: "", 1: "", 2: " a second time", 3: " a third time"}.get(nth, f" {nth} times")
        raise NotReachedError(f"did not come to `{phase}`{again}")
    return found[nth - 1]
