"""A parser of options whose errors are one line with the problem and the closest allowed name."""

import argparse
import itertools
import re
import sys
from typing import Any, NoReturn

from dumbbell.base.errors import UserError, nearest


class StrictParser(argparse.ArgumentParser):
    """Parser with one-line errors."""

    def __init__(self, *words: Any, **settings: Any) -> None:  # noqa: ANN401 (as argparse has it)
        """Treat `-5mbit` as a value, which the option then refuses, and not as an option."""
        super().__init__(*words, **settings)
        self._negative_number_matcher = re.compile(r"-\.?\d")

    def error(self, message: str) -> NoReturn:
        """Raise the error of the parser.

        Raises:
            UserError: Always; the message names the help.
        """
        raise UserError(f"{message} (`{self.prog} --help` shows what is possible)")

    def parse_known_args(self, *words: Any, **settings: Any) -> Any:  # noqa: ANN401 (as argparse has it)
        """Parse the words. An unknown option is refused first, with the closest known name."""
        arguments = list(words[0] if words and words[0] is not None else settings.get("args") or sys.argv[1:])
        self._check(arguments)
        namespace, left = super().parse_known_args(arguments, *words[1:], **settings)
        if left:
            raise self._too_many(arguments, left)
        return namespace, left

    def _check(self, words: list[str]) -> None:
        """Raise an error for the first unknown or repeated option, or for an unknown command."""
        commands = next((action for action in self._actions if isinstance(action, argparse._SubParsersAction)), None)
        values: dict[argparse.Action, str] = {}
        for place, word in enumerate(words):
            if word == "--":
                return
            name, _, value = word.partition("=")
            action = self._option_string_actions.get(name)
            if word.startswith("--") and action is None:
                hint = nearest(name, self._option_string_actions)
                self.error(f"unknown option {name}{hint}")
            if action is not None and not isinstance(action, (argparse._AppendAction, argparse._CountAction)):
                value = "" if action.nargs == 0 else value or "".join(words[place + 1 : place + 2])
                if action in values:
                    raise _given_twice(name, action, values[action], value)
                values[action] = value
            if commands is not None and not word.startswith("-"):
                if word not in commands.choices:
                    hint = nearest(word, commands.choices)
                    raise UserError(f"unknown command `{word}`{hint}: allowed are {', '.join(commands.choices)}")
                return  # the rest belongs to that command

    def _too_many(self, arguments: list[str], left: list[str]) -> UserError:
        """Return the error for unexpected words. If they follow a list of names, it shows the form of lists."""
        from dumbbell.catalog.options.values import names

        word, behind = left[0], ""
        for index, option in enumerate(arguments):
            action = self._option_string_actions.get(option)
            if action is not None and action.type is names:
                following = list(itertools.takewhile(lambda item: not item.startswith("-"), arguments[index + 1 :]))
                if word in following[1:]:
                    return UserError(f"`{word}`: names stand between commas: {option} {','.join(following)}")
        if word.startswith("-") and "--" in (self.usage or "").split():
            behind = ", a command's own options stand behind `--`"
        return UserError(f"`{word}`: nothing is expected there{behind} (`{self.prog} --help` shows what is possible)")


def _given_twice(name: str, action: argparse.Action, first: str, second: str) -> UserError:
    """Return the error for a repeated option. argparse would ignore its first value."""
    from dumbbell.catalog.options.values import names

    if action.type is names:
        return UserError(f"{name}: is given twice: names stand between commas: {name} {first},{second}")
    both_values = f" ({first} and {second})" if first and second else ""
    return UserError(f"{name}: is given twice{both_values}: allowed is once")
