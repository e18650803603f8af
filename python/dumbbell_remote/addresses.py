"""The addresses of this machine as this process sees them, and what the way to another one is like."""

import fcntl
import ipaddress
import socket
import struct
from contextlib import suppress
from pathlib import Path

_SIOCGIFADDR, _SIOCGIFMTU = 0x8915, 0x8921
"""Linux, include/uapi/linux/sockios.h. Unlike /sys they answer for the namespace of the process."""
_IP_MTU, _IPV6_MTU = 14, 24
"""Linux, include/uapi/linux/in.h and in6.h."""


def addresses() -> list[dict[str, object]]:
    """Of each interface `name`, `mtu_bytes` and `addresses`, as far as the kernel tells."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        found = []
        for _, name in socket.if_nameindex():
            each: dict[str, object] = {"name": name, "addresses": [*_ipv4(control, name), *_ipv6(name)]}
            with suppress(OSError):
                each["mtu_bytes"] = struct.unpack_from("i", _asked(control, _SIOCGIFMTU, name), 16)[0]
            found.append(each)
    return found


def mtu_towards(address: str) -> int | None:
    """Bytes of the largest IP packet that the route to an address takes, as far as is known; None without one."""
    try:
        version = ipaddress.ip_address(address.partition("%")[0]).version
        family, level, option = (
            (socket.AF_INET, socket.IPPROTO_IP, _IP_MTU)
            if version == 4
            else (socket.AF_INET6, socket.IPPROTO_IPV6, _IPV6_MTU)
        )
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))  # sends nothing
            return probe.getsockopt(level, option)
    except (OSError, ValueError):
        return None


def _asked(control: socket.socket, request: int, name: str) -> bytes:
    return fcntl.ioctl(control.fileno(), request, struct.pack("256s", name.encode()[:15]))


def _ipv4(control: socket.socket, name: str) -> list[str]:
    try:
        return [socket.inet_ntoa(_asked(control, _SIOCGIFADDR, name)[20:24])]
    except OSError:
        return []


def _ipv6(name: str) -> list[str]:
    try:
        lines = Path("/proc/thread-self/net/if_inet6").read_text(encoding="ascii").splitlines()
    except OSError:
        return []
    found = [words for line in lines if len(words := line.split()) == 6 and words[5] == name]
    return [str(ipaddress.IPv6Address(bytes.fromhex(words[0]))) for words in found]
