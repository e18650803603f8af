"""The importers: each file is one, with the name of its kind, and its first line says what it reads.

A file has `read`, which makes the results directory that an `ImportRequest` asks for. `OPTIONS` names those fields of
the request that only some kinds take, and that this kind takes, if any. `places` returns the directories at or below a
source that become a results directory each, if a kind has such.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell.base.errors import UserError, listed
from dumbbell.base.summary_line import summary_line
from dumbbell.formats.import_request import ImportRequest

if TYPE_CHECKING:  # whoever lists the kinds needs no results
    from dumbbell.results import ResultsDirectory

_FOLDER = Path(__file__).parent


def import_kinds() -> dict[str, str]:
    """Return each kind of `import_results`, and what it reads: the first line of its file, which is not executed."""
    return {file.stem: summary_line(file) for file in sorted(_FOLDER.glob("[a-z]*.py"))}


def import_parts(request: ImportRequest) -> list[ImportRequest]:
    """Return a request for each results directory that a request asks for: of Pantheon's, each data directory below.

    Below `out` they lie as their sources do.

    Raises:
        dumbbell.Error: If there is no such kind, or it does not take an option.
    """
    _check(request)
    source = Path(request.source)
    find = getattr(_module(request.kind), "places", None)
    places = find(source) if find else []
    if places in ([], [source]):
        return [request]
    return [replace(request, source=place, out=Path(request.out) / place.relative_to(source)) for place in places]


def read(request: ImportRequest) -> ResultsDirectory:
    """Make the results directory that a request asks for, completely or not at all.

    Raises:
        UserError: If there is no such kind, it does not take an option, nothing can be used, or `out` is in use.
    """
    _check(request)
    results: ResultsDirectory = _module(request.kind).read(request)
    return results


def _check(request: ImportRequest) -> None:
    """Refuse an unknown kind, and an option that the kind does not take."""
    if request.kind not in import_kinds():
        raise UserError(argument="kind", value=request.kind, allowed=import_kinds())
    taken = _options(request.kind)
    for name in request.given:
        if name not in taken:
            takers = [kind for kind in import_kinds() if name in _options(kind)]
            raise UserError(f"is for {listed(takers)}, not for {request.kind}", argument=name)


def _options(kind: str) -> tuple[str, ...]:
    return tuple(getattr(_module(kind), "OPTIONS", ()))


def _module(kind: str) -> Any:  # noqa: ANN401 (a module, as this package says)
    return import_module(f"{__name__}.{kind}")
