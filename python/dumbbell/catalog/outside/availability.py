"""Check whether a scheme can run on this machine, without starting any process."""

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
"""Not in any wheel, nor built by `make build`: one of its Go modules states no licence
(docs/develop/dependencies.md)."""
OWN_PROGRAMS = (LOADER, "dumbbell-quic", UTP)
_PREFIX = "kernel-"
_COLORS = ("saddlebrown", "steelblue", "purple", "crimson", "darkcyan", "darkkhaki")


def search_path() -> str:
    """Return the search path for programs: the folder of this command's Python, then PATH."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])


def find_program(name: str) -> str | None:
    """Return the file of a program, or None."""
    return shutil.which(name, path=search_path())


def how_to_add(program: str) -> str:
    """Return the instruction that adds a missing program, as a sentence, for a source tree or an installed package."""
    if program not in OWN_PROGRAMS:
        return "install it, or add its directory to PATH"
    if program == UTP:
        return "`make utp` in the source tree of dumbbell builds it"
    if _in_source_tree():
        return "`make build` builds it"
    extra = "'dumbbell[real]'"
    return f"{_pip_install(*_wheels(), extra)} adds it"


def how_to_reinstall() -> str:
    """Return the instruction that repairs dumbbell, as a sentence, for a source tree or an installed package."""
    if _in_source_tree():
        return "`make build` builds it again"
    return f"{_pip_install('--force-reinstall', *_wheels(), 'dumbbell')} installs it again"


def how_to_install(package: str) -> str:
    """Return the instruction that reinstalls a required package, as a sentence."""
    return f"{_pip_install('--force-reinstall', package)} installs it again"


def _in_source_tree() -> bool:
    return (Path(__file__).parents[4] / "Makefile").is_file()


def _pip_install(*words: str) -> str:
    return f"`{' '.join([sys.executable, '-m', 'pip', 'install', *words])}`"


def _wheels() -> list[str]:
    """Return pip's option for the folder with dumbbell's wheels, if the installed wheel came from a file."""
    from importlib import metadata  # takes its time, and is seldom needed
    from urllib.parse import unquote, urlsplit

    try:
        origin = metadata.distribution("dumbbell").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return []
    url = urlsplit(json.loads(origin)["url"] if origin else "")
    return ["--find-links", str(Path(unquote(url.path)).parent)] if url.scheme == "file" else []


def kernel_controllers() -> list[str]:
    """Return the controllers that the running kernel offers now."""
    try:
        return OFFERED.read_text(encoding="ascii").split()
    except OSError:
        return []


def kernel_scheme(name: str) -> Scheme | None:
    """Return the scheme `kernel-X` for a controller X that the kernel offers and the catalog does not list.

    Raises:
        UserError: If the kernel does not offer X.
    """
    controller = name.removeprefix(_PREFIX)
    if controller == name:
        return None
    controllers = kernel_controllers()
    if controller not in controllers:
        raise UserError(
            f"unknown scheme `{name}`{nearest(name, [_PREFIX + item for item in controllers])}: {_offer(controller)}"
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
    """Return the reason why the scheme cannot run on this machine, as the end of a sentence; None if there is none."""
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
    """Return the missing file of a controller that needs a file which dumbbell does not ship."""
    required_files = core.needed_files().get(scheme.controller, [])
    missing_files = [name for name in required_files if name not in scheme.parameters]
    return f"it needs a file of yours: `--set {scheme.name}.{missing_files[0]}=FILE`" if missing_files else None


def _missing_program(program: Program | None) -> str | None:
    if program is None:
        return "its results were imported: no command is known for it"
    missing_programs = [name for name in program.requires if find_program(name) is None]
    return _not_found(missing_programs[0]) if missing_programs else None


def _not_found(name: str) -> str:
    return f"the program `{name}` is not found: {how_to_add(name)}"


def _offer(controller: str) -> str:
    return f"the kernel offers {listed(kernel_controllers())}; `modprobe tcp_{controller}` may add `{controller}`"
