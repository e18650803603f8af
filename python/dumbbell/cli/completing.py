"""Answers for a shell that completes a command line.

The shell runs `dumbbell` itself, with `_ARGCOMPLETE` in its environment. The words come from the current parser and
catalog.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator

import argcomplete
from argcomplete.shell_integration import shellcode

import dumbbell
from dumbbell.base.backend import backend_forms
from dumbbell.catalog.options.values import Choice

COMMAND = "dumbbell"

Names = Callable[[], Iterable[str]]


def _members() -> list[str]:
    """Return the experiments of the benchmark."""
    return [
        experiment_file.name for experiment_file in dumbbell.experiments() if experiment_file.membership is not None
    ]


def _metrics() -> list[str]:
    return [metric["name"] for metric in dumbbell.metrics()]


def _assignments() -> Iterator[str]:
    """Yield the possible beginnings of `--set`, up to the value."""
    yield from (f"{name}=" for name in dumbbell.settings())
    parameters = dumbbell.parameters()
    for scheme in dumbbell.schemes():
        own_parameters = [row["name"] for row in parameters if row["controller"] == scheme.controller]
        yield from (f"{scheme.name}.{name}=" for name in dict.fromkeys((*own_parameters, *scheme.parameters)))


LISTS: dict[str, Names] = {
    "run experiment": lambda: dumbbell.experiments().names(),
    "backend": backend_forms,
    "schemes": lambda: [*dumbbell.schemes().names(), "all"],
    "scheme": lambda: dumbbell.schemes().names(),
    "mixes": lambda: dumbbell.schemes().names(),
    "path": lambda: dumbbell.paths().names(),
    "export source": lambda: dumbbell.paths().names(),
    "only": _members,
    "settings": _assignments,
    "metrics": _metrics,
    "sort": _metrics,
    "list kind": lambda: dict.fromkeys(scheme.kind for scheme in dumbbell.schemes()),
}
"""Names for each argument, by its destination; some are for one command only."""

BETWEEN = {"mixes": "+"}
"""Separators between several names, unless it is a comma."""


def shell_code(shell: str) -> str:
    """Return the code that a shell must read once."""
    return str(shellcode([COMMAND], shell=shell)).strip()


def answer(parser: argparse.ArgumentParser) -> None:
    """Answer the shell that asks, and end the process."""
    for command, action in _actions(parser):
        names = _names(command, action)
        if names is not None:
            between = BETWEEN.get(action.dest, ",")
            action.completer = _among(names, between)  # type: ignore[attr-defined]  # argcomplete's way
    argcomplete.autocomplete(parser, validator=lambda word, prefix: word.startswith(prefix))


def _actions(parser: argparse.ArgumentParser, command: str = "") -> Iterator[tuple[str, argparse.Action]]:
    """Yield every action of the parser and of its commands, with the command's name."""
    for action in parser._actions:
        yield command, action
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from _actions(inner, name)


def _names(command: str, action: argparse.Action) -> Names | None:
    if isinstance(action.type, Choice):
        words = action.type.names
        return lambda: words
    return LISTS.get(f"{command} {action.dest}") or LISTS.get(action.dest)


def _among(names: Names, between: str) -> Callable[..., list[str]]:
    """Return a completer for the name after the last separator, which keeps the text before it.

    If no name matches, files and directories are offered.
    """
    files = argcomplete.completers.FilesCompleter()

    def complete(prefix: str, **_: object) -> list[str]:
        before, separator, last = prefix.rpartition(between)
        matches = [before + separator + name for name in names() if name.startswith(last)]
        return matches or [before + separator + file for file in files(last)]

    return complete
