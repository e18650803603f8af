"""Many flows from one `[[flow]]` table: when each starts and how much it carries, drawn from the run's seed."""

import random
from collections.abc import Iterator
from dataclasses import replace

from dumbbell.base.errors import UserError
from dumbbell.catalog.grids.arrivals import MOST_BYTES, MOST_FLOWS, size_distribution
from dumbbell.catalog.grids.flows import FlowPlan
from dumbbell.catalog.open_tables import Application
from dumbbell.catalog.toml_tables import TomlTable


def expand(flows: list[FlowPlan], seed: int, duration_s: float) -> list[FlowPlan]:
    """The flows of one run: each table's, in the order of their starts. Those that would start too late are left out.

    Raises:
        UserError: they are too many.
    """
    expanded: list[FlowPlan] = []
    for index, flow in enumerate(flows):
        # Starts and sizes have streams of their own: flows of another size arrive at the same times.
        starts, sizes = (random.Random(f"{seed} flow {index} {what}") for what in ("starts", "sizes"))
        end_s = duration_s if flow.stop_s is None else min(flow.stop_s, duration_s)
        for number, start_s in enumerate(_starts(flow, starts)):
            # The first flow of a table without arrivals is checked as it is written.
            arrives = number > 0 or bool(flow.arrivals)
            if number == flow.count or (arrives and start_s >= end_s):
                break
            if len(expanded) == MOST_FLOWS:
                raise UserError(f"`flow[{index}]`: more than {MOST_FLOWS} flows in a run")
            application = _drawn(flow.application, sizes)
            single = replace(flow, count=1, every_s=None, arrivals={})
            expanded.append(replace(single, start_s=start_s, application=application))
    return expanded


def _starts(flow: FlowPlan, draw: random.Random) -> Iterator[float]:
    """When the flows of a table start, without end."""
    start_s = flow.start_s
    if flow.arrivals:
        start_s += draw.expovariate(flow.arrivals["per_s"])
    for number in range(MOST_FLOWS + 1):
        yield round(start_s, 9)
        if flow.arrivals:
            start_s += draw.expovariate(flow.arrivals["per_s"])
        else:
            start_s = flow.start_s + (number + 1) * (flow.every_s or 0.0)


def _drawn(application: Application, draw: random.Random) -> Application:
    """The application with its size drawn, if that is a distribution."""
    size = application.get("bytes")
    if not isinstance(size, dict):
        return application
    drawn = size_distribution(TomlTable(size, ""))(draw)
    return application | {"bytes": max(1, min(round(drawn), MOST_BYTES))}
