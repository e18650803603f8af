"""What each scheme gets of the payload beside each other one, in runs of two schemes or two flows."""

from collections import Counter

from dumbbell.present.cells import Cells, all_schemes, mean
from dumbbell.present.figure_request import Drawn, OfResults
from dumbbell.present.figures import GRID
from dumbbell.present.paper_table import matrix
from dumbbell.present.plots import matrix_figure
from dumbbell.present.tables import Table
from dumbbell.results.analysis.shares import share_of

SCOPE = GRID
OPTIONS = ("schemes",)

Pair = tuple[str, str]


def draw(of: OfResults) -> Drawn:
    """Draws a matrix: what the scheme of the row gets beside that of the column."""
    all_schemes(of.kind, of.scheme)
    runs = Cells(of.model, of.kind).along(of.path, ("scheme", "ours", "theirs", "start_s"))
    found: dict[Pair, list[tuple[float, float]]] = {}
    """Shares and fair shares of the first scheme of a run, and of the second where the first one is not tested."""
    turned: dict[Pair, list[tuple[float, float]]] = {}
    for run in runs:
        known = [(flow, share) for flow in run.flows if (share := share_of(flow)) is not None]
        flows = [flow for flow, _ in known]
        flows_of = Counter(str(flow["scheme"]) for flow in flows)
        if len(flows_of) == 2:
            one, other = flows_of
            share = sum(share for flow, share in known if flow["scheme"] == one)
        elif len(flows) == 2:
            one = other = str(flows[0]["scheme"])
            share = known[0][1]
        else:
            continue
        fair = 0.5 if one == other else flows_of[one] / len(flows)
        found.setdefault((one, other), []).append((share, fair))
        if one != other:
            turned.setdefault((other, one), []).append((1.0 - share, 1.0 - fair))
    found = turned | found
    wanted = of.options.schemes
    found = {pair: each for pair, each in found.items() if not wanted or set(pair) <= set(wanted)}
    order = {name: place for place, name in enumerate(of.model.titles)}
    schemes, others = (
        sorted({pair[side] for pair in found}, key=lambda name: order.get(name, len(order))) for side in (0, 1)
    )
    shares, fairs = (
        [[mean(each[part] for each in found.get((one, other), [])) for other in others] for one in schemes]
        for part in (0, 1)
    )
    down, across = ([of.model.scheme_title(each) for each in names] for names in (schemes, others))
    metric = "Share of the payload that the row's scheme gets"
    drawing = matrix_figure(of.name, down, across, shares, metric, fair=fairs) if found else ""
    columns = {"scheme": "text", "competitor": "text", "share": "number", "fair_share": "number"}
    columns |= {"runs": "integer"}
    rows: list[list[object]] = [
        [*pair, mean(share for share, _ in each), mean(fair for _, fair in each), len(each)]
        for pair, each in found.items()
    ]
    why = "is of runs with two schemes, such as of the mix `cubic+bbr`, or with two flows: there are none"
    percent = [[None if share is None else 100.0 * share for share in row] for row in shares]

    def paper() -> Table:
        return matrix("share (%) / beside", down, across, percent, 1)

    return of.drawn(of.path or of.model.name, drawing, columns, lambda: rows, why, paper=paper)
