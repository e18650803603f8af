"""BPF controllers, registered with the kernel during an experiment."""

import contextlib
import subprocess
from collections.abc import Iterable, Iterator

from dumbbell.base.errors import UserError
from dumbbell.catalog.outside.availability import LOADER, find_program, how_to_add
from dumbbell.catalog.scheme import Scheme

GONE_WITHIN_S = 10.0


def bpf_loader() -> str:
    """Return the program that loads dumbbell's BPF controllers into the kernel (`list`, `load NAME`, `unload NAME`).

    Raises:
        dumbbell.Error: If the program is not installed.
    """
    program = find_program(LOADER)
    if program is None:
        raise UserError(f"the program `{LOADER}` is not found beside dumbbell or on PATH: {how_to_add(LOADER)}")
    return program


def bpf_controllers(schemes: Iterable[Scheme]) -> list[str]:
    """Return the controllers to load for these schemes."""
    return list(dict.fromkeys(scheme.controller for scheme in schemes if scheme.kind == "bpf"))


@contextlib.contextmanager
def registered(controllers: list[str]) -> Iterator[None]:
    """Keep the controllers registered during the context.

    Afterwards they are removed, even if this process is killed: the loader ends when its stdin closes. If another
    run holds the same controller, the loader waits for it.

    Raises:
        UserError: If the controllers cannot be loaded; the message is the loader's.
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
        start_new_session=True,  # Ctrl-C reaches only this process, which closes stdin after the runs
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
    message = " ".join(errors.split()) or f"it ended with status {process.returncode}"
    return f"cannot load {', '.join(controllers)} into the kernel: {message.removeprefix(f'{LOADER}: ')}"


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
