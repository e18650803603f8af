"""Installed dumbbell: version, commit, and capabilities."""

from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from dumbbell import core, plugins
from dumbbell.base.backend import backend_forms
from dumbbell.base.version import __version__
from dumbbell.catalog.outside.availability import OWN_PROGRAMS, find_program
from dumbbell.results.environment import git_state, short_commit

COMMIT_FILE = "commit"
"""File in the metadata of a wheel packed on another machine: the commit, which builds in checkouts do not have."""


@dataclass(frozen=True)
class Installation:
    """Version and commit, the forms of `--backend`, and the available helper programs for real packets.

    A `+` follows a commit with changed files; None is a build without a recorded commit.
    """

    version: str
    commit: str | None
    backends: tuple[str, ...]
    helpers: tuple[str, ...]


def installation() -> Installation:
    """Return the installed dumbbell."""
    state, build_commit = git_state(), core.commit() or packed_commit()
    commit = short_commit(build_commit) if build_commit else None
    if state is not None:
        commit = short_commit(state["commit"] or "", bool(state["changed"]))
    helpers = tuple(name for name in OWN_PROGRAMS if find_program(name))
    return Installation(__version__, commit, tuple(backend_forms()), helpers)


def packed_commit() -> str | None:
    """Return the commit that `dumbbell remote install` noted in a wheel that it made."""
    try:
        return metadata.distribution("dumbbell").read_text(COMMIT_FILE)
    except metadata.PackageNotFoundError:
        return None


def plugin_include() -> Path:
    """Return the directory of `dumbbell.h`, the interface for controllers in C, for the compiler's `-I`."""
    return Path(plugins.__file__).parent / "include"
