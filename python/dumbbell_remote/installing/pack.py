"""Wheels of packages installed here: dumbbell itself, from a wheel or a source checkout, and its dependencies."""

import base64
import hashlib
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from dumbbell import core
from dumbbell.base.errors import UserError
from dumbbell.catalog.outside.availability import OWN_PROGRAMS
from dumbbell.results.installation import COMMIT_FILE, installation

OWN = "dumbbell"
_OF_THIS_PLACE = ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json", COMMIT_FILE)
_LEVEL = 1  # of compression: the network is seldom slower than a better one


def pack_own(folder: Path) -> Path:
    """Pack the running dumbbell with its programs for real packets, and return the wheel's file."""
    distribution = _distribution(OWN)
    info = _info(distribution)
    files = dict(_recorded_files(distribution))
    place = Path(core.FILE).parents[1]
    for package in packages(place, files):
        for file in sorted((place / package).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts and not _is_other_core(file):
                files[file.relative_to(place).as_posix()] = file
    files = {name: file for name, file in files.items() if not name.endswith(".pth")}
    scripts = [file for name in OWN_PROGRAMS if (file := Path(sys.executable).with_name(name)).is_file()]
    files |= {f"{info.removesuffix('.dist-info')}.data/scripts/{file.name}": file for file in scripts}
    commit = installation().commit
    return _write(folder, distribution, files, {f"{info}/{COMMIT_FILE}": commit.encode()} if commit else {})


def packages(place: Path, recorded_names: Iterable[str]) -> list[str]:
    """Return the import packages of dumbbell's wheel that are in `place`: those recorded, or all of a checkout."""
    candidates = sorted(file.parent.name for file in place.glob(f"{OWN}*/__init__.py"))
    recorded_packages = {name.partition("/")[0] for name in recorded_names}
    return [name for name in candidates if name in recorded_packages or OWN not in recorded_packages]


def pack_needed(folder: Path) -> list[Path]:
    """Pack all dependencies of dumbbell, and return the wheels' files."""
    wheels: dict[str, Path] = {}
    waiting = list(_dependencies(_distribution(OWN)))
    while waiting:
        name = waiting.pop()
        if name not in wheels:
            distribution = _distribution(name)
            wheels[name] = _write(folder, distribution, dict(_recorded_files(distribution)), {})
            waiting += _dependencies(distribution)
    return list(wheels.values())


def _distribution(name: str) -> metadata.Distribution:
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        raise UserError(f"the package `{name}` is not installed here: there is nothing to pack") from None


def _info(distribution: metadata.Distribution) -> str:
    """Return the name of the distribution's metadata folder."""
    for file in distribution.files or ():
        if file.parts[0].endswith(".dist-info"):
            return file.parts[0]
    raise UserError(f"the package `{distribution.name}` was not installed by pip: it cannot be packed")


def _recorded_files(distribution: metadata.Distribution) -> Iterator[tuple[str, Path]]:
    """Yield the distribution's files that a wheel contains, without scripts and files made by the installation."""
    info = _info(distribution)
    for file in distribution.files or ():
        inside = file.parts[0] not in ("..", "/") and file.suffix != ".pyc"
        if inside and not (file.parts[0] == info and file.name in _OF_THIS_PLACE):
            yield file.as_posix(), Path(str(distribution.locate_file(file)))


def _is_other_core(file: Path) -> bool:
    """Return True if a file is a core module of another build."""
    return file.name.startswith("_core.") and file.suffix == ".so" and file != Path(core.FILE)


def _dependencies(distribution: metadata.Distribution) -> Iterator[str]:
    """Yield the installed dependencies of a distribution."""
    for line in distribution.requires or ():
        requirement, _, condition = line.partition(";")
        name = re.split(r"[ <>=!~(\[]", requirement.strip())[0].lower()
        if "extra" in condition:
            continue
        if condition.strip() and not _is_installed(name):
            continue  # a dependency for other systems or versions of Python
        yield name


def _is_installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _write(folder: Path, distribution: metadata.Distribution, files: dict[str, Path], more: dict[str, bytes]) -> Path:
    info = _info(distribution)
    tags = re.findall(r"^Tag: *(\S+)", distribution.read_text("WHEEL") or "", re.MULTILINE)
    if not tags:
        raise UserError(f"the package `{distribution.name}` was not installed from a wheel: it cannot be packed")
    # a wheel's file name contains each part of its tags once
    parts = [".".join(dict.fromkeys(part)) for part in zip(*(tag.split("-") for tag in tags), strict=True)]
    wheel = folder / f"{info.removesuffix('.dist-info')}-{'-'.join(parts)}.whl"
    record = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
        for name, file in files.items():
            record.append(_add(archive, name, file.read_bytes(), 0o755 if "/scripts/" in name else 0o644))
        for name, content in more.items():
            record.append(_add(archive, name, content, 0o644))
        _add(archive, f"{info}/RECORD", "".join([*record, f"{info}/RECORD,,\n"]).encode(), 0o644)
    return wheel


def _add(archive: zipfile.ZipFile, name: str, content: bytes, mode: int) -> str:
    """Add a file to the archive, and return its line of RECORD."""
    entry = zipfile.ZipInfo(name)  # dated 1980, so that equal files give equal wheels
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (0o100000 | mode) << 16
    archive.writestr(entry, content)
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    quoted_name = f'"{name}"' if "," in name else name
    return f"{quoted_name},sha256={digest},{len(content)}\n"
