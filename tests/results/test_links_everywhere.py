"""Tests of a link in the place of each file and folder of results: its target is neither shown nor changed."""

import json
import shutil
from pathlib import Path

import pytest

from support.commands.command import Dumbbell

RUN = "runs/small/reno/1"
PLACES = (
    "experiment.toml",
    "environment.json",
    "campaign.json",
    "notes.txt",
    "results.sqlite",
    "runs",
    "runs/small",
    "runs/small/reno",
    RUN,
    f"{RUN}/stats.json",
    f"{RUN}/log.txt",
    f"{RUN}/packets.parquet",
)
MARK = "somebody else's"


def contents(folder: Path) -> dict[Path, bytes]:
    """Return all files below a folder."""
    return {file: file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


@pytest.mark.parametrize("place", PLACES)
def test_a_link_brings_nothing_of_elsewhere(dumbbell: Dumbbell, once: Dumbbell, folder: Path, place: str) -> None:
    once("run", "--schemes", "reno", "--path", "small.toml", "--duration", "1", "--out", "out")
    out, elsewhere = folder / "out", folder / "elsewhere"
    (out / "notes.txt").write_text("a note")
    shutil.copytree(out, elsewhere)
    content = json.loads((elsewhere / RUN / "stats.json").read_text())
    (elsewhere / RUN / "stats.json").write_text(json.dumps(content | {"reason": MARK}))
    for name in ("notes.txt", f"{RUN}/log.txt"):
        (elsewhere / name).write_text(MARK)
    experiment = elsewhere / "experiment.toml"
    experiment.write_text(experiment.read_text().replace('title = ""', f'title = "{MARK}"', 1))
    before = contents(elsewhere)
    target = out / place
    if target.is_dir():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)
    target.symlink_to(elsewhere / place)
    for words in (("show", "out", "--json"), ("verify", "out"), ("diff", "out", "out"), ("size", "out")):
        result = dumbbell(*words, expect=None)
        assert MARK not in result.stdout + result.stderr, words
        assert "Traceback" not in result.stderr, words
    dumbbell("run", "--resume", "--out", "out", expect=None)
    assert contents(elsewhere) == before
