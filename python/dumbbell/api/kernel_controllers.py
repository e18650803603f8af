"""Compilation of a congestion controller of the Linux kernel, from its unchanged source, into a plug-in."""

import contextlib
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.errors import UserError, argument
from dumbbell.base.input_files import C_SOURCE, CONTROLLER, read_text, require_size
from dumbbell.base.interrupts import interruptible
from dumbbell.base.questions import Limits, ask
from dumbbell.base.scratch import Scratch
from dumbbell.catalog.toml_tables import read_toml, to_toml
from dumbbell.results.files import write_atomically
from dumbbell.results.installation import plugin_include

MAX_COMPILE_S = 120.0
"""Maximum time for the compiler, for all files together, s."""

LIMITS = Limits(memory_bytes=2 * 2**30, file_bytes=256 * 2**20)
"""Limits of each process of the compiler. Without limits, an infinite macro or `.incbin` of a device takes all
memory."""

MAX_SAID_BYTES = 4 * 2**20
"""Maximum output of the compiler, bytes."""

MAX_NAMES = 8
"""Maximum number of missing names that a message lists."""

_FOLDER = plugin_include()
_ADAPTER = _FOLDER / "kernel"

_SYSTEM_INCLUDE = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*<((?:linux|net|asm|asm-generic|uapi|crypto|trace)/[\w./-]+)>", re.M
)
_OWN_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([\w./-]+)\.h"', re.M)
_QUOTED = r"['\u2018`]([\w ]+)['\u2019]"
_TYPE = r"['\u2018`]([^'\u2019]+)['\u2019]"
_MISSING = (
    (re.compile(rf"implicit declaration of function {_QUOTED}|call to undeclared function {_QUOTED}"), "{}()"),
    (re.compile(rf"{_QUOTED} undeclared|undeclared identifier {_QUOTED}|unknown type name {_QUOTED}"), "{}"),
    (re.compile(rf"no member named {_QUOTED}"), "the member {}"),
    (re.compile(r"undefined reference to [`'\u2018]([\w]+)['\u2019]"), "{}()"),
)
"""Messages of gcc and clang for a missing name, and the form of the name in dumbbell's message."""
_SIGNATURE = re.compile(
    rf"initialization of {_TYPE}.* from incompatible pointer type {_TYPE}"
    rf"|incompatible function pointer types initializing {_TYPE}.* with an expression of type {_TYPE}"
)
_CAST = re.compile(
    rf"cast between incompatible function types from {_TYPE}.* to {_TYPE}"
    rf"|cast from {_TYPE}.* to {_TYPE}.* converts to incompatible function type"
)
"""Messages for a function with other arguments than its callback, and for a cast that would hide this."""
_MEMBER = re.compile(r"\.(\w+)\s*=")
_CONG_CONTROL = (4, 2)
"""Numbers of arguments with which the adapter can call `cong_control`: since Linux v6.10, and before."""


class _Misfit(UserError):
    """Error of a callback with other arguments than the adapter uses."""

    def __init__(self, message: str, callback: str) -> None:
        super().__init__(message)
        self.callback = callback


@dataclass(frozen=True)
class KernelController:
    """Result of the compilation: a library, and the scheme file that runs it."""

    library: Path
    scheme: Path


def compile_kernel_controller(source: str | Path, library: str | Path | None = None) -> KernelController:
    """Compile a congestion controller of the Linux kernel into a plug-in, its source unchanged.

    Args:
        source: A file like `net/ipv4/tcp_illinois.c` of a kernel's source tree. Files beside it whose functions it uses
            are compiled with it (in Linux v6.12 `tcp_yeah.c` uses `tcp_vegas.c`).
        library: File to write; default: `libtcp_illinois.so` in the working directory. The scheme file is beside it.

    Returns:
        The library and the scheme file.

    Raises:
        UserError: If there is no C compiler, no controller in `source`, or if the adapter lacks names.
    """
    file = Path(source)
    text = _read(file)
    name = re.sub(r"[^A-Za-z0-9_-]", "_", file.stem)
    target = Path(library) if library is not None else Path(f"lib{name}.so")
    if target.suffix != ".so":
        raise UserError(f"{target}: a library has to be named *.so")
    if not target.parent.is_dir():
        raise UserError(f"{target}: no such directory: {target.parent}")
    scheme = target.with_name(f"{name}.toml")
    _refuse_foreign(scheme, target)
    with interruptible(), Scratch("kernel") as scratch:
        new_library = _compile(file, text, name, scratch)
        require_size(target, CONTROLLER, new_library.stat().st_size)
        write_atomically(target, new_library.read_bytes())
    write_atomically(scheme, to_toml(_scheme(file, text, name, target)))
    return KernelController(target, scheme)


def _refuse_foreign(scheme: Path, library: Path) -> None:
    """Raise an error for existing files of other origin in the places of the scheme and of the library.

    Raises:
        UserError: If there is such a file.
    """
    old_scheme: dict[str, object] = {}
    if scheme.exists() or scheme.is_symlink():
        with contextlib.suppress(UserError):
            old_scheme = read_toml(scheme).raw
        if (old_scheme.get("kind"), old_scheme.get("name")) != ("plugin", scheme.stem):
            raise UserError(
                f"{scheme}: exists already, and is no scheme of this controller: move it, or choose another "
                f"{argument('out')}"
            )
    if (library.exists() or library.is_symlink()) and old_scheme.get("library") != f"./{library.name}":
        raise UserError(
            f"{library}: exists already, and {scheme.name} beside it does not say that it is of this controller: "
            f"move it, or choose another {argument('out')}"
        )


def _read(file: Path) -> str:
    try:
        return read_text(file, C_SOURCE, errors="replace")
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}") from None


def _compile(file: Path, text: str, name: str, scratch: Path, clock: Clock = SYSTEM_CLOCK) -> Path:
    """Return the library in `scratch`."""
    companions = [
        other
        for stem in _OWN_INCLUDE.findall(text)
        if stem != file.stem and (other := file.parent / f"{stem}.c").is_file()
    ]
    texts = [text, *(_read(other) for other in companions)]
    texts += [_read(header) for header in _own_headers(file, texts)]
    for include in {include for source_text in texts for include in _SYSTEM_INCLUDE.findall(source_text)}:
        if os.pardir in Path(include).parts:
            raise UserError(f"{file}: includes `{include}`: allowed are names without `..`")
        stub = scratch / "stubs" / include
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.write_text('#include "dumbbell_kernel.h"\n')
    common = ["-O2", "-fPIC", "-std=gnu11", "-fmax-errors=50", "-Werror=implicit-function-declaration"]
    common += ["-Werror=incompatible-pointer-types", "-Werror=cast-function-type", "-Werror=int-conversion"]
    common += [f"-I{scratch / 'stubs'}", f"-I{_ADAPTER}", f"-I{_FOLDER}", "-include", "dumbbell_kernel.h"]
    common += [f'-DDUMBBELL_NAME="{name}"', f'-DDUMBBELL_FILE_NAME="{name}.c"']
    objects = [scratch / "controller.o"]
    until_s = clock.monotonic() + MAX_COMPILE_S
    common = _with_its_cong_control(file, common, objects[0], until_s, clock)
    sources = [(_ADAPTER / "adapter.c", []), *((other, ["-DDUMBBELL_COMPANION"]) for other in companions)]
    for number, (source, extra) in enumerate(sources):
        objects.append(scratch / f"{number}.o")
        _cc(file, [*common, *extra, "-c", _argument_of(source), "-o", str(objects[-1])], until_s, clock)
    library = scratch / "library.so"
    _cc(file, ["-shared", *map(str, objects), "-Wl,-z,defs", "-o", str(library), "-lm"], until_s, clock)
    return library


def _own_headers(file: Path, texts: list[str]) -> list[Path]:
    stems = {stem for text in texts for stem in _OWN_INCLUDE.findall(text)}
    return [header for stem in sorted(stems) if (header := file.parent / f"{stem}.h").exists()]


def _with_its_cong_control(file: Path, common: list[str], target: Path, until_s: float, clock: Clock) -> list[str]:
    """Compile `file` with its form of `cong_control`, and return the arguments for the other files.

    Raises:
        UserError: If the file does not compile, or has another form.
    """
    for number in _CONG_CONTROL:
        arguments = [*common, f"-DDUMBBELL_CONG_CONTROL={number}"]
        try:
            _cc(file, [*arguments, "-c", _argument_of(file), "-o", str(target)], until_s, clock)
        except _Misfit as misfit:
            if misfit.callback != "cong_control" or number == _CONG_CONTROL[-1]:
                raise
        else:
            return arguments
    raise AssertionError


def _argument_of(file: Path) -> str:
    """Return the name of a file as an argument, neither an option (`-x.c`) nor an options file (`@x.c`)."""
    return f"{os.curdir}/{file}" if str(file).startswith(("-", "@")) else str(file)


def _cc(file: Path, arguments: list[str], until_s: float, clock: Clock) -> None:
    """Run the compiler, and end all its processes.

    Raises:
        UserError: If `file` needs something that is missing.
    """
    compiler = os.environ.get("CC", "").strip() or "cc"
    environment = os.environ | {"LC_ALL": "C"}
    program, *options = compiler.split()
    place = shutil.which(program)
    if place is None:
        raise UserError(f"{file}: needs a C compiler: there is no `{compiler}` (Debian: apt install gcc)")
    left_s = max(0.0, until_s - clock.monotonic())
    compiler_answer = ask([place, *options, *arguments], left_s, MAX_SAID_BYTES, environment, LIMITS, clock)
    if compiler_answer is None:
        raise UserError(
            f"{file}: `{compiler}` did not finish within {MAX_COMPILE_S:g} s, or said more than "
            f"{MAX_SAID_BYTES // 2**20} MiB"
        )
    if compiler_answer.status != 0:
        misfit = _misfit(compiler_answer.problems)
        if misfit is not None:
            raise _Misfit(f"{file}: {misfit[1]}", misfit[0])
        raise UserError(f"{file}: {_complaint(compiler_answer.problems)}")


def _misfit(output: str) -> tuple[str, str] | None:
    """Return the first callback with other arguments than the adapter uses, and a description in one line."""
    lines = [*output.splitlines(), "", ""]
    for error, source, mark in zip(lines, lines[1:], lines[2:], strict=False):
        signature, cast = _SIGNATURE.search(error), _CAST.search(error)
        if "error:" not in error or not (signature or cast):
            continue
        # the error is followed by the source line, and by a mark under the function's name
        names = _MEMBER.findall(source[: mark.find("^") + 1]) or _MEMBER.findall(source)
        name = names[-1] if names else ""
        callback = f"`{name}`" if name else "a callback"
        if signature:
            expected, actual = (name_ for name_ in signature.groups() if name_)
            return name, (
                f"its {callback} is of type `{actual}`, and the adapter calls it as `{expected}`: allowed are the "
                "callbacks of Linux v6.12 and of BBRv3 (docs/how-to/plugins.md)"
            )
        return name, (
            f"its {callback} is a function of another type, cast: allowed is one of the type that the adapter calls "
            "(docs/how-to/plugins.md)"
        )
    return None


def _complaint(output: str) -> str:
    """Return the compiler's problem in one line."""
    if "dumbbell_module_init" in output:
        return "has no module_init: allowed is a congestion controller of the kernel"
    missing: list[str] = []
    for line in output.splitlines():
        if "error:" not in line and "undefined reference" not in line:
            continue
        for pattern, form in _MISSING:
            if match := pattern.search(line):
                missing.append(form.format(next(name for name in match.groups() if name)))
    names = list(dict.fromkeys(missing))
    if names:
        more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
        return f"uses what the kernel adapter lacks: {', '.join(names[:MAX_NAMES])}{more} (docs/how-to/plugins.md)"
    errors = [line.strip() for line in output.splitlines() if "error:" in line]
    return f"the C compiler says: {(errors or output.splitlines() or ['nothing'])[0]}"


def _scheme(file: Path, text: str, name: str, library: Path) -> dict[str, object]:
    """Return the content of the scheme file. Requirements for the transport come from the controller's declaration."""
    transport = {"profile": "tcp"}
    if re.search(r"\.cong_control\s*=", text):
        transport["recovery"] = "immediate"  # the controller sets its window during recovery itself
    if "TCP_CONG_NEEDS_ECN" in text:
        transport["ecn"] = "ect0"
    return {
        "name": name,
        "title": f"{name} (kernel source)",
        "color": "slategray",
        "marker": "x",
        "kind": "plugin",
        "library": f"./{library.name}",
        "controller": name,
        "summary": f"Compiled from {file.name} of a Linux source tree",
        "source": str(file),
        "transport": transport,
    }
