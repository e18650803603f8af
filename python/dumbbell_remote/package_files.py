"""Files of this package under names that are valid on other machines: weights and tables of shipped controllers."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dumbbell import core
from dumbbell.base.errors import UserError

PACKAGE = Path(core.FILE).resolve().parent
_MARK = "package:"


def files(flow: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters of a flow's controller that name files, with their files."""
    if flow.get("plugin") or flow.get("python"):
        return {}
    file_parameters = core.needed_files().get(str(flow.get("controller", "")), [])
    return {name: str(value) for name, value in flow.get("parameters", {}).items() if name in file_parameters}


def is_shipped(file: str) -> bool:
    """Return True if a file belongs to this package."""
    return Path(file).resolve().is_relative_to(PACKAGE)


def portable(specification: dict[str, Any]) -> dict[str, Any]:
    """Return the run spec with the package's files named by their place in the package."""

    def place(file: str) -> str:
        return _MARK + str(Path(file).resolve().relative_to(PACKAGE)) if is_shipped(file) else file

    return _with_files(specification, place)


def localized(specification: dict[str, Any], only_shipped: bool) -> dict[str, Any]:
    """Return the run spec with places in the package replaced by this machine's files.

    Raises:
        UserError: `only_shipped` is True, and a file is not in the package.
    """

    def file(text: str) -> str:
        path = (PACKAGE / text.removeprefix(_MARK)).resolve() if text.startswith(_MARK) else Path(text)
        if (only_shipped or text.startswith(_MARK)) and not is_shipped(str(path)):
            raise UserError(f"the file `{text}`: at another machine's word only those that come with dumbbell are read")
        return str(path)

    return _with_files(specification, file)


def _with_files(specification: dict[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    flows = [
        flow | {"parameters": flow["parameters"] | {name: change(file) for name, file in flow_files.items()}}
        if (flow_files := files(flow))
        else flow
        for flow in specification["flows"]
    ]
    return specification | {"flows": flows}
