"""Fuzzing targets of runs between machines: host names, the allow file, messages of the remote machine."""

import contextlib
import fcntl
import json
import os
from pathlib import Path

from dumbbell.machine.host import read_host
from dumbbell_remote.allowed_programs import allowed_programs, require
from dumbbell_remote.messages import GREETING, Messages
from support.fuzzing.given import Target

_PIPE_BYTES = 2**20


def _give_host(content: bytes, _: Path) -> None:
    text = content.decode(errors="surrogateescape")
    host = read_host(text)
    words = host.ssh_words()
    assert all(word.isprintable() and " " not in word for word in words), words
    assert words.index("--") == len(words) - 2, words
    assert read_host(str(host)) == host


def _give_allow(content: bytes, folder: Path) -> None:
    file = folder / "dumbbell" / "allow"
    file.parent.mkdir()
    file.write_bytes(content)
    before = os.environ.get("XDG_CONFIG_HOME")
    os.environ["XDG_CONFIG_HOME"] = str(folder)
    try:
        for program, variables in allowed_programs().items():
            require(program, variables)
            assert "LD_PRELOAD" not in variables
            assert "/" not in program or program.startswith("/")
    finally:
        if before is None:
            del os.environ["XDG_CONFIG_HOME"]
        else:
            os.environ["XDG_CONFIG_HOME"] = before
        file.unlink()
        file.parent.rmdir()


def _give_messages(content: bytes, _: Path) -> None:
    source, sink = os.pipe()
    try:
        fcntl.fcntl(sink, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        os.write(sink, content[:_PIPE_BYTES])
        os.close(sink)
        messages = Messages(source, -1)
        with contextlib.suppress(EOFError):
            messages.skip_to_greeting(1.0)
            while True:
                message, payload = messages.receive(silence_s=1.0)
                assert isinstance(message, dict)
                assert "bytes" not in message
                assert len(payload) < len(content)
    finally:
        os.close(source)


def _frame(value: object, payload: bytes = b"") -> bytes:
    text = json.dumps(value).encode()
    return len(text).to_bytes(4, "big") + text + payload


HOSTS = (b"lab", b"me@lab.example.org:2222", b"[2001:db8::1]:22", b"me@[fe80::1%eth0]")
ALLOW = (b"iperf3\n# ours\n/opt/mine MODE LEVEL_2\n",)
SPOKEN = (
    b"Welcome\n" + GREETING + _frame({"ok": {"version": "1", "clock": {}}}) + _frame({"beat": True}),
    GREETING + _frame({"ok": {}, "bytes": 5}, b"12345") + _frame({"error": "no"}) + _frame({"tell": {"a": [1]}}),
)

REMOTE = (
    Target("host", lambda _: list(HOSTS), _give_host),
    Target("allow", lambda _: list(ALLOW), _give_allow),
    Target("messages", lambda _: list(SPOKEN), _give_messages),
)
"""The targets."""
