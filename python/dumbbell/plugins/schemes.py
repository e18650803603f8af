"""Libraries and classes given by their files as schemes: `./libmine.so`, `./libmine.so:mine`, `mine.py:Mine`."""

import hashlib
import json
import zlib
from pathlib import Path

from dumbbell.catalog.scheme import MARKERS, Scheme
from dumbbell.errors import UserError, full_name, listed, nearest
from dumbbell.input_files import LIBRARY, PYTHON_CLASSES, Kind, check_regular, digest, require_size

SUFFIXES = {".so": "plugin", ".dylib": "plugin", ".py": "python"}
"""How files of plug-ins end, and the kinds of schemes that they are."""

_COLORS = ("teal", "indigo", "chocolate", "olive", "deeppink", "slategray", "navy", "maroon")


def plugin_scheme(text: str) -> Scheme | None:
    """The scheme that `text` means, if it is the file of a plug-in, with or without the name of a controller in it.

    Raises:
        UserError: it cannot be loaded, has no such controller, or has several and none is named.
    """
    found = plugin_schemes(text)
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
        raise UserError(f"--plugin {text}: allowed is FILE or FILE:NAME; a file ends with {listed(SUFFIXES)}")
    return found


def plugin_kind(text: str) -> str | None:
    """The kind of the schemes in the file of a plug-in, given as to `plugin_schemes`; None if it is no such file."""
    return SUFFIXES.get(Path(text.partition(":")[0]).suffix)


def plugin_file_kind(file: str) -> Kind:
    """What the file of a plug-in is."""
    return PYTHON_CLASSES if plugin_kind(file) == "python" else LIBRARY


def plugin_digest(file: str) -> str:
    """Return the SHA-256 of a plug-in's kind, path and content, by which a user's trust in it is kept.

    Raises:
        UserError: `file` is no regular file, or too large.
        OSError: `file` cannot be read.
    """
    return hashlib.sha256(
        json.dumps([plugin_kind(file), file, digest(Path(file), plugin_file_kind(file))]).encode()
    ).hexdigest()


def plugin_schemes(text: str) -> list[Scheme]:
    """The schemes of all controllers that `text` means; none if it is no file of a plug-in.

    Raises:
        UserError: it cannot be loaded, or has no such controller.
    """
    file, _, name = text.partition(":")
    kind = plugin_kind(text)
    if kind is None:
        return []
    if not Path(file).exists():
        raise UserError(f"{file}: no such file")
    require_size(Path(file), plugin_file_kind(file), check_regular(Path(file)))
    from dumbbell.plugins.isolated import describe  # what it needs is slow to import

    described = {item["name"]: item for item in describe(str(full_name("plug-in", Path(file))))}
    if name and name not in described:
        raise UserError(
            f"{file}: unknown controller `{name}`{nearest(name, described)}: allowed are {listed(described)}"
        )
    return [
        _scheme(file, kind, item["name"], item["summary"])
        for item in described.values()
        if not name or item["name"] == name
    ]


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
