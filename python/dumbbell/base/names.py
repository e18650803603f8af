"""Names of schemes, paths, experiments and cells, and of the directories of runs that are called by them."""

import re
from collections.abc import Collection, Iterable
from itertools import count

from dumbbell import core
from dumbbell.base.errors import UserError

RULE = core.name_rule()
"""What a name is, as the end of a refusal."""

MOST_LABEL = 200
"""Longest mix: it is one part of a file's name, which has at most 255 bytes."""

_MOST_FITTED = 80
"""Longest name that is made from a foreign text: it leaves room for an ending."""


def is_name(text: str) -> bool:
    """Whether a text can name something."""
    return text.isascii() and core.is_name(text)


def require_names(kind: str, names: Iterable[str], file: str) -> None:
    """Refuses what no scheme, path, experiment or cell can be called.

    Raises:
        UserError: names the `file`, the `kind` and the text.
    """
    for name in names:
        if not is_name(name):
            raise UserError(f'{file or "dumbbell"}: {kind} "{name[:MOST_LABEL]}": allowed are {RULE}')


def fitted(text: str, otherwise: str) -> str:
    """A name made from what another tool calls something."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("._-")[:_MOST_FITTED].strip("._-") or otherwise


def directory_name(label: str) -> str:
    """What the directory of a scheme or mix is called, each its own: `cubic*2+bbr` is in `cubic~2+bbr`."""
    return label.replace("*", "~")


def foreign_name(label: str) -> str:
    """A scheme or mix as a name, for other tools: `cubicx2+bbr`. It may be that of another one too."""
    return label.replace("*", "x")


def unlike(name: str, used: Collection[str]) -> str:
    """The name, with a number at its end where it is used already."""
    numbered = (f"{name}-{number}" for number in count(2))
    return name if name not in used else next(each for each in numbered if each not in used)
