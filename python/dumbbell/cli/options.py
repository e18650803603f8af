"""Options that several commands share, and the reading of their values."""

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
"""Address space for drawing, MiB: matplotlib, typst, and their dependencies."""
_LONG_FORM_MIB = 150
_DRAWING_PER_CPU_MIB = 40
_MOST_CPUS = 64
"""Additional address space, MiB: for the long form of a report, and for each CPU in Numpy's linear algebra
(OpenBLAS)."""


def require_room_to_draw(long_form: bool = False) -> None:
    """Raise an error if the limit of address space is too small for drawing, because libraries would end the process.

    Raises:
        UserError: If the limit is too small.
    """
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    needed_mib = DRAWING_MIB + _DRAWING_PER_CPU_MIB * min(os.cpu_count() or 1, _MOST_CPUS)
    needed_mib += _LONG_FORM_MIB * long_form
    if limit != resource.RLIM_INFINITY and limit < needed_mib * 2**20:
        limit_text = f"ulimit -v {limit // 2**10}: is {limit // 2**20} MiB of address space"
        raise UserError(f"{limit_text}: figures need {needed_mib} MiB or more")


def plugin_option(parser: argparse.ArgumentParser) -> None:
    """Add `--plugin`."""
    parser.add_argument(
        "--plugin",
        dest="plugins",
        action="append",
        default=[],
        metavar="FILE[:NAME]",
        help="controllers of your own: a library (.so) or classes in Python (.py); repeatable",
    )


def convention_option(parser: argparse.ArgumentParser) -> None:
    """Add `--convention`."""
    parser.add_argument(
        "--convention",
        type=Choice(*CONVENTIONS),
        metavar="|".join(CONVENTIONS),
        help="which throughput, delay and loss are shown (docs/reference/metrics.md); default: as the experiment says",
    )


def selection_options(parser: argparse.ArgumentParser, path: str, schemes: str) -> None:
    """Add `--path` and `--schemes`, which choose among the runs of results; the two texts are their help."""
    parser.add_argument("--path", type=names, default=(), metavar="P[,P2]", help=path)
    parser.add_argument("--schemes", type=names, default=(), metavar="A,B", help=schemes)


def path_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a path in one line, for every command that takes a path."""
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
        required=option.is_required,
        metavar=option.form(),
        help=text,
    )


Request = TypeVar("Request")


def request_of(kind: type[Request], arguments: argparse.Namespace, **other_fields: object) -> Request:
    """Return the request from the values of `request_options`; `other_fields` are further fields."""
    set_options = {name: value for name, value in vars(arguments).items() if value is not None}
    field_values = {}
    for name, option in options(kind):
        if option.group is not None:
            prefix = f"{name}."
            inner = {key.removeprefix(prefix): value for key, value in set_options.items() if key.startswith(prefix)}
            field_values[name] = option.group(**inner) if inner else None
        elif name in set_options:
            field_values[name] = set_options[name]
    return kind(**field_values | other_fields)


def result_options(parser: argparse.ArgumentParser, headings: dict[str, argparse._ArgumentGroup]) -> None:
    """Add `--json` and `--dry-run`, which every command that executes experiments has."""
    container = _place(parser, headings, MORE)
    container.add_argument("--json", action="store_true", help="results as JSON on stdout")
    container.add_argument(
        "--dry-run", action="store_true", help="only print the runs that would be made, and their duration"
    )


def live_options(parser: argparse.ArgumentParser) -> None:
    """Add `--live` and `--watch`."""
    add = parser.add_argument
    add("--live", action="store_true", help="show what goes on in the browser; its address is printed")
    add("--watch", action="store_true", help="show what goes on here: rate, delay, state of each flow of real packets")


def chosen_path(arguments: argparse.Namespace, both_ways: bool = False) -> Any:  # noqa: ANN401 (as each command takes it)
    """Return the named path, or the path of the options of `path_options`.

    With `both_ways` `--rate` is for both directions.
    """
    from dumbbell.catalog.options.path_options import OPTIONS

    words = {name: value for name in OPTIONS if (value := getattr(arguments, name)) is not None}
    if not words:
        return arguments.path
    if arguments.path:
        option_names = ", ".join(f"--{name.replace('_', '-')}" for name in words)
        raise UserError(
            f"--path: not with {option_names}: they make a path of their own (a trace file is --trace FILE there)"
        )
    if both_ways and "rate" in words:
        words.setdefault("rate_down", words["rate"])
    path = dumbbell.make_path(**words)
    if not getattr(arguments, "quiet", False):
        print(f"path {path.name}: {path.title}", file=sys.stderr)
    return path
