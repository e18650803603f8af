"""Tests of the distributions on Python's path against those that the standard library finds."""

import importlib.metadata
import sys
from pathlib import Path

import pytest

from dumbbell.base.distributions import installed_version


def test_versions_are_those_that_the_standard_library_reads() -> None:
    version_of = {
        distribution.metadata["Name"]: distribution.version
        for distribution in reversed(list(importlib.metadata.distributions()))
    }
    assert len(version_of) > 20
    assert {name: installed_version(name) for name in version_of} == version_of


@pytest.mark.parametrize(
    ("folder", "name", "version"),
    [
        ("tomli_w-1.2.0.dist-info", "tomli-w", "1.2.0"),
        ("Pillow-9.4.0.egg-info", "pillow", "9.4.0"),
        ("ruamel.yaml-0.17.21-py3.11.egg-info", "ruamel-yaml", "0.17.21"),
        ("jax-0.7.0+cuda12.dist-info", "jax", "0.7.0+cuda12"),
    ],
)
def test_forms_of_names(folder: str, name: str, version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / folder).mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "absent"), str(tmp_path)])
    assert installed_version(name) == version
    assert installed_version("absent") is None
