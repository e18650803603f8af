"""`dumbbell figure`: one figure of results as a file, and the numbers that it shows."""

from collections.abc import Sequence
from pathlib import Path

import dumbbell
from dumbbell.commands.text import columns


def figure(
    directory: Path,
    kind: str | None,
    of: tuple[str | None, str | None, int | None],
    out: Path | None,
    data: Path | None,
    beside: Sequence[Path] = (),
    legacy: bool = False,
) -> int:
    """Writes a figure of the run or path that `of` (path, scheme, run) names; without a kind lists the kinds."""
    results = dumbbell.open(directory)
    if kind is None:
        head = ["kind", "of", "shows"]
        print(columns(head, [[row[key] for key in head] for row in dumbbell.figure_kinds()]))
        return 0
    out = out or Path(f"{kind}.svg")
    data = data or out.with_suffix(".csv")
    dumbbell.check_figure_files(out, data)
    drawn = results.figure(kind, *of, beside=beside, legacy=legacy)
    for file in (drawn.data.save(data), drawn.save(out)):
        print(file)
    return 0
