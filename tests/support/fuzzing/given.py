"""Parts of fuzzing targets: the target itself, simulations that end, inputs that are several files."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dumbbell
from support.inputs.paths import SMALL

MOST_EVENTS, MOST_PACKETS, LONGEST_S = 200_000, 50_000, 60.0
"""Limits of a simulation of an input: events in all, packets at a time, simulated seconds."""


@dataclass(frozen=True)
class Target:
    """A function that reads input from users.

    `valid` makes valid inputs in a folder of its own; `give` gives one input to dumbbell, in an empty folder.
    """

    name: str
    valid: Callable[[Path], list[bytes]]
    give: Callable[[bytes, Path], object]


def simulate(specification: dict[str, Any]) -> None:
    """Simulate a run within these limits."""

    def at_most(key: str, limit: float) -> None:
        value = specification.get(key, limit)
        if isinstance(value, int | float) and not value <= limit:
            specification[key] = limit

    at_most("duration_s", LONGEST_S)
    at_most("most_packets", MOST_PACKETS)
    seconds = specification.get("duration_s")
    at_most("most_events_per_s", int(MOST_EVENTS / max(seconds, 1.0)) if isinstance(seconds, int | float) else 1)
    try:
        dumbbell.simulate(specification)
    except dumbbell.Error as error:
        if not re.match("most_(events_per_s|packets) = ", str(error)):
            raise


def write_content(content: bytes, file: Path) -> Path:
    file.write_bytes(content)
    return file


def results(folder: Path) -> Path:
    """Return a results directory with two short runs."""
    (folder / "small.toml").write_text(SMALL)
    place = folder / "results"
    if not place.exists():
        dumbbell.run(schemes="reno", path=folder / "small.toml", duration=0.3, runs=2, log="full", out=place, jobs=1)
    return place


MARK = b"\n---- %s ----\n"
"""Separator before each file of an input that contains several."""


def join_files(files: dict[str, bytes]) -> bytes:
    return b"".join(MARK % name.encode() + content for name, content in files.items())


def split_files(content: bytes, names: list[str], folder: Path) -> None:
    """Write the files of an input into a folder, as far as they are still there."""
    folder.mkdir(parents=True)
    starts = [(content.find(MARK % name.encode()), name) for name in names]
    starts_there = sorted(start for start in starts if start[0] >= 0)
    ends = [start for start, _ in starts_there[1:]] + [len(content)]
    for (start, name), end in zip(starts_there, ends, strict=False):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content[start + len(MARK % name.encode()) : end])
