"""`dumbbell completion`, and the answers that a shell gets when it completes a command line.

The shell runs `dumbbell` itself, with `_ARGCOMPLETE` in its environment: the words are those of the parser and of the
catalog at that moment.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator

import argcomplete
from argcomplete.shell_integration import shellcode

from dumbbell import catalog
from dumbbell.option_values import Choice

COMMAND = "dumbbell"

LISTS: dict[str, Callable[[], Iterable[str]]] = {
    "schemes": lambda: [*catalog.schemes().names(), "all"],
    "path": lambda: catalog.paths().names(),
    "experiment": lambda: catalog.experiments().names(),
    "only": lambda: catalog.experiments().names(),
    "scheme": lambda: catalog.schemes().names(),
}
"""The names that an argument takes, several with commas between them, by the argument's destination."""


def print_completion(shell: str) -> int:
    """Prints the code that a shell has to read once."""
    print(shellcode([COMMAND], shell=shell).strip())
    return 0


def answer(parser: argparse.ArgumentParser) -> None:
    """Answers the shell that asks, and ends the process."""
    for action in _actions(parser):
        names = _names(action)
        if names is not None:
            action.completer = _among(names)  # type: ignore[attr-defined]  # argcomplete's way
    argcomplete.autocomplete(parser, validator=lambda word, prefix: word.startswith(prefix))


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Every action of the parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)


def _names(action: argparse.Action) -> Callable[[], Iterable[str]] | None:
    if isinstance(action.type, Choice):
        words = action.type.names
        return lambda: words
    return LISTS.get(action.dest)


def _among(names: Callable[[], Iterable[str]]) -> Callable[..., list[str]]:
    """A completer: the name after the last comma, with what stands before it."""

    def complete(prefix: str, **_: object) -> list[str]:
        before, comma, _last = prefix.rpartition(",")
        return [before + comma + name for name in names()]

    return complete
