"""The request of an import: all options of `dumbbell import` and `dumbbell.import_results`, each defined once."""

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
    """Request to read the output of another tool into a new results directory, or into a new file.

    `OPTIONS` of each kind lists those fields from `strict` to `clocks` that the kind takes.
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
    def special_options(self) -> list[str]:
        """Names of the set fields that only some kinds take."""
        common_names = ("kind", "source", "out", "command")
        special_fields = [field_ for field_ in fields(self) if field_.name not in common_names]
        return [field_.name for field_ in special_fields if getattr(self, field_.name) != field_.default]
