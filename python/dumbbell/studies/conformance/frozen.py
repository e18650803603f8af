"""Verdicts that a file keeps, and what has changed since: known failures do not fail, new ones do."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dumbbell.base.errors import UserError, worded
from dumbbell.base.version import __version__
from dumbbell.catalog.toml_tables import read_toml
from dumbbell.results.files import write_named
from dumbbell.studies.conformance.judging import FAIL, NOT_REACHED, PASS, VERDICTS, Verdict

FORMAT = 1

Known = Mapping[str, Mapping[str, str]]
"""Verdicts by scheme and by the label of the case."""


@dataclass(frozen=True)
class Change:
    """A verdict that is another one than before; `before` is empty of a case that was not judged."""

    verdict: Verdict
    before: str

    @property
    def is_worse(self) -> bool:
        """Return True if the case fails now and did not, or was passed and is not reached any more."""
        now = self.verdict.verdict
        return now == FAIL or (now == NOT_REACHED and self.before == PASS)

    def __str__(self) -> str:
        verdict, before = self.verdict, self.before or "not judged"
        return f"{verdict.case.label} {verdict.scheme}: {verdict.verdict}, was {before}"


def changes(verdicts: Sequence[Verdict], known: Known) -> list[Change]:
    """Return the verdicts that differ from known ones; of one known scheme all others are compared with that one."""
    only = next(iter(known.values())) if len(known) == 1 else None
    found = []
    for each in verdicts:
        before = known.get(each.scheme, only or {}).get(each.case.label, "")
        if before != each.verdict:
            found.append(Change(each, before))
    return found


def known_of(verdicts: Sequence[Verdict]) -> dict[str, dict[str, str]]:
    """Return verdicts as a file keeps them."""
    found: dict[str, dict[str, str]] = {}
    for each in verdicts:
        found.setdefault(each.scheme, {})[each.case.label] = each.verdict
    return found


def write_known(file: Path, suite: str, verdicts: Sequence[Verdict]) -> None:
    """Write verdicts as a text that is reviewed and committed.

    Raises:
        UserError: the file cannot be written.
    """
    lines = [
        "# Verdicts of `dumbbell conformance`: a case that fails here is a known failure.",
        "# `--freeze` writes them again; a change of this file is reviewed like a change of code.",
        f"conformance = {FORMAT}",
        f"dumbbell = {json.dumps(__version__)}",
        f"suite = {json.dumps(suite)}",
    ]
    for scheme, cases in known_of(verdicts).items():
        lines += ["", f"[verdicts.{json.dumps(scheme)}]"]
        lines += [f"{label} = {json.dumps(verdict)}" for label, verdict in cases.items()]
    write_named(file, "\n".join(lines) + "\n")


def is_known(text: str) -> bool:
    """Return whether a name is that of a file of verdicts: a TOML file with the key `conformance`."""
    return text.endswith(".toml") and Path(text).is_file() and read_toml(Path(text)).has("conformance")


def read_known(file: Path, suite: str) -> Known:
    """Return the verdicts that a file keeps.

    Raises:
        UserError: the file cannot be read, is of another suite, or has a key or value that is not allowed.
    """
    table = read_toml(file)
    if table.integer("conformance") != FORMAT:
        raise table.fail("conformance", table.raw["conformance"], f"{FORMAT}, the format that this version reads")
    table.text("dumbbell")
    of = table.text("suite")
    if of != suite:
        raise UserError(f"{file}: `suite` = {of}: has verdicts of another suite than {suite}")
    schemes = table.table("verdicts")
    found: dict[str, dict[str, str]] = {}
    for scheme in schemes.raw:
        cases = schemes.table(scheme)
        found[scheme] = {label: cases.text(label, None, VERDICTS) for label in cases.raw}
        cases.finish()
    table.finish()
    if not found:
        how = worded("--freeze", "Conformance.freeze")
        raise UserError(f"{file}: `verdicts`: has no scheme: write the file again with {how}")
    return found
