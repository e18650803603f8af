"""One run, with its figures."""

from typing import TYPE_CHECKING

from dumbbell.api.records.run_record import RunRecord

if TYPE_CHECKING:
    from dumbbell.api.records.figures import Figure


class RunResults(RunRecord):
    """A run. Its tables are read at their first use."""

    def figure(
        self,
        kind: str,
        *,
        metric: str | None = None,
        from_s: float | None = None,
        to_s: float | None = None,
        size: str | None = None,
        font_pt: float | None = None,
        theme: str = "light",
    ) -> "Figure":
        """Return a figure of the run. `dumbbell.figure_kinds()` lists the kinds; those of one run have `of` = `run`.

        `Results.figure` describes the arguments.

        Raises:
            dumbbell.Error: If there is no such kind, or nothing to draw.
        """
        from dumbbell.api.records.figures import run_figure  # slow to import
        from dumbbell.present.model.figure_request import FigureOptions
        from dumbbell.present.paper import sheet_of

        options = FigureOptions(metric=metric, from_s=from_s, to_s=to_s)
        return run_figure(kind, self, options, sheet_of(size, font_pt, theme))
