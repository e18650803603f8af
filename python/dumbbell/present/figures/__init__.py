"""Kinds of figures: each file defines the kind that has its name.

The first line of a file says in lists and titles what its figures show. A file has `SCOPE` (what one figure covers) and
`draw`, which takes a `RunFigureRequest` (one run) or a `ResultsFigureRequest` (many runs). `OPTIONS` names the fields
of `FigureOptions` that the kind takes.
"""

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from dumbbell.base.errors import UserError, listed, nearest

RUN, PATH, CAMPAIGN, ALL_PATHS, GRID = "run", "path", "campaign", "all paths", "grid"
SCOPES = (PATH, CAMPAIGN, ALL_PATHS, GRID, RUN)
"""Subjects of figures; a figure of a campaign covers one path."""

_FOLDER = Path(__file__).parent


def kinds() -> dict[str, str]:
    """Return the name of each kind and what it shows, in the order of scopes."""
    names = [file.stem.replace("_", "-") for file in sorted(_FOLDER.glob("[a-z]*.py"))]
    names.sort(key=lambda name: SCOPES.index(scope(name)))
    return {name: shows(name) for name in names}


def figure_module(kind: str) -> Any:  # noqa: ANN401 (a module, see the head of this file)
    """Return the module of a kind.

    Raises:
        UserError: No kind has this name.
    """
    file = _FOLDER / f"{kind.replace('-', '_')}.py"
    if not kind[:1].isalpha() or "_" in kind or not file.is_file():
        names = list(kinds())
        raise UserError(f"unknown figure `{kind}`{nearest(kind, names)}: allowed are {listed(names)}")
    return import_module(f"{__name__}.{file.stem}")


def scope(kind: str) -> str:
    """Return the subject of a figure of this kind, one of `SCOPES`."""
    return str(figure_module(kind).SCOPE)


def options(kind: str) -> tuple[str, ...]:
    """Return the names of the `FigureOptions` that figures of this kind take."""
    return tuple(getattr(figure_module(kind), "OPTIONS", ()))


def check_options(kind: str, names: Iterable[str]) -> None:
    """Refuse options that figures of this kind do not take.

    Raises:
        UserError: An option is not taken; the message names the kinds that take it.
    """
    option_names = options(kind)
    for name in names:
        if name not in option_names:
            takers = [other for other in kinds() if name in options(other)]
            raise UserError(f"figure `{kind}`: takes no `{name}`: it is for {listed(takers)}")


def shows(kind: str) -> str:
    """Return the subject of figures of this kind in words, for lists and titles."""
    title = str(figure_module(kind).__doc__).splitlines()[0].removesuffix(".")
    return title[:1].lower() + title[1:]
