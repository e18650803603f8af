"""`dumbbell --version`: version, commit, and what this installation can do."""

from dumbbell import __version__, _core, backends
from dumbbell.catalog.available import OWN_PROGRAMS, find_program
from dumbbell.results.environment import git_state, short_commit


def version_text() -> str:
    """One line: `dumbbell VERSION (COMMIT; backends; helpers)`. A `+` stands after a commit with changed files."""
    state, built = git_state(), _core.commit()
    commit = short_commit(built) if built else "not recorded"
    if state is not None:
        commit = short_commit(state["commit"], bool(state["changed"]))
    helpers = [name for name in OWN_PROGRAMS if find_program(name)]
    features = [
        f"commit {commit}",
        f"backends {', '.join(backends.forms())}",
        f"helpers {', '.join(helpers) or 'none'}",
    ]
    return f"dumbbell {__version__} ({'; '.join(features)})"
