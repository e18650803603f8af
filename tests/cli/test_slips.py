"""Tests of typing slips: each is refused in one line with the right word, or the right place."""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

import dumbbell as library
from dumbbell import catalog
from dumbbell.base.errors import UserError
from dumbbell.catalog.index import Index
from dumbbell.catalog.options.parser import StrictParser
from dumbbell.cli.parser import command_parser
from support.commands.command import Dumbbell
from support.told import transcript

EXPERIMENT = 'schemes = ["reno"]\npaths = ["default"]\n'
SCHEME = 'controller = "reno"\nparameters = { beta = 0.7 }\n'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "run --scheme cubic",
            snapshot(
                """\
dumbbell: unknown option --scheme (did you mean `--schemes`?) (`dumbbell run --help` shows what is
  possible)\
"""
            ),
        ),
        (
            "run --schemes cubic --paths default",
            snapshot(
                """\
dumbbell: unknown option --paths (did you mean `--path`?) (`dumbbell run --help` shows what is
  possible)\
"""
            ),
        ),
        (
            "benchmark --scheme copa",
            snapshot(
                """\
dumbbell: unknown option --scheme (did you mean `--schemes`?) (`dumbbell benchmark --help` shows
  what is possible)\
"""
            ),
        ),
        (
            "run --Path=default",
            snapshot(
                """\
dumbbell: unknown option --Path (did you mean `--path`?) (`dumbbell run --help` shows what is
  possible)\
"""
            ),
        ),
        (
            "kernel list --jsn",
            snapshot(
                """\
dumbbell: unknown option --jsn (did you mean `--json`?) (`dumbbell kernel list --help` shows what is
  possible)\
"""
            ),
        ),
        (
            "--versoin",
            snapshot(
                """\
dumbbell: unknown option --versoin (did you mean `--version`?) (`dumbbell --help` shows what is
  possible)\
"""
            ),
        ),
        (
            "rnu",
            snapshot(
                """\
dumbbell: unknown command `rnu` (did you mean `run`?): allowed are benchmark, calibrate, ccperf,
  check, completion, conformance, diff, doctor, emulate, export, figure, import, kernel, list, path,
  plugin, remote, report, reproduce, rerun, run, schema, serve, show, site, size, train, vectors,
  verify\
"""
            ),
        ),
        (
            "kernel lst",
            snapshot("dumbbell: unknown command `lst` (did you mean `list`?): allowed are list, load, unload"),
        ),
        (
            "run --schemes CUBIC",
            snapshot("dumbbell: unknown scheme `CUBIC` (did you mean `cubic`?): `dumbbell list schemes` shows all"),
        ),
        (
            "run --schemes reno --path Korea-China",
            snapshot(
                "dumbbell: unknown path `Korea-China` (did you mean `korea-china`?): `dumbbell list paths` shows all"
            ),
        ),
        (
            "run Quick",
            snapshot(
                "dumbbell: unknown experiment `Quick` (did you mean `quick`?): `dumbbell list experiments` shows all"
            ),
        ),
        (
            "run --schemes reno --log FULL",
            snapshot(
                """\
dumbbell: argument --log: unknown `FULL` (did you mean `full`?): allowed are none, packets, full
  (`dumbbell run --help` shows what is possible)\
"""
            ),
        ),
        (
            "run --schemes cubic bbr",
            snapshot("dumbbell: `bbr` is no experiment: names stand between commas: --schemes cubic,bbr"),
        ),
        (
            "run --schemes cubic bbr reno",
            snapshot("dumbbell: `reno`: names stand between commas: --schemes cubic,bbr,reno"),
        ),
        (
            "run --schemes reno --path default korea-china",
            snapshot(
                "dumbbell: `korea-china` is no experiment: names stand between commas: --path default,korea-china"
            ),
        ),
        ("benchmark --schemes copa bbr", snapshot("dumbbell: `bbr`: names stand between commas: --schemes copa,bbr")),
        ("run office.toml", snapshot("dumbbell: office.toml: this is a path file: --path office.toml")),
        ("run --schemes office.toml", snapshot("dumbbell: office.toml: this is a path file: --path office.toml")),
        (
            "run --schemes reno --path mine.toml",
            snapshot("dumbbell: mine.toml: this is an experiment file: dumbbell run mine.toml"),
        ),
        ("run ours.toml", snapshot("dumbbell: ours.toml: this is a scheme file: --schemes ours.toml")),
        ("run up.trace", snapshot("dumbbell: up.trace: this is a trace file: --path up.trace")),
        ("run aimd.py", snapshot("dumbbell: aimd.py: this is a plug-in file: --plugin aimd.py")),
        ("run korea-china", snapshot("dumbbell: korea-china: this is a path: --path korea-china")),
        ("run out", snapshot("dumbbell: out: this is a results directory: dumbbell show out")),
        ("run cubic", snapshot("dumbbell: cubic: this is a scheme: --schemes cubic")),
        ("run --schemes reno --path quick", snapshot("dumbbell: quick: this is an experiment: dumbbell run quick")),
        (
            "emulate --path default ls -l",
            snapshot(
                """\
dumbbell: `-l`: nothing is expected there, a command's own options stand behind `--` (`dumbbell
  emulate --help` shows what is possible)\
"""
            ),
        ),
        (
            "show out more",
            snapshot("dumbbell: `more`: nothing is expected there (`dumbbell show --help` shows what is possible)"),
        ),
        (
            "run --rate 10mbit --rtt 40ms --rate=20mbit",
            snapshot("dumbbell: --rate: is given twice (10mbit and 20mbit): allowed is once"),
        ),
        (
            "run --path default --path lab",
            snapshot("dumbbell: --path: is given twice: names stand between commas: --path default,lab"),
        ),
        ("show out --json --json", snapshot("dumbbell: --json: is given twice: allowed is once")),
        ("kernel list --json --json", snapshot("dumbbell: --json: is given twice: allowed is once")),
    ],
)
def test_a_slip_gets_the_nearest_name(dumbbell: Dumbbell, folder: Path, line: str, message: str) -> None:
    (folder / "office.toml").write_text((folder / "small.toml").read_text())
    (folder / "mine.toml").write_text(EXPERIMENT)
    (folder / "ours.toml").write_text(SCHEME)
    (folder / "up.trace").write_text("1\n")
    (folder / "aimd.py").write_text("")
    (folder / "out").mkdir()
    (folder / "out/experiment.toml").write_text(EXPERIMENT)
    result = dumbbell(*line.split(), expect=2)
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert transcript(result.stderr, folder) == message


REPEATABLE = {
    ("benchmark", "--experiment"),
    ("ccperf", "--parameters"),
    ("list", "--plugin"),
    ("run", "--plugin"),
    ("run", "--mix"),
    ("run", "--set"),
    ("figure", "--beside"),
    ("calibrate", "--as"),
    ("reproduce", "--as"),
}


def _options(parser: argparse.ArgumentParser, *command: str) -> Iterator[tuple[StrictParser, tuple[str, ...], str]]:
    """Yield each option of a parser, and of its commands, with the words before it."""
    assert isinstance(parser, StrictParser)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from _options(inner, *command, name)
        else:
            yield from ((parser, command, name) for name in action.option_strings)


def test_no_option_of_any_command_is_forgotten_when_it_is_given_again() -> None:
    """The last value counted silently: `--rate 10mbit --rate 20mbit` was 20 Mbit/s."""
    repeated_options = set()
    for parser, command, name in _options(command_parser(is_complete=True)):
        if (*command, name) in REPEATABLE:
            repeated_options.add((*command, name))
            parser._check([name, "1", name, "2"])
        elif name not in ("-h", "--help", "-V", "--version", "-v", "--verbose"):  # the last is counted
            with pytest.raises(UserError, match=f"^{name}: is given twice"):
                parser._check([name, "1", name, "2"])
    assert repeated_options == REPEATABLE


def test_a_wrong_key_of_the_right_kind_of_file_is_what_is_said(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "small.toml").write_text((folder / "small.toml").read_text().replace("[[ack]]", "[[akc]]"))
    result = dumbbell("run", "--schemes", "reno", "--path", "small.toml", expect=2)
    assert "small.toml: unknown key `akc` (did you mean `ack`?)" in result.stderr


def test_the_library_says_the_same(folder: Path) -> None:
    with pytest.raises(library.Error, match=r"this is a path file: path .*small\.toml"):
        library.run(folder / "small.toml")
    with pytest.raises(library.Error, match="default: this is a path"):
        library.run("default")


@pytest.mark.parametrize("names", [catalog.paths, catalog.schemes, catalog.experiments])
def test_a_name_that_is_too_long_for_a_file_is_an_unknown_name(names: Callable[[], Index[Any]]) -> None:
    with pytest.raises(library.Error, match=r"^unknown \w+ `a+"):
        names().find("a" * 5000)


def test_the_version_is_short_to_ask_for(dumbbell: Dumbbell) -> None:
    assert dumbbell("-V").stdout == dumbbell("--version").stdout


def test_errors_of_the_library_name_its_arguments_and_those_of_the_command_its_options(
    dumbbell: Dumbbell, folder: Path
) -> None:
    with pytest.raises(library.Error, match=r"^resume=True needs out: the results to continue$"):
        library.run(schemes="cubic", resume=True)
    assert "--resume needs --out DIR" in dumbbell("run", "--schemes", "cubic", "--resume", expect=2).stderr
    with pytest.raises(library.Error, match=r"^settings: no scheme `cubics`"):
        library.run(schemes="cubic", settings={"cubics.x": 1})
