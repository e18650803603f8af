"""Description of a machine, as far as numbers depend on it. Unknown facts are absent, never zero."""

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
"""Kernel settings that are recorded for every experiment."""

_OF_PACKETS = ("ipv4/tcp_*", "ipv4/udp_*", "core/*")
"""Additional kernel settings, below `net`, on which the numbers of real packets depend."""

_SYSTEM = Path("/sys")
_PROCESSES = Path("/proc")
_TC_WITHIN_S = 5.0


def describe() -> dict[str, object]:
    """Return the full description, for the ends of real packets, without names and addresses: results are published."""
    return processor() | clock() | network()


def processor() -> dict[str, object]:
    """Return facts about kernel, CPUs and memory."""
    facts = {
        "kernel": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "cpu": _cpu_model(),
        "cpus": cpus(),
        "cpu_governor": read(_SYSTEM / "devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "virtualisation": _virtualisation(),
        "steal_share": _steal_share(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    }
    return {key: value for key, value in facts.items() if value is not None}


def network() -> dict[str, object]:
    """Return the settings of the kernel's network code, the interfaces, and their queueing disciplines."""
    files = [file for pattern in _OF_PACKETS for file in sorted((_PROCESSES / "sys/net").glob(pattern))]
    names = [".".join(file.relative_to(_PROCESSES / "sys").parts) for file in files if "key" not in file.name]
    return {
        "sysctl": sysctls([*SYSCTLS, *names]),
        "interfaces": interfaces(_SYSTEM / "class/net"),
        **_qdiscs(),
    }


def sysctls(names: Iterable[str]) -> dict[str, str]:
    """Return the existing kernel settings among `names`."""
    values = {name: read(_PROCESSES / "sys" / name.replace(".", "/")) for name in names}
    return {name: " ".join(value.split()) for name, value in values.items() if value is not None}


def cpus() -> int:
    """Return the number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def clock() -> dict[str, object]:
    """Return the source of the kernel's time, and facts about its synchronization.

    `frequency_ppm` is the kernel's correction of its clock, `error_us` its own estimate of the maximum error
    (adjtimex(2)).
    """
    folder = _SYSTEM / "devices/system/clocksource/clocksource0"
    facts: dict[str, object] = {
        "source": read(folder / "current_clocksource"),
        "available": (read(folder / "available_clocksource") or "").split() or None,
        **_discipline(),
    }
    facts = {key: value for key, value in facts.items() if value is not None}
    return {"clock": facts} if facts else {}


class _Timex(ctypes.Structure):
    """Layout of `struct timex` of adjtimex(2)."""

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
    timex = _Timex()
    state = library.adjtimex(ctypes.byref(timex))
    if state < 0:
        return {}
    is_disciplined = state != _TIME_ERROR and not timex.status & _STA_UNSYNC
    facts = {"disciplined": is_disciplined, "frequency_ppm": round(timex.frequency / _FREQUENCY_PER_PPM, 3)}
    return facts | ({"error_us": timex.most_error} if is_disciplined else {})


def _cpu_model() -> str | None:
    for line in (read(_PROCESSES / "cpuinfo") or "").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or None


_CLOCKS_OF = {"kvm-clock": "kvm", "hyperv": "hyperv", "xen": "xen"}


def _virtualisation() -> str | None:
    """Return the kind of virtualisation, as far as it is visible; `none` if the CPU reports no hypervisor."""
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
    """Return the share of CPU time that a hypervisor gave to others since the start of the machine."""
    line = (read(_PROCESSES / "stat") or "").partition("\n")[0].split()
    ticks: list[int] = [int(value) for value in line[1:9]] if line[:1] == ["cpu"] else []
    total = sum(ticks)
    return round(ticks[7] / total, 6) if len(ticks) == 8 and total else None


def _qdiscs() -> dict[str, object]:
    """Return the queueing disciplines by interface and place, if `tc` is installed."""
    try:
        process = subprocess.run(
            ["tc", "-j", "qdisc", "show"], capture_output=True, text=True, check=False, timeout=_TC_WITHIN_S
        )
        rows = json.loads(process.stdout) if process.returncode == 0 else None
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return {}
    if not isinstance(rows, list):
        return {}
    disciplines: dict[str, dict[str, object]] = {}
    for row in rows:
        place = "root" if row.get("root") else str(row.get("parent", row.get("handle", "")))
        disciplines.setdefault(row["dev"], {})[place] = {"kind": row["kind"]} | row.get("options", {})
    return {"qdiscs": disciplines}


def read(file: Path) -> str | None:
    """Return the content of a kernel file; None if it does not exist or is not readable."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.EACCES, errno.EINVAL, errno.ENOTDIR, errno.EPERM, errno.EOPNOTSUPP):
            return None
        raise
