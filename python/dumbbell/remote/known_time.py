"""The command `time` of a peer process: what this machine knows of UTC, and from where."""

from dataclasses import asdict
from typing import Any

from dumbbell.base.errors import UserError
from dumbbell.machine import sntp
from dumbbell.remote import chrony
from dumbbell.remote.messages import Message
from dumbbell.remote.serve import Reply, State


def tell(state: State, message: Message, _payload: bytes) -> Reply:
    """By source: what it says (several times if it was asked several times), or why it says nothing.

    With `ntp` that server is asked, without it chronyd.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    failed: dict[str, str] = {}
    server = message.get("ntp")
    source = f"NTP server {server}" if server else "chrony"
    try:
        if server:
            known = sntp.ask(sntp.read_server(str(server)), clock=state.clock)
        else:
            own = chrony.tracking()
            known = [] if own is None else [own]
        if known:
            found[source] = [asdict(each) for each in known]
    except UserError as error:
        failed[source] = str(error)
    return {"known": found, "failed": failed}, b""
