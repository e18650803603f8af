"""Libraries and classes given by their files as schemes: `./libmine.so`, `./libmine.so:mine`, `mine.py:Mine`."""

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from dumbbell.base.errors import UserError, full_name, listed, nearest
from dumbbell.base.input_files import LIBRARY, PYTHON_CLASSES, Kind, digest
from dumbbell.catalog.scheme import MARKERS, Scheme

SUFFIXES = {".so": "plugin", ".dylib": "plugin", ".py": "python"}
"""How files of plug-ins end, and the kinds of schemes that they are."""

_COLORS = ("teal", "indigo", "chocolate", "olive", "deeppink", "slategray", "navy", "maroon")


def plugin_scheme(text: str, sha256: str = "") -> Scheme | None:
    """The scheme that `text` means, if it is the file of a plug-in, with or without the name of a controller in it.

    Raises:
        UserError: as of `plugin_schemes`, or it has several controllers and none is named.
    """
    found = plugin_schemes(text, sha256)
    if len(found) > 1:
        file = text.partition(":")[0]
        one = " or ".join(f"{file}:{scheme.controller}" for scheme in found)
        raise UserError(f"{text}: has {len(found)} controllers: name one of them: {one}")
    return found[0] if found else None


def given_schemes(text: str) -> list[Scheme]:
    """The schemes that an option `--plugin` means.

    Raises:
        UserError: it is no file of a plug-in, cannot be loaded, or has no such controller.
    """
    found = plugin_schemes(text)
    if not found:
        allowed = f"FILE or FILE:NAME; a file ends with {listed(SUFFIXES)}"
        raise UserError(argument="plugins", value=text, allowed=allowed)
    return found


def plugin_kind(text: str) -> str | None:
    """The kind of the schemes in the file of a plug-in, given as to `plugin_schemes`; None if it is no such file."""
    return SUFFIXES.get(Path(text.partition(":")[0]).suffix)


def plugin_file_kind(file: str) -> Kind:
    """What the file of a plug-in is."""
    return PYTHON_CLASSES if plugin_kind(file) == "python" else LIBRARY


def plugin_sha256(file: str) -> str:
    """Return the SHA-256 of a plug-in's file, hexadecimal.

    Raises:
        UserError: it cannot be read, is no regular file, or too large.
    """
    try:
        return digest(Path(file), plugin_file_kind(file))
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None


def with_sha256(scheme: Scheme) -> Scheme:
    """Return the scheme with the SHA-256 of its plug-in under `files`: from here on no other code is loaded for it.

    A scheme whose file cannot be read is returned as it is: results can be shown without it.
    """
    if not scheme.is_outside or scheme.code in scheme.files:
        return scheme
    try:
        return replace(scheme, files=scheme.files | {scheme.code: plugin_sha256(scheme.code)})
    except UserError:
        return scheme


def plugin_digest(file: str, sha256: str) -> str:
    """Return the digest by which a user's trust in a plug-in is kept: of its kind, its path and its file's SHA-256."""
    return hashlib.sha256(json.dumps([plugin_kind(file), file, sha256]).encode()).hexdigest()


def plugin_schemes(text: str, sha256: str = "") -> list[Scheme]:
    """Return the schemes of all controllers that `text` means; none if it is no file of a plug-in.

    Raises:
        UserError: it cannot be loaded, has no such controller, or holds other code than that with `sha256`, if given.
    """
    file, _, name = text.partition(":")
    kind = plugin_kind(text)
    if kind is None:
        return []
    if not Path(file).exists():
        raise UserError(f"{file}: no such file")
    sha256 = sha256 or plugin_sha256(file)
    from dumbbell.plugins.isolated import describe  # what it needs is slow to import

    described = {item["name"]: item for item in describe(str(full_name("plug-in", Path(file))), sha256)}
    if name and name not in described:
        raise UserError(
            f"{file}: unknown controller `{name}`{nearest(name, described)}: allowed are {listed(described)}"
        )
    return [
        _scheme(file, kind, item["name"], item["summary"])
        for item in described.values()
        if not name or item["name"] == name
    ]


NO_ECN = "the scheme does not use ECN: its controller has no `on_ecn`, and its transport has no `ecn`"
"""Reason for which rules about marks do not apply to a plug-in."""


def uses_ecn(controller: str, file: str, sha256: str, transport: Mapping[str, object]) -> bool:
    """Return True if a plug-in has `on_ecn`, or if its packets are ECN-capable.

    Raises:
        UserError: it cannot be loaded, or holds other code than that with `sha256`.
    """
    if transport.get("ecn", "off") != "off":
        return True
    from dumbbell.plugins.isolated import describe  # what it needs is slow to import

    return any(each["hears_ecn"] for each in describe(file, sha256) if each["name"] == controller)


def _scheme(file: str, kind: str, controller: str, summary: str) -> Scheme:
    name = controller.lower()
    number = zlib.crc32(name.encode())
    return Scheme(
        name=name,
        title=controller,
        color=_COLORS[number % len(_COLORS)],
        marker=MARKERS[number % len(MARKERS)],
        kind=kind,
        controller=controller,
        summary=summary,
        source=file,
        code=str(Path(file).resolve()),
        file=file,
    )
