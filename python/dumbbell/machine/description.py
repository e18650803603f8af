"""What a machine is, as far as numbers depend on it. What cannot be found out is absent, never zero."""

import ctypes
import errno
import json
import os
import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path

from dumbbell.machine.interfaces import interfaces

SYSCTLS = (
    "net.core.default_qdisc",
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.ipv4.ip_forward",
    "net.ipv4.tcp_allowed_congestion_control",
    "net.ipv4.tcp_available_congestion_control",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
)
"""Those that are recorded of every experiment."""

_OF_PACKETS = ("ipv4/tcp_*", "ipv4/udp_*", "core/*")
"""Those that the numbers of real packets depend on besides, below `net`."""

_SYSTEM = Path("/sys")
_PROCESSES = Path("/proc")
_TC_WITHIN_S = 5.0


def describe() -> dict[str, object]:
    """All of it, for the ends of real packets. No host name, no hardware address: results are shown around."""
    return processor() | clock() | network()


def processor() -> dict[str, object]:
    """Kernel, processors and memory."""
    found = {
        "kernel": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "cpu": _cpu_model(),
        "cpus": cpus(),
        "cpu_governor": read(_SYSTEM / "devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "virtualisation": _virtualisation(),
        "steal_share": _steal_share(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    }
    return {key: value for key, value in found.items() if value is not None}


def network() -> dict[str, object]:
    """Settings of the kernel's network code, interfaces, queues in front of them."""
    files = [file for pattern in _OF_PACKETS for file in sorted((_PROCESSES / "sys/net").glob(pattern))]
    names = [".".join(file.relative_to(_PROCESSES / "sys").parts) for file in files if "key" not in file.name]
    return {
        "sysctl": sysctls([*SYSCTLS, *names]),
        "interfaces": interfaces(_SYSTEM / "class/net"),
        **_qdiscs(),
    }


def sysctls(names: Iterable[str]) -> dict[str, str]:
    """Those settings of the kernel that there are."""
    found = {name: read(_PROCESSES / "sys" / name.replace(".", "/")) for name in names}
    return {name: " ".join(value.split()) for name, value in found.items() if value is not None}


def cpus() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def clock() -> dict[str, object]:
    """Where the kernel's time comes from, and whether something keeps it right.

    `frequency_ppm` is what the kernel corrects its clock by, `error_us` how far off it may be, by its own account
    (adjtimex(2)).
    """
    folder = _SYSTEM / "devices/system/clocksource/clocksource0"
    found: dict[str, object] = {
        "source": read(folder / "current_clocksource"),
        "available": (read(folder / "available_clocksource") or "").split() or None,
        **_discipline(),
    }
    found = {key: value for key, value in found.items() if value is not None}
    return {"clock": found} if found else {}


class _Timex(ctypes.Structure):
    """`struct timex` of adjtimex(2)."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        *((name, ctypes.c_long) for name in ("offset", "frequency", "most_error", "error")),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_byte * 256),
    )


_TIME_ERROR, _STA_UNSYNC = 5, 0x40
_FREQUENCY_PER_PPM = 65536.0


def _discipline() -> dict[str, object]:
    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "adjtimex"):
        return {}
    found = _Timex()
    state = library.adjtimex(ctypes.byref(found))
    if state < 0:
        return {}
    disciplined = state != _TIME_ERROR and not found.status & _STA_UNSYNC
    told = {"disciplined": disciplined, "frequency_ppm": round(found.frequency / _FREQUENCY_PER_PPM, 3)}
    return told | ({"error_us": found.most_error} if disciplined else {})


def _cpu_model() -> str | None:
    for line in (read(_PROCESSES / "cpuinfo") or "").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or None


_CLOCKS_OF = {"kvm-clock": "kvm", "hyperv": "hyperv", "xen": "xen"}


def _virtualisation() -> str | None:
    """What it runs in, as far as it shows; `none` where the processor says that nothing is below the kernel."""
    clocks = read(_SYSTEM / "devices/system/clocksource/clocksource0/available_clocksource") or ""
    kind = next((kind for start, kind in _CLOCKS_OF.items() if start in clocks), None)
    kind = kind or read(_SYSTEM / "hypervisor/type")
    vendor = " ".join(filter(None, (read(_SYSTEM / f"class/dmi/id/{key}") for key in ("sys_vendor", "product_name"))))
    flags = next(
        (line.split() for line in (read(_PROCESSES / "cpuinfo") or "").splitlines() if line.startswith("flags")), None
    )
    if kind is None and flags is not None:
        kind = "unknown" if "hypervisor" in flags else "none"
    inside = [kind, vendor if kind not in (None, "none") else "", "container" if _is_container() else ""]
    return ", ".join(filter(None, inside)) or None


def _is_container() -> bool:
    return any(Path(file).exists() for file in ("/.dockerenv", "/run/.containerenv", "/run/systemd/container"))


def _steal_share() -> float | None:
    """What others took of the processors since the machine started, a fraction of their time."""
    line = (read(_PROCESSES / "stat") or "").partition("\n")[0].split()
    ticks: list[int] = [int(value) for value in line[1:9]] if line[:1] == ["cpu"] else []
    total = sum(ticks)
    return round(ticks[7] / total, 6) if len(ticks) == 8 and total else None


def _qdiscs() -> dict[str, object]:
    """The queueing disciplines by interface and place, if `tc` is there to tell."""
    try:
        done = subprocess.run(
            ["tc", "-j", "qdisc", "show"], capture_output=True, text=True, check=False, timeout=_TC_WITHIN_S
        )
        listed = json.loads(done.stdout) if done.returncode == 0 else None
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return {}
    if not isinstance(listed, list):
        return {}
    found: dict[str, dict[str, object]] = {}
    for each in listed:
        place = "root" if each.get("root") else str(each.get("parent", each.get("handle", "")))
        found.setdefault(each["dev"], {})[place] = {"kind": each["kind"]} | each.get("options", {})
    return {"qdiscs": found}


def read(file: Path) -> str | None:
    """The content of a file of the kernel's; `None` where there is none, or it says nothing."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.EACCES, errno.EINVAL, errno.ENOTDIR, errno.EPERM, errno.EOPNOTSUPP):
            return None
        raise
