"""Types of `environment.json`, which describes the machine that made the results and the source of imported ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from dumbbell.contract.read_only import ReadOnly


class Git(TypedDict):
    """The checkout that dumbbell ran from."""

    commit: ReadOnly[str | None]
    branch: ReadOnly[str | None]
    changed: ReadOnly[Sequence[str]]
    """Files that differ from the commit."""


class Imported(TypedDict, total=False):
    """The source of imported results, and what its files say of the test."""

    source: ReadOnly[str | None]
    git_summary: ReadOnly[str | None]
    """The commits of a test by Pantheon."""
    metadata: ReadOnly[Mapping[str, object]]
    """The metadata of a test by Pantheon."""
    notes: ReadOnly[Sequence[str]]


class Environment(TypedDict, total=False):
    """The contents of `environment.json` that are read; a description of the machine stands beside them."""

    results_id: ReadOnly[str]
    started_at: ReadOnly[str | None]
    command: ReadOnly[Sequence[str]]
    dumbbell: ReadOnly[str | None]
    """The version."""
    commit: ReadOnly[str | None]
    git: ReadOnly[Git | None]
    resumed: ReadOnly[Sequence[Mapping[str, object]]]
    """The same of each command that went on with the results, as far as it differs."""
    importing_machine: ReadOnly[Environment | None]
    imported: ReadOnly[Imported | None]
    damaged: ReadOnly[str]
    """Why the file cannot be read. All other keys are absent then."""
