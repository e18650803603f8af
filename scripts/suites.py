"""Print the suites of tests that a change touches, as a JSON list: `python -m scripts.suites origin/main`.

Every change runs the gate (`make test`). `TOUCHED` lists the other suites of `make test-all` by changed files.
"""

import argparse
import json
import subprocess
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]

TOUCHED: dict[str, tuple[str, ...]] = {
    "real": (
        "crates/clocks/*",
        "crates/datapath/*",
        "crates/endpoint/*",
        "crates/needs/*",
        "crates/plugin/*",
        "crates/transport/*",
        "python/dumbbell/backends/*",
        "python/dumbbell/base/guardian.py",
        "python/dumbbell/base/processes.py",
        "python/dumbbell/machine/*",
        "python/dumbbell_remote/*",
        "python/dumbbell_webrtc/*",
        "tests/backends/*",
        "tests/remote/*",
        "tests/support/machine.py",
        "tests/support/punctual.py",
    ),
    "programs": ("crates/bpf_loader/*", "crates/quic/*", "kernel/*"),
    "browser": (
        "web/*",
        "python/dumbbell/present/serve/*",
        "python/dumbbell/present/report/*",
        "python/dumbbell/present/model/*",
        "crates/views/*",
        "tests/web/*",
    ),
    "pages": (
        "*.md",
        "examples/*",
        "python/dumbbell/cli/*",
        "python/dumbbell/api/*",
        "python/dumbbell/studies/*",
        "python/dumbbell_*",
        "tests/support/pages/*",
    ),
    "wheel": (
        "pyproject.toml",
        "requirements*.lock",
        "crates/py_bindings/Cargo.toml",
        "scripts/wheels.sh",
        "scripts/real_wheel.py",
    ),
    "wasm": (
        "web/*",
        "crates/playground/*",
        "crates/simulator/*",
        "crates/views/*",
        "crates/congestion/*",
        "crates/path/*",
        "crates/transport/*",
        "scripts/playground*",
    ),
    "kills": (
        "python/dumbbell/execution/*",
        "python/dumbbell/results/*",
        "python/dumbbell/base/interrupts.py",
        "tests/support/commands/kills.py",
    ),
    "slow": ("crates/plugin/*", "examples/*", "python/dumbbell_train/*", "python/dumbbell_calibrate/*"),
}
"""Suites beside the gate, with patterns of the files that require them; `*` is any text, including folders."""

EVERYTHING = (
    "Makefile",
    "Cargo.lock",
    "Cargo.toml",
    "rust-toolchain.toml",
    "scripts/bootstrap.sh",
    "scripts/suites.py",
    ".github/*",
)
"""Files that require every suite."""


def required_suites(files: Iterable[str]) -> list[str]:
    """Return the suites that a change of these files requires, in the order of `TOUCHED`."""
    changed_files = list(files)
    if any(_matches(file, EVERYTHING) for file in changed_files):
        return list(TOUCHED)
    return [suite for suite, patterns in TOUCHED.items() if any(_matches(file, patterns) for file in changed_files)]


def _matches(file: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(file, pattern) for pattern in patterns)


def main() -> None:
    """Print the suites for the difference from a commit."""
    parser = argparse.ArgumentParser(description="Print the suites that a change touches.", allow_abbrev=False)
    parser.add_argument("base", metavar="COMMIT", help="the commit that the change begins at")
    base = parser.parse_args().base
    command = ["git", "diff", "--name-only", f"{base}...HEAD"]
    changed_files = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    print(json.dumps(required_suites(changed_files)))


if __name__ == "__main__":
    main()
