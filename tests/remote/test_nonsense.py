"""Tests of one wrong answer of a remote peer process: the result is one line that names the machine."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.commands.command import COMMAND, PROGRESS
from support.waiting import TIMEOUT_S

LYING = f"""#!{sys.executable} -P
import sys
if "-G" in sys.argv:
    sys.exit(print("hostname 127.0.0.1"))
from dumbbell.cli.main import main
from dumbbell_remote import describe_commands as described, run_commands
sys.argv = ["dumbbell", "remote", "serve"]
def answers(module, name, change):
    honest = getattr(module, name)
    def lie(*asked):
        answer, payload = honest(*asked)
        change(answer)
        return answer, payload
    setattr(module, name, lie)
LIES
main()
"""
"""Script of an ssh that starts such a peer process here."""


def answer_lies(folder: Path, lies: str, *words: str, expect: int) -> subprocess.CompletedProcess[str]:
    """Run a command whose remote peer process gives these wrong answers; return its result."""
    (folder / "bin").mkdir()
    (folder / "bin/ssh").write_text(LYING.replace("LIES", lies))
    (folder / "bin/ssh").chmod(0o755)
    environment = os.environ | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    result = subprocess.run(
        [*COMMAND, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert result.returncode == expect, result.stderr
    assert "Traceback" not in result.stderr
    return result


@pytest.mark.parametrize(
    ("lies", "message"),
    [
        (
            "answers(described, 'hello', lambda it: it.update(ssh={'client': '', 'server': [1]}))",
            "unhashable type: 'list'",
        ),
        ("answers(described, 'hello', lambda it: it.update(loader=5))", "`found`: allowed is a text"),
        ("answers(described, 'hello', lambda it: it.update(ssh=5))", "AttributeError"),
        (
            "answers(described, 'hello', lambda it: it['clock'].update(disciplined=True, error_us='x'))",
            "TypeError",
        ),
    ],
)
def test_a_check_of_a_machine_that_says_nonsense_is_one_line(tmp_path: Path, lies: str, message: str) -> None:
    result = answer_lies(tmp_path, lies, "remote", "check", "lab", "--json", expect=1)
    (check,) = json.loads(result.stdout)["checks"]
    assert (check["name"], check["good"]) == ("ssh", False)
    assert check["found"].startswith("what it answers is not understood: ")
    assert message in check["found"]


@pytest.mark.parametrize(
    "answer",
    ["[]", "xx", '{"tell": null}', '{"ok": null}', '{"ok": {}, "bytes": 5}', '{"error": {"a": "\\n"}}', "[" * 9999],
)
def test_a_message_that_is_none_is_one_line_of_a_check(tmp_path: Path, answer: str) -> None:
    message = len(answer).to_bytes(4, "big") + answer.encode()
    lies = f"from dumbbell_remote import serve; serve.framed = lambda *_: {message!r}"
    result = answer_lies(tmp_path, lies, "remote", "check", "lab", "--json", expect=1)
    (check,) = json.loads(result.stdout)["checks"]
    assert (check["name"], check["good"]) == ("ssh", False)
    assert len(check["found"].splitlines()) == 1
    assert len([line for line in result.stderr.splitlines() if not PROGRESS.search(line)]) <= 1


@pytest.mark.real
@pytest.mark.parametrize(
    ("lies", "message"),
    [
        (
            "answers(run_commands, 'probe', lambda it: it.update(arrived=[['x']]))",
            "ValueError: not enough values to unpack",
        ),
        ("answers(run_commands, 'probe', lambda it: it.clear())", "key 'arrived' is missing"),
        ("answers(run_commands, 'meet', lambda it: it.clear())", "key `heard` is missing"),
    ],
)
def test_a_path_to_a_machine_that_says_nonsense_is_one_line(tmp_path: Path, lies: str, message: str) -> None:
    result = answer_lies(tmp_path, lies, "path", "lab", "--duration", "30", expect=2)
    assert result.stderr.splitlines()[-1].startswith("dumbbell: lab: what it answers is not understood: ")
    assert message in result.stderr


@pytest.mark.real
@pytest.mark.parametrize(
    ("lies", "message"),
    [
        ("answers(run_commands, 'meet', lambda it: it.update(peers=[9]))", "`peers[0]`: allowed is a text"),
        (
            "answers(described, 'describe', lambda it: it['counters'].update(udp={'NoPorts': 0.5}))",
            "`counters.udp.NoPorts`",
        ),
        (
            "answers(run_commands, 'meet', lambda it: it.update(hops=[{'rtt': 10**19}]))",
            "`hops[0].rtt` = 10000000000000000000",
        ),
    ],
)
def test_a_run_with_a_machine_that_says_nonsense_fails_and_is_no_damaged_one(
    tmp_path: Path, lies: str, message: str
) -> None:
    words = ("--backend", "remote:lab", "--schemes", "reno", "--duration", "1", "--out", "out")
    result = answer_lies(tmp_path, lies, "run", *words, expect=1)
    assert "lab: what it answers is not understood: " in result.stderr
    assert message in result.stderr
    shown_result = subprocess.run(
        [*COMMAND, "show", "out", "--json"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert [run["status"] for run in json.loads(shown_result.stdout)["runs"]] == ["failed"]
