"""Tests of notes on a run with real packets: its lateness, and the qlogs of its programs."""

import json
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell.base.entry import Entry
from dumbbell.results.integrity import damage, recorded
from dumbbell.results.real_notes import real_notes
from support.commands.command import Dumbbell
from support.results.recorded import change, emulate

REMARK = "the emulator was late: p99 3.40 ms above the bound of 3.00 ms; lateness added 0.21 ms to a round trip"
QLOG = {"file": "flow-1-sender-a.qlog", "bytes": 12, "events": 3, "sent": 2, "sampled": True, "notes": ["is cut off"]}


def emulation(**changes: object) -> dict[str, Any]:
    program = {"flow": 1, "side": "sender", "command": [], "ended": None, "output": [], "qlogs": [QLOG]}
    return {"remark": REMARK, "programs": [program, {"flow": 1, "side": "receiver"}], **changes}


def test_notes_are_the_remark_and_what_is_unusual_about_qlogs() -> None:
    assert real_notes(emulation()) == [REMARK, "flow 1 sender: qlog flow-1-sender-a.qlog: is cut off"]
    assert real_notes({"remark": None}) == []


def test_show_told_nobody_how_late_a_run_was_or_which_qlogs_it_has(dumbbell: Dumbbell, tmp_path: Path) -> None:
    emulate(tmp_path / "out", "default")
    place = "runs/default/cubic/1"
    statistics = json.loads((tmp_path / "out" / place / "stats.json").read_text())
    emulation_notes = statistics["emulation"] | emulation()
    files = statistics.get("files", {}) | {QLOG["file"]: {"bytes": 12, "sha256": "0"}}
    change(tmp_path / "out", place, emulation=emulation_notes, notes=real_notes(emulation_notes), files=files)
    lines = dumbbell("show", tmp_path / "out", expect=None).stdout.splitlines()
    assert f"note: cubic on default, run 1: {REMARK}" in lines
    assert "qlog: cubic on default, run 1: flow-1-sender-a.qlog" in lines


def test_a_qlog_that_was_changed_afterwards_is_found(tmp_path: Path) -> None:
    (tmp_path / "flow-1-sender-a.qlog").write_text("{}")
    (tmp_path / "flow-1-sender-link.qlog").symlink_to("/etc/passwd")
    (tmp_path / "notes.qlog").write_text("mine")
    kept_files = recorded(Entry.of(tmp_path))
    assert set(kept_files) == {"flow-1-sender-a.qlog"}
    statistics: Any = {"files": kept_files}
    assert damage(Entry.of(tmp_path), statistics, "none") is None
    (tmp_path / "flow-1-sender-a.qlog").write_text("{ }")
    assert damage(Entry.of(tmp_path), statistics, "none") == "flow-1-sender-a.qlog has 3 bytes, not 2"


def test_a_run_knows_its_qlogs(tmp_path: Path) -> None:
    emulate(tmp_path / "out", "default")
    place = "runs/default/cubic/1"
    change(
        tmp_path / "out",
        place,
        emulation=json.loads((tmp_path / "out" / place / "stats.json").read_text())["emulation"] | emulation(),
    )
    runs = dumbbell.open(tmp_path / "out").runs
    assert all(run.qlogs == () for run in runs), "what is not kept has no name among the files"
