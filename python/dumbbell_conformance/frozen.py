"""Verdicts stored in a file, and changes since then: known failures do not count, new ones do."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dumbbell.base.errors import UserError, argument
from dumbbell.base.version import __version__
from dumbbell.catalog.toml_tables import TomlTable, read_toml
from dumbbell.results.files import write_named
from dumbbell_conformance.judging import FAIL, NOT_REACHED, PASS, VERDICTS, Verdict

FORMAT = 2
"""Format of the file. Format 1 had one verdict for each case."""
_CASE = "case"
"""Key of the verdict on the whole case, next to the keys of its checks."""


@dataclass(frozen=True)
class Frozen:
    """Stored verdicts on a case: on the whole, and on each check or script by name."""

    verdict: str
    parts: Mapping[str, str]


StoredVerdicts = Mapping[str, Mapping[str, Frozen]]
"""Stored verdicts by scheme and by the label of the case."""


@dataclass(frozen=True)
class Change:
    """A changed verdict on a check; `before` is the stored verdict, empty if the check was not judged then."""

    verdict: Verdict
    check: str
    """Name of the check or script; empty for the case as a whole."""
    now: str
    before: str

    @property
    def is_worse(self) -> bool:
        """True for a new failure, and for a passed check that is not reached any more."""
        return self.now == FAIL or (self.now == NOT_REACHED and self.before == PASS)

    def __str__(self) -> str:
        check = f", {self.check}" if self.check else ""
        return f"{self.verdict.case.label} {self.verdict.scheme}{check}: {self.now}, was {self.before or 'not judged'}"


def changes(verdicts: Sequence[Verdict], stored_verdicts: StoredVerdicts) -> list[Change]:
    """Return the verdicts that differ from stored ones. A single stored scheme is compared with all schemes."""
    only = next(iter(stored_verdicts.values())) if len(stored_verdicts) == 1 else None
    return [
        change
        for verdict in verdicts
        for change in _changes_of(
            verdict, stored_verdicts.get(verdict.scheme, only or {}).get(verdict.case.label, Frozen("", {}))
        )
    ]


def _changes_of(verdict: Verdict, before: Frozen) -> list[Change]:
    """Return the checks with another verdict. If the case is or was not judged: the failing checks, else the case."""
    parts = verdict.parts
    if parts and before.parts:
        pairs = [(name, now, before.parts.get(name, "")) for name, now in parts.items()]
    elif verdict.verdict == FAIL:
        pairs = [(name, now, before.verdict) for name, now in parts.items() if now == FAIL]
    else:
        pairs = [("", verdict.verdict, before.verdict)]
    return [Change(verdict, name, now, was) for name, now, was in pairs if now != was]


def known_of(verdicts: Sequence[Verdict]) -> dict[str, dict[str, Frozen]]:
    """Return verdicts in the form of a file."""
    by_scheme: dict[str, dict[str, Frozen]] = {}
    for verdict in verdicts:
        by_scheme.setdefault(verdict.scheme, {})[verdict.case.label] = Frozen(verdict.verdict, verdict.parts)
    return by_scheme


def write_known(file: Path, suite: str, verdicts: Sequence[Verdict]) -> None:
    """Write verdicts as a text that is reviewed and committed.

    Raises:
        UserError: the file cannot be written.
    """
    lines = [
        "# Verdicts of `dumbbell conformance`: a check that fails here is a known failure.",
        "# `--freeze` writes them again; a change of this file is reviewed like a change of code.",
        f"conformance = {FORMAT}",
        f"dumbbell = {json.dumps(__version__)}",
        f"suite = {json.dumps(suite)}",
    ]
    for scheme, cases in known_of(verdicts).items():
        for label, frozen in cases.items():
            lines += [
                "",
                f"[verdicts.{json.dumps(scheme)}.{json.dumps(label)}]",
                f"{_CASE} = {json.dumps(frozen.verdict)}",
            ]
            lines += [f"{json.dumps(name)} = {json.dumps(verdict)}" for name, verdict in frozen.parts.items()]
    write_named(file, "\n".join(lines) + "\n")


def is_known(text: str) -> bool:
    """Return True if a name is that of a file of verdicts: a TOML file with the key `conformance`."""
    return text.endswith(".toml") and Path(text).is_file() and read_toml(Path(text)).has("conformance")


def read_known(file: Path, suite: str) -> StoredVerdicts:
    """Return the verdicts in a file.

    Raises:
        UserError: the file cannot be read, belongs to another suite, or has a key or value that is not allowed.
    """
    table = read_toml(file)
    option = argument("freeze")
    if table.integer("conformance") != FORMAT:
        reads = f"{FORMAT}, the format that this version reads: write the file again with {option}"
        raise table.fail("conformance", table.raw["conformance"], reads)
    table.text("dumbbell")
    stored_suite = table.text("suite")
    if stored_suite != suite:
        raise UserError(f"{file}: `suite` = {stored_suite}: has verdicts of another suite than {suite}")
    schemes = table.table("verdicts")
    by_scheme: dict[str, dict[str, Frozen]] = {}
    for scheme in schemes.raw:
        cases = schemes.table(scheme)
        by_scheme[scheme] = {label: _frozen(cases.table(label)) for label in cases.raw}
        cases.finish()
    table.finish()
    if not by_scheme:
        raise UserError(f"{file}: `verdicts`: has no scheme: write the file again with {option}")
    return by_scheme


def _frozen(table: TomlTable) -> Frozen:
    verdict = table.text(_CASE, None, VERDICTS)
    parts = {name: table.text(name, None, VERDICTS) for name in table.raw if name != _CASE}
    table.finish()
    return Frozen(verdict, parts)
