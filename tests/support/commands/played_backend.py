"""Backend that only plays: it needs from the package exactly what any new backend needs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from dumbbell.base.backend import GROUP, Backend

PLAYED = """
from contextlib import nullcontext
from dataclasses import dataclass

from dumbbell import core
from dumbbell.base.backend import Backend


@dataclass(frozen=True)
class Played:
    backend: Backend

    @classmethod
    def of(cls, backend, settings):
        return cls(backend)

    def check(self, specification):
        if specification["duration_s"] > 60.0:
            raise core.Error("too long a play")

    def prepared(self, experiment):
        return nullcontext()

    def environment(self, experiment):
        return {"stage": self.backend.argument}

    def enter(self):
        return None

    def run_one(self, specification, directory, note):
        note(f"played at {self.backend.argument}")
        return {"flows": [], "links": [], "network": {}, "sim_wall_s": None, "events": 0}

    def clean_up(self):
        pass


EXECUTOR = Played
"""


@contextmanager
def register(backend: Backend, folder: Path) -> Iterator[None]:
    """Add a backend for the time of the block, as a package installed in this folder would."""
    name = f"played_{backend.name}"
    information = folder / f"{name}-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "entry_points.txt").write_text(f"[{GROUP}]\n{backend.name} = {name}\n")
    (folder / f"{name}.py").write_text(PLAYED)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.delitem(sys.modules, name, raising=False)
        patch.setattr(import_module(name), "BACKEND", replace(backend, executor=name), raising=False)
        yield
