"""The number of runs that `run --until` makes: more are added until their means are known well enough."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from dumbbell.base.errors import UserError
from dumbbell.results import ResultsDirectory
from dumbbell.results.analysis.modes import two_modes
from dumbbell.results.analysis.summary import Estimate, repetitions

FIRST = 10
"""Runs that are made before any interval is judged: of fewer, narrow ones are often narrow by chance."""
MOST = 200
"""Runs after which it ends in any case."""
TO_SEE_MODES = 29
"""Of so many runs, a mode of one run in ten is in none in fewer than 5 of 100 cases: 0.9 ** 29 is 0.047."""
LEAST_OF_MODE = 5
"""Runs that the rarer of two modes has in the end."""


class Enough(Protocol):
    """Decides how many runs are made of an experiment."""

    def missing(self, results: ResultsDirectory) -> tuple[int, list[str]]:
        """Return how many runs are wanted of each scheme on each path, and what those there are do not tell yet.

        The number is that of the runs there are if these are enough, or if there may be no more.
        """


@dataclass(frozen=True)
class Until:
    """The conditions of `--until`, under which no more runs are made.

    `ci` is how far a 95 % interval may reach to either side of its mean, as a fraction of the mean; None if the option
    does not ask for it. `modes` asks for enough runs to see a second mode.
    """

    ci: float | None = None
    modes: bool = False

    @classmethod
    def parse(cls, text: str) -> "Until":
        """Return what a text asks for: `ci=2%`, `modes`, or both with a comma between them.

        Raises:
            UserError: the text is not of that form.
        """
        ci, modes = None, False
        for part in text.split(","):
            match = re.fullmatch(r"ci=(\d{1,3}(?:\.\d{1,6})?)%", part.strip())
            if match and 0.0 < float(match[1]) <= 100.0 and ci is None:
                ci = float(match[1]) / 100.0
            elif part.strip() == "modes" and not modes:
                modes = True
            else:
                raise UserError(
                    "allowed are ci=P% (how far the 95 % intervals may reach, from above 0 to 100 % of the mean), "
                    "modes, or ci=P%,modes",
                    argument="until",
                    value=text,
                )
        return cls(ci, modes)

    def missing(self, results: ResultsDirectory) -> tuple[int, list[str]]:
        """Return how many runs of each scheme on each path the results need, and the means that need more than that.

        There are at most `MOST`. A mean is named by its metric, scheme and path: `goodput of pcc on lossy`.
        """
        missing = {what: self.wanted(values) - len(values) for what, values in _main_values(results)}
        had, names = results.experiment.runs, [what for what, more in missing.items() if more]
        return max(had, min(MOST, had + max(missing.values(), default=0))), names

    def wanted(self, values: Sequence[float]) -> int:
        """Return how many runs are wanted, as far as these values tell; their number if they are enough."""
        return max(len(values), self._for_interval(values), self._for_modes(values))

    def _for_interval(self, values: Sequence[float]) -> int:
        count = len(values)
        if self.ci is None:
            return 0
        if count < FIRST:
            return FIRST
        found = Estimate.of(list(values))
        if found.bounds == "equal":
            return count
        if found.bounds != "confidence" or found.low is None or found.high is None or not found.mean:
            return 2 * count
        reach = max(found.high - found.mean, found.mean - found.low) / abs(found.mean)
        if reach <= self.ci:
            return count
        # a few runs more than the widths tell, at least a quarter, and no more than twice as many at a time
        return min(max(math.ceil(1.1 * count * (reach / self.ci) ** 2), count + max(2, count // 4)), 2 * count)

    def _for_modes(self, values: Sequence[float]) -> int:
        if not self.modes:
            return 0
        found = two_modes(values)
        rarer = found[1].runs if found else LEAST_OF_MODE
        more = math.ceil(len(values) * LEAST_OF_MODE / rarer) if rarer < LEAST_OF_MODE else 0
        return max(TO_SEE_MODES, min(more, 2 * len(values)))


def _main_values(results: ResultsDirectory) -> Iterator[tuple[str, list[float]]]:
    """Yield throughput and delay of the good runs, by the experiment's convention, with what they are of."""
    shown = results.experiment.shown
    gathered = repetitions(results.readable(run) for run in results.planned())
    for (path, scheme), group in gathered.items():
        for metric in (shown.throughput, shown.delay):
            if values := group.values.get(("network", 0, metric.key)):
                yield f"{metric.title} of {scheme} on {path}", values
