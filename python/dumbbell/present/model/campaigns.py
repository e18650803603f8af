"""Figures of campaigns by round and by hour."""

from dumbbell.base.errors import UserError, argument
from dumbbell.present.model.figure_request import DrawnFigure, ResultsFigureRequest
from dumbbell.present.model.over_time import OverTime
from dumbbell.results.campaign_state import stamp

_PARTS = ("low", "median", "high")


def draw_campaign(request: ResultsFigureRequest, place: str) -> DrawnFigure:
    """Draw throughput, delay and loss by `place`: `round` or `hour`.

    Raises:
        UserError: The results are of no campaign, or no run counts.
    """
    over_time, path = OverTime(request.model), request.one_path
    if request.model.every_s is None:
        cause = f"{request.model.directory} was made without {argument('every')}"
        raise UserError(f"figure `{request.kind}`: is of campaigns: {cause}")
    periods_by_scheme = over_time.periods(request.kind, path)
    has_clocks = any(
        spread.clocks
        for scheme_periods in periods_by_scheme.values()
        for period in scheme_periods
        for spread in period.metrics.values()
    )
    columns = {"path": "text", "scheme": "text", place: "integer", "started_at": "text", "runs": "integer"}
    keys, delay_key = request.model.convention.keys, request.model.convention.delay.key
    columns |= {f"{metric}_{part}": "number" for metric in keys for part in _PARTS}
    columns |= {f"{delay_key}_clocks_{end}": "number" for end in ("low", "high") if has_clocks}

    def rows() -> list[list[object]]:
        lines: list[list[object]] = []
        for scheme, periods in periods_by_scheme.items():
            for period in periods:
                spreads = [period.metrics.get(metric) for metric in keys]
                values = [getattr(spread, part) if spread else None for spread in spreads for part in _PARTS]
                delay = period.metrics.get(delay_key)
                clocks = ((delay and delay.clocks) or (None, None)) if has_clocks else ()
                lines.append([path, scheme, period.number, stamp(period.at_s), period.runs, *values, *clocks])
        return lines

    problem = f"none of the runs on {path} counts"
    return request.make_figure(
        path, over_time.draw(request.kind, path, request.name), columns, rows, problem, request.main_metrics
    )
