"""Tests of internal errors, which have an exit status of their own: 1 is an answer, such as "worse"."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dumbbell.base.starting import INTERNAL_ERROR, MISTAKE
from dumbbell.cli.main import main
from dumbbell_check.commands import check
from support.commands.command import COMMAND


class PanicError(BaseException):
    """As the core's panics are: no `Exception`."""


@pytest.mark.parametrize("kind", [RuntimeError, OverflowError, RecursionError, PanicError])
def test_an_exception_that_nobody_caught_is_not_the_answer_worse(
    kind: type[BaseException], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        raise kind("nobody expected this")

    monkeypatch.setattr(check, "main", fail)
    assert main(["check", "cubic", "--against", "reno"]) == INTERNAL_ERROR
    out, errors = capsys.readouterr()
    assert out == ""
    assert "nobody expected this" in errors
    assert errors.splitlines()[-1] == MISTAKE


def test_nor_is_one_that_comes_before_the_command_is_read(tmp_path: Path) -> None:
    (tmp_path / "argparse.py").write_text("raise RuntimeError('broken')\n")
    places = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    result = subprocess.run(
        [*COMMAND, "list", "paths"],
        env=os.environ | {"PYTHONPATH": places},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stdout) == (INTERNAL_ERROR, "")
    assert result.stderr.splitlines()[-2:] == ["RuntimeError: broken", MISTAKE]
    assert sys.excepthook is sys.__excepthook__  # a program that uses the library keeps its own
