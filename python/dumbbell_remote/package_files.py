"""Files of this package, named so that another machine finds its own: the weights and tables of shipped controllers."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dumbbell import _core
from dumbbell.base.errors import UserError

PACKAGE = Path(_core.__file__).resolve().parent
_MARK = "package:"


def files(flow: Mapping[str, Any]) -> dict[str, str]:
    """The parameters of a flow's controller that name files, and what they name."""
    if flow.get("plugin") or flow.get("python"):
        return {}
    named = _core.needed_files().get(str(flow.get("controller", "")), [])
    return {name: str(value) for name, value in flow.get("parameters", {}).items() if name in named}


def is_shipped(file: str) -> bool:
    """Whether it is a file of this package."""
    return Path(file).resolve().is_relative_to(PACKAGE)


def portable(specification: dict[str, Any]) -> dict[str, Any]:
    """The same for another machine: files of this package by their place in it."""

    def place(file: str) -> str:
        return _MARK + str(Path(file).resolve().relative_to(PACKAGE)) if is_shipped(file) else file

    return _with_files(specification, place)


def found(specification: dict[str, Any], only_shipped: bool) -> dict[str, Any]:
    """The same on the other machine, where such a place is a file of its own package.

    Raises:
        UserError: `only_shipped`, and a file is named that is not of the package.
    """

    def file(text: str) -> str:
        path = (PACKAGE / text.removeprefix(_MARK)).resolve() if text.startswith(_MARK) else Path(text)
        if (only_shipped or text.startswith(_MARK)) and not is_shipped(str(path)):
            raise UserError(f"the file `{text}`: at another machine's word only those that come with dumbbell are read")
        return str(path)

    return _with_files(specification, file)


def _with_files(specification: dict[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    flows = [
        flow | {"parameters": flow["parameters"] | {name: change(file) for name, file in named.items()}}
        if (named := files(flow))
        else flow
        for flow in specification["flows"]
    ]
    return specification | {"flows": flows}
