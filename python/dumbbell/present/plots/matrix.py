"""Competition matrices: the share or the harm of each scheme beside each competitor."""

from collections.abc import Sequence

from dumbbell.present.plots.heatmap import MapAxis, heatmap_figure


def matrix_figure(
    name: str,
    schemes: Sequence[str],
    competitors: Sequence[str],
    values: Sequence[Sequence[float | None]],
    metric: str,
    limits: tuple[float, float] | None = (0.0, 1.0),
    decimals: int | None = 2,
    fair: Sequence[Sequence[float | None]] | None = None,
    titles: tuple[str, str] = ("Scheme", "Competitor"),
) -> str:
    """Return the matrix as SVG: `values[scheme][competitor]`, with the first scheme in the top row.

    `titles` are those of the rows and the columns. Shares and harm lie within the `limits`, from nothing to the whole;
    None takes the range of the values. Pairs without a value are hatched. With the `fair` shares, colours show the
    distance of a share from its fair share, and the side.
    """
    rows = MapAxis(titles[0], list(reversed(schemes)))
    balance = None
    if fair is not None:
        pairs = zip(reversed(values), reversed(fair), strict=True)
        total = limits[1] if limits else 1.0
        balance = [[_balance(*pair, total) for pair in zip(*row_pair, strict=True)] for row_pair in pairs]
    return heatmap_figure(
        name, MapAxis(titles[1], competitors), rows, list(reversed(values)), metric, limits, decimals, balance
    )


def _balance(share: float | None, fair: float | None, total: float) -> float | None:
    """Return the balance of a share: -1 for nothing, 0 for the fair share, 1 for everything, which is `whole`."""
    if share is None or fair is None or not 0 < fair < total:
        return None
    return (share - fair) / (fair if share < fair else total - fair)
