"""Options that several commands have, and what was given by them."""

from __future__ import annotations

import argparse
import os
import resource
import sys
from typing import Any, TypeVar

import dumbbell
from dumbbell.base.conventions import CONVENTIONS
from dumbbell.base.errors import UserError
from dumbbell.base.request_fields import Option, options
from dumbbell.catalog.options.values import Choice, Suggestion, names
from dumbbell.catalog.run_request import MORE

DRAWING_MIB = 420
"""Address space that drawing takes: matplotlib, typst, and what they stand on."""
_LONG_FORM_MIB = 150
_DRAWING_PER_CPU_MIB = 40
_MOST_CPUS = 64
"""The long form of a report takes more. Numpy's linear algebra (OpenBLAS) takes some for each processor."""


def require_room_to_draw(long_form: bool = False) -> None:
    """Refuse a limit of address space that drawing does not fit in: libraries end the process there as they like.

    Raises:
        UserError: the limit is too small.
    """
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    needed_mib = DRAWING_MIB + _DRAWING_PER_CPU_MIB * min(os.cpu_count() or 1, _MOST_CPUS)
    needed_mib += _LONG_FORM_MIB * long_form
    if limit != resource.RLIM_INFINITY and limit < needed_mib * 2**20:
        given = f"ulimit -v {limit // 2**10}: is {limit // 2**20} MiB of address space"
        raise UserError(f"{given}: figures need {needed_mib} MiB or more")


def plugin_option(parser: argparse.ArgumentParser) -> None:
    """Adds `--plugin`."""
    parser.add_argument(
        "--plugin",
        dest="plugins",
        action="append",
        default=[],
        metavar="FILE[:NAME]",
        help="controllers of your own: a library (.so) or classes in Python (.py); repeatable",
    )


def convention_option(parser: argparse.ArgumentParser) -> None:
    """Adds `--convention`."""
    parser.add_argument(
        "--convention",
        type=Choice(*CONVENTIONS),
        metavar="|".join(CONVENTIONS),
        help="which throughput, delay and loss are shown (docs/reference/metrics.md); default: as the experiment says",
    )


def selection_options(parser: argparse.ArgumentParser, path: str, schemes: str) -> None:
    """Adds `--path` and `--schemes`, which choose among the runs of results; the two texts are their help."""
    parser.add_argument("--path", type=names, default=(), metavar="P[,P2]", help=path)
    parser.add_argument("--schemes", type=names, default=(), metavar="A,B", help=schemes)


def path_options(parser: argparse.ArgumentParser) -> None:
    """A path in one line, the same for every command that takes a path."""
    from dumbbell.catalog.options.path_options import AQMS, OPTIONS

    group = parser.add_argument_group("a path in one line, instead of --path")
    for name, (example, meaning) in OPTIONS.items():
        values = Suggestion(*AQMS) if name == "aqm" else str
        group.add_argument(f"--{name.replace('_', '-')}", type=values, metavar=example, help=meaning.replace("%", "%%"))


def request_options(parser: argparse.ArgumentParser, kind: type) -> dict[str, argparse._ArgumentGroup]:
    """Add the options of a request's fields, and of a path in one line behind that of `path`.

    Return the groups of options by their headings.
    """
    headings: dict[str, argparse._ArgumentGroup] = {}
    for name, option in options(kind):
        if option.group is not None:
            _add_group(parser, headings, name, option.group)
        elif option.read is not None or option.form() == "":
            _add_option(_place(parser, headings, option.heading), name, option)
        if name == "path":
            path_options(parser)
    return headings


def _add_group(
    parser: argparse.ArgumentParser, headings: dict[str, argparse._ArgumentGroup], name: str, kind: type
) -> None:
    for inner, option in options(kind):
        _add_option(_place(parser, headings, option.heading), f"{name}.{inner}", option)


def _place(
    parser: argparse.ArgumentParser, headings: dict[str, argparse._ArgumentGroup], heading: str
) -> argparse._ActionsContainer:
    if not heading:
        return parser
    if heading not in headings:
        headings[heading] = parser.add_argument_group(heading)
    return headings[heading]


def _add_option(container: argparse._ActionsContainer, field: str, option: Option) -> None:
    word = option.option(field.rpartition(".")[2])
    text = option.means.replace("%", "%%")
    if option.read is None:
        container.add_argument(word, dest=field, action="store_true", default=None, help=text)
        return
    action = "store" if not option.repeats else "extend" if option.read is names else "append"
    container.add_argument(
        word,
        dest=field,
        action=action,
        type=option.read,
        required=option.needed,
        metavar=option.form(),
        help=text,
    )


Request = TypeVar("Request")


def request_of(kind: type[Request], arguments: argparse.Namespace, **others: object) -> Request:
    """Return the request that the options of `request_options` give; `others` are further fields of it."""
    given = {name: value for name, value in vars(arguments).items() if value is not None}
    chosen = {}
    for name, option in options(kind):
        if option.group is not None:
            prefix = f"{name}."
            inner = {each.removeprefix(prefix): value for each, value in given.items() if each.startswith(prefix)}
            chosen[name] = option.group(**inner) if inner else None
        elif name in given:
            chosen[name] = given[name]
    return kind(**chosen | others)


def result_options(parser: argparse.ArgumentParser, headings: dict[str, argparse._ArgumentGroup]) -> None:
    """Add `--json` and `--dry-run`, which every command that executes experiments has."""
    container = _place(parser, headings, MORE)
    container.add_argument("--json", action="store_true", help="results as JSON on stdout")
    container.add_argument(
        "--dry-run", action="store_true", help="only print the runs that would be made, and their duration"
    )


def live_options(parser: argparse.ArgumentParser) -> None:
    """Adds `--live` and `--watch`."""
    add = parser.add_argument
    add("--live", action="store_true", help="show what goes on in the browser; its address is printed")
    add("--watch", action="store_true", help="show what goes on here: rate, delay, state of each flow of real packets")


def chosen_path(arguments: argparse.Namespace, both_ways: bool = False) -> Any:  # noqa: ANN401 (as each command takes it)
    """The path that is named, or the one that the words of `path_options` make; `both_ways`: `--rate` is of each."""
    from dumbbell.catalog.options.path_options import OPTIONS

    words = {name: value for name in OPTIONS if (value := getattr(arguments, name)) is not None}
    if not words:
        return arguments.path
    if arguments.path:
        told = ", ".join(f"--{name.replace('_', '-')}" for name in words)
        raise UserError(f"--path: not with {told}: they make a path of their own (a trace file is --trace FILE there)")
    if both_ways and "rate" in words:
        words.setdefault("rate_down", words["rate"])
    path = dumbbell.make_path(**words)
    if not getattr(arguments, "quiet", False):
        print(f"path {path.name}: {path.title}", file=sys.stderr)
    return path
