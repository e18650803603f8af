"""What was recorded of the machines that the numbers come from, as text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from dumbbell.contract.environment import Environment
from dumbbell.results.import_metadata import first_lines, lines_of, tested

NOT_RECORDED = "not recorded"
_MOST_LINES = 1000
_ELSEWHERE = ("git", "imported", "importing_machine", "resumed")


@dataclass(frozen=True)
class Record:
    """Something that was recorded, below its heading."""

    heading: str
    text: str


def records(environment: Environment, version: str = "") -> tuple[Record, ...]:
    """Return what was recorded of the machine that ran the tests. Of imported ones only their own files can tell.

    `version` is that of the dumbbell that writes a report of it.
    """
    imported = environment.get("imported")
    if not isinstance(imported, Mapping):
        return (
            Record("System info, recorded when the tests were run", system_text(environment, version)),
            Record("Git summary", git_text(environment)),
        )
    here = {key: value for key, value in environment.items() if key not in ("imported", "importing_machine")}
    machine = cast("Environment", here | dict(environment.get("importing_machine") or {}))
    return (
        Record(
            "The tested machine, as the imported files describe it",
            first_lines("\n".join(tested(environment)), _MOST_LINES) or NOT_RECORDED,
        ),
        Record("Git summary of the tested machine", git_text(environment)),
        Record(
            "The importing machine, on which nothing was tested: it measured the imported logs",
            "\n".join([f"imported from: {imported.get('source', NOT_RECORDED)}", system_text(machine, version)]),
        ),
    )


def system_text(environment: Environment, version: str) -> str:
    """Return everything recorded except git, one `key: value` a line, and the version that writes a report, if any."""
    recorded = {key: value for key, value in environment.items() if key not in _ELSEWHERE}
    lines = lines_of(recorded) or [NOT_RECORDED]
    for later in environment.get("resumed", []):
        lines.append(f"resumed: {later.get('started_at')} with dumbbell {later.get('dumbbell')}")
    written = [f"report written by: dumbbell {version}"] if version else []
    return "\n".join([first_lines("\n".join(lines), _MOST_LINES), *written])


def git_text(environment: Environment) -> str:
    """`branch: NAME @ COMMIT` and the changed files, a line each; for imported results, their own summary."""
    imported = environment.get("imported")
    if isinstance(imported, Mapping):
        return first_lines(str(imported.get("git_summary") or NOT_RECORDED).rstrip())
    git = environment.get("git")
    if not isinstance(git, Mapping):
        return f"{NOT_RECORDED}: dumbbell ran as an installed package"
    changed = [f" M {name}" for name in git.get("changed") or []]
    return first_lines("\n".join([f"branch: {git.get('branch')} @ {git.get('commit')}", *changed]), _MOST_LINES)
