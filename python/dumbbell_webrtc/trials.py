"""Field trials: their effect on the browser, and a check for it.

A browser ignores unknown trials and groups without a message.
"""

import mmap
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

SCREAM = "WebRTC-Bwe-ScreamV2"
RFC8888 = "WebRTC-RFC8888CongestionControlFeedback"


@dataclass(frozen=True)
class Expectation:
    """Expected behaviour of a call under the field trials."""

    scream: bool
    """True if SCReAM version 2 decides, False for Google Congestion Control."""
    rfc8888: bool
    """True for feedback after RFC 8888, False for transport-wide sequence numbers."""

    @property
    def ect1(self) -> bool:
        """Return True if media packets carry ECT(1)."""
        return self.scream and self.rfc8888


def parse(text: str) -> dict[str, str]:
    """Return the groups by the names of their trials, from `NAME/GROUP/NAME/GROUP/`.

    Raises:
        ValueError: says what is allowed.
    """
    *words, last = text.split("/") if text else [""]
    if last or len(words) % 2 or not all(words):
        raise ValueError(f"trials: `{text}`: allowed is NAME/GROUP/, any number of times")
    names = words[::2]
    if len(set(names)) < len(names):
        raise ValueError(f"trials: `{text}`: allowed is each name once")
    return dict(zip(names, words[1::2], strict=True))


def expected(trials: dict[str, str]) -> Expectation:
    """Return the expected behaviour. Only these groups have an effect (seen in version 156)."""
    feedback = trials.get(RFC8888, "").split(",")
    return Expectation(
        scream="mode:always" in trials.get(SCREAM, "").split(","),
        rfc8888="Enabled" in feedback and "offer:true" in feedback,
    )


def unknown(trials: Iterable[str], binary: Path) -> list[str]:
    """Return the trials that the browser cannot know, because its binary does not contain their names."""
    with binary.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return [name for name in trials if content.find(name.encode()) < 0]


def controller(log: str) -> str | None:
    """Return the controller whose decisions are in the log, or None before the first one."""
    if "ScreamV2 enabled always" in log or "] ScreamV2: " in log:
        return "ScreamV2"
    return "GCC" if "goog_cc_network_control.cc" in log else None
