"""Environment of results: versions, git state, kernel, CPU, kernel settings."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell import core
from dumbbell.base.clock import now
from dumbbell.base.distributions import installed_version
from dumbbell.base.questions import ask
from dumbbell.base.version import __version__
from dumbbell.catalog.outside.availability import find_program
from dumbbell.catalog.scheme import Scheme
from dumbbell.machine.description import SYSCTLS, clock, network, processor, sysctls

if TYPE_CHECKING:
    from dumbbell.contract.environment import Git

VERSION_WITHIN_S = 2.0


def environment(command: list[str]) -> dict[str, object]:
    """Return the contents of `environment.json`."""
    return {
        "started_at": now(),
        "command": command,
        "dumbbell": __version__,
        "commit": core.commit(),
        "git": git_state(),
        "python": platform.python_version(),
        "packages": {name: installed_version(name) for name in ("matplotlib", "numpy", "tomli-w", "typst")},
        **processor(),
        "sysctl": sysctls(SYSCTLS),
        "byte_order": sys.byteorder,
    }


def emulation_environment(schemes: Iterable[Scheme]) -> dict[str, object]:
    """Return the environment of real packets: clock, the kernel's network, the programs' versions."""
    program_names = [name for scheme in schemes if scheme.program for name in scheme.program.requires]
    return {
        **clock(),
        **network(),
        "offloads": "none: TUN devices without vnet_hdr carry single packets, checksums included",
        "programs": {name: _program_version(name) for name in dict.fromkeys(program_names)},
    }


def _program_version(name: str) -> str | None:
    """Return the first line of the program's answer to `--version`, if it answers quickly."""
    file = find_program(name)
    if file is None:
        return None
    try:
        answer = ask([file, "--version"], VERSION_WITHIN_S)
    except OSError:
        return None
    if answer is None or answer.status != 0:
        return None
    return (answer.out or answer.problems).split("\n")[0].strip()[:200] or None


def git_state() -> Git | None:
    """Return commit, branch and changed files of the source tree of this file; None for an installed package."""
    own_file = Path(__file__)
    # an installed package may lie inside somebody else's repository
    if not _git(own_file.parent, "ls-files", own_file.name):
        return None
    lines = (_git(own_file.parent, "status", "--porcelain=v2", "--branch", "--untracked-files=no") or "").splitlines()
    head = dict(line.removeprefix("# branch.").split(" ", 1) for line in lines if line.startswith("# branch."))
    if head.get("oid") in {None, "(initial)"}:
        return None
    return {
        "commit": head["oid"],
        "branch": head["head"],
        "changed": [_changed_file(line) for line in lines if not line.startswith("#")],
    }


def _changed_file(line: str) -> str:
    """Return the file that a line of `git status --porcelain=v2` names, after the fields of its kind."""
    fields = {"1": 8, "2": 9, "u": 10}[line[0]]
    return line.split(" ", fields)[-1].split("\t")[0]


def short_commit(commit: str, changed: bool = False) -> str:
    """Return twelve digits of a commit, with a `+` for changed files; the text may have one already."""
    return f"{commit[:12]}{'+' if changed or commit.endswith('+') else ''}"


def _git(folder: Path, *arguments: str) -> str | None:
    # without optional locks, since a killed git would leave its lock in somebody's repository; files are named from the
    # root of the repository
    options = ("--no-optional-locks", "-c", "status.relativePaths=false")
    command = ["git", *options, "-C", str(folder), *arguments]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.rstrip("\n") if result.returncode == 0 else None
