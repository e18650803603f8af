"""Tests of `dumbbell schema`, and of an editor's language server that reads the schemas."""

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from inline_snapshot import snapshot

from support.commands.command import TIMEOUT_S, Dumbbell
from support.told import transcript


def test_printed_written_and_installed_are_the_same(dumbbell: Dumbbell, folder: Path) -> None:
    output = dumbbell("schema", "path").stdout
    assert json.loads(output)["title"] == "dumbbell path file"
    assert dumbbell("schema", "path", "--out", "path.schema.json").stdout == "path.schema.json\n"
    assert (folder / "path.schema.json").read_text() == output
    assert Path(dumbbell("schema", "path", "--where").stdout.strip()).read_text() == output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["paths"],
            snapshot(
                """\
dumbbell: argument experiment|path|scheme: unknown `paths` (did you mean `path`?): allowed are
  experiment, path, scheme (`dumbbell schema --help` shows what is possible)\
"""
            ),
        ),
        (
            ["path", "--out", "a", "--where"],
            snapshot(
                """\
dumbbell: argument --where: not allowed with argument --out (`dumbbell schema --help` shows what is
  possible)\
"""
            ),
        ),
        (["path", "--out", "no/such/file"], snapshot("dumbbell: No such file or directory: no/such/file")),
    ],
)
def test_refusals(dumbbell: Dumbbell, folder: Path, words: list[str], message: str) -> None:
    before = sorted(folder.iterdir())
    result = dumbbell("schema", *words, expect=2)
    assert transcript(result.stderr, folder) == message
    assert result.stderr.startswith("dumbbell")
    assert result.stderr.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def send(to: IO[bytes], **message: object) -> None:
    body = json.dumps({"jsonrpc": "2.0"} | message).encode()
    to.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    to.flush()


def receive(stream: IO[bytes]) -> dict[str, Any]:
    length = 0
    while (line := stream.readline().strip()) or not length:
        assert line, "the server has ended"
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    message: dict[str, Any] = json.loads(stream.read(length))
    return message


class Server:
    """An editor's language server for TOML, headless."""

    def __init__(self, program: str, folder: Path) -> None:
        command = [program, "lsp", "--offline"]
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, cwd=folder, **streams)  # type: ignore[call-overload]
        self.asked = 0

    def ask(self, method: str, **params: object) -> Any:  # noqa: ANN401 (what JSON has)
        """Return the server's answer; its own requests meanwhile get an empty answer."""
        self.asked += 1
        send(self.process.stdin, id=f"q{self.asked}", method=method, params=params)
        while True:
            message = receive(self.process.stdout)
            if message.get("id") == f"q{self.asked}":
                return message["result"]
            if "id" in message and "method" in message:
                send(self.process.stdin, id=message["id"], result=None)

    def tell(self, method: str, **params: object) -> None:
        send(self.process.stdin, method=method, params=params)


@pytest.fixture
def server(folder: Path) -> Iterator[Server]:
    program = shutil.which("tombi", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("tombi is not installed: `make test` does it")
    started_server = Server(program, folder)
    end = threading.Timer(TIMEOUT_S, started_server.process.kill)
    end.start()
    yield started_server
    end.cancel()
    started_server.process.kill()
    started_server.process.communicate()


def test_an_editor_marks_a_typo_while_it_is_typed(dumbbell: Dumbbell, folder: Path, server: Server) -> None:
    """Version 1 of the text is right, version 2 has a typo: its line is marked, and the right key is offered."""
    dumbbell("schema", "path", "--out", "path.schema.json")
    right = "#:schema ./path.schema.json\n[[data]]\nkind = 'link'\nrate_mbps = 10.0\n"
    wrong = right.replace("rate_mbps", "rate_mpbs")
    file = folder / "mine.toml"
    file.write_text(right)
    document = {"uri": file.as_uri()}
    server.ask("initialize", processId=None, rootUri=folder.as_uri(), capabilities={})
    server.tell("initialized")
    open_document = document | {"languageId": "toml", "version": 1, "text": right}
    server.tell("textDocument/didOpen", textDocument=open_document)
    assert server.ask("textDocument/diagnostic", textDocument=document)["items"] == []
    server.tell("textDocument/didChange", textDocument=document | {"version": 2}, contentChanges=[{"text": wrong}])
    items = server.ask("textDocument/diagnostic", textDocument=document)["items"]
    assert any(
        "rate_mpbs" in diagnostic["message"] and diagnostic["range"]["start"]["line"] == 3 for diagnostic in items
    ), items
    hover = server.ask("textDocument/hover", textDocument=document, position={"line": 2, "character": 1})
    assert "kind" in json.dumps(hover)
