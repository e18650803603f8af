"""A parser of options that says in one line what is wrong, and the closest that is allowed."""

import argparse
import itertools
import re
import sys
from typing import Any, NoReturn

from dumbbell.base.errors import UserError, nearest


class StrictParser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def __init__(self, *words: Any, **settings: Any) -> None:  # noqa: ANN401 (as argparse has it)
        """Takes `-5mbit` for a value, which the option refuses, and not for an option."""
        super().__init__(*words, **settings)
        self._negative_number_matcher = re.compile(r"-\.?\d")

    def error(self, message: str) -> NoReturn:
        """Refuses what was given.

        Raises:
            UserError: always; says where the options are told.
        """
        raise UserError(f"{message} (`{self.prog} --help` shows what is possible)")

    def parse_known_args(self, *words: Any, **settings: Any) -> Any:  # noqa: ANN401 (as argparse has it)
        """Parses; what it does not know is refused first, with the closest that there is."""
        given = list(words[0] if words and words[0] is not None else settings.get("args") or sys.argv[1:])
        self._check(given)
        found, left = super().parse_known_args(given, *words[1:], **settings)
        if left:
            raise self._too_many(given, left)
        return found, left

    def _check(self, words: list[str]) -> None:
        """Refuses the first unknown option, one that is given again, and an unknown command."""
        commands = next((each for each in self._actions if isinstance(each, argparse._SubParsersAction)), None)
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
                return  # the rest is that command's

    def _too_many(self, given: list[str], left: list[str]) -> UserError:
        """The error for words that mean nothing; where they follow a list of names, it says how lists are written."""
        from dumbbell.catalog.options.values import names

        word, behind = left[0], ""
        for index, option in enumerate(given):
            action = self._option_string_actions.get(option)
            if action is not None and action.type is names:
                listed = list(itertools.takewhile(lambda each: not each.startswith("-"), given[index + 1 :]))
                if word in listed[1:]:
                    return UserError(f"`{word}`: names stand between commas: {option} {','.join(listed)}")
        if word.startswith("-") and "--" in (self.usage or "").split():
            behind = ", a command's own options stand behind `--`"
        return UserError(f"`{word}`: nothing is expected there{behind} (`{self.prog} --help` shows what is possible)")


def _given_twice(name: str, action: argparse.Action, first: str, second: str) -> UserError:
    """The error for an option that is given again: argparse would forget what it was given first."""
    from dumbbell.catalog.options.values import names

    if action.type is names:
        return UserError(f"{name}: is given twice: names stand between commas: {name} {first},{second}")
    both = f" ({first} and {second})" if first and second else ""
    return UserError(f"{name}: is given twice{both}: allowed is once")
