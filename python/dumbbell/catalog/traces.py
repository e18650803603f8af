"""Mahimahi's trace files as paths."""

import re
from pathlib import Path
from typing import Any

from dumbbell.catalog.paths import PathModel
from dumbbell.errors import UserError

MAXIMUM_LINES = 10_000_000


def trace_path(text: str) -> PathModel | None:
    """The path for `UP` or `UP,DOWN`, files of delivery opportunities, the first used for both directions if alone.

    As mm-link serves them: queues without limit, no delay. `None` if `text` names no file.

    Raises:
        UserError: a file is missing or is no trace.
    """
    names = text.split(",")
    if len(names) > 2 or not Path(names[0]).is_file():
        return None
    files = [Path(name) for name in names]
    times = [read_trace(file) for file in files]
    stems = "-".join(dict.fromkeys(file.stem for file in files))
    return PathModel(
        name=re.sub(r"[^A-Za-z0-9._-]+", "-", stems).strip("._-") or "trace",
        title=f"trace {' and '.join(dict.fromkeys(file.name for file in files))}",
        provenance=f"Mahimahi trace {', '.join(names)}",
        data=[_link("bottleneck", times[0])],
        ack=[_link("return", times[-1])],
        file=text,
    )


def _link(name: str, times: list[float]) -> dict[str, Any]:
    return {"kind": "trace", "name": name, "mode": "mahimahi", "times_ms": times}


def read_trace(file: Path) -> list[float]:
    """Times of the opportunities in ms, one whole number a line.

    Raises:
        UserError: names the line that mm-link refuses too.
    """
    try:
        lines = file.read_text(encoding="ascii").splitlines()
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise UserError(f"{file}: no trace: allowed is one whole number of ms a line") from None
    if not 1 <= len(lines) <= MAXIMUM_LINES:
        raise UserError(f"{file}: {len(lines)} lines: allowed are 1 to {MAXIMUM_LINES}")
    times: list[float] = []
    for number, line in enumerate(lines, 1):
        if not re.fullmatch(r"\s*\d{1,15}", line, re.ASCII):
            raise UserError(f"{file}, line {number}: `{line[:40]}`: allowed is a whole number of ms")
        if times and int(line) < times[-1]:
            raise UserError(
                f"{file}, line {number}: {int(line)} ms come after {times[-1]:g} ms: times must not decrease"
            )
        times.append(float(line))
    if times[-1] == 0:
        raise UserError(f"{file}: the last time is 0 ms: it is the period and must be above 0")
    return times
