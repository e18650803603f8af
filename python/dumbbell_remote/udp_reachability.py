"""Test of UDP between two peer processes: each opens a socket in turn, and the other one sends to it.

A socket is open for seconds, and accepts only the token that came over the link.
"""

import hmac
import secrets
import socket
from typing import TypedDict

from dumbbell.base.errors import UserError, one_line
from dumbbell.core import Error
from dumbbell_remote.answer_errors import typed_answer
from dumbbell_remote.link import Peer
from dumbbell_remote.messages import Message
from dumbbell_remote.serve import Reply, State

OPEN_S = 2.0
"""Time for which a socket is open, s."""
COPIES, EVERY_S = 5, 0.1
"""Number of datagrams that are sent, and the time between two of them, s."""


def listen(state: State, _message: Message, _payload: bytes) -> Reply:
    """Open a socket, and return its port."""
    datagrams = socket.socket(_family(), socket.SOCK_DGRAM)
    state.resources.callback(datagrams.close)
    datagrams.bind(("", 0))
    state.objects["reach"] = datagrams
    return {"port": datagrams.getsockname()[1]}, b""


def heard(state: State, message: Message, _payload: bytes) -> Reply:
    """Wait for a datagram with the token, close the socket, and return the source address; None without a datagram."""
    token = str(message["token"]).encode()
    deadline_s = state.clock.monotonic() + OPEN_S
    with state.objects.pop("reach") as datagrams:
        while (left_s := deadline_s - state.clock.monotonic()) > 0 and not state.stopping.is_set():
            datagrams.settimeout(min(left_s, 0.5))
            try:
                content, source = datagrams.recvfrom(2048)
            except TimeoutError:
                continue
            if hmac.compare_digest(content, token):
                return {"from": [_plain(source[0]), source[1]]}, b""
    return {"from": None}, b""


def speak(state: State, message: Message, _payload: bytes) -> Reply:
    """Send the token to an address, several times."""
    token, target = str(message["token"]).encode(), (str(message["address"]), int(message["port"]))
    try:
        address = socket.getaddrinfo(*target, type=socket.SOCK_DGRAM)[0]
        with socket.socket(address[0], socket.SOCK_DGRAM) as datagrams:
            for _ in range(COPIES):
                datagrams.sendto(token, address[4])
                if state.clock.wait(state.stopping.wait, EVERY_S):
                    break
    except (OSError, OverflowError, UnicodeError) as error:  # a port above 65,535, or an invalid host name
        raise UserError(f"cannot send to {target[0]}: {one_line(error)}") from None
    return {}, b""


class _ListenReply(TypedDict):
    port: int


_HeardReply = TypedDict("_HeardReply", {"from": list[object] | None})


def passes(sender: Peer, receiver: Peer, address: str) -> str | None:
    """Send a token from one peer process to the other's address; return the reason of a failure, or None."""
    token = secrets.token_hex(16)
    try:
        port = typed_answer(receiver.name, receiver.ask("listen")[0], _ListenReply)["port"]
        hearing = receiver.begin("heard", token=token)
        try:
            sender.ask("speak", token=token, address=address, port=port)
        finally:
            source = typed_answer(receiver.name, hearing.result()[0], _HeardReply)["from"]
    except Error as error:
        return one_line(error)
    return None if source else f"nothing arrives at {address} (tried port {port})"


def _family() -> int:
    """Return the family of a socket that receives IPv4 and, if the machine has it, IPv6."""
    try:
        socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).close()
    except OSError:
        return socket.AF_INET
    return socket.AF_INET6


def _plain(address: str) -> str:
    return address.removeprefix("::ffff:")
