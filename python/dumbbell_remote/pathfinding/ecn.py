"""What becomes of the ECN codepoints (RFC 3168, section 5) of packets on their way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

NAMES = ("not-ECT", "ECT(1)", "ECT(0)", "CE")
"""Codepoints by the value of the two bits."""
CE = 3


@dataclass(frozen=True)
class Codepoints:
    """How many packets of each codepoint were sent, and as what they came."""

    sent: Mapping[int, int]
    came: Mapping[int, Mapping[int, int]]

    def verdict(self, codepoint: int) -> str:
        """What becomes of a codepoint, in a word or two."""
        came = {code: count for code, count in self.came.get(codepoint, {}).items() if count}
        if not came:
            return "lost" if self.sent.get(codepoint) else "not tried"
        if set(came) == {codepoint}:
            return "as sent"
        if set(came) == {0}:
            return "bleached"
        kinds = ", ".join(f"{count} as {NAMES[code]}" for code, count in sorted(came.items()))
        return f"changed: {kinds}"

    @property
    def passes(self) -> bool:
        """Whether ECN can be used: what says that it can be marked arrives so, and so do marks."""
        return all(self.verdict(codepoint) == "as sent" for codepoint in (1, 2, CE))

    def words(self) -> str:
        """All of it, for people."""
        told = {NAMES[codepoint]: self.verdict(codepoint) for codepoint in self.sent}
        if set(told.values()) == {"as sent"}:
            return "all codepoints arrive as sent"
        return "; ".join(f"{name}: {verdict}" for name, verdict in told.items())


def codepoints(sent: Sequence[tuple[int, int, int]], came: Sequence[tuple[int, int]]) -> Codepoints:
    """From what was sent (first number, count, codepoint) and what came (number, codepoint)."""
    of_number = {first + index: code for first, count, code in sent for index in range(count)}
    counts: dict[int, int] = {}
    for _, count, code in sent:
        counts[code] = counts.get(code, 0) + count
    found: dict[int, dict[int, int]] = {code: {} for code in counts}
    for number, code in came:
        if number in of_number:
            table = found[of_number[number]]
            table[code] = table.get(code, 0) + 1
    return Codepoints(counts, found)
