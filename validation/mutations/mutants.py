"""A copy of the repository with mutated controllers besides the built-in ones, so that one build makes all."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dumbbell.base.errors import UserError
from dumbbell.catalog.toml_tables import read_toml, to_toml
from validation.mutations.mutation import ROOT, SCHEMES, Mutation

CATALOG = Path("python", "dumbbell", "catalog", "schemes")
MUTANTS = Path("mutants")
"""Directory of the mutants' scheme files, below the root of the copy."""


def make(mutations: Sequence[Mutation], folder: Path, root: Path = ROOT) -> None:
    """Copy the tracked files of the repository `root` to `folder`, and add a controller and a scheme per mutation.

    Raises:
        UserError: `folder` is not empty, `root` is no git repository, or a mutation does not fit.
    """
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise UserError(f"--make {folder}: exists: expected a new or an empty directory")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as temporary:
        copy = Path(temporary, "copy")
        for name in tracked_files(root):
            place = copy / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, place, follow_symlinks=False)
        (copy / MUTANTS).mkdir()
        for mutation in mutations:
            add_controller(mutation, copy)
            (copy / MUTANTS / f"{mutation.id}.toml").write_text(scheme_file(mutation, copy), encoding="utf-8")
        copy.rename(folder)


def tracked_files(root: Path) -> list[str]:
    """Return the files that git tracks in `root` and that are there.

    Raises:
        UserError: `root` is no git repository.
    """
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=False)
    if listing.returncode != 0:
        raise UserError(f"{root}: not a git repository")
    names = [name for name in listing.stdout.split("\0") if name]
    return [name for name in names if (root / name).is_symlink() or (root / name).is_file()]


def add_controller(mutation: Mutation, root: Path) -> None:
    """Add the mutated controller to the repository `root` as a module of its own; the crate's build script finds it."""
    schemes = root / SCHEMES
    original = schemes / mutation.source
    if original.is_dir():
        module = schemes / mutation.module
        shutil.copytree(original, module)
        main, changed_file = module / "mod.rs", module / Path(mutation.file).relative_to(mutation.source)
    else:
        main = changed_file = schemes / f"{mutation.module}.rs"
        shutil.copy2(original, main)
    changed_file.write_text(mutation.applied(changed_file.read_text(encoding="utf-8"), changed_file), encoding="utf-8")
    text, name = main.read_text(encoding="utf-8"), f'    name: "{mutation.scheme}",\n'
    if text.count(name) != 1:
        raise UserError(f"{main}: `{name.strip()}` occurs {text.count(name)} times: expected 1, in ENTRY")
    main.write_text(text.replace(name, f'    name: "{mutation.id}",\n'), encoding="utf-8")


def scheme_file(mutation: Mutation, root: Path) -> str:
    """Return the scheme of the mutated controller: the original's but for its names."""
    original = read_toml(root / CATALOG / f"{mutation.scheme}.toml").raw
    names = {"name": mutation.id, "controller": mutation.id}
    return to_toml({key: names.get(key, value) for key, value in original.items() if key != "aliases"})
