"""Tests of the installation on another machine over a real sshd, with every reason why it fails.

Installations use much CPU time, but do not depend on times, so they are not among the tests that do.
"""

import fcntl
import http.server
import json
import re
import socket
import subprocess
import sys
import threading
import tomllib
import zipfile
from pathlib import Path

import pytest

import dumbbell
from dumbbell_remote.installing import installer
from dumbbell_remote.installing.install import INSTALL
from dumbbell_remote.installing.pack import packages

from .bed import Bed, eventually

FAKE = """
import json, sys, time
def main():
    {before}
    if sys.argv[1:] != ["remote", "serve"]:
        return
    sys.stdout.buffer.write(b"dumbbell-remote 2\\n")
    sys.stdout.buffer.flush()
    while head := sys.stdin.buffer.read(4):
        asked = json.loads(sys.stdin.buffer.read(int.from_bytes(head, "big")))
        if asked["do"] == "hello":
            answer = json.dumps({{"ok": {{"version": "{version}", "mark": "{mark}"}}}}).encode()
            sys.stdout.buffer.write(len(answer).to_bytes(4, "big") + answer)
            sys.stdout.buffer.flush()
"""
"""Program that answers as a peer process does, without dumbbell."""

MARK = """
import sys
from dumbbell.machine.host import read_host
from dumbbell_remote.link import Peer
with Peer(read_host(sys.argv[1]), any_version=True) as peer:
    print(peer.hello.get("mark"), peer.hello.get("commit"))
"""


def test_all_packages_of_the_wheel_are_packed() -> None:
    root = Path(__file__).parents[2]
    wheel_packages = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["maturin"]["python-packages"]
    assert packages(root / "python", []) == sorted(wheel_packages), "of a checkout"
    installed_files = ["dumbbell/__init__.py", "dumbbell_gym/__init__.py", "dumbbell-0.1.0.dist-info/METADATA"]
    assert packages(root / "python", installed_files) == ["dumbbell", "dumbbell_gym"], "others are somebody else's"


def fake(
    folder: Path,
    mark: str = "one",
    version: str = dumbbell.__version__,
    tag: str = "py3-none-any",
    before: str = "pass",
    needs: str = "",
    answers: str = dumbbell.__version__,
) -> Path:
    """Write a wheel that claims to be dumbbell."""
    name = f"dumbbell-{version}"
    wheel = folder / f"{name}-{tag}.whl"
    requirement = f"Requires-Dist: {needs}\n" if needs else ""
    files = {
        "dumbbell/__init__.py": FAKE.format(mark=mark, before=before, version=answers),
        f"{name}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: dumbbell\nVersion: {version}\n{requirement}",
        f"{name}.dist-info/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n",
        f"{name}.dist-info/entry_points.txt": "[console_scripts]\ndumbbell = dumbbell:main\n",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
        archive.writestr(f"{name}.dist-info/RECORD", "".join(f"{file},,\n" for file in [*files, "RECORD"]))
    return wheel


@pytest.fixture(name="bare")
def _bare(bed: Bed) -> Bed:
    """Return machines of which the far one has a Python, and no dumbbell."""
    (bed.far.folder / "bin" / "dumbbell").unlink()
    (bed.far.folder / "bin" / "python3").symlink_to(Path(sys.executable).resolve())
    settings = bed.far.folder / "home/.config/pip/pip.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text("[global]\nretries = 0\ntimeout = 2\n")  # there is no index
    return bed


def place(bed: Bed) -> Path:
    return bed.far.folder / "home/.local/share/dumbbell/remote"


def install(bed: Bed, wheel: Path, expect: int = 0) -> str:
    """Install a wheel; return the single line of output: the result, or the reason why it failed."""
    result = bed.dumbbell("remote", "install", bed.host, "--from", wheel, expect=expect)
    lines = [line for line in (result.stdout + result.stderr).splitlines() if " gone" not in line]
    assert len(lines) == 1, lines
    return lines[0]


def answering(bed: Bed) -> str:
    """Return the mark of the installation that answers."""
    return bed.near.run(sys.executable, "-P", "-c", MARK, bed.host).stdout.split()[0]


def left(bed: Bed) -> list[str]:
    """Return the files beside the installation."""
    return sorted(file.name for file in place(bed).parent.iterdir())


@pytest.mark.slow
def test_what_runs_here_is_installed_there_with_all_that_it_needs(bare: Bed) -> None:
    line = bare.dumbbell("remote", "install", bare.host, "--offline").stdout
    assert line.startswith(f"{bare.host}: dumbbell {dumbbell.__version__} for Python ")
    assert line.endswith(f" in {place(bare)}\n")
    checks = json.loads(bare.dumbbell("remote", "check", bare.host, "--json").stdout)["checks"]
    assert {check["name"] for check in checks if check["needed"] and not check["good"]} == set()
    program = place(bare) / "bin" / "dumbbell"
    version = bare.far.run(program, "--version").stdout
    own_version = bare.dumbbell("--version").stdout
    assert re.findall(r"commit (\S+);", version) == re.findall(r"commit (\S+);", own_version)
    bare.far.run(program, "run", "--schemes", "cubic", "--path", "buffer-bdp", "--duration", "1", "--out", "out")
    assert (bare.far.folder / "out" / "results.sqlite").is_file()
    assert len(left(bare)) == 3
    assert not list(place(bare).glob("wheels"))


def test_a_wheel_is_installed_there_and_answers(bare: Bed, tmp_path: Path) -> None:
    assert install(bare, fake(tmp_path)).endswith(f" in {place(bare)}")
    assert answering(bare) == "one"
    assert left(bare) == ["remote", str(place(bare).readlink()), "remote.lock"]


@pytest.mark.slow
def test_a_new_one_takes_the_place_of_the_old_one_when_it_has_answered(bare: Bed, tmp_path: Path) -> None:
    assert install(bare, fake(tmp_path)).endswith(f" in {place(bare)}")
    first = place(bare).readlink()
    working = bare.near.start(sys.executable, "-P", "-c", f"{MARK}    sys.stdin.read()", bare.host, stdin=-1)
    assert working.stdout is not None
    assert working.stdout.readline().startswith("one")
    install(bare, fake(tmp_path, mark="two"))
    assert answering(bare) == "two"
    assert left(bare) == ["remote", *sorted([str(first), str(place(bare).readlink())]), "remote.lock"]  # it is at work
    working.communicate(timeout=60)
    bad: tuple[tuple[dict[str, str], str], ...] = (
        ({"before": "sys.exit('it is broken')"}, "what was installed does not answer: it is broken"),
        ({"answers": "0.0.8"}, "what was installed does not answer: no reason"),
        ({"needs": "no-such-package-anywhere"}, "reaches no package index (pypi.org: "),
    )
    for change, part in bad:
        assert part in install(bare, fake(tmp_path, **change), expect=2)
        assert answering(bare) == "two"
        assert left(bare) == ["remote", str(place(bare).readlink()), "remote.lock"]
    assert bare.far.empty()


def test_a_wheel_that_does_not_fit_is_refused(bare: Bed, tmp_path: Path) -> None:
    (tmp_path / "x.whl").write_text("no wheel")
    assert "x.whl: is no wheel" in install(bare, tmp_path / "x.whl", expect=2)
    assert "allowed is a regular file" in install(bare, tmp_path, expect=2)
    other = fake(tmp_path, version="0.0.9")
    assert f"is dumbbell 0.0.9: allowed is dumbbell {dumbbell.__version__}" in install(bare, other, expect=2)
    arm = fake(tmp_path, tag="cp311-abi3-manylinux_2_17_riscv64")
    assert "the wheel is for riscv64: give one for it with --from" in install(bare, arm, expect=2)
    late = fake(tmp_path, tag="cp311-abi3-manylinux_2_99_x86_64")
    reason = install(bare, late, expect=2)
    assert "the wheel needs 2.99 or later" in reason or "the wheel is for x86_64" in reason
    assert not place(bare).parent.exists() or left(bare) == []


@pytest.mark.slow
def test_where_nothing_can_be_installed_it_is_refused(bare: Bed, tmp_path: Path) -> None:
    wheel = fake(tmp_path)
    place(bare).mkdir(parents=True)
    assert "is not what an installation makes: move it away" in install(bare, wheel, expect=2)
    place(bare).rmdir()
    with (place(bare).parent / "remote.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "another installation is going on there" in install(bare, wheel, expect=2)
    (bare.near.folder / "known_hosts").unlink()
    assert "its host key is not known here" in install(bare, wheel, expect=2)
    bare.know_host()
    configuration = bare.far.folder / "sshd_config"
    only = re.sub(r'"PATH=[^"]*"', f'"PATH={bare.far.folder / "bin"}"', configuration.read_text())
    configuration.write_text(only)
    (bare.far.folder / "bin" / "python3").unlink()
    (bare.far.folder / "bin" / "sh").symlink_to("/bin/sh")
    bare.stop_sshd()
    bare.start_sshd()
    assert "has no Python 3.11 or later" in install(bare, wheel, expect=2)


@pytest.mark.slow
def test_an_installation_that_is_cut_short_leaves_the_old_one(bare: Bed, tmp_path: Path) -> None:
    install(bare, fake(tmp_path))
    slow = fake(tmp_path, mark="two", before="time.sleep(5)")
    process = bare.near.start_dumbbell("remote", "install", bare.host, "--from", slow)
    assert eventually(lambda: bare.far.running("remote serve"))
    process.kill()
    for ssh in bare.near.running("ssh -F"):
        bare.near.run("kill", "-9", ssh)
    assert bare.far.empty(30.0)
    assert answering(bare) == "one"


def test_that_no_index_is_reachable_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").symlink_to(sys.executable)
    with socket.create_server(("127.0.0.1", 0)) as taken_port:
        port = taken_port.getsockname()[1]
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", f"http://name:secret@127.0.0.1:{port}/simple/")
    with pytest.raises(installer.Refusal, match=r"^reaches no package index \(127\.0\.0\.1: .*use --offline") as error:
        installer.require_index(tmp_path, "--offline")
    assert "secret" not in str(error.value)
    assert "timed out" not in str(error.value), "no answer is waited for"
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    installer.require_index(tmp_path, "--offline")  # pip looks for none
    monkeypatch.delenv("PIP_NO_INDEX")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as index:
        threading.Thread(target=index.serve_forever, daemon=True).start()
        monkeypatch.setenv("PIP_INDEX_URL", f"http://name:secret@127.0.0.1:{index.server_port}/simple/")
        installer.require_index(tmp_path, "--offline")  # it answers, if only that it does not know the page
        index.shutdown()


def test_the_command_for_the_other_machine_stands_alone() -> None:
    inside = INSTALL.removeprefix("exec sh -c '").removesuffix("'")
    assert "'" not in inside
    assert INSTALL.isprintable()
    # sh reads the command as a user would type it, without the program on its input.

    result = subprocess.run(["sh", "-c", INSTALL], input=b"10\nprint(6*7)", capture_output=True, check=True)
    assert result.stdout == b"42\n"
