#!/usr/bin/env python3
"""Write the table of run's arguments in docs/reference/run-options.md.

Usage: `.venv/bin/python -m scripts.run_arguments [--check]`. The table is made from the fields of `RunRequest`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from dumbbell.base.request_fields import Option, options
from dumbbell.catalog.experiment_settings import Settings
from dumbbell.catalog.run_request import RunRequest
from dumbbell.present.tables import Table, markdown
from scripts.blocks import with_block
from scripts.generated import write_or_compare

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "run-options.md"
HEAD = ["option of `dumbbell run`", "argument of `dumbbell.run`", "key of a file", "default", "meaning"]


def rows() -> Iterator[list[str]]:
    """Yield a row for each field, and for each field of a group."""
    for name, option in options(RunRequest):
        if option.group is None and name != "command":
            yield row(name, option)
        elif option.group is not None:
            yield from (row(f"{name}.{inner}", field_option) for inner, field_option in options(option.group))


def row(name: str, option: Option) -> list[str]:
    """Return the row of one field."""
    word, form = option.option(name.rpartition(".")[2]), option.form().replace("|", "\\|")
    is_option = option.read is not None or not form
    option_text = f"`{word} {form}`".replace(" `", "`") if is_option else f"`{form}`" if name == "experiment" else ""
    default = Settings().settings_table().get(option.setting, "") if option.setting else ""
    default = (
        str(default).lower() if isinstance(default, bool) else f"{default:g}" if isinstance(default, float) else default
    )
    key = f"`{option.setting}`" if option.setting else ""
    return [option_text, f"`{name}`", key, f"`{default}`" if default != "" else "", option.means.replace("|", "\\|")]


def main() -> int:
    """Write or compare the page."""
    text = with_block(PAGE.read_text(encoding="utf-8"), "run", markdown.render(Table.of(HEAD, list(rows()))))
    return write_or_compare({PAGE: text}, "scripts.run_arguments", "the fields of `RunRequest`")


if __name__ == "__main__":
    sys.exit(main())
