"""What a number depends on besides the experiment: versions, git state, kernel, processor, kernel settings."""

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
    """Everything recorded in `environment.json`."""
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
    """What the numbers of real packets depend on besides: clock, the kernel's network, the programs' versions."""
    needed = [name for scheme in schemes if scheme.program for name in scheme.program.requires]
    return {
        **clock(),
        **network(),
        "offloads": "none: TUN devices without vnet_hdr carry single packets, checksums included",
        "programs": {name: _program_version(name) for name in dict.fromkeys(needed)},
    }


def _program_version(name: str) -> str | None:
    """The first line of what the program says to `--version`, if it answers quickly."""
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
    """Commit, branch and changed files of the source tree that this file is in; `None` for an installed package."""
    here = Path(__file__)
    # an installed package may lie inside somebody else's repository
    if not _git(here.parent, "ls-files", here.name):
        return None
    lines = (_git(here.parent, "status", "--porcelain=v2", "--branch", "--untracked-files=no") or "").splitlines()
    head = dict(line.removeprefix("# branch.").split(" ", 1) for line in lines if line.startswith("# branch."))
    if head.get("oid") in {None, "(initial)"}:
        return None
    return {
        "commit": head["oid"],
        "branch": head["head"],
        "changed": [_changed_file(line) for line in lines if not line.startswith("#")],
    }


def _changed_file(line: str) -> str:
    """Return the file that a line of `git status --porcelain=v2` names, behind as many fields as its kind has."""
    fields = {"1": 8, "2": 9, "u": 10}[line[0]]
    return line.split(" ", fields)[-1].split("\t")[0]


def short_commit(commit: str, changed: bool = False) -> str:
    """Twelve digits of a commit, with a `+` where files had changed; the text may end in one itself."""
    return f"{commit[:12]}{'+' if changed or commit.endswith('+') else ''}"


def _git(folder: Path, *arguments: str) -> str | None:
    # without optional locks, or one that is killed leaves its lock in somebody's repository
    # and files are named from the root of the repository
    options = ("--no-optional-locks", "-c", "status.relativePaths=false")
    command = ["git", *options, "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.rstrip("\n") if done.returncode == 0 else None
