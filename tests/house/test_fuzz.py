"""Tests of fuzzing: a short round with fixed inputs, and the detection of known faults.

`make fuzz` goes on for ten minutes, with other inputs each time; the scheduled job does so.
"""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from dumbbell import Error
from dumbbell.base.errors import UserError
from support.fuzzing import fuzz
from support.fuzzing.targets import TARGETS, Target

SEED = 1
INPUTS = 30
"""Number of mutated inputs of each target."""
VALID = 10
"""Maximum number of valid inputs: `test_valid_inputs_are_taken` has all of them."""


@pytest.mark.parametrize("name", TARGETS)
def test_a_short_round(name: str, tmp_path: Path) -> None:
    target = TARGETS[name]
    valid = target.valid(tmp_path)
    assert valid
    batch = [
        *fuzz.inputs(target, valid, SEED, 0, min(len(valid), VALID)),
        *fuzz.inputs(target, valid, SEED, len(valid), INPUTS),
    ]
    findings = list(fuzz.run_batch(target, batch))
    assert not findings, "\n".join(fuzz.describe(finding, tmp_path) for finding in findings)


def test_a_key_of_thousands_of_letters_is_refused_in_a_line_that_can_be_read() -> None:
    content = b'{"' + b"a." * 5000 + b'": 1} \xae'
    assert not list(fuzz.run_batch(TARGETS["specification"], [(0, content)]))


@pytest.mark.parametrize("name", TARGETS)
def test_valid_inputs_are_taken(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = TARGETS[name]
    (tmp_path / "valid").mkdir()
    inputs = target.valid(tmp_path / "valid")
    refusals = []
    for number, content in enumerate(inputs):
        place = tmp_path / str(number)
        place.mkdir()
        monkeypatch.chdir(place)
        try:
            target.give(content, place)
        except Error as error:
            refusals.append(str(error))
    # real programs cannot be simulated, and some are not here
    assert len(refusals) <= len(inputs) * (0.5 if name == "scheme" else 0.34), refusals


def _target(give: Callable[[bytes, Path], object]) -> Target:
    return Target("made-up", lambda _: [b"valid"], give)


def _traceback(content: bytes, _: Path) -> None:
    if content == b"bad":
        raise KeyError(content)


def _two_lines(content: bytes, _: Path) -> None:
    if content == b"bad":
        error = UserError("")
        error.args = ("one\ntwo",)
        raise error


def _half(content: bytes, folder: Path) -> None:
    if content == b"bad":
        (folder / "out").mkdir()
        raise UserError("no")


def _elsewhere(content: bytes, folder: Path) -> None:
    if content == b"bad":
        (folder / "stray").write_text("")


def _memory(content: bytes, _: Path) -> None:
    if content == b"bad":
        bytes(1 << 40)


def _death(content: bytes, _: Path) -> None:
    if content == b"bad":
        os.abort()


def _forever(content: bytes, _: Path) -> None:
    while content == b"bad":
        pass


def _waiting(content: bytes, _: Path) -> None:
    if content == b"bad":
        signal.pause()


@pytest.mark.parametrize(
    ("give", "message"),
    [
        (_traceback, "KeyError"),
        (_two_lines, "not in one line"),
        (_half, "left behind: ['out']"),
        (_elsewhere, "left behind: ['stray']"),
        (_memory, "MemoryError"),
        (_death, "the process died: SIGABRT"),
        (_forever, "more than 0.5 s of the processor"),
        (_waiting, "more than 2 s"),
    ],
)
def test_what_is_wrong_is_found_and_named(
    give: Callable[[bytes, Path], object], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz, "CPU_S", 0.5)
    monkeypatch.setattr(fuzz, "WAIT_S", 2.0 if give is _waiting else 60.0)
    batch = [(0, b"good"), (1, b"bad"), (2, b"good"), (3, b"bad"), (4, b"good")]
    findings = list(fuzz.run_batch(_target(give), batch))
    assert [(finding.number, finding.content) for finding in findings] == [(1, b"bad"), (3, b"bad")]
    assert all(message in finding.complaint for finding in findings), findings[0].complaint


def test_the_same_seed_makes_the_same_inputs_whoever_makes_them() -> None:
    target = _target(_traceback)
    valid = [b"title = 'a'\nrate = 3.5\n", b"x = [1, 2]\n"]
    all_inputs = dict(fuzz.inputs(target, valid, 7, 0, 60))
    parts = dict(fuzz.inputs(target, valid, 7, 30, 30)) | dict(fuzz.inputs(target, valid, 7, 0, 30))
    assert all_inputs == parts
    assert [all_inputs[0], all_inputs[1]] == valid
    assert len(set(all_inputs.values())) > 40
    assert all_inputs != dict(fuzz.inputs(target, valid, 8, 0, 60))


def test_a_finding_is_kept_with_the_command_that_gives_it_once_more(tmp_path: Path) -> None:
    finding = fuzz.Finding("path", 3, b"bad = [", "Traceback\nKeyError: 'x'\n")
    line = fuzz.describe(finding, tmp_path / "found")
    (file,) = (tmp_path / "found").iterdir()
    assert file.read_bytes() == b"bad = ["
    assert line.startswith("FOUND path 3: KeyError: 'x'")
    assert line.endswith(f"--again path {file}")
