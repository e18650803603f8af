"""Tests of the allow file: programs that another machine may start here."""

import os
from pathlib import Path

import pytest

from dumbbell import Error
from dumbbell_remote.allowed_programs import allow_file, allowed_programs, require
from dumbbell_remote.run_commands import run
from dumbbell_remote.serve import State


@pytest.fixture(name="file")
def _file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    file = tmp_path / ".config/dumbbell/allow"
    file.parent.mkdir(parents=True)
    assert allow_file() == file
    return file


def refusal(program: str, *variables: str) -> str:
    with pytest.raises(Error) as error:
        require(program, frozenset(variables))
    assert str(error.value).isprintable()
    return str(error.value)


def test_programs_and_variables_are_allowed_by_name(file: Path) -> None:
    file.write_text("# ours\niperf3\n\n  /opt/mine/send  MODE LEVEL_2 # by day\n")
    assert allowed_programs() == {"iperf3": frozenset(), "/opt/mine/send": frozenset({"MODE", "LEVEL_2"})}
    require("iperf3")
    require("/opt/mine/send", {"MODE": "x"})
    assert f"`/opt/mine/sen` is not allowed here: add a line `/opt/mine/sen` to {file}" in refusal("/opt/mine/sen")
    assert "(named there: iperf3, /opt/mine/send)" in refusal("/usr/bin/iperf3")
    assert "may not be given LD_PRELOAD here" in refusal("/opt/mine/send", "LD_PRELOAD", "MODE")
    assert "(named there: none)" in refusal("iperf3", "MODE")


def test_without_the_file_nothing_is_allowed(file: Path) -> None:
    assert allowed_programs() == {}
    assert f"add a line `iperf3` to {file} on this machine (named there: none)" in refusal("iperf3")
    file.parent.rmdir()
    assert allowed_programs() == {}


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("iperf3 MO-DE", ":1: `MO-DE`: allowed behind a program are names of environment variables"),
        ("\niperf3 MODE=1", ":2: `MODE=1`"),
        ("bin/send", ":1: `bin/send`: allowed is a name, or a path that begins with /"),
        ("../send", "allowed is a name"),
        ("-rf", "no name of a program"),
        ("a\nb\na X", ":3: `a` is named twice"),
        ("send LD_PRELOAD", "LD_PRELOAD decides which code a program runs"),
        ("send PATH", "PATH decides"),
        ("send PYTHONSTARTUP", "PYTHONSTARTUP decides"),
        ("send\x1b[2J", r"`send\x1b[2J`"),
        ("x" * 70_000, "has more than 64 KiB"),
    ],
)
def test_a_line_that_cannot_be_understood_allows_nothing(file: Path, text: str, part: str) -> None:
    file.write_text(text)
    assert part in refusal("iperf3")


def test_a_file_that_others_may_change_allows_nothing(file: Path, tmp_path: Path) -> None:
    file.write_text("iperf3\n")
    for place in (file, file.parent):
        mode = place.stat().st_mode
        for more in (0o020, 0o002):
            place.chmod(mode | more)
            assert f"{place}: can be written by others: `chmod go-w {place}`" in refusal("iperf3")
        place.chmod(mode)
    require("iperf3")
    if os.geteuid() == 0:
        os.chown(file, 65534, 65534)
        assert f"{file}: belongs to user 65534, not to the one that runs this (0)" in refusal("iperf3")
    file.unlink()
    os.mkfifo(file)
    assert "is a named pipe: allowed is a regular file" in refusal("iperf3")
    file.unlink()
    file.write_bytes(b"\xff")
    assert "is not UTF-8" in refusal("iperf3")


@pytest.mark.parametrize("key", ["plugin", "python"])
def test_no_code_of_a_plug_in_is_executed_for_another_machine(key: str) -> None:
    state = State(tell=lambda **_: None)
    specification = {"flows": [{"scheme": "x", key: "/tmp/x"}]}
    with pytest.raises(Error, match="is a plug-in"):
        run(state, {"specification": specification, "plan": {"sends": True}}, b"")
