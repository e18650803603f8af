"""Records of the machines that the numbers come from, as text."""

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
    """A recorded text below its heading."""

    heading: str
    text: str


def records(environment: Environment, version: str = "") -> tuple[Record, ...]:
    """Return the records of the machine that ran the tests; imported results have only their own files.

    `version` is that of the dumbbell that writes a report.
    """
    import_record = environment.get("imported")
    if not isinstance(import_record, Mapping):
        return (
            Record("System info, recorded when the tests were run", system_text(environment, version)),
            Record("Git summary", git_text(environment)),
        )
    own_record = {key: value for key, value in environment.items() if key not in ("imported", "importing_machine")}
    machine = cast("Environment", own_record | dict(environment.get("importing_machine") or {}))
    return (
        Record(
            "The tested machine, as the imported files describe it",
            first_lines("\n".join(tested(environment)), _MOST_LINES) or NOT_RECORDED,
        ),
        Record("Git summary of the tested machine", git_text(environment)),
        Record(
            "The importing machine, on which nothing was tested: it measured the imported logs",
            "\n".join([f"imported from: {import_record.get('source', NOT_RECORDED)}", system_text(machine, version)]),
        ),
    )


def system_text(environment: Environment, version: str) -> str:
    """Return all records except git, one `key: value` a line, and the version that writes a report, if any."""
    entries = {key: value for key, value in environment.items() if key not in _ELSEWHERE}
    lines = lines_of(entries) or [NOT_RECORDED]
    for later in environment.get("resumed", []):
        lines.append(f"resumed: {later.get('started_at')} with dumbbell {later.get('dumbbell')}")
    version_lines = [f"report written by: dumbbell {version}"] if version else []
    return "\n".join([first_lines("\n".join(lines), _MOST_LINES), *version_lines])


def git_text(environment: Environment) -> str:
    """Return `branch: NAME @ COMMIT` and the changed files, a line each; for imported results, their own summary."""
    import_record = environment.get("imported")
    if isinstance(import_record, Mapping):
        return first_lines(str(import_record.get("git_summary") or NOT_RECORDED).rstrip())
    git = environment.get("git")
    if not isinstance(git, Mapping):
        return f"{NOT_RECORDED}: dumbbell ran as an installed package"
    changed_files = [f" M {name}" for name in git.get("changed") or []]
    return first_lines("\n".join([f"branch: {git.get('branch')} @ {git.get('commit')}", *changed_files]), _MOST_LINES)
