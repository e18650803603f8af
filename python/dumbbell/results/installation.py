"""What is installed: version, commit, and what it can do."""

from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from dumbbell import _core, plugins
from dumbbell.base.backend import backend_forms
from dumbbell.base.version import __version__
from dumbbell.catalog.outside.availability import OWN_PROGRAMS, find_program
from dumbbell.results.environment import git_state, short_commit

COMMIT_FILE = "commit"
"""In the metadata of a wheel that was packed on another machine: the commit, which builds in checkouts do not have."""


@dataclass(frozen=True)
class Installation:
    """Version and commit, the forms of `--backend`, and which of our programs for real packets there are.

    A `+` stands after a commit with changed files; None is a build that did not record it.
    """

    version: str
    commit: str | None
    backends: tuple[str, ...]
    helpers: tuple[str, ...]


def installation() -> Installation:
    """What is installed here."""
    state, built = git_state(), _core.commit() or packed_commit()
    commit = short_commit(built) if built else None
    if state is not None:
        commit = short_commit(state["commit"] or "", bool(state["changed"]))
    helpers = tuple(name for name in OWN_PROGRAMS if find_program(name))
    return Installation(__version__, commit, tuple(backend_forms()), helpers)


def packed_commit() -> str | None:
    """The commit that `dumbbell remote install` noted in a wheel that it made."""
    try:
        return metadata.distribution("dumbbell").read_text(COMMIT_FILE)
    except metadata.PackageNotFoundError:
        return None


def plugin_include() -> Path:
    """The folder of `dumbbell.h`, the interface for controllers in C: what a compiler needs after `-I`."""
    return Path(plugins.__file__).parent / "include"
