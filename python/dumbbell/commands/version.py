"""`dumbbell --version`: version, commit, and what this installation can do."""

from dumbbell import __version__, _core, backends
from dumbbell.catalog.available import OWN_PROGRAMS, find_program
from dumbbell.results.environment import git_state


def version_text() -> str:
    """One line: `dumbbell VERSION (COMMIT; backends; helpers)`. A `+` stands after a commit with changed files."""
    state = git_state()
    commit = _core.commit() or "not recorded"
    if state is not None:
        commit = f"{state['commit'][:12]}{'+' if state['changed'] else ''}"
    helpers = [name for name in OWN_PROGRAMS if find_program(name)]
    features = [
        f"commit {commit}",
        f"backends {', '.join(backends.forms())}",
        f"helpers {', '.join(helpers) or 'none'}",
    ]
    return f"dumbbell {__version__} ({'; '.join(features)})"
