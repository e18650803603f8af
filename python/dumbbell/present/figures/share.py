"""What each scheme gets of the payload beside each other one, in runs of two schemes or two flows."""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from dumbbell.present.figures import GRID
from dumbbell.present.model.captions import starts_sentence
from dumbbell.present.model.cells import WHO, Cells, all_schemes
from dumbbell.present.model.content import RunEntry
from dumbbell.present.model.figure_request import Drawn, OfResults
from dumbbell.present.model.overview import bars_text
from dumbbell.present.plots import matrix_figure
from dumbbell.present.tables import Table
from dumbbell.results.analysis.shares import competing_heading, competing_text, share_of
from dumbbell.results.analysis.summary import Estimate

SCOPE = GRID
OPTIONS = ("schemes",)

Pair = tuple[str, str]


@dataclass
class Got:
    """The shares of one scheme beside another one, and its fair shares, of each run: fractions of the payload."""

    shares: list[float] = field(default_factory=list)
    fair: list[float] = field(default_factory=list)

    @property
    def estimate(self) -> Estimate:
        """The mean share, and where it lies."""
        return Estimate.of(self.shares, fraction=True)

    @property
    def text(self) -> str:
        """Mean and interval in percent, for a table."""
        found = self.estimate
        return f"{100 * found.mean:.1f} {found.bounds_text(lambda each: f'{100 * each:.1f}')}".strip()


def draw(of: OfResults) -> Drawn:
    """Draws a matrix: what the scheme of the row gets beside that of the column.

    Where all schemes compete with the same one, the columns are the paths or the cells, unless one is chosen.
    """
    all_schemes(of.kind, of.scheme)
    cells, wanted = Cells(of.model, of.kind), of.options.schemes
    places = list(dict.fromkeys(cells.places.values()))
    rival = common_rival(of.model.runs)
    if rival is not None and (of.path is not None or len(places) > 1):
        found = {
            place: pairs([run for run in of.model.runs if run.good and cells.places[run.path] == place], wanted)
            for place in (places if of.path is None else [cells.places[of.path]])
        }
        if any(found.values()):
            return _beside_one(of, rival, found)
    return _beside_each(of, pairs(cells.along(of.path, WHO), wanted))


def pairs(runs: Iterable[RunEntry], wanted: Sequence[str] = ()) -> dict[Pair, Got]:
    """Return what each of two schemes got beside the other, or the first of two flows of a scheme, over the runs.

    The pair that a run tests comes first; its reverse is left out where that is tested too. `wanted` are schemes, of
    which both are among these, and mixes.
    """
    found: dict[Pair, Got] = {}
    turned: dict[Pair, Got] = {}
    for run in runs:
        known = [(flow, share) for flow in run.flows if (share := share_of(flow)) is not None]
        flows = [flow for flow, _ in known]
        flows_of = Counter(str(flow["scheme"]) for flow in flows)
        if wanted and run.scheme not in wanted and not set(flows_of) <= set(wanted):
            continue
        if len(flows_of) == 2:
            one, other = flows_of
            share = sum(share for flow, share in known if flow["scheme"] == one)
        elif len(flows) == 2:
            one = other = str(flows[0]["scheme"])
            share = known[0][1]
        else:
            continue
        fair = 0.5 if one == other else flows_of[one] / len(flows)
        _add(found, (one, other), share, fair)
        if one != other:
            _add(turned, (other, one), 1.0 - share, 1.0 - fair)
    return turned | found


def common_rival(runs: Iterable[RunEntry]) -> str | None:
    """Return the scheme that competes in every run of two schemes; None if there is none. Of one mix it is the last."""
    mixes = _mixes(runs)
    common = set[str].intersection(*map(set, mixes)) if mixes else set[str]()
    return next((name for name in reversed(mixes[0]) if name in common), None) if mixes else None


def _mixes(runs: Iterable[RunEntry]) -> list[list[str]]:
    """Return the schemes of each run of two, in the order of their flows."""
    return [names for run in runs if len(names := list(dict.fromkeys(str(flow["scheme"]) for flow in run.flows))) == 2]


def _add(found: dict[Pair, Got], pair: Pair, share: float, fair: float) -> None:
    got = found.setdefault(pair, Got())
    got.shares.append(share)
    got.fair.append(fair)


_METRIC = "Mean share of the payload (%) that the {}'s scheme gets"
_LONGEST = 16
"""Letters of a path's name that stand below a column; longer names stand beside rows."""
_WHY = "is of runs with two schemes, such as of the mix `cubic+bbr`, or with two flows: there are none"
_COLUMNS = {"scheme": "text", "competitor": "text", "share": "number", "low": "number"}
_COLUMNS |= {"high": "number", "fair_share": "number", "runs": "integer"}


def _ordered(of: OfResults, names: Iterable[str]) -> list[str]:
    order = {name: place for place, name in enumerate(of.model.titles)}
    return sorted(set(names), key=lambda name: order.get(name, len(order)))


def _beside_each(of: OfResults, found: dict[Pair, Got]) -> Drawn:
    """Draw schemes over their competitors."""
    schemes, others = (_ordered(of, (pair[side] for pair in found)) for side in (0, 1))
    table = [[found.get((one, other)) for other in others] for one in schemes]
    down, across = ([of.model.scheme_title(each) for each in names] for names in (schemes, others))
    rows = [_row(pair, got) for pair, got in found.items()]
    what = of.path or of.whole
    return _drawn(of, what, table, down, across, _METRIC.format("row"), ("Scheme", "Competitor"), _COLUMNS, rows)


def _beside_one(of: OfResults, rival: str, found: dict[str, dict[Pair, Got]]) -> Drawn:
    """Draw schemes beside one competitor over the paths or cells."""
    tested = _ordered(of, (one for got in found.values() for one, other in got if other == rival))
    schemes = [*(one for one in tested if one != rival), *(one for one in tested if one == rival)]
    table = [[got.get((one, rival)) for got in found.values()] for one in schemes]
    names = [of.model.scheme_title(each) for each in schemes]
    noun = "Cell" if any(run.content.get("axes") for run in of.model.runs) else "Path"
    rows = [
        [place, *_row(pair, each)]
        for place, got in found.items()
        for pair, each in got.items()
        if pair[0] in schemes and pair[1] == rival
    ]
    columns, places = {noun.lower(): "text", **_COLUMNS}, list(found)
    beside, what = f" beside {of.model.scheme_title(rival)}", of.path or of.whole
    if max(map(len, places)) > _LONGEST:
        turned = [list(row) for row in zip(*table, strict=True)]
        return _drawn(
            of, what, turned, places, names, _METRIC.format("column") + beside, (noun, "Scheme"), columns, rows
        )
    return _drawn(of, what, table, names, places, _METRIC.format("row") + beside, ("Scheme", noun), columns, rows)


def _row(pair: Pair, got: Got) -> list[object]:
    found = got.estimate
    return [*pair, found.mean, found.low, found.high, statistics.fmean(got.fair), len(got.shares)]


def _starts(of: OfResults) -> str:
    """Say when the flows of a run start: by the name of the scheme that competes in all runs, if it is always last."""
    mixes = _mixes(of.model.runs)
    rival = common_rival(of.model.runs)
    if of.model.interval_s and rival is not None and all(names[-1] == rival for names in mixes):
        return f"{of.model.scheme_title(rival)} starts {of.model.interval_s:g} s after the other."
    return starts_sentence(of.model.interval_s)


def _fair(fairs: Iterable[float]) -> str:
    """Say what the fair share is, if it is the same for all pairs."""
    found = {round(100.0 * fair, 1) for fair in fairs}
    return f"The fair share is {found.pop():g} %." if len(found) == 1 else ""


def _time(of: OfResults) -> str:
    """Return the time that the shares are of: `3.1 to 20 s, while all flows compete`; the seconds if all have them."""
    groups = [group for group in of.model.gathered.values() if len(group.flows) and len(group.flows[0]) > 1]
    return competing_heading([text for group in groups if (text := competing_text(group))])


def _list(table: list[list[Got | None]], down: list[str], across: list[str], titles: tuple[str, str]) -> Table:
    """Return a table with a row for each pair: a matrix of pairs that were not all run has more gaps than numbers."""
    rows, estimates = [], list[Estimate]()
    for one, row in zip(down, table, strict=True):
        for other, got in zip(across, row, strict=True):
            if got is None:
                continue
            estimates.append(got.estimate)
            rows.append([one, other, str(len(got.shares)), got.text, f"{100.0 * statistics.fmean(got.fair):.1f}"])
    bars = bars_text(estimates)
    share = f"share (%) with the {bars}" if bars else "share (%)"
    return Table.of([*(title.lower() for title in titles), "runs", share, "fair share (%)"], rows)


def _drawn(
    of: OfResults,
    what: str,
    table: list[list[Got | None]],
    down: list[str],
    across: list[str],
    metric: str,
    titles: tuple[str, str],
    columns: dict[str, str],
    rows: list[list[object]],
) -> Drawn:
    shares = [[None if got is None else 100.0 * statistics.fmean(got.shares) for got in row] for row in table]
    fairs = [[None if got is None else 100.0 * statistics.fmean(got.fair) for got in row] for row in table]
    time = _time(of)
    note = of.note([len(got.shares) for row in table for got in row if got])
    title = "\n".join(filter(None, [metric, ", ".join(filter(None, (note, time)))]))
    drawing = matrix_figure(of.name, down, across, shares, title, (0.0, 100.0), 1, fairs, titles) if rows else ""

    def paper() -> Table:
        rows = [[None if got is None else got.text for got in row] for row in table]
        if any(text is None for row in rows for text in row):
            return _list(table, down, across, titles)
        corner = f"share (%), {titles[0].lower()} / {titles[1].lower()}"
        found = [[name, *map(str, row)] for name, row in zip(down, rows, strict=True)]
        bars = bars_text(got.estimate for row in table for got in row if got)
        told = Table.of([corner, *across], found, align=f"l{'r' * len(across)}")
        return replace(told, caption=f"In brackets: the {bars}." if bars else "")

    shows = ", ".join(filter(None, (metric, time)))
    drawn = of.drawn(what, drawing, columns, lambda: rows, _WHY, shows=shows, paper=paper, starts=_starts(of))
    fair = _fair(each for row in table for got in row if got for each in got.fair)
    return replace(drawn, made=f"{drawn.made} {fair}".strip())
