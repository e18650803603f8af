"""Whether a scheme can run here: cheap looks only, nothing is started."""

import json
import os
import shutil
import sys
import zlib
from pathlib import Path

from dumbbell import core
from dumbbell.base.errors import UserError, listed, nearest
from dumbbell.catalog.programs import Program
from dumbbell.catalog.scheme import Scheme

OFFERED = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
LOADER = "dumbbell-kernel"
UTP = "dumbbell-utp"
"""In no wheel and not built by `make build`: one of its Go modules states no licence (docs/develop/dependencies.md)."""
OWN_PROGRAMS = (LOADER, "dumbbell-quic", UTP)
_PREFIX = "kernel-"
_COLORS = ("saddlebrown", "steelblue", "purple", "crimson", "darkcyan", "darkkhaki")


def search_path() -> str:
    """Where programs are looked for: beside the Python of this command, then along PATH."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])


def find_program(name: str) -> str | None:
    """The file behind a program's name."""
    return shutil.which(name, path=search_path())


def how_to_add(program: str) -> str:
    """What adds a program that is not there, as a sentence: in a source tree, or installed with pip."""
    if program not in OWN_PROGRAMS:
        return "install it, or add its directory to PATH"
    if program == UTP:
        return "`make utp` in the source tree of dumbbell builds it"
    if _in_source_tree():
        return "`make build` builds it"
    extra = "'dumbbell[real]'"
    return f"{_pip_install(*_wheels(), extra)} adds it"


def how_to_reinstall() -> str:
    """What makes dumbbell whole again, as a sentence: in a source tree, or installed with pip."""
    if _in_source_tree():
        return "`make build` builds it again"
    return f"{_pip_install('--force-reinstall', *_wheels(), 'dumbbell')} installs it again"


def how_to_install(package: str) -> str:
    """What installs a package that dumbbell needs once more, as a sentence."""
    return f"{_pip_install('--force-reinstall', package)} installs it again"


def _in_source_tree() -> bool:
    return (Path(__file__).parents[4] / "Makefile").is_file()


def _pip_install(*words: str) -> str:
    return f"`{' '.join([sys.executable, '-m', 'pip', 'install', *words])}`"


def _wheels() -> list[str]:
    """What tells pip where it found the wheel of dumbbell, if that was a file: the other wheel lies beside it."""
    from importlib import metadata  # takes its time, and is seldom needed
    from urllib.parse import unquote, urlsplit

    try:
        origin = metadata.distribution("dumbbell").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return []
    url = urlsplit(json.loads(origin)["url"] if origin else "")
    return ["--find-links", str(Path(unquote(url.path)).parent)] if url.scheme == "file" else []


def kernel_controllers() -> list[str]:
    """The controllers that the running kernel offers at this moment."""
    try:
        return OFFERED.read_text(encoding="ascii").split()
    except OSError:
        return []


def kernel_scheme(name: str) -> Scheme | None:
    """The scheme `kernel-X` for a controller X that the kernel offers and the catalog does not list.

    Raises:
        UserError: the kernel does not offer X.
    """
    controller = name.removeprefix(_PREFIX)
    if controller == name:
        return None
    offered = kernel_controllers()
    if controller not in offered:
        raise UserError(
            f"unknown scheme `{name}`{nearest(name, [_PREFIX + item for item in offered])}: {_offer(controller)}"
        )
    return Scheme(
        name=name,
        title=f"Linux {controller}",
        color=_COLORS[zlib.crc32(controller.encode()) % len(_COLORS)],
        marker="x",
        kind="kernel",
        controller=controller,
        summary=f"`{controller}` of the running Linux kernel",
        source=f"Linux tcp_{controller}",
        file="the running kernel",
    )


def missing(scheme: Scheme) -> str | None:
    """Why the scheme cannot run here, in words that end a sentence; `None` if nothing speaks against it."""
    if scheme.is_outside and not Path(scheme.code).is_file():
        return f"there is no file {scheme.code}"
    if scheme.kind == "kernel" and scheme.controller not in kernel_controllers():
        return _offer(scheme.controller)
    if scheme.kind == "bpf" and find_program(LOADER) is None:
        return _not_found(LOADER)
    if scheme.kind == "program":
        return _missing_program(scheme.program)
    return _missing_file(scheme) if scheme.kind == "core" else None


def _missing_file(scheme: Scheme) -> str | None:
    """Which file has to be named that is not shipped, for a controller that cannot do without one."""
    needed = core.needed_files().get(scheme.controller, [])
    lost = [name for name in needed if name not in scheme.parameters]
    return f"it needs a file of yours: `--set {scheme.name}.{lost[0]}=FILE`" if lost else None


def _missing_program(program: Program | None) -> str | None:
    if program is None:
        return "its results were imported: no command is known for it"
    lost = [name for name in program.requires if find_program(name) is None]
    return _not_found(lost[0]) if lost else None


def _not_found(name: str) -> str:
    return f"the program `{name}` is not found: {how_to_add(name)}"


def _offer(controller: str) -> str:
    return f"the kernel offers {listed(kernel_controllers())}; `modprobe tcp_{controller}` may add `{controller}`"
