"""Figures of campaigns, which have rounds and hours in common."""

from dumbbell.base.errors import UserError, argument
from dumbbell.present.model.figure_request import Drawn, OfResults
from dumbbell.present.model.over_time import OverTime
from dumbbell.results.campaign_state import stamp

_PARTS = ("low", "median", "high")


def draw_campaign(of: OfResults, place: str) -> Drawn:
    """Return throughput, delay and loss by `place`: `round` or `hour`.

    Raises:
        UserError: the results are of no campaign, or no run counts.
    """
    found, path = OverTime(of.model), of.one_path
    if of.model.every_s is None:
        made = f"{of.model.directory} was made without {argument('every')}"
        raise UserError(f"figure `{of.kind}`: is of campaigns: {made}")
    gathered = found.periods(of.kind, path)
    timed = any(spread.clocks for each in gathered.values() for one in each for spread in one.metrics.values())
    columns = {"path": "text", "scheme": "text", place: "integer", "started_at": "text", "runs": "integer"}
    keys, delay_key = of.model.shown.keys, of.model.shown.delay.key
    columns |= {f"{metric}_{part}": "number" for metric in keys for part in _PARTS}
    columns |= {f"{delay_key}_clocks_{end}": "number" for end in ("low", "high") if timed}

    def rows() -> list[list[object]]:
        made: list[list[object]] = []
        for scheme, periods in gathered.items():
            for period in periods:
                spreads = [period.metrics.get(metric) for metric in keys]
                values = [getattr(spread, part) if spread else None for spread in spreads for part in _PARTS]
                delay = period.metrics.get(delay_key)
                clocks = ((delay and delay.clocks) or (None, None)) if timed else ()
                made.append([path, scheme, period.number, stamp(period.at_s), period.runs, *values, *clocks])
        return made

    why = f"none of the runs on {path} counts"
    return of.drawn(path, found.draw(of.kind, path, of.name), columns, rows, why, of.main_metrics)
