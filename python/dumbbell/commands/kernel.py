"""`dumbbell kernel`: our BPF controllers in the kernel. The program `dumbbell-kernel` does the work."""

import subprocess

import dumbbell


def kernel(action: str, words: list[str]) -> int:
    """Hands `list`, `load` or `unload` to the loader; its exit status."""
    return subprocess.run([dumbbell.bpf_loader(), action, *words], check=False).returncode
