"""The number of runs for `run --until`: runs are added until their means are known well enough."""

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
"""Minimum number of runs before an interval is judged: with fewer, intervals are often narrow by chance."""
MOST = 200
"""Maximum number of runs."""
TO_SEE_MODES = 29
"""Minimum number of runs to see modes: 29 runs miss a mode of one run in ten with probability 0.9 ** 29 = 0.047."""
LEAST_OF_MODE = 5
"""Number of runs of the rarer mode at the end."""


class Enough(Protocol):
    """Rule for the number of runs of an experiment."""

    def missing(self, results: ResultsDirectory) -> tuple[int, list[str]]:
        """Return the wanted number of runs of each scheme on each path, and the names of the unresolved quantities.

        The number is the current one if the runs are enough, or if no more runs are allowed.
        """


@dataclass(frozen=True)
class Until:
    """The stop conditions of `--until`.

    `ci` is the maximum half-width of a 95 % interval, as a fraction of the mean; None if the option
    does not contain it. With `modes` enough runs are made to see a second mode.
    """

    ci: float | None = None
    modes: bool = False

    @classmethod
    def parse(cls, text: str) -> "Until":
        """Return the conditions of a text: `ci=2%`, `modes`, or both, separated by a comma.

        Raises:
            UserError: If the text has another form.
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
        """Return the number of runs that each scheme on each path needs, and the means that are not known well enough.

        The number is at most `MOST`. The name of a mean has metric, scheme and path: `goodput of pcc on lossy`.
        """
        missing = {name: self.needed_count(values) - len(values) for name, values in _main_values(results)}
        had, names = results.experiment.runs, [name for name, more in missing.items() if more]
        return max(had, min(MOST, had + max(missing.values(), default=0))), names

    def needed_count(self, values: Sequence[float]) -> int:
        """Return the number of runs needed according to these values; their current number if they are enough."""
        return max(len(values), self._for_interval(values), self._for_modes(values))

    def _for_interval(self, values: Sequence[float]) -> int:
        count = len(values)
        if self.ci is None:
            return 0
        if count < FIRST:
            return FIRST
        estimate = Estimate.of(list(values))
        if estimate.bounds == "equal":
            return count
        if estimate.bounds != "confidence" or estimate.low is None or estimate.high is None or not estimate.mean:
            return 2 * count
        reach = max(estimate.high - estimate.mean, estimate.mean - estimate.low) / abs(estimate.mean)
        if reach <= self.ci:
            return count
        # a few runs more than the interval suggests: at least a quarter, at most twice as many at a time
        return min(max(math.ceil(1.1 * count * (reach / self.ci) ** 2), count + max(2, count // 4)), 2 * count)

    def _for_modes(self, values: Sequence[float]) -> int:
        if not self.modes:
            return 0
        mode_pair = two_modes(values)
        rarer = mode_pair[1].runs if mode_pair else LEAST_OF_MODE
        more = math.ceil(len(values) * LEAST_OF_MODE / rarer) if rarer < LEAST_OF_MODE else 0
        return max(TO_SEE_MODES, min(more, 2 * len(values)))


def _main_values(results: ResultsDirectory) -> Iterator[tuple[str, list[float]]]:
    """Yield throughput and delay of the good runs, by the experiment's convention, with a name."""
    convention = results.experiment.convention_shown
    groups = repetitions(results.readable(run) for run in results.planned())
    for (path, scheme), group in groups.items():
        for metric in (convention.throughput, convention.delay):
            if values := group.values.get(("network", 0, metric.key)):
                yield f"{metric.title} of {scheme} on {path}", values
