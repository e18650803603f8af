"""`dumbbell --version`: version, commit, and what this installation can do."""

import dumbbell


def version_text() -> str:
    """One line: `dumbbell VERSION (COMMIT; backends; helpers)`."""
    found = dumbbell.installation()
    features = [
        f"commit {found.commit or 'not recorded'}",
        f"backends {', '.join(found.backends)}",
        f"helpers {', '.join(found.helpers) or 'none'}",
    ]
    return f"dumbbell {found.version} ({'; '.join(features)})"
