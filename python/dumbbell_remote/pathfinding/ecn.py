"""Changes of the ECN codepoints (RFC 3168, section 5) of packets on a path."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

NAMES = ("not-ECT", "ECT(1)", "ECT(0)", "CE")
"""Codepoints by the value of the two bits."""
CE = 3


@dataclass(frozen=True)
class Codepoints:
    """Number of packets sent with each codepoint, and the codepoints with which they arrived."""

    sent_counts: Mapping[int, int]
    came: Mapping[int, Mapping[int, int]]

    def verdict(self, codepoint: int) -> str:
        """Return the fate of a codepoint, in one or two words."""
        came = {code: count for code, count in self.came.get(codepoint, {}).items() if count}
        if not came:
            return "lost" if self.sent_counts.get(codepoint) else "not tried"
        if set(came) == {codepoint}:
            return "as sent"
        if set(came) == {0}:
            return "bleached"
        kinds = ", ".join(f"{count} as {NAMES[code]}" for code, count in sorted(came.items()))
        return f"changed: {kinds}"

    @property
    def passes(self) -> bool:
        """True if ECN works: packets that allow marks arrive unchanged, and so do marks."""
        return all(self.verdict(codepoint) == "as sent" for codepoint in (1, 2, CE))

    def words(self) -> str:
        """Return the fates of all codepoints, for people."""
        verdicts = {NAMES[codepoint]: self.verdict(codepoint) for codepoint in self.sent_counts}
        if set(verdicts.values()) == {"as sent"}:
            return "all codepoints arrive as sent"
        return "; ".join(f"{name}: {verdict}" for name, verdict in verdicts.items())


def codepoints(bursts: Sequence[tuple[int, int, int]], came: Sequence[tuple[int, int]]) -> Codepoints:
    """Return the codepoint counts. `bursts`: first number, count and codepoint; `came`: number and codepoint."""
    of_number = {first + index: code for first, count, code in bursts for index in range(count)}
    counts: dict[int, int] = {}
    for _, count, code in bursts:
        counts[code] = counts.get(code, 0) + count
    arrivals: dict[int, dict[int, int]] = {code: {} for code in counts}
    for number, code in came:
        if number in of_number:
            table = arrivals[of_number[number]]
            table[code] = table.get(code, 0) + 1
    return Codepoints(counts, arrivals)
