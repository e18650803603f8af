"""One run, with its figures."""

from typing import TYPE_CHECKING

from dumbbell.api.records.run_record import RunRecord

if TYPE_CHECKING:
    from dumbbell.api.records.figures import Figure


class RunResults(RunRecord):
    """One run. Its tables are read when they are asked for."""

    def figure(self, kind: str) -> "Figure":
        """A figure of the run.

        `throughput` (rates into and out of the path), `delay` (of every packet), `staircase` (throughput of each flow),
        `operating-point` (in flight, RTT, throughput), `window`, `distribution`, `fairness`, `queue` or `media`.

        Raises:
            dumbbell.Error: there is no such kind, or nothing to draw.
        """
        from dumbbell.api.records.figures import run_figure  # slow to import

        return run_figure(kind, self)
