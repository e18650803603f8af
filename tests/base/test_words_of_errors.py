"""Errors name the arguments of who asked: options for the command, arguments for a program."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dumbbell
from dumbbell.base.errors import in_library_words

PACKAGE = Path(dumbbell.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
OF_COMMANDS_ALONE = ("cli", "studies/ccperf", "catalog/options/parser.py", "train", "remote/serve.py")
"""Where options are those of a command that the library does not have."""


def refusals() -> Iterator[tuple[str, str]]:
    """Yield each text of an error that the library raises, without what it quotes, and where it stands."""
    for file in sorted(PACKAGE.rglob("*.py")):
        place = str(file.relative_to(PACKAGE))
        if place.startswith(OF_COMMANDS_ALONE):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args):
                continue
            worded = {
                id(each)
                for call in ast.walk(node.exc)
                if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "worded"
                for each in call.args
            }
            for each in ast.walk(node.exc):
                if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in worded:
                    yield f"{place}:{each.lineno}", "".join(each.value.split("`")[::2])


def test_every_option_in_an_error_of_the_library_has_an_argument() -> None:
    found = {place: OPTION.findall(in_library_words(text)) for place, text in refusals()}
    assert len(found) > 300
    assert {place: options for place, options in found.items() if options} == {}


def test_a_program_reads_its_arguments(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("scheme,throughput_mbps,delay_p95_ms\ncubic,9.0,50.0\nvegas,9.0,30.0\n")
    with pytest.raises(dumbbell.Error, match=r"^hold_out vegas: is not among schemes"):
        dumbbell.calibrate_path(table, tmp_path / "found.toml", schemes=["cubic"], hold_out="vegas", duration=2.0)
