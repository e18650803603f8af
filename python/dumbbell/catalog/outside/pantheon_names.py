"""Pantheon's names of schemes, and the scheme of the catalog for each. The table is `pantheon-names.toml`."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dumbbell.catalog.toml_tables import TomlTable, read_toml

_PIN = re.compile(r"^\s*(third_party/\S+) @ ([0-9a-f]{7,40})\b", re.MULTILINE)
"""A submodule and its commit, as in `git_summary`."""


@dataclass(frozen=True)
class Counterpart:
    """The scheme that simulates a program of Pantheon, and their differences.

    Without a scheme, `note` has the reason.
    """

    scheme: str | None
    note: str = ""


@dataclass(frozen=True)
class _Epoch:
    """The scheme for tests with one of these commits, or for tests without a commit before a day (`YYYY-MM-DD`)."""

    counterpart: Counterpart
    until: str
    commits: tuple[str, ...]


@dataclass(frozen=True)
class _Name:
    """A key of Pantheon: the last version, and the earlier ones, the latest first."""

    last: Counterpart
    submodule: str
    earlier: tuple[_Epoch, ...]

    def at(self, pins: dict[str, str], date: str | None) -> Counterpart:
        """Return the counterpart of a test with these pins on this day; None: unknown day."""
        pin = pins.get(self.submodule)
        for epoch in self.earlier:
            if pin is not None:
                # commits in summaries may be shorter or longer than in the table
                is_match = any(pin.startswith(commit) or commit.startswith(pin) for commit in epoch.commits)
            else:
                is_match = date is not None and date < epoch.until
            if is_match:
                return epoch.counterpart
        return self.last


def counterpart(key: str, git_summary: str, date: str | None) -> Counterpart | None:
    """Return the counterpart of Pantheon's `key` in a test with this git summary and day; None for an unknown key.

    `date` begins with `YYYY-MM-DD`. The date is used only if the summary does not contain the program's commit.
    """
    name = known_keys().get(key)
    return None if name is None else name.at(dict(_PIN.findall(git_summary)), None if date is None else date[:10])


@cache
def known_keys() -> dict[str, _Name]:
    """Return the shipped table, by Pantheon's key."""
    table = read_toml(Path(__file__).parent / "pantheon-names.toml")
    names_by_key = {key: _name(table.table(key)) for key in table.raw}
    table.finish()
    return names_by_key


def _name(table: TomlTable) -> _Name:
    epochs = []
    for earlier in table.tables("earlier"):
        epochs.append(_Epoch(_counterpart(earlier), earlier.text("until"), tuple(earlier.texts("commits"))))
        earlier.finish()
    name = _Name(_counterpart(table), table.text("submodule", ""), tuple(epochs))
    table.finish()
    return name


def _counterpart(table: TomlTable) -> Counterpart:
    if table.has("none"):
        return Counterpart(None, table.text("none"))
    return Counterpart(table.text("scheme"), table.text("note", ""))
