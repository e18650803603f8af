"""Tests of errors as data: a program gets the arguments of the library, a user of the command its options."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dumbbell
import dumbbell_calibrate
from dumbbell.base.errors import UserError, argument, words_of
from dumbbell.cli.parser import command_parser, option_words

SOURCES = Path(dumbbell.__file__).parents[1]
OPTION = re.compile(r"(?<![\w-])--(?:[a-z][a-z-]*|\{\})")
COMMAND_LINE = re.compile(r"\bdumbbell [a-z]+ .*", re.DOTALL)
OF_COMMANDS = re.compile(r"dumbbell/cli/|dumbbell_[a-z]+/commands/")
ANY = ""
OF_OTHERS = {
    "dumbbell/catalog/options/path_options.py": ("help of an option, and lines for a shell", "--aqm --trace --{}"),
    "dumbbell/catalog/outside/availability.py": ("pip", "--find-links --force-reinstall"),
    "dumbbell/execution/trust.py": ("programs of the user's", "--version"),
    "dumbbell/experiment/doctor.py": ("dumbbell-bpf", "--json"),
    "dumbbell/formats/pantheon_files.py": ("a line for a shell", "--ack"),
    "dumbbell/present/plots/parts/svg.py": ("CSS", ANY),
    "dumbbell/present/repeat.py": ("a line for a shell", ANY),
    "dumbbell/present/report/short/across.py": ("a line for a shell", "--schemes --{}"),
    "dumbbell/present/serve/benchmark.py": ("a line for a shell", ANY),
    "dumbbell/results/judging/ccperf_line.py": ("ccperf", ANY),
    "dumbbell/results/benchmark_results.py": ("a line for a shell", "--quick --full --experiment --baselines"),
    "dumbbell/results/environment.py": ("git, and programs of the user's", ANY),
    "dumbbell_calibrate/calibration.py": ("a line for a shell", "--set"),
    "dumbbell_reproduce/mahimahi_command.py": ("mahimahi", "--{}"),
    "dumbbell_ccperf/": ("ccperf, whose text the library takes as it is", ANY),
    "dumbbell_remote/installing/installer.py": (
        "pip",
        "--disable-pip-version-check --find-links --no-index --no-input --prefer-binary --quiet",
    ),
    "dumbbell_remote/link.py": ("the process at the other end of a link", "--own"),
    "dumbbell_webrtc/": ("the browser, and the process that drives it", ANY),
}
"""Files with options in texts that are no messages: the owner of the options, and their names."""


def texts(file: Path) -> Iterator[str]:
    """Yield each text of a file except for its docstrings, with `{}` for inserted values."""
    tree = ast.parse(file.read_text())
    apart = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
            apart |= {id(part) for part in node.values}
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in apart:
            yield node.value


def options_named(text: str) -> list[str]:
    """Return the options that a text names, except for quoted ones and those of a shell's line."""
    return OPTION.findall(COMMAND_LINE.sub("", "".join(text.split("`")[::2])))


def is_of_others(place: str, option: str) -> bool:
    """Return True if an option at a place is an exception with a reason."""
    return any(
        place.startswith(file) and (options == ANY or option in options.split())
        for file, (_, options) in OF_OTHERS.items()
    )


def test_no_text_below_the_command_line_names_an_option() -> None:
    number, places_seen = 0, set()
    for file in sorted(SOURCES.glob("dumbbell*/**/*.py")):
        place = str(file.relative_to(SOURCES))
        if OF_COMMANDS.match(place):
            continue
        for text in texts(file):
            number += 1
            places_seen |= {(place, option) for option in options_named(text)}
    assert number > 5000
    assert sorted(entry for entry in places_seen if not is_of_others(*entry)) == []
    assert [file for file in OF_OTHERS if not any(place.startswith(file) for place, _ in places_seen)] == []


def test_an_error_has_its_parts(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("scheme,throughput_mbps,delay_p95_ms\ncubic,9.0,50.0\nvegas,9.0,30.0\n")
    with pytest.raises(UserError) as failure:
        dumbbell_calibrate.calibrate_path(
            table, tmp_path / "found.toml", schemes=["cubic"], hold_out="vegas", duration=2.0
        )
    error = failure.value
    assert (error.argument, error.value, error.allowed, error.fix) == ("hold_out", "vegas", ("cubic",), "")
    assert str(error) == "hold_out `vegas`: is not among schemes: allowed are cubic"


def refusal() -> UserError:
    """Return one error with all of its parts."""
    return UserError(
        "is not among them", argument="stands_for", value="cubik", allowed=["cubic", "reno"], fix=argument("path")
    )


def test_a_program_reads_its_arguments_and_the_command_its_options() -> None:
    refusal_text = "`cubik` (did you mean `cubic`?): is not among them: allowed are cubic, reno"
    assert str(refusal()) == f"stands_for {refusal_text}: path"
    command_parser().parse_args(["reproduce", "logs", "--out", "set"])
    with words_of(option_words):
        assert str(refusal()) == f"--as {refusal_text}: --path"
        assert argument("resume", "True") == "--resume"
        assert argument("out", form="DIR") == "--out DIR"
        assert argument("plugins") == "--plugin", "an option of another command"
        assert argument("most_flows") == "--most-flows", "an option of none"
    assert argument("resume", "True") == "resume=True"
    assert argument("out", form="DIR") == "out"


def test_an_error_keeps_its_parts_on_its_way_between_processes() -> None:
    error = pickle.loads(pickle.dumps(refusal()))
    assert str(error) == str(refusal())
    assert (error.argument, error.value, error.allowed, error.fix) == (
        "stands_for",
        "cubik",
        ("cubic", "reno"),
        "path",
    )
