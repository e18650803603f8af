"""Mahimahi's trace files as paths."""

import os
from pathlib import Path

from dumbbell import core
from dumbbell.base.errors import UserError
from dumbbell.base.names import fitted
from dumbbell.catalog.open_tables import Element
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.toml_tables import TomlTable
from dumbbell.catalog.trace_files import located
from dumbbell.core.paths import opportunities

_LINES_AT_ONCE = 65_536


def trace_path(text: str) -> PathModel | None:
    """Return the path for `UP` or `UP,DOWN`, files of delivery opportunities. A single file is used in both directions.

    As in mm-link, queues have no limit, and there is no delay. None if `text` names no file.

    Raises:
        UserError: If a file is missing or is no trace.
    """
    names = text.split(",")
    if len(names) > 2 or not os.path.exists(names[0]):  # noqa: PTH110 (an invalid file name is no error)
        return None
    files = [Path(name) for name in names]
    stems = "-".join(dict.fromkeys(file.stem for file in files))
    return PathModel(
        name=fitted(stems, "trace"),
        title=f"trace {' and '.join(dict.fromkeys(file.name for file in files))}",
        provenance=f"Mahimahi trace {', '.join(names)}",
        data=[_link("bottleneck", names[0])],
        ack=[_link("return", names[-1])],
        file=text,
    )


def _link(name: str, file: str) -> Element:
    return located(TomlTable({"kind": "trace", "name": name, "mode": "mahimahi", "file": file}, ""))


def trace_text(path: PathModel, direction: str, seed: int, seconds: float) -> str:
    """Return the delivery opportunities of a path's direction as a mahimahi trace, in whole ms, for a seed.

    Raises:
        UserError: If the direction has no link with opportunities, or if there are none in this time.
    """
    try:
        times = opportunities(path.spec(), direction, seed, seconds)
    except core.Error as error:
        raise UserError(f"path {path.name}: {error}") from None
    if not times or times[-1] < 1_000_000:
        raise UserError(
            f"path {path.name}: no opportunity in {direction} from 1 ms to {seconds:g} s: no trace has none"
        )
    parts = range(0, len(times), _LINES_AT_ONCE)  # a string for each line takes ten times the memory of the line
    return "".join("".join(f"{ns // 1_000_000}\n" for ns in times[at : at + _LINES_AT_ONCE]) for at in parts)
