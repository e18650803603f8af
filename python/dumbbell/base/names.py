"""Names of schemes, paths, experiments and cells, and of the run directories that contain such names."""

import re
from collections.abc import Collection, Iterable
from itertools import count

from dumbbell import core
from dumbbell.base.errors import UserError

RULE = core.name_rule()
"""The rule for names, as the end of an error message."""

MOST_LABEL = 200
"""Maximum length of a mix, characters. A mix is one part of a file name, which has at most 255 bytes."""

_MOST_FITTED = 80
"""Maximum length of a name made from a foreign text, which leaves room for a suffix."""


def is_name(text: str) -> bool:
    """Return True if a text is a valid name."""
    return text.isascii() and core.is_name(text)


def require_names(kind: str, names: Iterable[str], file: str) -> None:
    """Raise an error if a text cannot be the name of a scheme, path, experiment or cell.

    Raises:
        UserError: If a name is invalid; the message has the `file`, the `kind` and the name.
    """
    for name in names:
        if not is_name(name):
            raise UserError(f'{file or "dumbbell"}: {kind} "{name[:MOST_LABEL]}": allowed are {RULE}')


def fitted(text: str, otherwise: str) -> str:
    """Return a valid name made from the name in another tool, or `otherwise` if no valid character is left."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("._-")[:_MOST_FITTED].strip("._-") or otherwise


def directory_name(label: str) -> str:
    """Return the directory name of a scheme or mix, unique for each: `cubic*2+bbr` is in `cubic~2+bbr`."""
    return label.replace("*", "~")


def foreign_name(label: str) -> str:
    """Return a scheme or mix as a name for other tools: `cubicx2+bbr`. It may equal the name of another scheme."""
    return label.replace("*", "x")


def unlike(name: str, used: Collection[str]) -> str:
    """Return the name; if it is in `used`, with a number at its end."""
    candidates = (f"{name}-{number}" for number in count(2))
    return name if name not in used else next(candidate for candidate in candidates if candidate not in used)
