"""Many flows from one `[[flow]]` table: start times and sizes, drawn from the run's seed."""

import random
from collections.abc import Iterator
from dataclasses import replace

from dumbbell.base.errors import UserError
from dumbbell.catalog.grids.arrivals import MOST_BYTES, MOST_FLOWS, size_distribution
from dumbbell.catalog.grids.flows import FlowPlan
from dumbbell.catalog.open_tables import Application
from dumbbell.catalog.toml_tables import TomlTable


def expand(flows: list[FlowPlan], seed: int, duration_s: float) -> list[FlowPlan]:
    """Return the flows of one run, by table and in the order of their starts, without those that would start too late.

    Raises:
        UserError: If there are too many flows.
    """
    single_flows: list[FlowPlan] = []
    for index, flow in enumerate(flows):
        # starts and sizes have their own random streams, so that other sizes do not change the arrivals
        starts, sizes = (random.Random(f"{seed} flow {index} {stream}") for stream in ("starts", "sizes"))
        end_s = duration_s if flow.stop_s is None else min(flow.stop_s, duration_s)
        for number, start_s in enumerate(_starts(flow, starts)):
            # the first flow of a table without arrivals is checked as written
            arrives = number > 0 or bool(flow.arrivals)
            if number == flow.count or (arrives and start_s >= end_s):
                break
            if len(single_flows) == MOST_FLOWS:
                raise UserError(f"`flow[{index}]`: more than {MOST_FLOWS} flows in a run")
            application = _with_drawn_size(flow.application, sizes)
            single = replace(flow, count=1, every_s=None, arrivals={})
            single_flows.append(replace(single, start_s=start_s, application=application))
    return single_flows


def _starts(flow: FlowPlan, draw: random.Random) -> Iterator[float]:
    """Yield the start times of the flows of a table, s, without end."""
    start_s = flow.start_s
    if flow.arrivals:
        start_s += draw.expovariate(flow.arrivals["per_s"])
    for number in range(MOST_FLOWS + 1):
        yield round(start_s, 9)
        if flow.arrivals:
            start_s += draw.expovariate(flow.arrivals["per_s"])
        else:
            start_s = flow.start_s + (number + 1) * (flow.every_s or 0.0)


def _with_drawn_size(application: Application, draw: random.Random) -> Application:
    """Return the application, with its size drawn if it is a distribution."""
    size = application.get("bytes")
    if not isinstance(size, dict):
        return application
    size_bytes = size_distribution(TomlTable(size, ""))(draw)
    return application | {"bytes": max(1, min(round(size_bytes), MOST_BYTES))}
