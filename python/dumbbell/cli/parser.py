"""The parser of the command line. Each command is a file in `commands`, or in another package."""

import argparse
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from dumbbell.base.entry_points import load_entry_point, module_files
from dumbbell.base.summary_line import summary_line
from dumbbell.catalog.options.parser import StrictParser

FOLDER = Path(__file__).parent / "commands"


GROUP = "dumbbell.commands"
"""Group of the entry points by which other packages add commands."""


def commands() -> dict[str, str]:
    """Return each command with its description: the first line of its file, which is not executed."""
    files = module_files(GROUP, {file.stem.rstrip("_"): file for file in FOLDER.glob("[a-z]*.py")})
    return {name: summary_line(file) for name, file in files.items()}


def command(name: str) -> Any:  # noqa: ANN401 (a module with the two functions)
    """Return the module of a command: `add_arguments(parser)`, and `main(arguments)`, which returns the exit status."""
    for module_name in (name, f"{name}_"):  # `import` is a keyword of Python
        if (FOLDER / f"{module_name}.py").is_file():
            return import_module(f"dumbbell.cli.commands.{module_name}")
    return load_entry_point(GROUP, name)


class _Version(argparse.Action):
    """Action that prints the version and ends the process."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from dumbbell.cli.version import version_text

        print(version_text())
        parser.exit()


class _Command(StrictParser):
    """The parser of one command. A command line needs only one of many.

    The parser is made at its first use, and gets its arguments when it parses.
    """

    def __init__(self, *, fill: Callable[[argparse.ArgumentParser], None], **settings: Any) -> None:  # noqa: ANN401
        self._fill: Callable[[argparse.ArgumentParser], None] | None = fill
        self._settings: dict[str, object] | None = settings

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (as argparse has it)
        """Make the parser: until then it has no attribute of a parser."""
        if self._settings is None:
            raise AttributeError(name)
        self._make()
        return getattr(self, name)

    def _make(self) -> None:
        settings, self._settings = self._settings, None
        if settings is not None:
            super().__init__(**settings)

    def fill(self) -> None:
        """Add the arguments of the command, once."""
        self._make()
        fill, self._fill = self._fill, None
        if fill is not None:
            fill(self)
            _options.update(_options_of(self))
            _add_verbose(self, 1)

    def parse_known_args(self, *words: Any, **settings: Any) -> Any:  # noqa: ANN401 (as argparse has it)
        """Parse the words, after adding the command's arguments."""
        self.fill()
        return super().parse_known_args(*words, **settings)


_options: dict[str, str] = {}
"""Options of the filled commands, by the library's argument."""


def _options_of(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Return the first option for each argument: `--duration`, and not `--quick`, which sets one value of it."""
    options: dict[str, str] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                options = _options_of(inner) | options
        elif action.option_strings:
            options.setdefault(action.dest, action.option_strings[-1])
    return options


def option_words(name: str, _value: str, form: str) -> str:
    """Return the option of the command for an argument of the library, with the form of its value."""
    option = _options.get(name) or _option_of_run(name) or f"--{name.replace('_', '-')}"
    return f"{option} {form}".rstrip()


def _option_of_run(name: str) -> str | None:
    """Return the option of `dumbbell run` for a field of its request. Messages of other commands use some of them."""
    from dumbbell.base.request_fields import options
    from dumbbell.catalog.run_request import RunRequest

    return next((option.option(name) for field_name, option in options(RunRequest) if field_name == name), None)


def command_parser(is_complete: bool = False) -> argparse.ArgumentParser:
    """Return the parser for all words after `dumbbell`. With `is_complete` all commands get their arguments at once."""
    _options.clear()
    parser = StrictParser(prog="dumbbell", description="Weighs congestion control.", allow_abbrev=False)
    parser.add_argument("-V", "--version", action=_Version, nargs=0, help="version, commit and what is installed")
    _add_verbose(parser, 0)
    choices = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Command)
    for name, meaning in commands().items():
        subparser = choices.add_parser(name, help=meaning, fill=partial(_fill, name), allow_abbrev=False)
        if is_complete:
            subparser.fill()
    return parser


_VERBOSE = "verbose"


def _add_verbose(parser: argparse.ArgumentParser, depth: int) -> None:
    """Add `-v` to a parser and to its subparsers: argparse counts each place separately."""
    text = "say on stderr what happens; -vv: details too (docs/how-to/logs.md)"
    parser.add_argument(
        "-v", "--verbose", dest=f"{_VERBOSE}{depth}", action="count", default=argparse.SUPPRESS, help=text
    )
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                _add_verbose(inner, depth + 1)


def take_verbosity(options: argparse.Namespace) -> int:
    """Return the number of `-v` in any place, and remove them from the options."""
    names = [name for name in vars(options) if name.startswith(_VERBOSE)]
    return sum(vars(options).pop(name) for name in names)


def _fill(name: str, parser: argparse.ArgumentParser) -> None:
    command(name).add_arguments(parser)
