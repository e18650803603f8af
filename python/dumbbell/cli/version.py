"""The output of `dumbbell --version`: version, commit, and the features of this installation."""

import dumbbell


def version_text() -> str:
    """Return the line `dumbbell VERSION (COMMIT; backends; helpers)`."""
    features_found = dumbbell.installation()
    features = [
        f"commit {features_found.commit or 'not recorded'}",
        f"backends {', '.join(features_found.backends)}",
        f"helpers {', '.join(features_found.helpers) or 'none'}",
    ]
    return f"dumbbell {features_found.version} ({'; '.join(features)})"
