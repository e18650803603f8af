"""`dumbbell kernel`: our BPF controllers in the kernel. The program `dumbbell-kernel` does the work."""

import subprocess

import dumbbell
from dumbbell.errors import UserError


def kernel(action: str, words: list[str]) -> int:
    """Hands `list`, `load` or `unload` to the loader; its exit status."""
    for word in words:
        if not word.isprintable():
            raise UserError(f"kernel {action}: no controller is called `{word}`")
    return subprocess.run([dumbbell.bpf_loader(), action, *words], check=False).returncode
