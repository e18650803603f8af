"""Many flows from one `[[flow]]` table: the keys for their start times and sizes."""

import math
import random
from collections.abc import Callable
from typing import TypedDict

from dumbbell.catalog.toml_tables import TomlTable

MOST_FLOWS = 10_000
MOST_BYTES = 10**12

Draw = Callable[[random.Random], float]


class Arrivals(TypedDict, total=False):
    """Random arrivals of flows; empty without arrivals."""

    kind: str
    per_s: float


def parse_arrivals(table: TomlTable) -> tuple[int | None, float | None, Arrivals]:
    """Return the keys `count`, `every_s` and `arrivals` of a `[[flow]]` table, and check its sizes.

    Without a count, flows arrive until the end of the run; without arrivals there is one flow.
    """
    every_s = table.number("every_s", minimum=1e-6, maximum=1e6) if table.has("every_s") else None
    arrivals: Arrivals = {}
    if table.has("arrivals"):
        keys = table.table("arrivals")
        arrivals = {
            "kind": keys.text("kind", None, ("poisson",)),
            "per_s": keys.number("per_s", minimum=1e-6, maximum=1e6),
        }
        keys.finish()
    if arrivals and every_s is not None:
        raise table.fail("every_s", every_s, "one of every_s, arrivals")
    endless = arrivals or every_s is not None
    count = None if endless and not table.has("count") else table.integer("count", 1, minimum=1, maximum=MOST_FLOWS)
    size = table.table("application").raw.get("bytes")
    if isinstance(size, dict):
        size_distribution(table.table("application").table("bytes"))
    return count, every_s, arrivals


def size_distribution(table: TomlTable) -> Draw:
    """Return the function that draws the bytes of a transfer, from its table."""
    kind = table.text("kind", None, tuple(DISTRIBUTIONS))
    draw = DISTRIBUTIONS[kind](table)
    table.finish()
    return draw


def _choice(table: TomlTable) -> Draw:
    values = table.numbers("values", minimum=1.0)
    weights = table.numbers("weights", minimum=0.0) if table.has("weights") else [1.0] * len(values)
    if not values or len(weights) != len(values) or not sum(weights):
        raise table.fail("weights", weights, f"one for each of the {len(values)} values, not all 0")
    return lambda draw: draw.choices(values, weights)[0]


def _uniform(table: TomlTable) -> Draw:
    minimum = table.number("least", minimum=1.0, maximum=MOST_BYTES)
    maximum = table.number("most", minimum=minimum, maximum=MOST_BYTES)
    return lambda draw: draw.uniform(minimum, maximum)


def _lognormal(table: TomlTable) -> Draw:
    mean = table.number("mean", minimum=1.0, maximum=MOST_BYTES)
    sigma = table.number("sigma", minimum=0.0, maximum=10.0)
    mu = math.log(mean) - sigma**2 / 2
    return lambda draw: draw.lognormvariate(mu, sigma)


def _pareto(table: TomlTable) -> Draw:
    """Return a heavy-tailed draw with the minimum `mean * (shape - 1) / shape`. Values above `most` become `most`."""
    mean = table.number("mean", minimum=1.0, maximum=MOST_BYTES)
    shape = table.number("shape", minimum=1.001, maximum=100.0)
    maximum = table.number("most", MOST_BYTES, minimum=mean, maximum=MOST_BYTES)
    least = mean * (shape - 1) / shape
    return lambda draw: min(least * draw.paretovariate(shape), maximum)


DISTRIBUTIONS: dict[str, Callable[[TomlTable], Draw]] = {
    "choice": _choice,
    "uniform": _uniform,
    "lognormal": _lognormal,
    "pareto": _pareto,
}
"""Distributions of sizes in bytes, by `kind`."""
