"""Tests of shell completion and of `--version`."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from io import StringIO
from pathlib import Path

import argcomplete
import pytest

from dumbbell import __version__, core
from dumbbell.cli.version import version_text
from dumbbell.results import installation
from support.commands.command import COMMAND, Dumbbell
from support.commands.in_process import run_in_process
from support.waiting import TIMEOUT_S


def completion_environment(line: str) -> dict[str, str]:
    """Return the variables with which a shell asks for the words that complete a line."""
    return {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "COMP_LINE": line, "COMP_POINT": str(len(line))}


def words_in(answer: str) -> list[str]:
    return [word.strip() for word in answer.splitlines()]


@pytest.fixture
def complete_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Return the words that complete a command line, asked for as a shell asks, in the process of the test."""
    # The library ends the process, and writes to the descriptors 8 and 9, which are open files of pytest.
    monkeypatch.setattr(argcomplete.CompletionFinder, "_init_debug_stream", lambda _: None)
    library = argcomplete.autocomplete

    def complete(line: str) -> list[str]:
        answer = StringIO()
        with monkeypatch.context() as patch:
            patch.setattr(argcomplete, "autocomplete", partial(library, exit_method=sys.exit, output_stream=answer))
            for name, value in completion_environment(line).items():
                patch.setenv(name, value)
            assert run_in_process([], folder).returncode == 0
        return words_in(answer.getvalue())

    return complete


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("dumbbell com", ["completion"]),
        ("dumbbell list ex", ["experiments"]),
        ("dumbbell run --war", ["--warmup"]),
        ("dumbbell run agreement-rea", ["agreement-real"]),
        ("dumbbell run --schemes vegas,prag", ["vegas,prague"]),
        ("dumbbell run --path korea", ["korea-china"]),
        ("dumbbell benchmark --only ack_", ["ack_loss"]),
        ("dumbbell benchmark --only agreement-r", []),
        ("dumbbell benchmark --experiment agreement-r", []),
        ("dumbbell run --mix cubic+veg", ["cubic+vegas"]),
        ("dumbbell run --set warm", ["warmup_s="]),
        ("dumbbell run --set copa.del", ["copa.delta="]),
        ("dumbbell run --backend e", ["emu"]),
        ("dumbbell run --schemes vegas,sma", ["vegas,small.toml"]),
        ("dumbbell export trace cellular-att-lte-d", ["cellular-att-lte-down"]),
        ("dumbbell import p", ["packetdrill", "pantheon", "pcap"]),
        ("dumbbell show --metrics throughput_m", ["throughput_mbps"]),
        ("dumbbell run --log f", ["full"]),
        ("dumbbell kernel un", ["unload"]),
        ("dumbbell run --aqm cod", ["codel", "codel-ecn"]),
        ("dumbbell show out --sort throughput_m", ["throughput_mbps"]),
        ("dumbbell list schemes --kind b", ["bpf"]),
        ("dumbbell completion fi", ["fish"]),
    ],
)
def test_words_are_completed(complete_line: Callable[[str], list[str]], line: str, words: list[str]) -> None:
    assert complete_line(line) == words


def test_every_command_can_be_completed(dumbbell: Dumbbell, folder: Path) -> None:
    matches = re.findall(r"^    (\w+)", dumbbell("--help").stdout, re.MULTILINE)
    assert len(matches) > 10
    environment = (
        os.environ | completion_environment("dumbbell ") | {"_ARGCOMPLETE_STDOUT_FILENAME": str(folder / "answer")}
    )
    subprocess.run(COMMAND, cwd=folder, env=environment, check=True, timeout=TIMEOUT_S)
    assert set(matches) <= set(words_in((folder / "answer").read_text()))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_code_for_a_shell_is_read_by_it(dumbbell: Dumbbell, folder: Path, shell: str) -> None:
    code = dumbbell("completion", shell).stdout
    assert "_ARGCOMPLETE" in code
    assert "dumbbell" in code
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    (folder / "code").write_text(code)
    subprocess.run([program, "-n", "code"], cwd=folder, check=True, timeout=TIMEOUT_S)


def test_bash_completes_with_the_code(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "code").write_text(dumbbell("completion", "bash").stdout)
    (folder / "dumbbell").write_text(f'#!/bin/sh\nexec {sys.executable} -m dumbbell "$@"\n')
    (folder / "dumbbell").chmod(0o755)
    script = """
    source ./code
    function=$(complete -p dumbbell | sed -E 's/.* -F ([^ ]+) .*/\\1/')
    COMP_LINE="dumbbell list sch" COMP_POINT=17 COMP_TYPE=9 COMP_CWORD=2 COMP_WORDS=(dumbbell list sch)
    $function dumbbell sch list
    echo "${COMPREPLY[@]}"
    """
    environment = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    result = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=TIMEOUT_S,
    )
    assert result.stdout.split() == ["schemes"], result.stderr


def test_an_unknown_shell_is_refused(dumbbell: Dumbbell) -> None:
    assert (
        "unknown `ash` (did you mean `bash`?): allowed are bash, zsh, fish"
        in dumbbell("completion", "ash", expect=2).stderr
    )


@pytest.mark.parametrize(
    ("state", "build_commit", "message"),
    [
        (None, None, "commit not recorded;"),
        (None, "0123456789abcdef", "commit 0123456789ab;"),
        (None, "0123456789abcdef+", "commit 0123456789ab+;"),
        ({"commit": "f" * 40, "changed": []}, "0123456789abcdef", "commit ffffffffffff;"),
        ({"commit": "f" * 40, "changed": ["README.md"]}, None, "commit ffffffffffff+;"),
    ],
)
def test_the_commit_is_the_checkouts_or_the_builds(
    monkeypatch: pytest.MonkeyPatch, state: dict[str, object] | None, build_commit: str | None, message: str
) -> None:
    monkeypatch.setattr(installation, "git_state", lambda: state)
    monkeypatch.setattr(core, "commit", lambda: build_commit)
    assert message in version_text()


def test_the_version_names_commit_and_features(dumbbell: Dumbbell) -> None:
    pattern = r"dumbbell (\S+) \((commit [0-9a-f]{12}\+?|commit not recorded); "
    pattern += r"backends emu, remote:HOST, sim; helpers [\w, -]+\)\n"
    match = re.fullmatch(pattern, dumbbell("--version").stdout)
    assert match is not None
    assert match[1] == __version__
