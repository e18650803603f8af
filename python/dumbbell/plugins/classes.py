"""Loads controllers that are classes in Python: the core calls this in the process that executes a run."""

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
"""Before the names of plug-ins' own modules."""
NEEDED = ("on_ack", "control")
"""The methods that make a class a controller."""


def load(file: str, code: bytes, name: str) -> tuple[type, str]:
    """Return the class `name` of `file` and, as JSON, what it declares: `summary`, `parameters` and `fields`.

    `code` are the bytes of the file. They are executed anew for each run: what one leaves in its module no other sees.

    Raises:
        core.Error: one line naming the file and what is wrong with it.
    """
    known = {item.__name__: item for item in _controllers(_execute(file, code))}
    if name not in known:
        allowed = f"allowed are {listed(known)}" if known else f"no class in it has {' and '.join(NEEDED)}"
        raise core.Error(f"{file}: unknown class `{name}`{nearest(name, known)}: {allowed}")
    cls = known[name]
    documentation = inspect.cleandoc(cls.__doc__ or "").partition("\n")[0]
    declaration = {
        "summary": documentation,
        "parameters": [_parameter(file, name, item) for item in _keywords(file, cls)],
        "fields": _fields(file, cls),
    }
    text = json.dumps(declaration)
    if "\\ud" in text:  # halves of characters are written like this only
        try:
            json.dumps(declaration, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise core.Error(f"{file}: class `{name}`: declares half of a character (a lone surrogate)") from None
    return cls, text


def controllers(file: str, code: bytes) -> tuple[str, ...]:
    """Return the names of the classes of `file`, whose bytes are `code`, that are controllers.

    Raises:
        core.Error: it cannot be executed, or has none.
    """
    names = tuple(item.__name__ for item in _controllers(_execute(file, code)))
    if not names:
        raise core.Error(f"{file}: no class in it has {' and '.join(NEEDED)}")
    return names


def describe(error: BaseException) -> str:
    """What was raised and where, in one line."""
    where = traceback.extract_tb(error.__traceback__)
    place = f" ({where[-1].filename}, line {where[-1].lineno})" if where else ""
    text = one_line(error)
    name = type(error).__name__
    return f"{name}{place}" if text == name else f"{name}: {text}{place}"


class _Read(importlib.machinery.SourceFileLoader):
    """Loads a module from bytes that were read before: not from its file, nor from compiled code beside that."""

    def __init__(self, name: str, file: str, code: bytes) -> None:
        super().__init__(name, file)
        self._code = code

    def get_code(self, fullname: str) -> types.CodeType:
        return self.source_to_code(self._code, self.get_filename(fullname))


_added: list[str] = []
"""Folders of plug-ins that this module has added to `sys.path`, the latest first."""


def _enter(folder: str) -> None:
    """Put a folder first in `sys.path`, and forget modules of the same names from the folders of other plug-ins."""
    if folder in sys.path and folder not in _added:
        return  # this process has its own reasons for it
    others = [each for each in _added if each != folder]
    for name in [name for name, module in sys.modules.items() if "." not in name and _place(module) in others]:
        for each in [each for each in sys.modules if each.partition(".")[0] == name]:
            del sys.modules[each]  # who has imported it keeps it
    sys.path[:] = [folder, *(each for each in sys.path if each != folder)]
    _added[:] = [folder, *others]


def _place(module: types.ModuleType) -> str | None:
    """Return the folder in which a module or a package lies; None for a plug-in's own module."""
    file = getattr(module, "__file__", None)
    if not file or module.__name__.startswith(_PREFIX):
        return None
    return str(Path(file).parent.parent if hasattr(module, "__path__") else Path(file).parent)


def _execute(file: str, code: bytes) -> types.ModuleType:
    _enter(str(Path(file).resolve().parent))
    name = f"{_PREFIX}{hashlib.sha256(file.encode()).hexdigest()[:12]}"
    loader = _Read(name, file, code)
    spec = importlib.util.spec_from_file_location(name, file, loader=loader)
    assert spec is not None  # as it is given the loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickles look for it
    try:
        loader.exec_module(module)
    except SyntaxError as error:
        raise core.Error(f"{file}: line {error.lineno}: {error.msg}") from None
    except Exception as error:
        raise core.Error(f"{file}: raised {describe(error)}") from None
    return module


def _controllers(module: types.ModuleType) -> list[type]:
    """Classes that the module itself defines."""
    return [
        item
        for item in vars(module).values()
        if isinstance(item, type)
        and item.__module__ == module.__name__
        and all(callable(getattr(item, method, None)) for method in NEEDED)
    ]


def _keywords(file: str, cls: type) -> list[inspect.Parameter]:
    """The parameters of the constructor after `start`."""
    try:
        given = list(inspect.signature(cls, eval_str=True).parameters.values())
    except (NameError, TypeError, ValueError) as error:
        raise core.Error(f"{file}: class `{cls.__name__}`: {one_line(error)}") from None
    if not given:
        raise core.Error(f"{file}: class `{cls.__name__}`: its __init__ needs the parameter `start`")
    return given[1:]


def _parameter(file: str, cls: str, parameter: inspect.Parameter) -> dict[str, object]:
    """A declared parameter: its kind follows from its default, or from its annotation."""
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
    """Return whether all choices are texts, and the default is one of them."""
    return default in choices and all(isinstance(choice, str) for choice in choices)


def _within(file: str, cls: str, name: str, default: float, most: float) -> float:
    """Return the default of a parameter, unless it is larger than the core's numbers, or none."""
    if not -most <= default <= most:
        raise core.Error(
            f"{file}: class `{cls}`: parameter `{name}` of __init__: allowed is a default of up to {most:g}"
        )
    return default


def _fields(file: str, cls: type) -> list[tuple[str, str]]:
    declared = getattr(cls, "FIELDS", {})
    if not isinstance(declared, Mapping) or not all(isinstance(text, str) for text in (*declared, *declared.values())):
        raise core.Error(f"{file}: class `{cls.__name__}`: FIELDS: allowed is a dict from names of fields to units")
    if declared and not callable(getattr(cls, "fields", None)):
        raise core.Error(f"{file}: class `{cls.__name__}`: FIELDS needs the method `fields`")
    return list(declared.items())
