"""Competition matrices: what each scheme gets, or suffers, beside each competitor."""

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
    """The matrix as SVG: `values[scheme][competitor]`, the first scheme in the first row from the top.

    `titles` are those of the rows and the columns.

    Shares and harm lie within the `limits`, from nothing to the whole; None takes the values' own. Pairs without a
    value are hatched. With the shares that would be `fair`, colours tell how far a share is from its fair one, and on
    which side.
    """
    rows = MapAxis(titles[0], list(reversed(schemes)))
    balance = None
    if fair is not None:
        pairs = zip(reversed(values), reversed(fair), strict=True)
        whole = limits[1] if limits else 1.0
        balance = [[_balance(*pair, whole) for pair in zip(*each, strict=True)] for each in pairs]
    return heatmap_figure(
        name, MapAxis(titles[1], competitors), rows, list(reversed(values)), metric, limits, decimals, balance
    )


def _balance(share: float | None, fair: float | None, whole: float) -> float | None:
    """From -1, nothing, over 0, the fair share, to 1, everything, which is `whole`."""
    if share is None or fair is None or not 0 < fair < whole:
        return None
    return (share - fair) / (fair if share < fair else whole - fair)
