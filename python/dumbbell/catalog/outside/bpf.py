"""Controllers in BPF, registered with the kernel for as long as an experiment needs them."""

import contextlib
import subprocess
from collections.abc import Iterable, Iterator

from dumbbell.base.errors import UserError
from dumbbell.catalog.outside.availability import LOADER, find_program, how_to_add
from dumbbell.catalog.scheme import Scheme

GONE_WITHIN_S = 10.0


def bpf_loader() -> str:
    """The program that loads our controllers in BPF into the kernel: `list`, `load NAME`, `unload NAME`.

    Raises:
        dumbbell.Error: it is not installed.
    """
    found = find_program(LOADER)
    if found is None:
        raise UserError(f"the program `{LOADER}` is not found beside dumbbell or on PATH: {how_to_add(LOADER)}")
    return found


def bpf_controllers(schemes: Iterable[Scheme]) -> list[str]:
    """The controllers that have to be loaded for these schemes."""
    return list(dict.fromkeys(scheme.controller for scheme in schemes if scheme.kind == "bpf"))


@contextlib.contextmanager
def held(controllers: list[str]) -> Iterator[None]:
    """Keeps the controllers registered.

    They are gone afterwards, even if this process is killed: the loader ends when its standard input closes. If another
    run holds the same controller, the loader waits for it.

    Raises:
        UserError: the loader's reason.
    """
    if not controllers:
        yield
        return
    process = subprocess.Popen(
        [bpf_loader(), "hold", *controllers],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C reaches us; we close its input when the runs have stopped
    )
    try:
        assert process.stdout is not None
        if not process.stdout.readline().startswith("ready"):
            raise UserError(_reason(process, controllers))
        yield
    finally:
        _end(process)


def _reason(process: "subprocess.Popen[str]", controllers: list[str]) -> str:
    try:
        _, errors = process.communicate(timeout=GONE_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        _, errors = process.communicate()
    said = " ".join(errors.split()) or f"it ended with status {process.returncode}"
    return f"cannot load {', '.join(controllers)} into the kernel: {said.removeprefix(f'{LOADER}: ')}"


def _end(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.close()
    try:
        process.wait(GONE_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
