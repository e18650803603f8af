"""Schemes of Pantheon's tests and the schemes of the catalog that simulate them."""

from collections.abc import Collection, Mapping

from dumbbell.catalog.outside.pantheon_names import Counterpart, counterpart
from dumbbell.results.directory import ResultsDirectory

WRITTEN_BY = "written_by"
"""Key of metadata that dumbbell exported: its names are dumbbell's own."""


def counterparts(results: ResultsDirectory) -> dict[str, Counterpart]:
    """Return the counterparts of the schemes of an imported test by Pantheon; empty for all other results."""
    import_record = results.shown_environment().get("imported") or {}
    metadata = import_record.get("metadata") or {}
    if "cc_schemes" not in metadata or WRITTEN_BY in metadata:
        return {}
    git = str(import_record.get("git_summary") or "")
    date = min(
        (str(times["started"]) for run in results.settled() if (times := run.get("imported")) and times["started"]),
        default=None,
    )
    counterparts_by_key = {key: counterpart(key, git, date) for key in results.experiment.labels}
    return {key: entry for key, entry in counterparts_by_key.items() if entry is not None}


Names = tuple[Collection[str], Mapping[str, Counterpart]]
"""Schemes and mixes of one side of a comparison, and the counterparts of those that Pantheon measured."""


def matched(first: Names, second: Names) -> tuple[dict[str, str], dict[str, str]]:
    """Return the new names under which two sides are compared, by name, for the schemes that get one.

    If one side is a test by Pantheon, its `scream` and the other side's counterpart `scream-pantheon` become one name.
    A scheme of the other side with Pantheon's name that is another program does not.
    """
    new_names: tuple[dict[str, str], dict[str, str]] = ({}, {})
    if bool(first[1]) == bool(second[1]):
        return new_names  # both sides by Pantheon, or none
    pantheon_side, own_side = (0, 1) if first[1] else (1, 0)
    (_, counterparts_by_key), (labels, _) = (first, second) if first[1] else (second, first)
    for key, entry in counterparts_by_key.items():
        if entry.scheme is not None and entry.scheme in labels and entry.scheme != key:
            pair = (key, entry.scheme) if pantheon_side == 0 else (entry.scheme, key)
            new_names[pantheon_side][key] = new_names[own_side][entry.scheme] = " | ".join(pair)
        elif entry.scheme != key and key in labels:
            new_names[pantheon_side][key] = f"{key} (Pantheon)"
    return new_names
