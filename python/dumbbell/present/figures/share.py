"""What each scheme gets of the payload beside each other one, in runs of two schemes or two flows."""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from dumbbell.present.figures import GRID
from dumbbell.present.model.captions import starts_sentence
from dumbbell.present.model.cells import COMPETITOR_AXES, Cells, all_schemes
from dumbbell.present.model.content import RunEntry
from dumbbell.present.model.figure_request import DrawnFigure, ResultsFigureRequest
from dumbbell.present.model.overview import bars_text
from dumbbell.present.plots import matrix_figure
from dumbbell.present.tables import Table
from dumbbell.results.analysis.shares import competing_heading, competing_text, share_of
from dumbbell.results.analysis.summary import Estimate

SCOPE = GRID
OPTIONS = ("schemes",)

Pair = tuple[str, str]


@dataclass
class PairShares:
    """Shares of one scheme beside a competitor, and its fair shares: one per run, as fractions of the payload."""

    shares: list[float] = field(default_factory=list)
    fair: list[float] = field(default_factory=list)

    @property
    def estimate(self) -> Estimate:
        """Mean share with its interval."""
        return Estimate.of(self.shares, fraction=True)

    @property
    def text(self) -> str:
        """Mean and interval in percent, for a table."""
        estimate = self.estimate
        return f"{100 * estimate.mean:.1f} {estimate.bounds_text(lambda share: f'{100 * share:.1f}')}".strip()


def draw(request: ResultsFigureRequest) -> DrawnFigure:
    """Draw the share of each row's scheme beside each column's scheme, as a matrix.

    If all schemes compete with one scheme, the columns are the paths or cells, unless one of these is chosen.
    """
    all_schemes(request.kind, request.scheme)
    cells, schemes = Cells(request.model, request.kind), request.options.schemes
    places = list(dict.fromkeys(cells.places.values()))
    rival = common_rival(request.model.runs)
    if rival is not None and (request.path is not None or len(places) > 1):
        shares_by_place = {
            place: pairs([run for run in request.model.runs if run.good and cells.places[run.path] == place], schemes)
            for place in (places if request.path is None else [cells.places[request.path]])
        }
        if any(shares_by_place.values()):
            return _beside_one(request, rival, shares_by_place)
    return _beside_each(request, pairs(cells.along(request.path, COMPETITOR_AXES), schemes))


def pairs(runs: Iterable[RunEntry], schemes: Sequence[str] = ()) -> dict[Pair, PairShares]:
    """Return the shares of each pair: of two schemes, or of the two flows of one scheme.

    A pair is in the order in which a run tests it. Its reverse is added unless a run tests that order. `schemes` keeps
    pairs of these schemes only, and the mixes that it names.
    """
    tested_pairs: dict[Pair, PairShares] = {}
    reversed_pairs: dict[Pair, PairShares] = {}
    for run in runs:
        flow_shares = [(flow, share) for flow in run.flows if (share := share_of(flow)) is not None]
        flows = [flow for flow, _ in flow_shares]
        flows_of = Counter(str(flow["scheme"]) for flow in flows)
        if schemes and run.scheme not in schemes and not set(flows_of) <= set(schemes):
            continue
        if len(flows_of) == 2:
            first, second = flows_of
            share = sum(share for flow, share in flow_shares if flow["scheme"] == first)
        elif len(flows) == 2:
            first = second = str(flows[0]["scheme"])
            share = flow_shares[0][1]
        else:
            continue
        fair = 0.5 if first == second else flows_of[first] / len(flows)
        _add(tested_pairs, (first, second), share, fair)
        if first != second:
            _add(reversed_pairs, (second, first), 1.0 - share, 1.0 - fair)
    return reversed_pairs | tested_pairs


def common_rival(runs: Iterable[RunEntry]) -> str | None:
    """Return the scheme that competes in every run of two schemes, or None. With one mix, return its last scheme."""
    mixes = _mixes(runs)
    common = set[str].intersection(*map(set, mixes)) if mixes else set[str]()
    return next((name for name in reversed(mixes[0]) if name in common), None) if mixes else None


def _mixes(runs: Iterable[RunEntry]) -> list[list[str]]:
    """Return the schemes of each run of two schemes, in the order of their flows."""
    return [names for run in runs if len(names := list(dict.fromkeys(str(flow["scheme"]) for flow in run.flows))) == 2]


def _add(shares_by_pair: dict[Pair, PairShares], pair: Pair, share: float, fair: float) -> None:
    pair_shares = shares_by_pair.setdefault(pair, PairShares())
    pair_shares.shares.append(share)
    pair_shares.fair.append(fair)


_METRIC = "Mean share of the payload (%) that the {}'s scheme gets"
_LONGEST = 16
"""Maximum letters of a path's name below a column; longer names stand beside rows."""
_PROBLEM = "is of runs with two schemes, such as of the mix `cubic+bbr`, or with two flows: there are none"
_COLUMNS = {"scheme": "text", "competitor": "text", "share": "number", "low": "number"}
_COLUMNS |= {"high": "number", "fair_share": "number", "runs": "integer"}


def _ordered(request: ResultsFigureRequest, names: Iterable[str]) -> list[str]:
    order = {name: place for place, name in enumerate(request.model.titles)}
    return sorted(set(names), key=lambda name: order.get(name, len(order)))


def _beside_each(request: ResultsFigureRequest, pairs_shares: dict[Pair, PairShares]) -> DrawnFigure:
    """Draw schemes over their competitors."""
    schemes, competitors = (_ordered(request, (pair[side] for pair in pairs_shares)) for side in (0, 1))
    table = [[pairs_shares.get((scheme, competitor)) for competitor in competitors] for scheme in schemes]
    down, across = ([request.model.scheme_title(name) for name in names] for names in (schemes, competitors))
    rows = [_row(pair, shares) for pair, shares in pairs_shares.items()]
    subject = request.path or request.experiment_name
    return _figure(
        request, subject, table, down, across, _METRIC.format("row"), ("Scheme", "Competitor"), _COLUMNS, rows
    )


def _beside_one(
    request: ResultsFigureRequest, rival: str, shares_by_place: dict[str, dict[Pair, PairShares]]
) -> DrawnFigure:
    """Draw schemes beside one competitor over the paths or cells."""
    contenders = _ordered(
        request,
        (first for pairs_of_place in shares_by_place.values() for first, second in pairs_of_place if second == rival),
    )
    schemes = [*(name for name in contenders if name != rival), *(name for name in contenders if name == rival)]
    table = [[pairs_of_place.get((scheme, rival)) for pairs_of_place in shares_by_place.values()] for scheme in schemes]
    names = [request.model.scheme_title(scheme) for scheme in schemes]
    noun = "Cell" if any(run.content.get("axes") for run in request.model.runs) else "Path"
    rows = [
        [place, *_row(pair, shares)]
        for place, pairs_of_place in shares_by_place.items()
        for pair, shares in pairs_of_place.items()
        if pair[0] in schemes and pair[1] == rival
    ]
    columns, places = {noun.lower(): "text", **_COLUMNS}, list(shares_by_place)
    beside, subject = f" beside {request.model.scheme_title(rival)}", request.path or request.experiment_name
    if max(map(len, places)) > _LONGEST:
        columns_as_rows = [list(row) for row in zip(*table, strict=True)]
        return _figure(
            request,
            subject,
            columns_as_rows,
            places,
            names,
            _METRIC.format("column") + beside,
            (noun, "Scheme"),
            columns,
            rows,
        )
    return _figure(
        request, subject, table, names, places, _METRIC.format("row") + beside, ("Scheme", noun), columns, rows
    )


def _row(pair: Pair, shares: PairShares) -> list[object]:
    estimate = shares.estimate
    return [*pair, estimate.mean, estimate.low, estimate.high, statistics.fmean(shares.fair), len(shares.shares)]


def _starts(request: ResultsFigureRequest) -> str:
    """Return a sentence about the starts of flows; it names the common competitor if that always starts last."""
    mixes = _mixes(request.model.runs)
    rival = common_rival(request.model.runs)
    if request.model.interval_s and rival is not None and all(names[-1] == rival for names in mixes):
        return f"{request.model.scheme_title(rival)} starts {request.model.interval_s:g} s after the other."
    return starts_sentence(request.model.interval_s)


def _fair(fairs: Iterable[float]) -> str:
    """Return a sentence about the fair share, if all pairs have the same one; otherwise an empty string."""
    percents = {round(100.0 * fair, 1) for fair in fairs}
    return f"The fair share is {percents.pop():g} %." if len(percents) == 1 else ""


def _time(request: ResultsFigureRequest) -> str:
    """Return the time in which the shares are counted, as `3.1 to 20 s, while all flows compete`.

    The seconds are left out unless they are the same in all runs.
    """
    groups = [group for group in request.model.groups.values() if len(group.flows) and len(group.flows[0]) > 1]
    return competing_heading([text for group in groups if (text := competing_text(group))])


def _list(table: list[list[PairShares | None]], down: list[str], across: list[str], titles: tuple[str, str]) -> Table:
    """Return a table with a row for each pair, for a matrix with gaps: most of its fields would be empty."""
    rows, estimates = [], list[Estimate]()
    for name, row in zip(down, table, strict=True):
        for competitor, shares in zip(across, row, strict=True):
            if shares is None:
                continue
            estimates.append(shares.estimate)
            rows.append(
                [name, competitor, str(len(shares.shares)), shares.text, f"{100.0 * statistics.fmean(shares.fair):.1f}"]
            )
    bars = bars_text(estimates)
    share = f"share (%) with the {bars}" if bars else "share (%)"
    return Table.of([*(title.lower() for title in titles), "runs", share, "fair share (%)"], rows)


def _figure(
    request: ResultsFigureRequest,
    subject: str,
    table: list[list[PairShares | None]],
    down: list[str],
    across: list[str],
    metric: str,
    titles: tuple[str, str],
    columns: dict[str, str],
    rows: list[list[object]],
) -> DrawnFigure:
    shares = [[None if pair is None else 100.0 * statistics.fmean(pair.shares) for pair in row] for row in table]
    fairs = [[None if pair is None else 100.0 * statistics.fmean(pair.fair) for pair in row] for row in table]
    time = _time(request)
    note = request.note([len(pair.shares) for row in table for pair in row if pair])
    title = "\n".join(filter(None, [metric, ", ".join(filter(None, (note, time)))]))
    drawing = matrix_figure(request.name, down, across, shares, title, (0.0, 100.0), 1, fairs, titles) if rows else ""

    def paper() -> Table:
        rows = [[None if pair is None else pair.text for pair in row] for row in table]
        if any(text is None for row in rows for text in row):
            return _list(table, down, across, titles)
        corner = f"share (%), {titles[0].lower()} / {titles[1].lower()}"
        body = [[name, *map(str, row)] for name, row in zip(down, rows, strict=True)]
        bars = bars_text(pair.estimate for row in table for pair in row if pair)
        table_of_rows = Table.of([corner, *across], body, align=f"l{'r' * len(across)}")
        return replace(table_of_rows, caption=f"In brackets: the {bars}." if bars else "")

    shows = ", ".join(filter(None, (metric, time)))
    figure = request.make_figure(
        subject, drawing, columns, lambda: rows, _PROBLEM, shows=shows, paper=paper, starts=_starts(request)
    )
    fair = _fair(share for row in table for pair in row if pair for share in pair.fair)
    return replace(figure, runs_note=f"{figure.runs_note} {fair}".strip())
