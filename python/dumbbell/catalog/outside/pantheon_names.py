"""Pantheon's names of schemes, and which scheme of the catalog simulates each: the table is `pantheon-names.toml`."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dumbbell.catalog.toml_tables import TomlTable, read_toml

_PIN = re.compile(r"^\s*(third_party/\S+) @ ([0-9a-f]{7,40})\b", re.MULTILINE)
"""A submodule and its commit, as `git_summary` has them."""


@dataclass(frozen=True)
class Counterpart:
    """The scheme that simulates a program of Pantheon, and how they differ; without a scheme, `note` says why."""

    scheme: str | None
    note: str = ""


@dataclass(frozen=True)
class _Epoch:
    """The scheme of tests with one of these commits or, of unknown commit, made before a day (`YYYY-MM-DD`)."""

    counterpart: Counterpart
    until: str
    commits: tuple[str, ...]


@dataclass(frozen=True)
class _Name:
    """One key of Pantheon's: the last version, and those before it, the latest first."""

    last: Counterpart
    submodule: str
    earlier: tuple[_Epoch, ...]

    def at(self, pins: dict[str, str], date: str | None) -> Counterpart:
        """Return the counterpart of a test with these pins on this day (None: not known)."""
        pin = pins.get(self.submodule)
        for epoch in self.earlier:
            if pin is not None:
                # summaries may have fewer digits than the table, or more
                met = any(pin.startswith(commit) or commit.startswith(pin) for commit in epoch.commits)
            else:
                met = date is not None and date < epoch.until
            if met:
                return epoch.counterpart
        return self.last


def counterpart(key: str, git_summary: str, date: str | None) -> Counterpart | None:
    """Return what simulates Pantheon's `key` in a test with this summary of git on this day; None for an unknown key.

    `date` begins with `YYYY-MM-DD`. It counts only where the summary does not name the program's commit.
    """
    name = known_keys().get(key)
    return None if name is None else name.at(dict(_PIN.findall(git_summary)), None if date is None else date[:10])


@cache
def known_keys() -> dict[str, _Name]:
    """Return the table as shipped, by Pantheon's key."""
    table = read_toml(Path(__file__).parent / "pantheon-names.toml")
    found = {key: _name(table.table(key)) for key in table.raw}
    table.finish()
    return found


def _name(table: TomlTable) -> _Name:
    epochs = []
    for each in table.tables("earlier"):
        epochs.append(_Epoch(_counterpart(each), each.text("until"), tuple(each.texts("commits"))))
        each.finish()
    name = _Name(_counterpart(table), table.text("submodule", ""), tuple(epochs))
    table.finish()
    return name


def _counterpart(table: TomlTable) -> Counterpart:
    if table.has("none"):
        return Counterpart(None, table.text("none"))
    return Counterpart(table.text("scheme"), table.text("note", ""))
