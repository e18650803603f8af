"""Write docs/reference/commands.md from the parser of the command line: `python -m scripts.commands_doc [--check]`.

`--check` writes nothing; the exit status is 1 if the page differs from the parser.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from dumbbell.cli.parser import command_parser
from dumbbell.present.tables import Table, markdown
from scripts.generated import write_or_compare

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "commands.md"

INTRODUCTION = """\
# Command line

Written by `scripts/commands_doc.py` from the parser of the command line. Do not edit. `--help` prints
the same. Every command takes `-v` and `-vv`, which print what happens on stderr ([logs](../how-to/logs.md)).

Exit status: 0 if the command did what was asked, 1 if a run, check or comparison failed, 2 for a wrong argument or
file, 3 for a defect of dumbbell itself.
"""


def sections(name: str, parser: argparse.ArgumentParser, depth: int) -> Iterator[str]:
    """Yield the section of a command and the sections of its subcommands."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if depth > 1:
        yield f"{'#' * depth} {name}\n"
        if parser.description:
            yield f"{parser.description}\n"
        rows = [(_words(action), _meaning(parser, action)) for action in parser._actions if _is_shown(action)]
        if rows:
            yield markdown.render(Table.of(["argument", "meaning"], rows)) + "\n"
    for group in groups:
        helps = {action.dest: action.help or "" for action in group._choices_actions}
        for word, inner in group.choices.items():
            if inner.description is None:
                inner.description = _sentence(helps.get(word, ""))
            yield from sections(f"{name} {word}", inner, depth + 1)


def _is_shown(action: argparse.Action) -> bool:
    is_common = (
        isinstance(action, argparse._HelpAction | argparse._SubParsersAction) or "--verbose" in action.option_strings
    )
    return not is_common and action.help != argparse.SUPPRESS


def _words(action: argparse.Action) -> str:
    metavar = action.metavar if action.metavar is not None else (action.dest if not action.option_strings else "")
    if not metavar and action.nargs != 0:
        metavar = "|".join(map(str, action.choices)) if action.choices else action.dest.upper()
    value = " ".join(metavar) if isinstance(metavar, tuple) else metavar
    if action.nargs == "?":
        value = f"[{value}]"
    return " ".join(
        filter(None, [", ".join(f"`{word}`" for word in action.option_strings), f"`{value}`" if value else ""])
    )


def _meaning(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    return parser._get_formatter()._expand_help(action) if action.help else ""


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""


def page() -> str:
    """Return the page."""
    return "\n".join([INTRODUCTION, *sections("dumbbell", command_parser(is_complete=True), 1)])


def main() -> int:
    """Write or compare the page."""
    return write_or_compare({PAGE: page()}, "scripts.commands_doc", "the parser of the command line")


if __name__ == "__main__":
    sys.exit(main())
