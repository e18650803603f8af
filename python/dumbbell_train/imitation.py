"""Trainers `indigo` and `muses`: networks that imitate an expert who knows the path."""

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING, Any

from dumbbell.base.errors import UserError
from dumbbell.catalog.options.values import count
from dumbbell_train.trainer import Setting, Trainer
from dumbbell_train.values import number, numbers, span, whole_number

if TYPE_CHECKING:
    from dumbbell_train.job import Job

CALIBRATED = (
    "nepal-aws-india",
    "mexico-cellular",
    "brazil-colombia-cellular",
    "india-aws-india",
    "korea-china",
    "california-mexico",
)
"""Paths that Indigo's authors fitted to measurements and trained on."""


def names(text: str) -> tuple[str, ...]:
    """Parse names of paths: `korea-china,default`; `none` for an empty list."""
    names_ = () if text == "none" else tuple(text.split(","))
    if not all(names_):
        raise ArgumentTypeError(f"`{text}`: allowed are names of paths like korea-china,default, or none")
    return names_


def _train(job: "Job") -> None:
    """Train in the core, with the names of paths and the transport resolved."""
    from dumbbell import catalog

    settings: dict[str, Any] = dict(job.settings)
    paths = [catalog.paths().find(name) for name in settings.pop("paths")]
    if any(not path.describe().links for path in paths):
        raise UserError("paths: one has no link")
    ranges = {key: settings.pop(key) for key in ("rate_mbps", "rtt_ms", "buffer_bdp", "loss")}
    settings["drawn"] = {"count": settings.pop("drawn"), **ranges}
    settings["paths"] = [path.spec() for path in paths]
    settings["transport"] = catalog.schemes().find(job.kind).transport
    job.in_core(job.kind, settings)


def _trainer(name: str, summary: str, minutes: float, **defaults: object) -> Trainer:
    """Return the trainer `name`. `own` contains its deviating defaults."""
    rows: tuple[tuple[Any, ...], ...] = (
        ("rates_mbps", numbers, (), "LIST", "rates of links with an endless queue, Mbit/s"),
        ("delays_ms", numbers, (), "LIST", "their one-way delays, each with each rate, ms"),
        ("paths", names, (), "LIST", "other paths, by name or file; none: no others"),
        ("drawn", whole_number, 0, "N", "paths that are drawn anew in every iteration, from the four next ranges"),
        ("rate_mbps", span, (2.0, 200.0), "LOW,HIGH", "rates of drawn paths, Mbit/s"),
        ("rtt_ms", span, (5.0, 300.0), "LOW,HIGH", "their RTTs without a queue, ms"),
        ("buffer_bdp", span, (0.2, 4.0), "LOW,HIGH", "their queues, in products of rate and RTT"),
        ("loss", number, 0.01, "P", "highest probability of random loss of half of them"),
        ("queue_ms", number, 5.0, "MS", "what the expert wants in the queue"),
        ("queue_share", number, 0.0, "PART", "of a finite queue, what it wants in it besides"),
        ("jitter_ms", number, 0.0, "MS", "mean jitter of episodes that have any, uniform from 0 to this"),
        ("jitter_share", number, 1.0 / 3.0, "PART", "how many have any"),
        ("steps", count, 300, "N", "decisions of an episode"),
        ("iterations", count, 100, "N", "in each an episode on every path, and lessons from all episodes so far"),
        ("epochs", count, 4, "N", "how often an iteration learns from each episode"),
        ("lessons", count, 4000, "N", "most episodes that an iteration learns from"),
        ("units", count, 32, "N", "of the LSTM layer: 32, 64, 96 or 128"),
    )
    settings = tuple(Setting(key, parse, defaults.get(key, default), *words) for key, parse, default, *words in rows)
    return Trainer(name, summary, ".safetensors", minutes, settings, _train)


INDIGO = _trainer(
    "indigo",
    "Indigo's network: a window that fills the path and little more",
    60.0,
    rates_mbps=(5.0, 10.0, 20.0, 50.0, 100.0, 200.0),
    delays_ms=(10.0, 20.0, 40.0, 80.0),
    paths=CALIBRATED,
)
MUSES = _trainer(
    "muses",
    "Muses' network: a window that fills the path and a part of its queue",
    60.0,
    drawn=24,
    queue_ms=0.0,
    queue_share=0.15,
)
