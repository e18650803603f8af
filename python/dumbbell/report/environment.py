"""The environment recorded when the runs were made, as text."""

from collections.abc import Mapping
from typing import Any

NOT_RECORDED = "not recorded"
_ELSEWHERE = ("git", "imported", "resumed")


def system_text(environment: Mapping[str, Any], version: str) -> str:
    """Everything recorded except git, one `key: value` a line, and the version that writes the report."""
    recorded = {key: value for key, value in environment.items() if key not in _ELSEWHERE}
    lines = _lines(recorded, "") or [NOT_RECORDED]
    imported = environment.get("imported")
    if isinstance(imported, Mapping):
        lines.append(f"imported from: {imported.get('source', NOT_RECORDED)}")
    for later in environment.get("resumed", []):
        lines.append(f"resumed: {later.get('started_at')} with dumbbell {later.get('dumbbell')}")
    return "\n".join([*lines, f"report written by: dumbbell {version}"])


def git_text(environment: Mapping[str, Any]) -> str:
    """`branch: NAME @ COMMIT` and the changed files, a line each; for imported results, their own summary."""
    imported = environment.get("imported")
    if isinstance(imported, Mapping):
        return str(imported.get("git_summary") or NOT_RECORDED).rstrip()
    git = environment.get("git")
    if not isinstance(git, Mapping):
        return f"{NOT_RECORDED}: dumbbell ran as an installed package"
    changed = [f" M {name}" for name in git.get("changed") or []]
    return "\n".join([f"branch: {git.get('branch')} @ {git.get('commit')}", *changed])


def _lines(table: Mapping[str, Any], prefix: str) -> list[str]:
    lines: list[str] = []
    for key, value in table.items():
        if isinstance(value, Mapping):
            lines += _lines(value, f"{prefix}{key}.")
        elif isinstance(value, list):
            lines.append(f"{prefix}{key}: {' '.join(str(item) for item in value)}")
        elif value is not None:
            lines.append(f"{prefix}{key}: {value}")
    return lines
