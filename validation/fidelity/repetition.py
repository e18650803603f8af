"""The scorecard made again with other seeds, by another hand: whose verdict changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dumbbell.present.tables import Table
from dumbbell.present.tables.markdown import render
from validation.fidelity.verdict import JudgedResult

REPETITION = Path(__file__).resolve().parent.parent / "data" / "repetition.json"
"""The numbers that were measured again, in the form of the scorecard."""
HEAD = ("result", "what", "within at first", "within again")


@dataclass(frozen=True)
class Repetition:
    """How verdicts on simulated rows compare.

    Attributes:
        draw: The name that the other seeds were drawn from.
        rows: Judged rows that were measured both times.
        changed: Of these, those whose verdict is another one: result, row, and how many repetitions were within.
        lacking: Results that were not measured again.
    """

    draw: str
    rows: int
    changed: tuple[tuple[str, str, str, str], ...]
    lacking: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        same = self.rows - len(self.changed)
        lacking = f" Not repeated: {', '.join(self.lacking)}." if self.lacking else ""
        return (
            f"With seeds drawn from `{self.draw}` {same} of {self.rows} judged rows have the same verdict"
            f" ({100 * same / self.rows:.0f} %).{lacking}"
        )


def compare(first: Sequence[JudgedResult], again: Sequence[JudgedResult]) -> Repetition | None:
    """Compare the verdicts on simulated rows; none where nothing was measured again.

    Both have the same results in the same order. Rows where all repetitions are equal have no seeds, and do not count.
    """
    rows, changed, lacking, draws = 0, [], [], dict[str, None]()
    for one, other in zip(first, again, strict=True):
        if not (other.results and other.results.simulated):
            lacking += [one.claim.id] if one.results and one.results.simulated else []
            continue
        draws[other.results.draw] = None
        for row, repeated in zip(one.rows, other.rows, strict=True):
            counts = [each.judgements[-1].simulated if each.judgements else None for each in (row, repeated)]
            if counts[0] is None or counts[1] is None or (counts[0].equal and counts[1].equal):
                continue
            rows += 1
            if counts[0].passed != counts[1].passed:
                changed.append((one.claim.id, row.row.what, str(counts[0]), str(counts[1])))
    return Repetition(", ".join(draws), rows, tuple(changed), tuple(lacking)) if rows else None


def section(repetition: Repetition | None) -> list[str]:
    """Return the part of the page."""
    if repetition is None:
        return []
    lines = ["## Repeated with other seeds", "", repetition.sentence]
    if repetition.changed:
        lines += ["Rows whose verdict is another one lie on the limit:", "", render(Table.of(HEAD, repetition.changed))]
    return [*lines, ""]
