"""One run, with its figures."""

from typing import TYPE_CHECKING

from dumbbell.api.records.run_record import RunRecord

if TYPE_CHECKING:
    from dumbbell.api.records.figures import Figure


class RunResults(RunRecord):
    """One run. Its tables are read when they are asked for."""

    def figure(self, kind: str) -> "Figure":
        """Return a figure of the run; `dumbbell.figure_kinds()` lists the kinds, those of one run have `of` = `run`.

        Raises:
            dumbbell.Error: there is no such kind, or nothing to draw.
        """
        from dumbbell.api.records.figures import run_figure  # slow to import

        return run_figure(kind, self)
