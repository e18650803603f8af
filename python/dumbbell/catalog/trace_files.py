"""Trace elements of a path whose times are in a file. The file has a SHA-256, and is read when the path is used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dumbbell import core
from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError, full_name
from dumbbell.base.input_files import TEXT, read_bytes, text_of
from dumbbell.catalog.open_tables import Element
from dumbbell.catalog.toml_tables import TomlTable

if TYPE_CHECKING:
    from dumbbell.contract.specification import PathSpec, RunSpec


def names_file(element: Mapping[str, object]) -> bool:
    """Return True if an element of a path is a trace with its times in a file."""
    return element.get("kind") == "trace" and "file" in element


_BELOW: dict[Path, Entry] = {}
"""Trace files of results by their absolute names. They are opened without following links."""


def keep_below(file: Entry) -> None:
    """Record that a trace file belongs to results. From then on, no link below their directory is followed for it."""
    _BELOW[Path(file.root.resolve(), *file.way)] = file


def require_sums(name: str, elements: Iterable[Mapping[str, object]]) -> None:
    """Raise an error if trace files of a path have no SHA-256. Reading TOML adds it.

    Raises:
        UserError: If a SHA-256 is missing; the message names the path and the file.
    """
    for element in filter(names_file, elements):
        if not element.get("sha256"):
            raise UserError(
                f"path `{name}`: trace `file` = {element['file']}: has no `sha256`: `PathModel.from_toml` finds it"
            )


def located(element: TomlTable) -> Element:
    """Return an element of a path with the absolute name and the SHA-256 of its trace file.

    Other elements stay unchanged.

    A relative name is relative to the file with the element. An existing `sha256` is kept, and compared
    when the times are read.

    Raises:
        UserError: If the file cannot be read or is no trace, or if a value is not allowed.
    """
    if not names_file(element.raw):
        return element.raw
    if "times_ms" in element.raw:
        raise UserError(f"{element.source}: `{element.prefix}times_ms`: not beside `file`, which has the times")
    file = Path(element.source).parent.resolve() / element.text("file")
    if file not in _BELOW:
        file = full_name("trace", file)
    sha256 = element.text("sha256", "")
    if not sha256 and file in _BELOW:
        raise UserError(f"{element.source}: `{element.prefix}sha256`: missing: results have that of each trace file")
    if not sha256:
        try:
            content = _content(file)
        except UserError as error:
            raise UserError(f"{element.source}: `{element.prefix}file` = {element.text('file')}: {error}") from None
        _parsed(file, content)  # raises unless it is a trace
        sha256 = _sum(content)
    return element.raw | {"file": str(file), "sha256": sha256}


def with_times(element: Element) -> Element:
    """Return an element with `times_ms`, the times in its trace file. Other elements stay unchanged.

    Raises:
        UserError: If the file cannot be read, is no trace, or has another SHA-256 than the element.
    """
    return element | {"times_ms": _times(element["file"], element["sha256"])} if names_file(element) else element


def without_times(specification: RunSpec) -> RunSpec:
    """Return a run spec without the times of trace files. Their names and SHA-256 stay."""
    path = specification["path"]
    data, ack = (
        [
            {key: value for key, value in element.items() if key != "times_ms"} if names_file(element) else element
            for element in elements
        ]
        for elements in (path["data"], path["ack"])
    )
    return {**specification, "path": cast("PathSpec", {**path, "data": data, "ack": ack})}


@lru_cache(maxsize=16)
def _times(name: str, sha256: str) -> list[int]:
    file = Path(name)
    content = _content(file)
    if (now := _sum(content)) != sha256:
        raise UserError(f"{file}: has changed: its SHA-256 is {now}, that of the path's trace is {sha256}")
    return _parsed(file, content)


def read_trace(file: Path) -> list[int]:
    """Return the times of a trace's delivery opportunities, ms. The file has one integer on each line.

    Raises:
        UserError: If the file cannot be read, or has a line that mm-link refuses.
    """
    return _parsed(file, _content(file))


def _content(file: Path) -> bytes:
    try:
        return read_bytes(_BELOW.get(file, file), TEXT)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None


def _sum(content: bytes) -> str:
    import hashlib  # takes its time, and is needed by few commands

    return hashlib.sha256(content).hexdigest()


def _parsed(file: Path, content: bytes) -> list[int]:
    try:
        return core.parse_trace(text_of(content, "ascii"))
    except UnicodeDecodeError:
        raise UserError(f"{file}: no trace: allowed is one whole number of ms a line") from None
    except core.Error as error:
        raise UserError(f"{file}: {error}") from None
