"""A shelf of results: directories that are made once per session, which all tests read and none writes.

    def test_something(shelf: Shelf) -> None:
        dumbbell.open(shelf.mixes)

    def test_a_harm(shelf: Shelf, folder: Path) -> None:
        (shelf.copy("mixes", folder / "out") / "experiment.toml").unlink()

All processes of pytest share a shelf. A test that changes something on it fails, and says which directory it was.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

import pytest

import dumbbell
from support.commands.runs_here import runs_here
from support.inputs.pantheon_folder import ACK_LOG, DATA_LOG, METADATA, STATS
from support.inputs.paths import SMALL
from support.results.recorded import OF_OTHER_BACKENDS, change, emulate
from support.results.report import make
from support.shared import made_once, shared_folder

BEGAN = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
"""Start of the campaign."""
_CACHES = re.compile(r".*\.sqlite-(shm|wal)")
"""Files that readers of results may write: indexes of packet logs, and SQLite's files beside a database in use."""

Stamp = dict[str, tuple[int, int]]


class Shelf:
    """Results directories by name; each is made when a test first asks for it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stamps: dict[Path, Stamp] = {}

    @cached_property
    def single(self) -> Path:
        """One run of two RENO flows on `small` with a full packet log."""
        return self.made("single", _single)

    @cached_property
    def mixes(self) -> Path:
        """CUBIC, Copa, BBR, and two mixes of them, twice, on `lab` (the path `SMALL`)."""
        return self.made("mixes", _mixes)

    @cached_property
    def grid(self) -> Path:
        """CUBIC and Copa on the six cells of two axes, twice, without packet logs."""
        return self.made("grid", _grid)

    @cached_property
    def campaign(self) -> Path:
        """RENO and Copa on `small` in the fifty rounds of a campaign, one an hour, from `BEGAN` on.

        Goodput is the hour of day, and half a Mbit/s more from the second day on. Rounds 30 and 31 of Copa are missing.
        """
        return self.made("campaign", _campaign)

    @cached_property
    def imported(self) -> Path:
        """Two schemes of a Pantheon run."""
        return self.made("imported", _make_imported)

    @cached_property
    def damaged(self) -> Path:
        """CUBIC and Vegas on `mexico-cellular`: of four runs one is cut short, one is gone, one has no log."""
        return self.made("damaged", _make_damaged)

    @cached_property
    def recorded(self) -> Path:
        """CUBIC and Vegas on `mexico-cellular`, twice; the first run has the keys that any backend writes."""
        return self.made("recorded", _make_recorded)

    @cached_property
    def emulated(self) -> Path:
        """CUBIC and the kernel's Vegas on `india-aws-india`, like real packets: two of four runs are bad."""
        return self.made("emulated", _make_emulated)

    @cached_property
    def big(self) -> Path:
        """Ten schemes on three paths, five runs each, without packet logs."""
        return self.made("big", _big)

    def copy(self, name: str, place: Path) -> Path:
        """Copy a directory of the shelf to `place`, where it may be changed; return `place`."""
        shutil.copytree(getattr(self, name), place, symlinks=True)
        return place

    def check(self) -> None:
        """Fail if a test has changed a directory that this process has read."""
        changed_files = [place.name for place, stamp in self._stamps.items() if _stamp(place) != stamp]
        if changed_files:
            for place in self._stamps:
                self._stamps[place] = _stamp(place)
            pytest.fail(
                f"the shelf was written to: {', '.join(changed_files)}. This test or one that ran meanwhile must take "
                'a copy: shelf.copy("NAME", folder / "out")',
                pytrace=False,
            )

    def made(self, name: str, make: Callable[[Path], object]) -> Path:
        """Return a directory of one file of tests: `make` fills it once per session."""

        def fill(building: Path) -> None:
            with runs_here():
                make(building / name)
            (building / "stamp.json").write_text(json.dumps(_stamp(building / name)))

        place = made_once(self._folder / name, fill) / name
        stamps = json.loads((place.parent / "stamp.json").read_text())
        self._stamps[place] = {file: tuple(stamp) for file, stamp in stamps.items()}
        return place


def _stamp(directory: Path) -> Stamp:
    """Return the sizes and modification times of a directory's files, by name."""
    stamp: Stamp = {}
    for folder, _, names in os.walk(directory):
        for name in names:
            if not _CACHES.fullmatch(name):
                file = os.path.join(folder, name)  # noqa: PTH118 (several times as fast, after each test)
                status = os.lstat(file)
                stamp[file.removeprefix(f"{directory}/")] = (status.st_size, status.st_mtime_ns)
    return stamp


def _path(out: Path, name: str) -> Path:
    file = out.with_name(f"{name}.toml")
    file.write_text(SMALL)
    return file


def _single(out: Path) -> None:
    dumbbell.run(
        schemes="reno",
        path=_path(out, "small"),
        flows=2,
        interval=0.5,
        runs=1,
        duration=2,
        log="full",
        out=out,
    )


def _mixes(out: Path) -> None:
    dumbbell.run(
        schemes=["cubic", "copa", "bbr"],
        mixes=["cubic+copa", "cubic+bbr"],
        path=_path(out, "lab"),
        runs=2,
        duration=2,
        out=out,
    )


def _grid(out: Path) -> None:
    file = out.with_name("sweep.toml")
    file.write_text(
        'name = "grid"\npaths = ["default"]\nschemes = ["cubic", "copa"]\nruns = 2\nduration_s = 1.0\nlog = "none"\n'
        "[grid]\nbw_factor = [1.0, 4.0]\nqlen_bdp = [0.5, 1.0, 2.0]\n"
    )
    dumbbell.run(file, out=out)


def _campaign(out: Path) -> None:
    dumbbell.run(schemes=["reno", "copa"], path=_path(out, "small"), runs=50, duration=0.5, log="none", out=out)
    at_hours(out, lambda number, at: float(at.hour) + (0.5 if number > 24 else 0.0))
    for number in (30, 31):
        (out / f"runs/small/copa/{number}/stats.json").unlink()


def at_hours(out: Path, goodput_mbps: Callable[[int, datetime], float]) -> None:
    """Turn repetitions into the rounds of a campaign, hourly; the function returns the goodput, half of the throughput.

    A campaign of two days takes two days: this one is written as recorded.
    """
    text = (out / "experiment.toml").read_text()
    (out / "experiment.toml").write_text(
        re.sub(r"^runs = .*$", "every_s = 3600.0\nfor_s = 180000.0", text, flags=re.MULTILINE)
    )
    for file in list((out / "runs").rglob("stats.json")):
        content = json.loads(file.read_text())
        at = BEGAN + timedelta(hours=content["run"] - 1)
        content["started_at"] = at.isoformat().replace("+00:00", "Z")
        goodput = goodput_mbps(content["run"], at)
        content["network"] |= {"goodput_mbps": goodput, "throughput_mbps": 2.0 * goodput}
        file.write_text(json.dumps(content))


def _make_imported(out: Path) -> None:
    source = out.with_name("data")
    source.mkdir()
    schemes = ["cubic", "vegas"]
    (source / "pantheon_metadata.json").write_text(json.dumps(METADATA | {"cc_schemes": schemes}))
    for scheme in schemes:
        for kind, content in (("datalink_run1", DATA_LOG), ("acklink_run1", ACK_LOG), ("stats_run1", STATS)):
            (source / f"{scheme}_{kind}.log").write_text(content)
    dumbbell.import_results("pantheon", source, out)


_PLAN = {"schemes": ["cubic", "vegas"], "paths": ["mexico-cellular"], "runs": 2, "duration_s": 2.0, "warmup_s": 0.5}


def _make_recorded(out: Path) -> None:
    make(out, _PLAN)
    change(out, "runs/mexico-cellular/cubic/1", **OF_OTHER_BACKENDS)


def _make_damaged(out: Path) -> None:
    make(out, _PLAN)
    runs = out / "runs/mexico-cellular"
    damaged_file = runs / "cubic/2/stats.json"
    damaged_file.write_bytes(damaged_file.read_bytes()[:200])
    shutil.rmtree(runs / "vegas/1")
    (runs / "vegas/2/packets.parquet").unlink()


def _make_emulated(out: Path) -> None:
    emulate(out, "india-aws-india", duration_s=2.0)


def _big(out: Path) -> None:
    schemes = ["bbr", "copa", "cubic", "dctcp", "koho", "ledbat", "prague", "reno", "vegas", "copa-gcc2018"]
    paths = ["default", "pantheon-4", _path(out, "small")]
    dumbbell.run(schemes=schemes, path=paths, runs=5, duration=0.5, warmup=0.1, log="none", out=out)


@pytest.fixture(scope="session", name="shelf")
def _shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    return Shelf(shared_folder(tmp_path_factory, "shelf"))


@pytest.fixture(autouse=True)
def _shelf_check(request: pytest.FixtureRequest) -> Iterator[None]:
    """Check after each test that could read the shelf that its results are unchanged."""
    yield
    if "shelf" in request.fixturenames:
        request.getfixturevalue("shelf").check()
