"""Baseline files: the results of a check for one scheme, as a text file for review and commit."""

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
from dumbbell_check.sides import KeptCell, KeptRule, KeptRuns, Observations, first_seed, more_seed

if TYPE_CHECKING:
    from dumbbell.experiment import Experiment

FORMAT = 2
_DIGITS = 6
"""Significant digits of stored values."""
_LETTERS = 16
"""Length of stored digests, characters."""


def cell_digest(experiment: Experiment, *tested_names: str) -> str:
    """Return a digest of everything that determines a cell's runs, except the tested schemes, run count and seeds."""
    table = experiment.table()
    for key in ("name", "title", "schemes", "runs", "log", "seed", "random_order"):
        table.pop(key, None)
    schemes = table.pop("scheme")
    assert isinstance(schemes, Mapping)
    beside = {flow.scheme for path in experiment.paths for flow in experiment.listed_flows(path)}
    table["scheme"] = {name: scheme for name, scheme in schemes.items() if name in beside or name not in tested_names}

    return hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()[:_LETTERS]


def is_same_digest(first: str, second: str) -> bool:
    """Return True if two digests are equal. Baseline files contain only the first characters of a digest."""
    return bool(first and second) and (first.startswith(second) or second.startswith(first))


def write_baseline(file: Path, kept_runs: KeptRuns, suite: str, seed: int) -> None:
    """Write the results of a scheme for each cell and safety rule. The first packets go to a file beside `file`.

    Raises:
        UserError: If a file cannot be written.
    """
    packets = {} if isinstance(kept_runs.packets, str) else kept_runs.packets
    lines = [
        "# A baseline of `dumbbell check`: what each cell showed, a value for each run.",
        "# `dumbbell check ... --update` writes it again; a change of it is reviewed like a change of code.",
        f"baseline = {FORMAT}",
        f"dumbbell = {json.dumps(kept_runs.made_by)}",
        f"scheme = {json.dumps(kept_runs.scheme)}",
        f"transport = {json.dumps(kept_runs.transport)}",
        f"suite = {json.dumps(suite)}",
        f"seed = {seed}",
        f'packets = "{write_packets(file, packets)}"',
    ]
    for name, cell in sorted(kept_runs.cells.items()):
        lines += ["", f"[cell.{name}]", f"path = {json.dumps(cell.path)}", f'digest = "{cell.digest}"']
        for metric in sorted(cell.observations.values):
            values = [_rounded_value(value) for value in cell.observations.values[metric].values()]
            mean = math.fsum(values) / len(values)
            lines.append(
                f"# {metric}: mean {mean:.4g} {JUDGED[metric].unit}, {min(values):.4g} to {max(values):.4g}".rstrip()
            )
            lines.append(f"{metric} = {json.dumps(values)}")
        lines.append(f"logs = {json.dumps([digest[:_LETTERS] for digest in cell.observations.logs.values()])}")
    for name, rule in sorted(kept_runs.rules.items()):
        lines += ["", f"[rule.{name}]", f'digest = "{rule.digest}"']
        lines += [f"{place} = {_rounded_value(figure)!r}" for place, figure in sorted(rule.figures.items())]
    write_named(file, "\n".join(lines) + "\n")


def previous_runs(file: Path, new_runs: KeptRuns, suite: str, seed: int) -> KeptRuns:
    """Return the runs in a baseline file before `new_runs` replace some of its cells.

    Raises:
        UserError: If the file has another scheme, suite, seed or version of dumbbell, and all cells must be written.
    """
    before, of_suite, of_seed = read_baseline(file)
    for key, value, now in (
        ("scheme", before.scheme, new_runs.scheme),
        ("transport", before.transport, new_runs.transport),
        ("suite", of_suite, suite),
        ("seed", of_seed, seed),
        ("dumbbell", before.made_by, new_runs.made_by),
    ):
        if value != now:
            remedy = f"write all cells again, without {argument('cells')}"
            raise UserError(f"{file}: `{key}` = {value}, now {now}", fix=remedy)
    return before


def _rounded_value(value: float) -> float:
    """Return a value with the digits of a file."""
    return min(float(f"{value:.{_DIGITS}g}"), MOST_METRIC)


def is_baseline(text: str) -> bool:
    """Return True if a name is that of a baseline file: a TOML file with the key `baseline`."""
    return text.endswith(".toml") and Path(text).is_file() and read_toml(Path(text)).has("baseline")


def read_baseline(file: Path) -> tuple[KeptRuns, str, int]:
    """Return the runs in a baseline file, the name of their suite, and their seed.

    Raises:
        UserError: If the file cannot be read, or has a key or value that is not allowed.
    """
    table = read_toml(file)
    if table.integer("baseline") != FORMAT:
        raise table.fail("baseline", table.raw["baseline"], f"{FORMAT}, the format that this version reads")
    seed = table.integer("seed")
    cells = table.table("cell")
    rules = table.table("rule")
    runs = KeptRuns(
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
    return runs, suite, seed


def _read_cell(table: TomlTable, seed: int) -> KeptCell:
    path, digest, logs = table.text("path"), table.text("digest"), table.texts("logs")
    observations = Observations()
    for name in JUDGED:
        if table.has(name):
            values = table.numbers(name, -MOST_METRIC, MOST_METRIC)  # the bounds of `stats.json`
            observations.values[name] = {_seed(seed, path, number): value for number, value in enumerate(values, 1)}
    observations.logs = {_seed(seed, path, number): log for number, log in enumerate(logs, 1)}
    if not observations.values:
        problem = f"`{table.prefix.rstrip('.')}`: has no values"
        raise UserError(f"{table.source}: {problem}: write it again with {how_to_update()}")
    table.finish()
    return KeptCell(path, digest, observations)


def _read_rule(table: TomlTable) -> KeptRule:
    digest = table.text("digest")
    places = [key for key in table.raw if key != "digest"]
    for place in places:
        if not place.isdecimal():
            raise UserError(f"{table.source}: `{table.prefix}{place}`: is no check: allowed are `1`, `2`, ...")
    rule = KeptRule({place: table.number(place, minimum=-MOST_METRIC, maximum=MOST_METRIC) for place in places}, digest)
    table.finish()
    return rule


def _seed(seed: int, path: str, number: int) -> int:
    """Return the seed of a stored run. The first runs are those with a packet log."""
    if number <= FIRST:
        return derive_seed(first_seed(seed), path, number)
    return derive_seed(more_seed(seed), path, number - FIRST)
