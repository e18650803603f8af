"""The kinds of figures: each file is one, with the name of the file, and its first line says what it shows.

A file has `SCOPE`, what one figure is of, and `draw`: of a run `draw(OfRun)`, of many runs `draw(OfResults)`. `OPTIONS`
names those of `FigureOptions` that it takes, if any.
"""

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from dumbbell.base.errors import UserError, listed, nearest

RUN, PATH, CAMPAIGN, ALL_PATHS, GRID = "run", "path", "campaign", "all paths", "grid"
SCOPES = (PATH, CAMPAIGN, ALL_PATHS, GRID, RUN)
"""What one figure is of; of a campaign it is of one path."""

_FOLDER = Path(__file__).parent


def kinds() -> dict[str, str]:
    """Return the name of each kind and what it shows, in the order of scopes."""
    names = [file.stem.replace("_", "-") for file in sorted(_FOLDER.glob("[a-z]*.py"))]
    names.sort(key=lambda name: SCOPES.index(scope(name)))
    return {name: shows(name) for name in names}


def figure_module(kind: str) -> Any:  # noqa: ANN401 (a module, as this package says)
    """Return the module of a kind.

    Raises:
        UserError: there is none.
    """
    file = _FOLDER / f"{kind.replace('-', '_')}.py"
    if not kind[:1].isalpha() or "_" in kind or not file.is_file():
        known = list(kinds())
        raise UserError(f"unknown figure `{kind}`{nearest(kind, known)}: allowed are {listed(known)}")
    return import_module(f"{__name__}.{file.stem}")


def scope(kind: str) -> str:
    """Return what one figure of this kind is of."""
    return str(figure_module(kind).SCOPE)


def options(kind: str) -> tuple[str, ...]:
    """Return which of `FigureOptions` figures of this kind take."""
    return tuple(getattr(figure_module(kind), "OPTIONS", ()))


def check_options(kind: str, given: Iterable[str]) -> None:
    """Refuses options that figures of this kind do not take.

    Raises:
        UserError: one was given; it names the kinds that take it.
    """
    taken = options(kind)
    for name in given:
        if name not in taken:
            takers = [each for each in kinds() if name in options(each)]
            raise UserError(f"figure `{kind}`: takes no `{name}`: it is for {listed(takers)}")


def shows(kind: str) -> str:
    """Return what a figure of this kind shows, for lists and titles."""
    said = str(figure_module(kind).__doc__).splitlines()[0].removesuffix(".")
    return said[:1].lower() + said[1:]
