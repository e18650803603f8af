"""Scorecard repeated with other seeds by another person: changes of verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dumbbell.present.tables import Table
from dumbbell.present.tables.markdown import render
from validation.fidelity.verdict import JudgedResult

REPETITION = Path(__file__).resolve().parent.parent / "data" / "repetition.json"
"""File of the repeated numbers, in the format of the scorecard."""
HEAD = ("result", "quantity", "at first", "again")


@dataclass(frozen=True)
class Repetition:
    """Comparison of the verdicts on simulated rows.

    Attributes:
        draw: The name that the other seeds were drawn from.
        rows: Number of rows that were judged both times.
        changes: Rows with another verdict: result, row, and both verdicts with the single runs within.
        uninformative: Number of rows that are uninformative with the seeds of at least one draw.
        lacking: Results that were not measured again.
    """

    draw: str
    rows: int
    changes: tuple[tuple[str, str, str, str], ...]
    uninformative: int
    lacking: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Return the result of the comparison in a few sentences."""
        lacking = f" Not repeated: {', '.join(self.lacking)}." if self.lacking else ""
        if not self.rows and not self.uninformative:
            return f"Seeds were drawn from `{self.draw}`. No row is compared: none was judged both times.{lacking}"
        equal = self.rows - len(self.changes)
        percent = f" ({100 * equal / self.rows:.0f} %)" if self.rows else ""
        return (
            f"With seeds drawn from `{self.draw}` {equal} of {self.rows} judged rows have the same verdict{percent}."
            f" Uninformative rows, which count for nothing: {self.uninformative} (in at least one draw).{lacking}"
        )


def compare(first: Sequence[JudgedResult], again: Sequence[JudgedResult]) -> Repetition | None:
    """Compare the verdicts on simulated rows; return None if no result was repeated.

    Both have the same results in the same order. Rows where all repetitions are equal have no seeds, and do not count.
    """
    rows, changes, uninformative, lacking, draws = 0, [], 0, [], dict[str, None]()
    for first_result, other in zip(first, again, strict=True):
        if not (other.results and other.results.simulated):
            lacking += [first_result.claim.id] if first_result.results and first_result.results.simulated else []
            continue
        draws[other.results.draw] = None
        for row, again_row in zip(first_result.rows, other.rows, strict=True):
            judgements = [
                judged_row.judgements[-1]
                for judged_row in (row, again_row)
                if judged_row.judgements and judged_row.judgements[-1].ruling
            ]
            if len(judgements) < 2 or all(
                judgement.simulated_count and judgement.simulated_count.equal for judgement in judgements
            ):
                continue
            if any(judgement.uninformative for judgement in judgements):
                uninformative += 1
                continue
            rows += 1
            if len({judgement.ruling.passed for judgement in judgements if judgement.ruling}) > 1:
                before, after = (f"{judgement.ruling}; {judgement.simulated_count} within" for judgement in judgements)
                changes.append((first_result.claim.id, row.row.quantity, before, after))
    return Repetition(", ".join(draws), rows, tuple(changes), uninformative, tuple(lacking)) if draws else None


def section(repetition: Repetition | None) -> list[str]:
    """Return the part of the page."""
    if repetition is None:
        return []
    lines = ["## Repeated with other seeds", "", repetition.sentence]
    if repetition.changes:
        lines += ["Rows whose verdict is another one lie on the limit:", "", render(Table.of(HEAD, repetition.changes))]
    return [*lines, ""]
