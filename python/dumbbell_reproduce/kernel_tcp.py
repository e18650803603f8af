"""Schemes of the kernel's TCP with a host's settings: socket buffers, and pacing if `fq` is installed."""

from dataclasses import replace

from dumbbell.base.errors import UserError
from dumbbell.catalog.families import family
from dumbbell.catalog.scheme import Scheme

LINUX, UNLIMITED = "linux", "unlimited"
SOCKETS = (LINUX, UNLIMITED)
"""Socket buffers of schemes of the kernel's TCP: Linux's defaults, or no limit."""
TRUESIZE_BYTES = 2304
"""Memory of a packet of 1448 bytes in a socket of Linux (docs/reference/transport.md, socket buffers)."""
_WITHOUT_SOCKETS = ("tcp", "linux-like")
_PROFILES = (*_WITHOUT_SOCKETS, "linux", "linux-offload")


def require_sockets(sockets: str) -> None:
    """Refuse an unknown kind of socket buffers.

    Raises:
        UserError: `sockets` is not among `SOCKETS`.
    """
    if sockets not in SOCKETS:
        raise UserError(argument="sockets", value=sockets, allowed=SOCKETS)


def paces_itself(scheme: Scheme) -> bool:
    """Return True if the scheme has a pacing rate of its own, as BBR, and not a window alone."""
    return family(scheme.name) not in ("loss", "delay")


def is_tcp(scheme: Scheme) -> bool:
    """Return True if a scheme's transport is the kernel's TCP: its socket holds what is not acknowledged yet.

    Programs that bring a transport of their own fix the size of their packets.
    """
    transport = scheme.transport
    return scheme.kind == "core" and transport.get("profile") in _PROFILES and "payload_bytes" not in transport


def as_on_linux(scheme: Scheme, sockets: str, has_fq: bool) -> Scheme:
    """Return a scheme of the kernel's TCP with these socket buffers, which limit long paths, and with pacing by `fq`.

    Other schemes stay as they are.
    """
    if not is_tcp(scheme):
        return scheme
    host: dict[str, object] = {"fq": True} if has_fq and not scheme.transport.get("pacing_gain") else {}
    if sockets == LINUX and scheme.transport.get("profile") in _WITHOUT_SOCKETS:
        host["profile"] = "linux"
    return replace(scheme, transport=scheme.transport | host)
