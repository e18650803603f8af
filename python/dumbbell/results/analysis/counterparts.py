"""Schemes of Pantheon's tests and the schemes of the catalog that simulate them."""

from collections.abc import Collection, Mapping

from dumbbell.catalog.outside.pantheon_names import Counterpart, counterpart
from dumbbell.results.directory import ResultsDirectory

WRITTEN_BY = "written_by"
"""Key of metadata that dumbbell exported: its names are dumbbell's own."""


def counterparts(results: ResultsDirectory) -> dict[str, Counterpart]:
    """Return the counterparts of the schemes of an imported test by Pantheon; empty for all other results."""
    imported = results.shown_environment().get("imported") or {}
    metadata = imported.get("metadata") or {}
    if "cc_schemes" not in metadata or WRITTEN_BY in metadata:
        return {}
    git = str(imported.get("git_summary") or "")
    date = min(
        (str(times["started"]) for run in results.settled() if (times := run.get("imported")) and times["started"]),
        default=None,
    )
    found = {key: counterpart(key, git, date) for key in results.experiment.labels}
    return {key: each for key, each in found.items() if each is not None}


Names = tuple[Collection[str], Mapping[str, Counterpart]]
"""Schemes and mixes of one side of a comparison, and the counterparts of those that Pantheon measured."""


def matched(one: Names, other: Names) -> tuple[dict[str, str], dict[str, str]]:
    """Return the new names under which two sides are compared, by name, for the schemes that get one.

    Where one side is a test by Pantheon, `scream` there and its counterpart `scream-pantheon` here become one name; a
    scheme here with Pantheon's name that is another program does not.
    """
    renamed: tuple[dict[str, str], dict[str, str]] = ({}, {})
    if bool(one[1]) == bool(other[1]):
        return renamed  # both by Pantheon, or none
    measured, here = (0, 1) if one[1] else (1, 0)
    (_, known), (labels, _) = (one, other) if one[1] else (other, one)
    for key, each in known.items():
        if each.scheme is not None and each.scheme in labels and each.scheme != key:
            pair = (key, each.scheme) if measured == 0 else (each.scheme, key)
            renamed[measured][key] = renamed[here][each.scheme] = " | ".join(pair)
        elif each.scheme != key and key in labels:
            renamed[measured][key] = f"{key} (Pantheon)"
    return renamed
