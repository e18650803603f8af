"""Where a check looks: a visit to a phase, or a span of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dumbbell.studies.conformance.view import NotReachedError, RunView, Visit

OF = ("run", "at", "after")
"""Of visits: any, the one in which the run was disturbed, or those that begin after that; of spans: what 0 s is."""
ARGUMENTS = {"phase": str, "nth": int, "of": str, "from_s": float, "to_s": float}
"""What says where a check looks, and the type of each."""


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


def window(view: RunView, arguments: Mapping[str, Any]) -> Window:
    """Return where the arguments of a check say to look.

    Raises:
        UnseenError: the controller does not tell its phase, or has no such phase.
        NotReachedError: it did not come to this phase, or the run was not disturbed.
    """
    phase, of = str(arguments.get("phase", "")), str(arguments.get("of", "run"))
    from_s, to_s = float(arguments.get("from_s", 0.0)), arguments.get("to_s")
    if of != "run" and view.moment_s is None:
        raise NotReachedError("the moment at which the case disturbs the run did not come")
    if not phase:
        base = view.moment_s if of != "run" and view.moment_s is not None else 0.0
        end_s = view.duration_s if to_s is None else base + float(to_s)
        return Window(base + from_s, min(end_s, view.duration_s))
    visit = _visit(view, phase, int(arguments.get("nth", 1)), of)
    end_s = visit.end_s if to_s is None else min(visit.start_s + float(to_s), visit.end_s)
    return Window(visit.start_s + from_s, end_s, visit)


def _visit(view: RunView, phase: str, nth: int, of: str) -> Visit:
    view.require_phase(phase)
    visits = view.visits
    if of == "at":
        assert view.moment_s is not None
        there = next(each for each in visits if each.end_s > view.moment_s or not each.after)
        if there.phase != phase:
            raise NotReachedError(f"was in `{there.phase}` when the run was disturbed at {view.moment_s:.3f} s")
        return there
    found = [each for each in visits if each.phase == phase]
    if of == "after":
        assert view.moment_s is not None
        found = [each for each in found if each.start_s > view.moment_s]
    if len(found) < nth:
        again = {1: "", 2: " a second time", 3: " a third time"}.get(nth, f" {nth} times")
        raise NotReachedError(f"did not come to `{phase}`{again}")
    return found[nth - 1]
