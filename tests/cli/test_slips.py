"""Slips of who types: each is refused in one line that has the right word, or the right place."""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import dumbbell as library
from dumbbell import catalog
from dumbbell.base.errors import UserError, option_words
from dumbbell.catalog.index import Index
from dumbbell.catalog.options.parser import StrictParser
from dumbbell.cli.parser import command_parser
from support.commands.command import Dumbbell

EXPERIMENT = 'schemes = ["reno"]\npaths = ["default"]\n'
SCHEME = 'controller = "reno"\nparameters = { beta = 0.7 }\n'


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("run --scheme cubic", "unknown option --scheme (did you mean `--schemes`?)"),
        ("run --schemes cubic --paths default", "unknown option --paths (did you mean `--path`?)"),
        ("benchmark --scheme copa", "unknown option --scheme (did you mean `--schemes`?)"),
        ("run --Path=default", "unknown option --Path (did you mean `--path`?)"),
        ("kernel list --jsn", "unknown option --jsn (did you mean `--json`?)"),
        ("--versoin", "unknown option --versoin (did you mean `--version`?)"),
        ("rnu", "unknown command `rnu` (did you mean `run`?): allowed are benchmark, calibrate"),
        ("kernel lst", "unknown command `lst` (did you mean `list`?)"),
        ("run --schemes CUBIC", "unknown scheme `CUBIC` (did you mean `cubic`?)"),
        ("run --schemes reno --path Korea-China", "unknown path `Korea-China` (did you mean `korea-china`?)"),
        ("run Quick", "unknown experiment `Quick` (did you mean `quick`?)"),
        ("run --schemes reno --log FULL", "unknown `FULL` (did you mean `full`?)"),
        ("run --schemes cubic bbr", "names stand between commas: --schemes cubic,bbr"),
        ("run --schemes cubic bbr reno", "names stand between commas: --schemes cubic,bbr,reno"),
        ("run --schemes reno --path default korea-china", "names stand between commas: --path default,korea-china"),
        ("benchmark --schemes copa bbr", "names stand between commas: --schemes copa,bbr"),
        ("run office.toml", "office.toml: this is a path file: --path office.toml"),
        ("run --schemes office.toml", "office.toml: this is a path file: --path office.toml"),
        ("run --schemes reno --path mine.toml", "mine.toml: this is an experiment file: dumbbell run mine.toml"),
        ("run ours.toml", "ours.toml: this is a scheme file: --schemes ours.toml"),
        ("run up.trace", "up.trace: this is a trace file: --path up.trace"),
        ("run aimd.py", "aimd.py: this is a plug-in file: --plugin aimd.py"),
        ("run korea-china", "korea-china: this is a path: --path korea-china"),
        ("run out", "out: this is a results directory: dumbbell show out"),
        ("run cubic", "cubic: this is a scheme: --schemes cubic"),
        ("run --schemes reno --path quick", "quick: this is an experiment: dumbbell run quick"),
        ("emulate --path default ls -l", "`-l`: nothing is expected there, a command's own options stand behind `--`"),
        ("show out more", "`more`: nothing is expected there"),
        ("run --rate 10mbit --rtt 40ms --rate=20mbit", "--rate: is given twice (10mbit and 20mbit): allowed is once"),
        ("run --path default --path lab", "--path: is given twice: names stand between commas: --path default,lab"),
        ("show out --json --json", "--json: is given twice: allowed is once"),
        ("kernel list --json --json", "--json: is given twice: allowed is once"),
    ],
)
def test_a_slip_gets_the_nearest_name(dumbbell: Dumbbell, folder: Path, line: str, said: str) -> None:
    (folder / "office.toml").write_text((folder / "small.toml").read_text())
    (folder / "mine.toml").write_text(EXPERIMENT)
    (folder / "ours.toml").write_text(SCHEME)
    (folder / "up.trace").write_text("1\n")
    (folder / "aimd.py").write_text("")
    (folder / "out").mkdir()
    (folder / "out/experiment.toml").write_text(EXPERIMENT)
    done = dumbbell(*line.split(), expect=2)
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr


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
    """The last one counted, without a word: `--rate 10mbit --rate 20mbit` was 20 Mbit/s."""
    repeated = set()
    for parser, command, name in _options(command_parser(whole=True)):
        if (*command, name) in REPEATABLE:
            repeated.add((*command, name))
            parser._check([name, "1", name, "2"])
        elif name not in ("-h", "--help", "-V", "--version", "-v", "--verbose"):  # the last is counted
            with option_words(), pytest.raises(UserError, match=f"^{name}: is given twice"):
                parser._check([name, "1", name, "2"])
    assert repeated == REPEATABLE


def test_a_wrong_key_of_the_right_kind_of_file_is_what_is_said(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "small.toml").write_text((folder / "small.toml").read_text().replace("[[ack]]", "[[akc]]"))
    done = dumbbell("run", "--schemes", "reno", "--path", "small.toml", expect=2)
    assert "small.toml: unknown key `akc` (did you mean `ack`?)" in done.stderr


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
    assert str(UserError("--rate and `--rate`, --rates")) == "rate and `--rate`, --rates", "what is quoted stays"
