"""Schemes from files of libraries and classes: `./libmine.so`, `./libmine.so:mine`, `mine.py:Mine`."""

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
"""Suffixes of plug-in files, and the kinds of their schemes."""

_COLORS = ("teal", "indigo", "chocolate", "olive", "deeppink", "slategray", "navy", "maroon")


def plugin_scheme(text: str, sha256: str = "") -> Scheme | None:
    """Return the scheme of a plug-in file, with or without the name of a controller; None for other texts.

    Raises:
        UserError: As for `plugin_schemes`, or if the file has several controllers and `text` names none.
    """
    candidates = plugin_schemes(text, sha256)
    if len(candidates) > 1:
        file = text.partition(":")[0]
        choices = " or ".join(f"{file}:{scheme.controller}" for scheme in candidates)
        raise UserError(f"{text}: has {len(candidates)} controllers: name one of them: {choices}")
    return candidates[0] if candidates else None


def given_schemes(text: str) -> list[Scheme]:
    """Return the schemes for a value of the option `--plugin`.

    Raises:
        UserError: If the file is no plug-in, cannot be loaded, or has no such controller.
    """
    candidates = plugin_schemes(text)
    if not candidates:
        forms = f"FILE or FILE:NAME; a file ends with {listed(SUFFIXES)}"
        raise UserError(argument="plugins", value=text, allowed=forms)
    return candidates


def plugin_kind(text: str) -> str | None:
    """Return the kind of the schemes in a plug-in file, given as for `plugin_schemes`; None for other files."""
    return SUFFIXES.get(Path(text.partition(":")[0]).suffix)


def plugin_file_kind(file: str) -> Kind:
    """Return the kind of a plug-in file for reading."""
    return PYTHON_CLASSES if plugin_kind(file) == "python" else LIBRARY


def plugin_sha256(file: str) -> str:
    """Return the SHA-256 of a plug-in's file, hexadecimal.

    Raises:
        UserError: If the file cannot be read, is no regular file, or is too large.
    """
    try:
        return digest(Path(file), plugin_file_kind(file))
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None


def with_sha256(scheme: Scheme) -> Scheme:
    """Return the scheme with the SHA-256 of its plug-in in `files`. From then on no other code is loaded for it.

    A scheme with an unreadable file is returned unchanged: results can be shown without the file.
    """
    if not scheme.is_outside or scheme.code in scheme.files:
        return scheme
    try:
        return replace(scheme, files=scheme.files | {scheme.code: plugin_sha256(scheme.code)})
    except UserError:
        return scheme


def plugin_digest(file: str, sha256: str) -> str:
    """Return the digest of a plug-in for the record of trusted code, from its kind, its path and its file's SHA-256."""
    return hashlib.sha256(json.dumps([plugin_kind(file), file, sha256]).encode()).hexdigest()


def plugin_schemes(text: str, sha256: str = "") -> list[Scheme]:
    """Return the schemes of all controllers in `text`; none if this is no plug-in file.

    Raises:
        UserError: If the file cannot be loaded, has no such controller, or has another SHA-256 than the given one.
    """
    file, _, name = text.partition(":")
    kind = plugin_kind(text)
    if kind is None:
        return []
    if not Path(file).exists():
        raise UserError(f"{file}: no such file")
    sha256 = sha256 or plugin_sha256(file)
    from dumbbell.plugins.isolated import describe  # what it needs is slow to import

    controllers = {item["name"]: item for item in describe(str(full_name("plug-in", Path(file))), sha256)}
    if name and name not in controllers:
        raise UserError(
            f"{file}: unknown controller `{name}`{nearest(name, controllers)}: allowed are {listed(controllers)}"
        )
    return [
        _scheme(file, kind, item["name"], item["summary"])
        for item in controllers.values()
        if not name or item["name"] == name
    ]


NO_ECN = "the scheme does not use ECN: its controller has no `on_ecn`, and its transport has no `ecn`"
"""Reason why rules about marks do not apply to a plug-in."""


def uses_ecn(controller: str, file: str, sha256: str, transport: Mapping[str, object]) -> bool:
    """Return True if a plug-in has `on_ecn`, or if its packets are ECN-capable.

    Raises:
        UserError: If the file cannot be loaded, or has another SHA-256.
    """
    if transport.get("ecn", "off") != "off":
        return True
    from dumbbell.plugins.isolated import describe  # what it needs is slow to import

    return any(description["hears_ecn"] for description in describe(file, sha256) if description["name"] == controller)


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
