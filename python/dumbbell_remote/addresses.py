"""The network addresses of this machine in this process's namespace, and the MTU towards another machine."""

import fcntl
import ipaddress
import socket
import struct
from contextlib import suppress
from pathlib import Path

_SIOCGIFADDR, _SIOCGIFMTU = 0x8915, 0x8921
"""Requests in Linux's include/uapi/linux/sockios.h. Unlike /sys, they answer for the namespace of the process."""
_IP_MTU, _IPV6_MTU = 14, 24
"""Options in Linux's include/uapi/linux/in.h and in6.h."""


def addresses() -> list[dict[str, object]]:
    """Return `name`, `mtu_bytes` and `addresses` of each interface, as far as the kernel knows them."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        interfaces = []
        for _, name in socket.if_nameindex():
            interface: dict[str, object] = {"name": name, "addresses": [*_ipv4(control, name), *_ipv6(name)]}
            with suppress(OSError):
                interface["mtu_bytes"] = struct.unpack_from("i", _ioctl(control, _SIOCGIFMTU, name), 16)[0]
            interfaces.append(interface)
    return interfaces


def mtu_towards(address: str) -> int | None:
    """Return the size of the largest IP packet on the route to an address, bytes; None if unknown."""
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


def _ioctl(control: socket.socket, request: int, name: str) -> bytes:
    return fcntl.ioctl(control.fileno(), request, struct.pack("256s", name.encode()[:15]))


def _ipv4(control: socket.socket, name: str) -> list[str]:
    try:
        return [socket.inet_ntoa(_ioctl(control, _SIOCGIFADDR, name)[20:24])]
    except OSError:
        return []


def _ipv6(name: str) -> list[str]:
    try:
        lines = Path("/proc/thread-self/net/if_inet6").read_text(encoding="ascii").splitlines()
    except OSError:
        return []
    rows = [words for line in lines if len(words := line.split()) == 6 and words[5] == name]
    return [str(ipaddress.IPv6Address(bytes.fromhex(words[0]))) for words in rows]
