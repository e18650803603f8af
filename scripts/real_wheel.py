"""Packs the programs for real packets into the wheel dumbbell-real: pip puts them beside the command `dumbbell`.

Usage: python scripts/real_wheel.py FOLDER_OF_PROGRAMS DIST. The wheel says `linux`, not `manylinux`: dumbbell-kernel
needs the system's libelf, which no manylinux promises.
"""

import base64
import hashlib
import importlib.metadata
import platform
import sys
import zipfile
from pathlib import Path

PROGRAMS = ("dumbbell-kernel", "dumbbell-quic")


def write_wheel(programs: Path, dist: Path) -> Path:
    """Writes the wheel into `dist`; returns its file."""
    version = importlib.metadata.version("dumbbell")
    tag = f"py3-none-linux_{platform.machine()}"
    info = f"dumbbell_real-{version}.dist-info"
    files = {f"dumbbell_real-{version}.data/scripts/{name}": (programs / name).read_bytes() for name in PROGRAMS}
    licences = [Path(__file__).parent.parent / name for name in ("LICENSE-APACHE", "LICENSE-MIT")]
    files |= {f"{info}/licenses/{file.name}": file.read_bytes() for file in licences}
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.4\nName: dumbbell-real\nVersion: {version}\n"
        "Summary: Programs that dumbbell starts for real packets: BPF controllers, QUIC\n"
        "License-Expression: MIT OR Apache-2.0\nLicense-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\n"
    ).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: dumbbell\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = "".join(f"{name},sha256={_digest(content)},{len(content)}\n" for name, content in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = dist / f"dumbbell_real-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)  # of 1980: the same programs give the same wheel
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            archive.writestr(entry, content)
    return wheel


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    write_wheel(Path(sys.argv[1]), Path(sys.argv[2]))
