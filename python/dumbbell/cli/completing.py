"""The answers that a shell gets when it completes a command line.

The shell runs `dumbbell` itself, with `_ARGCOMPLETE` in its environment: the words are those of the parser and of the
catalog at that moment.
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
    """The experiments of the benchmark."""
    return [
        experiment_file.name for experiment_file in dumbbell.experiments() if experiment_file.membership is not None
    ]


def _metrics() -> list[str]:
    return [each["name"] for each in dumbbell.metrics()]


def _assigned() -> Iterator[str]:
    """What `--set` takes, up to the value."""
    yield from (f"{name}=" for name in dumbbell.settings())
    parameters = dumbbell.parameters()
    for scheme in dumbbell.schemes():
        own = [row["name"] for row in parameters if row["controller"] == scheme.controller]
        yield from (f"{scheme.name}.{name}=" for name in dict.fromkeys((*own, *scheme.parameters)))


LISTS: dict[str, Names] = {
    "run experiment": lambda: dumbbell.experiments().names(),
    "backend": backend_forms,
    "schemes": lambda: [*dumbbell.schemes().names(), "all"],
    "scheme": lambda: dumbbell.schemes().names(),
    "mixes": lambda: dumbbell.schemes().names(),
    "path": lambda: dumbbell.paths().names(),
    "export source": lambda: dumbbell.paths().names(),
    "only": _members,
    "settings": _assigned,
    "metrics": _metrics,
    "sort": _metrics,
    "list kind": lambda: dict.fromkeys(scheme.kind for scheme in dumbbell.schemes()),
}
"""The names that an argument takes, by the argument's destination, some in one command only."""

BETWEEN = {"mixes": "+"}
"""What stands between several names, where it is no comma."""


def shell_code(shell: str) -> str:
    """Return the code that a shell has to read once."""
    return str(shellcode([COMMAND], shell=shell)).strip()


def answer(parser: argparse.ArgumentParser) -> None:
    """Answers the shell that asks, and ends the process."""
    for command, action in _actions(parser):
        names = _names(command, action)
        if names is not None:
            between = BETWEEN.get(action.dest, ",")
            action.completer = _among(names, between)  # type: ignore[attr-defined]  # argcomplete's way
    argcomplete.autocomplete(parser, validator=lambda word, prefix: word.startswith(prefix))


def _actions(parser: argparse.ArgumentParser, command: str = "") -> Iterator[tuple[str, argparse.Action]]:
    """Every action of the parser and of its commands, behind the command's name."""
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
    """A completer: the name after the last comma or what else separates them, with what stands before it.

    A file or directory can stand wherever the name of something can.
    """
    files = argcomplete.completers.FilesCompleter()

    def complete(prefix: str, **_: object) -> list[str]:
        before, separator, last = prefix.rpartition(between)
        found = [before + separator + name for name in names() if name.startswith(last)]
        return found or [before + separator + file for file in files(last)]

    return complete
