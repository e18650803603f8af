"""The request of an import: what `dumbbell import` and `dumbbell.import_results` can be asked for, each stated once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from dumbbell.base.request_fields import Option, metadata, option, request_field
from dumbbell.catalog.options.values import Choice

Place: TypeAlias = str | PathLike[str]

ENDS = ("sender", "receiver")
CLOCKS = ("auto", "stamps", "unknown")


@dataclass(frozen=True, kw_only=True)
class ImportRequest:
    """Request to read what another tool wrote into a new results directory, or into a new file.

    Each kind lists in `OPTIONS` which of the fields from `strict` to `clocks` it takes.
    """

    kind: str = field(
        kw_only=False,
        metadata=metadata(Option(means="what is read: one of `dumbbell.import_kinds()`", form=lambda: "KIND")),
    )
    source: Place = field(
        kw_only=False,
        metadata=metadata(Option(means="a file, or a directory of files", form=lambda: "SRC")),
    )
    out: Place = field(
        kw_only=False,
        metadata=metadata(Option(means="new results directory, or new file", form=lambda: "OUT")),
    )
    strict: bool = option(False, "pantheon: refuse whatever Pantheon itself would not write")
    ack: Place | None = option(None, "mahimahi: the log of the other direction", Path, "LOG")
    scheme: str | None = option(None, "mahimahi, pcap: what made the traffic", str, "NAME")
    receiver: Place | None = option(
        None, "pcap: the capture of the receiver, with SRC that of the sender", Path, "PCAP"
    )
    end: str | None = option(None, "pcap: where SRC was captured; default: found out", Choice(*ENDS), "|".join(ENDS))
    clocks: str = option(
        "auto",
        "pcap: delays between both captures as their stamps say, or above the smallest (auto)",
        Choice(*CLOCKS),
        "|".join(CLOCKS),
    )
    command: Sequence[str] = request_field(
        (),
        Option(means="the words of the command line that this call comes from; recorded", form=lambda: "WORDS"),
    )

    @property
    def given(self) -> list[str]:
        """The fields that only some kinds take, and that are given."""
        others = ("kind", "source", "out", "command")
        own = [each for each in fields(self) if each.name not in others]
        return [each.name for each in own if getattr(self, each.name) != each.default]
