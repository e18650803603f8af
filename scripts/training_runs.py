"""Runs by which the compiler learns what the simulator mostly does, for profile-guided optimization.

Usage: python -m scripts.training_runs [--write FOLDER]. Without `--write` the installed module simulates them: that is
what maturin asks for (`pgo-command` in pyproject.toml). With it their specifications are written, for another program.
No run of a benchmark is among them, so that benchmarks measure what users have.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell.core.runs import simulate

SCHEMES = ("cubic", "bbr", "reno", "copa", "vegas", "vivace", "ledbat", "bbr3")
"""Window and rate controllers that most runs are made of."""

PATHS = ("buffer-bdp", "california-mexico", "cellular-verizon-lte-down", "policer-60mbps-20ms")
"""A link, a calibrated link, a link of traces, and a policer."""


def specifications() -> Iterator[dict[str, Any]]:
    """Yield the runs: each scheme alone on each path, and a crowd on one link."""
    for path in PATHS:
        for scheme in SCHEMES:
            yield dumbbell.specification(scheme, path, duration=5.0, log="none")
    yield dumbbell.specification("cubic", PATHS[0], duration=5.0, log="packets")
    yield dumbbell.specification("cubic", PATHS[1], duration=5.0, flows=100, log="none")


def main() -> None:
    """Simulate the runs, or write their specifications."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", type=Path)
    folder = parser.parse_args().write
    for number, specification in enumerate(specifications()):
        if folder is not None:
            (folder / f"{number}.json").write_text(json.dumps(specification), encoding="utf-8")
            continue
        with tempfile.TemporaryDirectory() as files:
            simulate(specification, Path(files))


if __name__ == "__main__":
    main()
