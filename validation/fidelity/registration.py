"""Registration: Git's history of a claim's file shows in which commit a tolerance was set.

A tolerance judges only results whose claims' file, as it was committed when they were made, has that tolerance already.
Results name that version of the file by its blob, which a rebase or a cherry-pick does not change.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from dumbbell.base.errors import UserError
from validation.fidelity.claims import Claim, Tolerance, load, parse


class UnregisteredError(Exception):
    """Results may not be judged or made; the message is the reason, in one line."""


@dataclass(frozen=True)
class Version:
    """A claim's file in one commit."""

    commit: str
    date: str
    blob: str
    claim: Claim


@dataclass(frozen=True)
class History:
    """Every committed version of a claim's file, oldest first."""

    versions: tuple[Version, ...]

    def registered(self, row: str, tolerance: Tolerance) -> int | None:
        """Return the index of the first version that has this tolerance, or None if no commit has it."""
        for index, version in enumerate(self.versions):
            old_row = version.claim.row(row)
            if old_row and any(tolerance.same(old_tolerance) for old_tolerance in old_row.tolerances):
                return index
        return None

    def index_of(self, blob: str) -> int | None:
        """Return the index of the last version with these bytes, or None."""
        return next((i for i in reversed(range(len(self.versions))) if self.versions[i].blob == blob), None)

    def check_kept(self, claim: Claim) -> None:
        """Check that the claim still has every tolerance that was ever committed.

        Raises:
            UnregisteredError: A tolerance is gone.
        """
        for version in self.versions:
            for row in version.claim.rows:
                now = claim.row(row.key)
                for tolerance in row.tolerances:
                    if now is None or not any(tolerance.same(new_tolerance) for new_tolerance in now.tolerances):
                        raise UnregisteredError(
                            f"{claim.file.name}: row `{row.key}`: the tolerance of {tolerance.set}, committed in"
                            f" {version.commit}, is gone: expected earlier tolerances before the new one"
                        )


def history(file: Path) -> History:
    """Return the committed versions of a claim's file; none where there is no repository."""
    log = _git(file, "log", "--reverse", "--format=%h %as", "--", file.name)
    versions = []
    for line in (log or "").splitlines():
        commit, date = line.split()
        blob = _git(file, "rev-parse", f"{commit}:./{file.name}")
        text = _git(file, "show", f"{commit}:./{file.name}")
        if blob is None or text is None:  # this commit deleted the file
            continue
        try:
            versions.append(Version(commit, date, blob.strip(), parse(text, file)))
        except UserError:
            continue  # a version of another form registers nothing
    return History(tuple(versions))


def committed_blob(file: Path) -> str:
    """Return the blob of a committed file: of a claim, which new results name, or of the rule.

    Raises:
        UnregisteredError: The file is not committed as it is.
    """
    now, committed_version = _git(file, "hash-object", file.name), _git(file, "rev-parse", f"HEAD:./{file.name}")
    if committed_version is None:
        raise UnregisteredError(f"{file.name}: not committed: commit it before results are judged by it")
    if now != committed_version:
        raise UnregisteredError(
            f"{file.name}: changed since its last commit: commit it before results are judged by it"
        )
    return committed_version.strip()


def verify(file: Path) -> tuple[Claim, History]:
    """Return a claim with its history.

    Raises:
        UserError: The file is no claim.
        UnregisteredError: The claim lacks a tolerance that was committed once.
    """
    claim, past = load(file), history(file)
    past.check_kept(claim)
    return claim, past


def _git(file: Path, *words: str) -> str | None:
    """Return git's output in the file's folder, or None if git fails."""
    result = subprocess.run(["git", *words], cwd=file.parent, capture_output=True, text=True, check=False)
    return result.stdout if result.returncode == 0 else None
