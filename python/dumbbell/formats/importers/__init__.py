"""The importers, one file each. Its name is the kind, and its first line describes the input.

The function `read` of a file makes the results directory for an `ImportRequest`. `OPTIONS` names the fields that this
kind takes, of those that only some kinds take. `places`, if present, returns the directories at or below a source that
each become a results directory. A kind that makes a file has `convert` instead of `read`: `convert(source, out)`
returns a sentence about each part that it leaves out.

Other packages add importers by entry points of the group `dumbbell.importers`.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell.base.entry_points import load_entry_point, module_files
from dumbbell.base.errors import UserError, listed
from dumbbell.base.summary_line import summary_line
from dumbbell.formats.import_request import ImportRequest

if TYPE_CHECKING:  # listing the kinds needs no results
    from dumbbell.results import ResultsDirectory

GROUP = "dumbbell.importers"
"""Group of the entry points by which other packages add importers."""
_FOLDER = Path(__file__).parent


def import_kinds() -> dict[str, str]:
    """Return each kind of `dumbbell import` with its description: the first line of its file, which is not executed."""
    return {kind: summary_line(file) for kind, file in _files().items()}


def import_parts(request: ImportRequest) -> list[ImportRequest]:
    """Return a request for each results directory of a request: for Pantheon, one for each data directory.

    Their places below `out` are those of the sources below `source`.

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
    """Make the results directory of a request, completely or not at all.

    Raises:
        UserError: If there is no such kind, it does not take an option, nothing can be used, or `out` is in use.
    """
    _check(request)
    module = _module(request.kind)
    if not hasattr(module, "read"):
        raise UserError(f"`{request.kind}` makes a file, not results: use `import_file`", argument="kind")
    results: ResultsDirectory = module.read(request)
    return results


def import_file(request: ImportRequest) -> list[str] | None:
    """Make the file of a request; return a sentence about each part that was left out.

    For a kind that makes results, this makes nothing and returns None.

    Raises:
        UserError: If there is no such kind, it does not take an option, nothing can be used, or `out` exists.
    """
    _require_kind(request)
    if not (make := getattr(_module(request.kind), "convert", None)):
        return None
    for name in request.special_options:
        raise UserError(f"is for results, not for {import_kinds()[request.kind].partition(',')[0]}", argument=name)
    out = Path(request.out)
    require_new(out)
    left_out: list[str] = make(Path(request.source), out)
    return left_out


def require_new(file: Path) -> None:
    """Raise an error if an output file exists already.

    Raises:
        UserError: If the file exists.
    """
    if file.exists():
        raise UserError(f"{file}: exists: choose another file")


def _files() -> dict[str, Path]:
    """Return the file of each kind, sorted by name."""
    return module_files(GROUP, {file.stem: file for file in _FOLDER.glob("[a-z]*.py")})


def _require_kind(request: ImportRequest) -> None:
    if request.kind not in _files():
        raise UserError(argument="kind", value=request.kind, allowed=_files())


def _check(request: ImportRequest) -> None:
    """Raise an error for an unknown kind, or for an option that the kind does not take."""
    _require_kind(request)
    own_options = _options(request.kind)
    for name in request.special_options:
        if name not in own_options:
            takers = [kind for kind in _files() if name in _options_if_loaded(kind)]
            raise UserError(f"is for {listed(takers)}, not for {request.kind}", argument=name)


def _options(kind: str) -> tuple[str, ...]:
    return tuple(getattr(_module(kind), "OPTIONS", ()))


def _options_if_loaded(kind: str) -> tuple[str, ...]:
    """Return the options of a kind for a message; empty if the kind's package cannot be imported."""
    try:
        return _options(kind)
    except UserError:
        return ()


def _module(kind: str) -> Any:  # noqa: ANN401 (a module)
    if (_FOLDER / f"{kind}.py").is_file():
        return import_module(f"{__name__}.{kind}")
    return load_entry_point(GROUP, kind)
