"""Baseline files: what a check saw of a scheme, as a text that is reviewed and committed."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.base.errors import UserError, argument
from dumbbell.catalog.check_suite import JUDGED
from dumbbell.catalog.published import MOST_METRIC
from dumbbell.catalog.toml_tables import TomlTable, read_toml
from dumbbell.experiment.planned import derive_seed
from dumbbell.results.files import write_named
from dumbbell_check.judging import FIRST
from dumbbell_check.kept_packets import how_to_update, read_packets, write_packets
from dumbbell_check.sides import Kept, KeptCell, KeptRule, Observed, first_seed, more_seed

if TYPE_CHECKING:
    from dumbbell.experiment import Experiment

FORMAT = 2
_DIGITS = 6
"""Significant digits of the values that are kept."""
_LETTERS = 16
"""Letters of a digest that are kept."""


def cell_digest(experiment: Experiment, *tested: str) -> str:
    """Return a digest of all that a cell's runs depend on beside the schemes under test, their number and seeds."""
    table = experiment.table()
    for key in ("name", "title", "schemes", "runs", "log", "seed", "random_order"):
        table.pop(key, None)
    schemes = table.pop("scheme")
    assert isinstance(schemes, Mapping)
    beside = {flow.scheme for path in experiment.paths for flow in experiment.listed_flows(path)}
    table["scheme"] = {name: scheme for name, scheme in schemes.items() if name in beside or name not in tested}

    return hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()[:_LETTERS]


def is_same_digest(one: str, other: str) -> bool:
    """Return whether two digests are the same, of which baseline files keep the first letters only."""
    return bool(one and other) and (one.startswith(other) or other.startswith(one))


def write_baseline(file: Path, kept: Kept, suite: str, seed: int) -> None:
    """Write what was seen of a scheme in each cell and rule of safety; the first packets stand in a file beside it.

    Raises:
        UserError: a file cannot be written.
    """
    packets = {} if isinstance(kept.packets, str) else kept.packets
    lines = [
        "# A baseline of `dumbbell check`: what each cell showed, a value for each run.",
        "# `dumbbell check ... --update` writes it again; a change of it is reviewed like a change of code.",
        f"baseline = {FORMAT}",
        f"dumbbell = {json.dumps(kept.made_by)}",
        f"scheme = {json.dumps(kept.scheme)}",
        f"transport = {json.dumps(kept.transport)}",
        f"suite = {json.dumps(suite)}",
        f"seed = {seed}",
        f'packets = "{write_packets(file, packets)}"',
    ]
    for name, cell in sorted(kept.cells.items()):
        lines += ["", f"[cell.{name}]", f"path = {json.dumps(cell.path)}", f'digest = "{cell.digest}"']
        for metric in sorted(cell.seen.values):
            values = [_kept(value) for value in cell.seen.values[metric].values()]
            mean = math.fsum(values) / len(values)
            lines.append(
                f"# {metric}: mean {mean:.4g} {JUDGED[metric].unit}, {min(values):.4g} to {max(values):.4g}".rstrip()
            )
            lines.append(f"{metric} = {json.dumps(values)}")
        lines.append(f"logs = {json.dumps([digest[:_LETTERS] for digest in cell.seen.logs.values()])}")
    for name, rule in sorted(kept.rules.items()):
        lines += ["", f"[rule.{name}]", f'digest = "{rule.digest}"']
        lines += [f"{place} = {_kept(figure)!r}" for place, figure in sorted(rule.figures.items())]
    write_named(file, "\n".join(lines) + "\n")


def others_of(file: Path, made: Kept, suite: str, seed: int) -> Kept:
    """Return what a baseline file keeps, before some of its cells are made again by `made`.

    Raises:
        UserError: the file is of another scheme, suite, seed or version of dumbbell: all of it has to be written.
    """
    before, of_suite, of_seed = read_baseline(file)
    for key, value, now in (
        ("scheme", before.scheme, made.scheme),
        ("transport", before.transport, made.transport),
        ("suite", of_suite, suite),
        ("seed", of_seed, seed),
        ("dumbbell", before.made_by, made.made_by),
    ):
        if value != now:
            remedy = f"write all cells again, without {argument('cells')}"
            raise UserError(f"{file}: `{key}` = {value}, now {now}", fix=remedy)
    return before


def _kept(value: float) -> float:
    """Return a value as a file keeps it."""
    return min(float(f"{value:.{_DIGITS}g}"), MOST_METRIC)


def is_baseline(text: str) -> bool:
    """Return whether a name is that of a baseline file: a TOML file with the key `baseline`."""
    return text.endswith(".toml") and Path(text).is_file() and read_toml(Path(text)).has("baseline")


def read_baseline(file: Path) -> tuple[Kept, str, int]:
    """Return the runs that a baseline file keeps, the name of their suite and their seed.

    Raises:
        UserError: the file cannot be read, or a key or value in it is not allowed.
    """
    table = read_toml(file)
    if table.integer("baseline") != FORMAT:
        raise table.fail("baseline", table.raw["baseline"], f"{FORMAT}, the format that this version reads")
    seed = table.integer("seed")
    cells = table.table("cell")
    rules = table.table("rule")
    kept = Kept(
        {name: _read_cell(cells.table(name), seed) for name in cells.raw},
        str(file),
        table.text("dumbbell"),
        table.text("scheme"),
        table.text("transport"),
        {name: _read_rule(rules.table(name)) for name in rules.raw},
        read_packets(file, table.text("packets")),
    )
    suite = table.text("suite")
    table.finish()
    return kept, suite, seed


def _read_cell(table: TomlTable, seed: int) -> KeptCell:
    path, digest, logs = table.text("path"), table.text("digest"), table.texts("logs")
    seen = Observed()
    for name in JUDGED:
        if table.has(name):
            values = table.numbers(name, -MOST_METRIC, MOST_METRIC)  # the bounds of `stats.json`
            seen.values[name] = {_seed(seed, path, number): value for number, value in enumerate(values, 1)}
    seen.logs = {_seed(seed, path, number): log for number, log in enumerate(logs, 1)}
    if not seen.values:
        what = f"`{table.prefix.rstrip('.')}`: has no values"
        raise UserError(f"{table.source}: {what}: write it again with {how_to_update()}")
    table.finish()
    return KeptCell(path, digest, seen)


def _read_rule(table: TomlTable) -> KeptRule:
    digest = table.text("digest")
    places = [key for key in table.raw if key != "digest"]
    for place in places:
        if not place.isdecimal():
            raise UserError(f"{table.source}: `{table.prefix}{place}`: is no check: allowed are `1`, `2`, ...")
    rule = KeptRule({place: table.number(place, least=-MOST_METRIC, most=MOST_METRIC) for place in places}, digest)
    table.finish()
    return rule


def _seed(seed: int, path: str, number: int) -> int:
    """Return the seed of a run that is kept: the first ones are those that were logged."""
    if number <= FIRST:
        return derive_seed(first_seed(seed), path, number)
    return derive_seed(more_seed(seed), path, number - FIRST)
