"""Tests of hostile text: refused in one line, and never printed unchanged on the terminal."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import dumbbell as library
import dumbbell_conformance
from dumbbell import Error
from dumbbell.base.errors import UserError
from dumbbell.base.json_text import BadJson, parse_json
from dumbbell.base.progress import Piece, Progress
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.scheme import Scheme
from dumbbell.experiment import pin, resolve
from support.commands.command import COMMAND, Dumbbell
from support.inputs.paths import SMALL
from support.waiting import TIMEOUT_S

DIGITS = "9" * 5000
DEEP = "[" * 3000 + "]" * 3000
KEYS = ".".join(["a"] * 3000)
ESCAPE = "\x1b[31mred\x07"
RUN = ("run", "--schemes", "reno", "--path", "small.toml", "--duration", "0.5", "--out", "out")

EXPERIMENTS = [
    (f"schemes = ['reno']\npaths = ['small.toml']\nruns = {DIGITS}", "a whole number is too long"),
    (f"schemes = ['reno']\npaths = ['small.toml']\nruns = 0x{DIGITS}", "`runs`: a whole number is too long"),
    (f"schemes = {DEEP}", "nested too deeply: allowed are 32 levels"),
    (f"x = {'{a=' * 3000}1{'}' * 3000}", "nested too deeply"),
    (f"[{KEYS}]", "nested too deeply"),
    (f"x = {{ {'a . ' * 50_000}a = 1 }}", "nested too deeply"),
    (f"""{'"a b".' * 50_000}a = 1""", "nested too deeply"),
    ("schemes = ['']\npaths = ['small.toml']", "unknown scheme ``"),
    ("schemes = ['reno']\npaths = ['']", "unknown path ``"),
    ("name = ''\nschemes = ['reno']\npaths = ['small.toml']", '`name` = "": allowed is letters'),
    (f"schemes = ['reno']\npaths = ['small.toml']\nmixes = ['reno*{DIGITS}']", "allowed is SCHEME or SCHEME*COUNT"),
    ("schemes = ['reno']\npaths = ['small.toml']\nmixes = ['reno+cubic,bbr+cubic']", "a mix has no comma"),
]


@pytest.mark.parametrize(("text", "reason"), EXPERIMENTS)
def test_experiments_of_long_numbers_deep_nesting_and_empty_names(
    dumbbell: Dumbbell, folder: Path, text: str, reason: str
) -> None:
    (folder / "bad.toml").write_text(text + "\n")
    result = dumbbell("run", "bad.toml", "--duration", "0.5", "--out", "out", expect=2)
    assert result.stderr.count("\n") == 1
    assert "bad.toml: " in result.stderr
    assert reason in result.stderr
    assert len(result.stderr) < 2000
    assert not (folder / "out").exists()


def test_paths_and_schemes_of_long_numbers(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "path.toml").write_text(SMALL.replace("10.0", DIGITS))
    (folder / "scheme.toml").write_text(f"controller = 'copa'\n[parameters]\ndelta = {DIGITS}\n")
    for options in (("--schemes", "reno", "--path", "path.toml"), ("--schemes", "scheme.toml")):
        result = dumbbell("run", *options, "--out", "out", expect=2)
        assert "toml: a whole number is too long: allowed are 64 bits" in result.stderr


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (DEEP, "nested too deeply"),
        (f'{{"a": {DIGITS}}}', "has a number of 5000 digits"),
        (r'{"a": "\ud800"}', "has half of a character"),
        ("{\n\n", "line 3: not valid JSON"),
    ],
)
def test_json_of_anybody(dumbbell: Dumbbell, once: Dumbbell, folder: Path, text: str, reason: str) -> None:
    with pytest.raises(BadJson, match=reason):
        parse_json(text)
    once(*RUN)
    (folder / "data").mkdir()
    (folder / "pages").mkdir()
    places = {
        "data/pantheon_metadata.json": ("import", "pantheon", "data", "--out", "new"),
        "pages/benchmark.json": ("report", "pages"),
    }
    for name, command in places.items():
        file = folder / name
        before = file.read_text() if file.exists() else ""
        file.write_text(text)
        result = dumbbell(*command, expect=2)
        assert result.stderr.count("\n") == 1
        assert name in result.stderr
        file.write_text(before)


def test_the_note_of_a_benchmark_is_an_object(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "pages").mkdir()
    (folder / "pages/benchmark.json").write_text("[]")
    assert "pages/benchmark.json: the file: allowed is a table" in dumbbell("report", "pages", expect=2).stderr


def test_json_that_reads_well_is_read() -> None:
    value = {"a": [1, -2.5, 2**63, None, "\U0001f600", "\\ud800"]}
    assert parse_json(json.dumps(value)) == value
    assert parse_json(json.dumps(value, ensure_ascii=False)) == value


@pytest.mark.parametrize(
    ("key", "value"), [("flows", 3), ("flows", [1]), ("status", "fine"), ("status", ["done"]), ("reason", 1)]
)
def test_statistics_of_another_shape(dumbbell: Dumbbell, once: Dumbbell, folder: Path, key: str, value: object) -> None:
    once(*RUN)
    file = folder / "out/runs/small/reno/1/stats.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {key: value}))
    for command, status in (
        (("show", "out"), 1),
        (("diff", "out", "out"), 1),
        (("verify", "out"), 1),
        (("check", "out", "--against", "out"), 2),
        (("export", "pantheon", "out", "--out", "logs"), 2),
    ):
        result = dumbbell(*command, expect=status)
        assert f"stats.json: `{key}" in result.stdout + result.stderr
    assert "damaged, made again: reno on small" in dumbbell(*RUN, "--resume").stderr
    dumbbell("show", "out")


@pytest.mark.parametrize("options", [("--out", b"a\xff"), ("--schemes", b"a\xff"), ("--path", b"\xed\xa0\x80")])
def test_arguments_that_are_no_text(folder: Path, options: tuple[str, bytes]) -> None:
    command = [*(os.fsencode(word) for word in COMMAND), *(word.encode() for word in RUN[:-2]), options[0].encode()]
    result = subprocess.run([*command, options[1]], cwd=folder, capture_output=True, timeout=TIMEOUT_S, check=False)
    assert result.returncode == 2
    assert result.stderr.count(b"\n") == 1
    assert b"is not UTF-8" in result.stderr
    assert [file.name for file in folder.iterdir() if not file.name.endswith(".toml")] == []


@pytest.mark.parametrize("name", ["a\udcff", "a\0b"])
def test_places_of_the_library_that_are_no_text(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for refused_call in (
        lambda: library.run(schemes="reno", path="small.toml", duration=0.5, out=name),
        lambda: library.open(name),
        lambda: library.export_trace("mexico-cellular", name, duration=2),
        lambda: dumbbell_conformance.write_vectors("reno", name),
    ):
        with pytest.raises(Error, match=r"is not UTF-8|has a null character"):
            refused_call()


def test_specifications_that_are_no_json() -> None:
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    for value in (10**5000, deep, object()):
        with pytest.raises(Error):
            library.simulate(library.specification("reno", duration=0.5) | {"seed": value})


def test_what_files_say_does_not_reach_the_terminal_as_it_is(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    once(*RUN)
    file = folder / "out/runs/small/reno/1/stats.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"status": "failed", "reason": ESCAPE}))
    result = dumbbell("show", "out", expect=1)
    assert r"failed: reno on small, run 1: \x1b[31mred\x07" in result.stdout
    assert "\x1b" not in result.stdout + result.stderr
    (folder / "reno.toml").write_text(f"name = 'x'\ncontroller = {json.dumps(ESCAPE)}\n")
    assert "\x1b" not in dumbbell("run", "--schemes", "reno.toml", "--path", "small.toml", expect=2).stderr
    result = dumbbell(*RUN[:-1], ESCAPE)
    assert "\x1b[31m" not in result.stdout + result.stderr
    assert (folder / ESCAPE / "experiment.toml").is_file()


def test_the_reason_of_a_failed_run_does_not_reach_the_terminal_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    Progress().expect("runs", [Piece("reno on small, run 1", 1.0)]).step(0, "failed", ESCAPE)
    assert r"\x1b[31mred" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "reason"),
    [("a\0b", "has a null character"), ("circle", "symbolic links lead in a circle")],
)
def test_names_of_files_that_no_file_can_have(
    folder: Path, name: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parameters and plug-ins of schemes are files: their full names are checked before they are opened."""
    monkeypatch.chdir(folder)
    (folder / "circle").symlink_to("circle")
    tao = Scheme.from_toml('name = "x"\ncontroller = "remy"\n')
    plan = ExperimentFile(
        name="run", schemes=["x"], paths=["default"], own_schemes={"x": replace(tao, parameters={"table": name})}
    )
    with pytest.raises(UserError, match=f"(?i){reason}"):
        pin(resolve(plan))
    with pytest.raises(UserError, match=f"(?i){reason}"):
        Scheme.from_toml(f'name = "x"\nkind = "plugin"\nlibrary = {json.dumps(name)}\n')


@pytest.mark.parametrize("closed_files", [(1,), (0, 1, 2)])
def test_a_command_whose_output_is_closed_does_what_it_is_asked(folder: Path, closed_files: tuple[int, ...]) -> None:
    closing = " ".join(f"{number}>&-" for number in closed_files)
    words = " ".join([*COMMAND, *RUN])
    result = subprocess.run(f"exec {words} {closing}", shell=True, cwd=folder, timeout=TIMEOUT_S, check=False)
    assert result.returncode == 0
    assert [run.status for run in library.open(folder / "out").runs] == ["done"] * len(
        library.open(folder / "out").runs
    )


def test_numbers_beyond_all_numbers_are_one_line(dumbbell: Dumbbell, folder: Path) -> None:
    long_number = f"duration_s=1{'0' * 400}"
    for value in (long_number, "reno.transport.x=" + '{"a":' * 3000 + "1" + "}" * 3000):
        result = dumbbell(*RUN, "--set", value, expect=2)
        assert result.stderr.count("\n") == 1
    with pytest.raises(Error, match="allowed is a rate with its unit"):
        library.make_path(rate=1.0, rtt="20ms")  # type: ignore[arg-type]
