"""Whether UDP passes between two peer processes: each in turn opens a socket, and the other one sends to it.

A socket is open for seconds, and nothing that it hears counts but the token that came over the link.
"""

import hmac
import secrets
import socket

from dumbbell._core import Error
from dumbbell.base.errors import UserError, one_line
from dumbbell.base.json_shape import Table
from dumbbell_remote.answer_errors import shaped
from dumbbell_remote.link import Peer
from dumbbell_remote.messages import Message
from dumbbell_remote.serve import Reply, State

OPEN_S = 2.0
"""So long a socket is open."""
COPIES, EVERY_S = 5, 0.1
"""So many datagrams are sent, so far apart."""


def listen(state: State, _message: Message, _payload: bytes) -> Reply:
    """Opens a socket; its port."""
    datagrams = socket.socket(_family(), socket.SOCK_DGRAM)
    state.held.callback(datagrams.close)
    datagrams.bind(("", 0))
    state.kept["reach"] = datagrams
    return {"port": datagrams.getsockname()[1]}, b""


def heard(state: State, message: Message, _payload: bytes) -> Reply:
    """Waits for a datagram with the token; from where it came, as far as one did. The socket is closed then."""
    token = str(message["token"]).encode()
    deadline_s = state.clock.monotonic() + OPEN_S
    with state.kept.pop("reach") as datagrams:
        while (left_s := deadline_s - state.clock.monotonic()) > 0 and not state.stopping.is_set():
            datagrams.settimeout(min(left_s, 0.5))
            try:
                content, where = datagrams.recvfrom(2048)
            except TimeoutError:
                continue
            if hmac.compare_digest(content, token):
                return {"from": [_plain(where[0]), where[1]]}, b""
    return {"from": None}, b""


def speak(state: State, message: Message, _payload: bytes) -> Reply:
    """Sends the token to an address, several times."""
    token, where = str(message["token"]).encode(), (str(message["address"]), int(message["port"]))
    try:
        found = socket.getaddrinfo(*where, type=socket.SOCK_DGRAM)[0]
        with socket.socket(found[0], socket.SOCK_DGRAM) as datagrams:
            for _ in range(COPIES):
                datagrams.sendto(token, found[4])
                if state.clock.wait(state.stopping.wait, EVERY_S):
                    break
    except (OSError, OverflowError, UnicodeError) as error:  # a port above 65,535; a name that no resolver takes
        raise UserError(f"cannot send to {where[0]}: {one_line(error)}") from None
    return {}, b""


_OPENED = Table({"port": int}, required=("port",))
_HEARD = Table({"from": list | None}, required=("from",))


def passes(sender: Peer, receiver: Peer, address: str) -> str | None:
    """Send from one peer process to the address of the other; return why it does not arrive, or None if it does."""
    token = secrets.token_hex(16)
    try:
        port = int(shaped(receiver.name, receiver.ask("listen")[0], _OPENED)["port"])
        hearing = receiver.begin("heard", token=token)
        try:
            sender.ask("speak", token=token, address=address, port=port)
        finally:
            heard = shaped(receiver.name, hearing.result()[0], _HEARD)["from"]
    except Error as error:
        return one_line(error)
    return None if heard else f"nothing arrives at {address} (tried port {port})"


def _family() -> int:
    """IPv6 sockets hear IPv4 too, where there is IPv6."""
    try:
        socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).close()
    except OSError:
        return socket.AF_INET
    return socket.AF_INET6


def _plain(address: str) -> str:
    return address.removeprefix("::ffff:")
