"""Loader of controllers that are classes in Python. The core calls it in the process that executes a run."""

import hashlib
import importlib.machinery
import importlib.util
import inspect
import json
import sys
import traceback
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Union, get_args, get_origin

from dumbbell import core
from dumbbell.base.errors import listed, nearest, one_line

_PREFIX = "dumbbell_plugin_"
"""Prefix of the names of plug-ins' modules."""
NEEDED = ("on_ack", "control")
"""Methods that make a class a controller."""


def load(file: str, code: bytes, name: str) -> tuple[type, str]:
    """Return the class `name` of `file` and its declaration as JSON: `summary`, `parameters` and `fields`.

    `code` are the bytes of the file. They are executed anew for each run, so that runs do not share a module's state.

    Raises:
        core.Error: If the class cannot be loaded; the message has the file and the problem.
    """
    classes = {item.__name__: item for item in _controllers(_execute(file, code))}
    if name not in classes:
        hint_text = f"allowed are {listed(classes)}" if classes else f"no class in it has {' and '.join(NEEDED)}"
        raise core.Error(f"{file}: unknown class `{name}`{nearest(name, classes)}: {hint_text}")
    cls = classes[name]
    documentation = inspect.cleandoc(cls.__doc__ or "").partition("\n")[0]
    declaration = {
        "summary": documentation,
        "parameters": [_parameter(file, name, item) for item in _keywords(file, cls)],
        "fields": _fields(file, cls),
    }
    text = json.dumps(declaration)
    if "\\ud" in text:  # JSON writes a lone surrogate only as an escape
        try:
            json.dumps(declaration, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise core.Error(f"{file}: class `{name}`: declares half of a character (a lone surrogate)") from None
    return cls, text


def controllers(file: str, code: bytes) -> tuple[str, ...]:
    """Return the names of the controllers in `file`, whose bytes are `code`.

    Raises:
        core.Error: If the file cannot be executed, or has no controller.
    """
    names = tuple(item.__name__ for item in _controllers(_execute(file, code)))
    if not names:
        raise core.Error(f"{file}: no class in it has {' and '.join(NEEDED)}")
    return names


def describe(error: BaseException) -> str:
    """Return an exception and its place, in one line."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    text = one_line(error)
    name = type(error).__name__
    return f"{name}{place}" if text == name else f"{name}: {text}{place}"


class _Read(importlib.machinery.SourceFileLoader):
    """Loader of a module from given bytes instead of its file or compiled code."""

    def __init__(self, name: str, file: str, code: bytes) -> None:
        super().__init__(name, file)
        self._code = code

    def get_code(self, fullname: str) -> types.CodeType:
        return self.source_to_code(self._code, self.get_filename(fullname))


_plugin_folders: list[str] = []
"""Folders of plug-ins that this module has added to `sys.path`, the latest first."""


def _enter(folder: str) -> None:
    """Put a folder first in `sys.path`, and remove modules of equal names from the folders of other plug-ins."""
    if folder in sys.path and folder not in _plugin_folders:
        return  # the process added the folder itself
    other_folders = [other for other in _plugin_folders if other != folder]
    for name in [name for name, module in sys.modules.items() if "." not in name and _place(module) in other_folders]:
        for module_name in [module_name for module_name in sys.modules if module_name.partition(".")[0] == name]:
            del sys.modules[module_name]  # existing imports stay valid
    sys.path[:] = [folder, *(other for other in sys.path if other != folder)]
    _plugin_folders[:] = [folder, *other_folders]


def _place(module: types.ModuleType) -> str | None:
    """Return the folder of a module or a package; None for a plug-in's own module."""
    file = getattr(module, "__file__", None)
    if not file or module.__name__.startswith(_PREFIX):
        return None
    return str(Path(file).parent.parent if hasattr(module, "__path__") else Path(file).parent)


def _execute(file: str, code: bytes) -> types.ModuleType:
    _enter(str(Path(file).resolve().parent))
    name = f"{_PREFIX}{hashlib.sha256(file.encode()).hexdigest()[:12]}"
    loader = _Read(name, file, code)
    spec = importlib.util.spec_from_file_location(name, file, loader=loader)
    assert spec is not None  # it has a loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickles need it
    try:
        loader.exec_module(module)
    except SyntaxError as error:
        raise core.Error(f"{file}: line {error.lineno}: {error.msg}") from None
    except Exception as error:
        raise core.Error(f"{file}: raised {describe(error)}") from None
    return module


def _controllers(module: types.ModuleType) -> list[type]:
    """Return the classes that the module itself defines."""
    return [
        item
        for item in vars(module).values()
        if isinstance(item, type)
        and item.__module__ == module.__name__
        and all(callable(getattr(item, method, None)) for method in NEEDED)
    ]


def _keywords(file: str, cls: type) -> list[inspect.Parameter]:
    """Return the parameters of the constructor after `start`."""
    try:
        parameters = list(inspect.signature(cls, eval_str=True).parameters.values())
    except (NameError, TypeError, ValueError) as error:
        raise core.Error(f"{file}: class `{cls.__name__}`: {one_line(error)}") from None
    if not parameters:
        raise core.Error(f"{file}: class `{cls.__name__}`: its __init__ needs the parameter `start`")
    return parameters[1:]


def _parameter(file: str, cls: str, parameter: inspect.Parameter) -> dict[str, object]:
    """Return a declared parameter. Its kind follows from its default, or from its annotation."""
    name, default, annotation = parameter.name, parameter.default, parameter.annotation
    choices: list[str] = []
    if annotation is bytes or (get_origin(annotation) in (Union, types.UnionType) and bytes in get_args(annotation)):
        kind, default = "file", None
    elif get_origin(annotation) is Literal and _is_choice(default, get_args(annotation)):
        kind, choices = "choice", [*get_args(annotation)]
    elif isinstance(default, bool):
        kind = "flag"
    elif get_origin(annotation) is Literal or not isinstance(default, int | float):
        raise core.Error(
            f"{file}: class `{cls}`: parameter `{name}` of __init__: needed is a default that is a number, True or "
            "False, or the annotation Literal[...] of texts, or bytes for a file"
        )
    elif isinstance(default, float) or annotation is float:
        kind, default = "number", float(_within(file, cls, name, default, sys.float_info.max))
    else:
        kind, default = "integer", int(_within(file, cls, name, default, 2**63 - 1))
    return {"name": name, "kind": kind, "default": default, "choices": choices}


def _is_choice(default: object, choices: tuple[object, ...]) -> bool:
    """Return True if all choices are strings, and if the default is a choice."""
    return default in choices and all(isinstance(choice, str) for choice in choices)


def _within(file: str, cls: str, name: str, default: float, maximum: float) -> float:
    """Return the default of a parameter, unless it is not finite, or larger than the core's numbers."""
    if not -maximum <= default <= maximum:
        raise core.Error(
            f"{file}: class `{cls}`: parameter `{name}` of __init__: allowed is a default of up to {maximum:g}"
        )
    return default


def _fields(file: str, cls: type) -> list[tuple[str, str]]:
    field_units = getattr(cls, "FIELDS", {})
    if not isinstance(field_units, Mapping) or not all(
        isinstance(text, str) for text in (*field_units, *field_units.values())
    ):
        raise core.Error(f"{file}: class `{cls.__name__}`: FIELDS: allowed is a dict from names of fields to units")
    if field_units and not callable(getattr(cls, "fields", None)):
        raise core.Error(f"{file}: class `{cls.__name__}`: FIELDS needs the method `fields`")
    return list(field_units.items())
