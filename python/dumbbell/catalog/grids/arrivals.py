"""Many flows from one `[[flow]]` table: the keys that say when each starts and how much it carries."""

import math
import random
from collections.abc import Callable
from typing import TypedDict

from dumbbell.catalog.toml_tables import TomlTable

MOST_FLOWS = 10_000
MOST_BYTES = 10**12

Draw = Callable[[random.Random], float]


class Arrivals(TypedDict, total=False):
    """Random arrivals of flows; empty without."""

    kind: str
    per_s: float


def parse_arrivals(table: TomlTable) -> tuple[int | None, float | None, Arrivals]:
    """The keys `count`, `every_s` and `arrivals` of a `[[flow]]` table, and a check of its sizes.

    Without a count, flows go on arriving until the end; without arrivals there is one.
    """
    every_s = table.number("every_s", least=1e-6, most=1e6) if table.has("every_s") else None
    arrivals: Arrivals = {}
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
