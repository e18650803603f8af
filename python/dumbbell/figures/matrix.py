"""Competition matrices: what each scheme gets, or suffers, beside each competitor."""

from collections.abc import Sequence

from dumbbell.figures.heatmap import MapAxis, heatmap_figure


def matrix_figure(
    name: str,
    schemes: Sequence[str],
    competitors: Sequence[str],
    values: Sequence[Sequence[float | None]],
    metric: str,
    limits: tuple[float, float] | None = (0.0, 1.0),
    decimals: int | None = 2,
) -> str:
    """The matrix as SVG: `values[scheme][competitor]`, the first scheme in the first row from the top.

    Shares and harm lie within the `limits` 0 and 1; None takes the values' own. Pairs without a value are hatched.
    """
    rows = MapAxis("Scheme", list(reversed(schemes)))
    return heatmap_figure(
        name, MapAxis("Competitor", competitors), rows, list(reversed(values)), metric, limits, decimals
    )
