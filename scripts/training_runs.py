"""Runs of typical simulations, for profile-guided optimization by the compiler.

Usage: python -m scripts.training_runs [--write FOLDER | --merge FOLDER]. The installed module simulates the runs, or
their run specs are written for another program. `--merge` merges the profiles of the runs in FOLDER into one, and
prints its name for `-Cprofile-use`. No benchmark is among the runs, so that benchmarks measure users' speed.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell.core.runs import simulate

SCHEMES = ("cubic", "bbr", "reno", "copa", "vegas", "vivace", "ledbat", "bbr3")
"""Controllers with windows and with rates, as in most runs."""

PATHS = ("buffer-bdp", "california-mexico", "cellular-verizon-lte-down", "policer-60mbps-20ms")
"""A link, a calibrated link, a link of traces, and a policer."""


def specifications() -> Iterator[dict[str, Any]]:
    """Yield the runs: each scheme alone on each path, and a crowd on one link."""
    for path in PATHS:
        for scheme in SCHEMES:
            yield dumbbell.specification(scheme, path, duration=5.0, log="none")
    yield dumbbell.specification("cubic", PATHS[0], duration=5.0, log="packets")
    yield dumbbell.specification("cubic", PATHS[1], duration=5.0, flows=100, log="none")


def merge(folder: Path) -> Path:
    """Merge the raw profiles in `folder` and return the file of the merged one."""
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], check=True, capture_output=True, text=True).stdout.strip()
    program = next(Path(sysroot).glob("lib/rustlib/*/bin/llvm-profdata"), None)
    if program is None:
        sys.exit("llvm-profdata is missing: run `rustup component add llvm-tools`")
    profile = folder.with_suffix(".profdata")
    subprocess.run([program, "merge", "-o", profile, folder], check=True)
    return profile


def main() -> None:
    """Simulate the runs, write their run specs, or merge their profiles."""
    parser = argparse.ArgumentParser()
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--write", type=Path)
    action.add_argument("--merge", type=Path)
    arguments = parser.parse_args()
    if arguments.merge is not None:
        print(merge(arguments.merge))
        return
    for number, specification in enumerate(specifications()):
        if arguments.write is not None:
            (arguments.write / f"{number}.json").write_text(json.dumps(specification), encoding="utf-8")
            continue
        with tempfile.TemporaryDirectory() as files:
            simulate(specification, Path(files))


if __name__ == "__main__":
    main()
