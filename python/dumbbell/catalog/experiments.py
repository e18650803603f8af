"""Experiment files: which schemes meet which paths, how often, for how long, with which flows."""

import re
from dataclasses import dataclass, field
from typing import Any

from dumbbell.catalog.flows import FlowPlan, parse_flow
from dumbbell.catalog.grid import Axis, Scenario, parse_grid
from dumbbell.catalog.index import read_name
from dumbbell.catalog.paths import PathModel, parse_path
from dumbbell.catalog.published import Publication, parse_publication
from dumbbell.catalog.schemes import Scheme, parse_scheme
from dumbbell.catalog.suite import Chapter, Shorter, parse_chapter, parse_shorter
from dumbbell.catalog.tables import Table
from dumbbell.errors import UserError

LOGS = ("none", "packets", "full")
BACKENDS = ("sim", "emu", "import")
MAXIMUM_FLOWS = 10_000


@dataclass(frozen=True)
class Plan:
    """An experiment as written: names not yet looked up."""

    name: str
    title: str = ""
    aliases: tuple[str, ...] = ()
    schemes: list[str] = field(default_factory=list)
    mixes: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    backend: str = "sim"
    runs: int = 1
    duration_s: float = 30.0
    flows: int = 1
    interval_s: float = 0.0
    start_spread_ms: float = 0.0
    warmup_s: float | None = None
    seed: int = 1
    random_order: bool = False
    sample_interval_s: float = 0.1
    convergence_delta: float = 0.2
    log: str = "packets"
    intervals_s: float | None = None
    flow: tuple[FlowPlan, ...] = ()
    grid: tuple[Axis, ...] = ()
    cells: dict[str, Scenario] = field(default_factory=dict)
    chapter: Chapter | None = None
    shorter: Shorter = field(default_factory=Shorter)
    published: Publication = field(default_factory=Publication)
    own_schemes: dict[str, Scheme] = field(default_factory=dict)
    own_paths: dict[str, PathModel] = field(default_factory=dict)
    file: str = field(default="", compare=False)
    told: frozenset[str] = field(default=frozenset(), compare=False)
    """Names of schemes and paths that the command line gives, not the file."""


def parse_plan(table: Table) -> Plan:
    """An experiment from its file."""
    own_schemes = _own(table.table("scheme"), parse_scheme)
    own_paths = _own(table.table("path"), parse_path)
    cells = {name: _cell(table.table("cell").table(name), own_paths) for name in table.table("cell").raw}
    plan = Plan(
        name=read_name(table),
        title=table.text("title", ""),
        aliases=tuple(table.texts("aliases", [])),
        schemes=table.texts("schemes", []),
        mixes=table.texts("mixes", []),
        paths=table.texts("paths", []),
        backend=table.text("backend", "sim", BACKENDS),
        runs=table.integer("runs", 1, least=1),
        duration_s=table.number("duration_s", 30.0, least=1e-3, most=1e6),
        flows=table.integer("flows", 1, least=1, most=MAXIMUM_FLOWS),
        interval_s=table.number("interval_s", 0.0, least=0.0),
        start_spread_ms=table.number("start_spread_ms", 0.0, least=0.0),
        warmup_s=table.number("warmup_s", 0.0, least=0.0) if table.has("warmup_s") else None,
        seed=table.integer("seed", 1),
        random_order=table.flag("random_order", False),
        sample_interval_s=table.number("sample_interval_s", 0.1, least=1e-3),
        convergence_delta=table.number("convergence_delta", 0.2, least=1e-3, most=0.999),
        log=table.text("log", "packets", LOGS),
        intervals_s=table.number("intervals_s", least=1e-3, most=1e6) if table.has("intervals_s") else None,
        flow=tuple(parse_flow(flow) for flow in table.tables("flow")),
        grid=parse_grid(table.table("grid")),
        cells=cells,
        chapter=parse_chapter(table.table("benchmark")) if table.has("benchmark") else None,
        shorter=parse_shorter(table.table("quick")),
        published=parse_publication(table),
        own_schemes=own_schemes,
        own_paths=own_paths,
        file=table.source,
    )
    table.finish()
    return plan


def _own(table: Table, parse: Any) -> dict[str, Any]:  # noqa: ANN401 (one helper for two kinds of items)
    return {name: parse(table.table(name), name) for name in table.raw}


def _cell(table: Table, own_paths: dict[str, PathModel]) -> Scenario:
    """A cell of a resolved experiment: its path is one of the experiment's own."""
    name = table.prefix.removeprefix("cell.").removesuffix(".")
    if name not in own_paths:
        raise UserError(f"{table.source}: `cell.{name}`: there is no `path.{name}`")
    scenario = Scenario(
        path=own_paths[name],
        flows=tuple(parse_flow(flow) for flow in table.tables("flow")),
        parameters=dict(table.table("parameters").raw),
        base=table.text("path"),
    )
    table.finish()
    return scenario


_PART = re.compile(r"([^*+\s]+?)(?:\s*\*\s*(\d+))?")


def parse_mix(text: str) -> list[tuple[str, int]]:
    """`cubic*2+bbr` as `[("cubic", 2), ("bbr", 1)]`.

    Raises:
        UserError: the text is not of that form.
    """
    parts = []
    for part in text.split("+"):
        match = _PART.fullmatch(part.strip())
        count = int(match[2] or 1) if match else 0
        if match is None or not 1 <= count <= MAXIMUM_FLOWS:
            raise UserError(f"mix `{text}`: allowed is SCHEME or SCHEME*COUNT, joined by +, like `cubic*2+bbr`")
        parts.append((match[1], count))
    return parts


def mix_label(parts: list[tuple[str, int]]) -> str:
    """The mix as text again, in one spelling."""
    return "+".join(name if count == 1 else f"{name}*{count}" for name, count in parts)
