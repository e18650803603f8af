"""The files of a Pantheon data directory: the runs and schemes in their names, and their form."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dumbbell.base.errors import UserError
from dumbbell.base.names import is_name
from dumbbell.formats import contents
from dumbbell.formats.pantheon_metadata import PantheonMetadata

PACKED = ("", *contents.PACKED)
"""Suffixes of logs that were compressed after the test."""

_PACKED = rf"(?:{'|'.join(map(re.escape, contents.PACKED))})?"
_LOG = re.compile(rf"(.+)_datalink_run(\d{{1,4}})(?:_flow\d+_uid[^.]+\.log\.egress|\.log){_PACKED}")


@dataclass(frozen=True)
class RawLogs:
    """Unmerged tunnel logs of a run: (egress, ingress) for each flow."""

    data: list[tuple[str, str]]
    ack: list[tuple[str, str]]


@dataclass(frozen=True)
class RunFiles:
    """The existing and expected files of a run. Without a tunnel, the logs are mahimahi's."""

    scheme: str
    data: Path
    ack: Path
    stats: Path
    raw: RawLogs
    is_tunnelled: bool
    instead: str = ""
    """Instruction to read mahimahi's own log of the link, if it exists and the tunnel's logs are missing."""


class PantheonFiles:
    """The files of one data directory."""

    def __init__(self, source: Path, metadata: PantheonMetadata) -> None:
        self._source = source
        self._is_tunnelled = metadata.flows > 0
        try:
            self._names = sorted(file.name for file in source.iterdir())
        except OSError as error:
            raise UserError(f"{source}: {error.strerror or error}") from None
        self._present = frozenset(self._names)
        self._runs = self._find_runs(metadata.schemes)

    def runs(self, scheme: str, planned_numbers: Iterable[int] = ()) -> list[int]:
        """Return the run numbers of a scheme: the planned ones, and those with a log. Pantheon can append runs."""
        return sorted({*planned_numbers, *self._runs.get(scheme, ())})

    @property
    def schemes(self) -> list[str]:
        """Schemes with a log."""
        return sorted(self._runs)

    def of(self, scheme: str, run: int) -> RunFiles:
        """Return the files of one run."""
        kind = "" if self._is_tunnelled else "_mm"
        raw = RawLogs(self._raw(scheme, run, "datalink"), self._raw(scheme, run, "acklink"))
        return RunFiles(
            scheme=scheme,
            data=self._file(f"{scheme}{kind}_datalink_run{run}.log"),
            ack=self._file(f"{scheme}{kind}_acklink_run{run}.log"),
            stats=self._file(f"{scheme}_stats_run{run}.log"),
            raw=raw if self._is_tunnelled else RawLogs([], []),
            is_tunnelled=self._is_tunnelled,
            instead=self._instead(scheme, run),
        )

    def _instead(self, scheme: str, run: int) -> str:
        data, ack = (self._file(f"{scheme}_mm_{link}_run{run}.log") for link in ("datalink", "acklink"))
        if data.name not in self._present:
            return ""
        back = f" --ack {ack.name}" if ack.name in self._present else ""
        return f"; of the link alone: dumbbell import mahimahi {data.name}{back} --scheme {scheme} --out DIR"

    def _find_runs(self, schemes: Iterable[str]) -> dict[str, set[int]]:
        numbers: dict[str, set[int]] = {}
        for name in self._names:
            match = _LOG.fullmatch(name)
            if match is None:
                continue
            scheme, is_link = match[1], match[1] not in schemes and match[1].endswith("_mm")
            # the link's logs beside those of the tunnel belong to no other scheme
            if is_link == self._is_tunnelled:
                continue
            scheme = scheme.removesuffix("_mm") if is_link else scheme
            if is_name(scheme) and int(match[2]) > 0:
                numbers.setdefault(scheme, set()).add(int(match[2]))
        return numbers

    def _file(self, name: str) -> Path:
        names = (name + ending for ending in PACKED)
        return self._source / next((candidate for candidate in names if candidate in self._present), name)

    def _raw(self, scheme: str, run: int, link: str) -> list[tuple[str, str]]:
        """Return the egress and ingress logs of one direction, in flow order, for flows that have both."""
        start = re.escape(f"{scheme}_{link}_run{run}")
        pattern = re.compile(rf"({start}_flow(\d+)_uid[^.]+\.log\.)egress{_PACKED}")
        matches = sorted(
            (int(match[2]), match[0], match[1]) for name in self._names if (match := pattern.fullmatch(name))
        )
        pairs = [(self._source / egress, self._file(f"{stem}ingress")) for _, egress, stem in matches]
        return [(str(egress), str(ingress)) for egress, ingress in pairs if ingress.is_file()]
