"""Network interfaces: driver, speed, MTU, and the work that they take from the CPU (offloads)."""

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SIOCETHTOOL = 0x8946
_NAME_BYTES = 16
_IFREQ_BYTES = 40
_GET_FLAGS = 0x25
_OFFLOADS = {
    "rx-checksumming": 0x14,
    "tx-checksumming": 0x16,
    "scatter-gather": 0x18,
    "tcp-segmentation-offload": 0x1E,
    "generic-segmentation-offload": 0x23,
    "generic-receive-offload": 0x2B,
}
"""Commands of `linux/ethtool.h` that read each offload, by the names of ethtool(8)."""

_FLAGS = {"large-receive-offload": 1 << 15, "ntuple-filters": 1 << 27, "receive-hashing": 1 << 28}
"""Bits of `ETHTOOL_GFLAGS`."""

_IFF_UP = 1


def interfaces(folder: Path = Path("/sys/class/net")) -> dict[str, dict[str, object]]:
    """Return the active interfaces by name. Facts that a driver does not provide are absent."""
    with _open_socket() as ask:
        facts = {entry.name: _interface(entry) | {"offloads": dict(_offloads(ask, entry.name))} for entry in up(folder)}
    return {name: {key: value for key, value in interface.items() if value != {}} for name, interface in facts.items()}


def up(folder: Path) -> Iterator[Path]:
    """Yield the folders of the active interfaces."""
    for entry in sorted(folder.iterdir()) if folder.is_dir() else []:
        flags = _number(entry / "flags", base=16)
        if flags is not None and flags & _IFF_UP:
            yield entry


def _interface(folder: Path) -> dict[str, object]:
    speed = _number(folder / "speed")
    driver = folder / "device/driver"
    facts = {
        "driver": driver.resolve().name if driver.is_symlink() else None,
        "speed_mbps": speed if speed is not None and speed > 0 else None,  # -1: unknown
        "mtu_bytes": _number(folder / "mtu"),
        "tx_queue_packets": _number(folder / "tx_queue_len"),
    }
    return {key: value for key, value in facts.items() if value is not None}


def _offloads(ask: "_Ask | None", name: str) -> Iterator[tuple[str, bool]]:
    if ask is None:
        return
    for offload, command in _OFFLOADS.items():
        value = ask(name, command)
        if value is not None:
            yield offload, bool(value)
    flags = ask(name, _GET_FLAGS)
    if flags is not None:
        yield from ((offload, bool(flags & bit)) for offload, bit in _FLAGS.items())


class _Ask:
    """Query of drivers with `struct ethtool_value`: a command, and a number as the answer."""

    def __init__(self, asking: socket.socket) -> None:
        self._socket = asking

    def __call__(self, name: str, command: int) -> int | None:
        value = ctypes.create_string_buffer(struct.pack("=II", command, 0), 8)
        request = struct.pack(f"@{_NAME_BYTES}sP", os.fsencode(name), ctypes.addressof(value)).ljust(
            _IFREQ_BYTES, b"\0"
        )
        try:
            fcntl.ioctl(self._socket, _SIOCETHTOOL, request.ljust(_IFREQ_BYTES, b"\0"))
        except OSError:
            return None
        return int(struct.unpack("=II", value.raw)[1])


@contextmanager
def _open_socket() -> Iterator[_Ask | None]:
    try:
        asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    except OSError:
        yield None
        return
    with asking:
        yield _Ask(asking)


def _number(file: Path, base: int = 10) -> int | None:
    """Return a number from a kernel file; None if it does not exist or the driver refuses."""
    try:
        return int(file.read_text(encoding="ascii").strip(), base)
    except (OSError, ValueError):
        return None
