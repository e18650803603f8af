"""Many flows from one `[[flow]]` table: when each starts and how much it carries, drawn from the run's seed."""

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dumbbell.catalog.tables import TomlTable
from dumbbell.errors import UserError

if TYPE_CHECKING:
    from dumbbell.catalog.flows import FlowPlan

MOST_FLOWS = 10_000
MOST_BYTES = 10**12

Draw = Callable[[random.Random], float]


def expand(flows: list["FlowPlan"], seed: int, duration_s: float) -> list["FlowPlan"]:
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


def _starts(flow: "FlowPlan", draw: random.Random) -> Iterator[float]:
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


def _drawn(application: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """The application with its size drawn, if that is a distribution."""
    size = application.get("bytes")
    if not isinstance(size, dict):
        return application
    drawn = size_distribution(TomlTable(size, ""))(draw)
    return application | {"bytes": max(1, min(round(drawn), MOST_BYTES))}


def parse_arrivals(table: TomlTable) -> tuple[int | None, float | None, dict[str, Any]]:
    """The keys `count`, `every_s` and `arrivals` of a `[[flow]]` table, and a check of its sizes.

    Without a count, flows go on arriving until the end; without arrivals there is one.
    """
    every_s = table.number("every_s", least=1e-6, most=1e6) if table.has("every_s") else None
    arrivals: dict[str, Any] = {}
    if table.has("arrivals"):
        given = table.table("arrivals")
        arrivals = {
            "kind": given.text("kind", None, ("poisson",)),
            "per_s": given.number("per_s", least=1e-6, most=1e6),
        }
        given.finish()
    if arrivals and every_s is not None:
        raise table.fail("every_s", every_s, "one of every_s, arrivals")
    endless = arrivals or every_s is not None
    count = None if endless and not table.has("count") else table.integer("count", 1, least=1, most=MOST_FLOWS)
    size = table.table("application").raw.get("bytes")
    if isinstance(size, dict):
        size_distribution(table.table("application").table("bytes"))
    return count, every_s, arrivals


def size_distribution(table: TomlTable) -> Draw:
    """How the bytes of a transfer are drawn, from its table."""
    kind = table.text("kind", None, tuple(DISTRIBUTIONS))
    draw = DISTRIBUTIONS[kind](table)
    table.finish()
    return draw


def _choice(table: TomlTable) -> Draw:
    values = table.numbers("values", least=1.0)
    weights = table.numbers("weights", least=0.0) if table.has("weights") else [1.0] * len(values)
    if not values or len(weights) != len(values) or not sum(weights):
        raise table.fail("weights", weights, f"one for each of the {len(values)} values, not all 0")
    return lambda draw: draw.choices(values, weights)[0]


def _uniform(table: TomlTable) -> Draw:
    least = table.number("least", least=1.0, most=MOST_BYTES)
    most = table.number("most", least=least, most=MOST_BYTES)
    return lambda draw: draw.uniform(least, most)


def _lognormal(table: TomlTable) -> Draw:
    mean = table.number("mean", least=1.0, most=MOST_BYTES)
    sigma = table.number("sigma", least=0.0, most=10.0)
    mu = math.log(mean) - sigma**2 / 2
    return lambda draw: draw.lognormvariate(mu, sigma)


def _pareto(table: TomlTable) -> Draw:
    """Heavy-tailed: at least `mean * (shape - 1) / shape`; what is beyond `most` counts as `most`."""
    mean = table.number("mean", least=1.0, most=MOST_BYTES)
    shape = table.number("shape", least=1.001, most=100.0)
    most = table.number("most", MOST_BYTES, least=mean, most=MOST_BYTES)
    least = mean * (shape - 1) / shape
    return lambda draw: min(least * draw.paretovariate(shape), most)


DISTRIBUTIONS: dict[str, Callable[[TomlTable], Draw]] = {
    "choice": _choice,
    "uniform": _uniform,
    "lognormal": _lognormal,
    "pareto": _pareto,
}
"""Distributions of sizes in bytes, by `kind`."""
