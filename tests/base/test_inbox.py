"""Tests of messages from a process that runs foreign code: only complete ones with the token are accepted."""

import os
from collections.abc import Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection

import pytest

from dumbbell.base.inbox import MOST_BYTES, TOKEN_BYTES, GarbledMessage, Inbox, send

TOKEN = bytes(range(TOKEN_BYTES))
TEXT = b'{"answer": 1}'


def message(token: bytes = TOKEN, text: bytes = TEXT, length: int | None = None) -> bytes:
    return token + (len(text) if length is None else length).to_bytes(4, "big") + text


@pytest.fixture
def ends() -> Iterator[tuple[Connection, Connection]]:
    """Return the end that is read, and the end that foreign code writes to."""
    own_end, other_end = Pipe()
    yield own_end, other_end
    own_end.close()
    other_end.close()


def test_messages_are_taken_when_they_are_complete(ends: tuple[Connection, Connection]) -> None:
    own_end, other_end = ends
    inbox = Inbox(own_end, TOKEN)
    send(other_end, TOKEN, {"moment": 1})
    whole_message = message()
    os.write(other_end.fileno(), whole_message[:10])
    assert list(inbox.take()) == [{"moment": 1}]
    os.write(other_end.fileno(), whole_message[10:-1])
    assert list(inbox.take()) == []
    os.write(other_end.fileno(), whole_message[-1:])
    assert list(inbox.take()) == [{"answer": 1}]
    other_end.close()
    with pytest.raises(EOFError):
        list(inbox.take())


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(message(token=bytes(TOKEN_BYTES)), id="another token"),
        pytest.param(bytes([TOKEN[0] + 1]), id="first byte of another token"),
        pytest.param(message(token=TOKEN[:-1] + b"x"), id="last byte of another token"),
        pytest.param(message(length=MOST_BYTES + 1), id="longer than allowed"),
        pytest.param(message(text=b"[1]"), id="no table"),
        pytest.param(message(text=b"{"), id="no JSON"),
        pytest.param(message(text=b'{"a": "\xff"}'), id="no UTF-8"),
    ],
)
def test_what_is_no_message_is_refused(ends: tuple[Connection, Connection], content: bytes) -> None:
    own_end, other_end = ends
    os.write(other_end.fileno(), content)
    with pytest.raises(GarbledMessage, match="wrote to a descriptor that it does not own"):
        list(Inbox(own_end, TOKEN).take())
