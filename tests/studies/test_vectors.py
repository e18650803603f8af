"""Tests of reference traces: the same each time, repeatable with `dumbbell run`, and compared with current results."""

from dataclasses import replace
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from dumbbell import catalog
from dumbbell.catalog.scheme import Scheme
from dumbbell.catalog.toml_tables import to_toml
from dumbbell_conformance.vectors.write import scenario
from support.commands.command import Dumbbell
from support.inputs.json_sequences import read_sequence
from support.pages.read_tables import csv_rows
from support.told import transcript

FILES = {"acks.csv", "events.json", "events.txt", "experiment.toml", "figure.svg", "trace.sqlog"}


def write_steady(folder: Path, scheme: Scheme) -> Path:
    """Write only the experiment of the scenario `steady`, which is read before the others."""
    (steady,) = (plan for plan in catalog.vectors() if plan.name == "steady")
    file = folder / "v/steady/experiment.toml"
    file.parent.mkdir(parents=True)
    file.write_text(to_toml(scenario(steady, scheme).table()))
    return file


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_twice_written_they_are_the_same_bytes(once: Dumbbell, dumbbell_afresh: Dumbbell, folder: Path) -> None:
    once("vectors", "dctcp", "--out", "v")
    output = dumbbell_afresh("vectors", "dctcp", "--out", "second").stdout.split()
    assert {Path(line).name for line in output} == {
        "app-limited", "ecn", "idle", "one-loss", "rate-step", "rtt-step", "start-up", "steady",
    }  # fmt: skip
    first = contents(folder / "v")
    assert first == contents(folder / "second")
    assert set(first) == {f"{Path(line).name}/{name}" for line in output for name in FILES} | {"README.md"}
    assert all(len(content) < 3_000_000 for content in first.values())


def test_the_scenarios_show_what_they_are_named_after(once: Dumbbell, folder: Path) -> None:
    once("vectors", "reno", "--out", "v")
    assert not (folder / "v/ecn").exists(), "reno does not react to marks"
    rows = {path.name: csv_rows(path / "acks.csv") for path in (folder / "v").iterdir() if path.is_dir()}
    # Ten packets at first, doubled by an RTT of slow start (RFC 5681), delayed ACKs counted in bytes.
    assert [row["cwnd_bytes"] for row in rows["start-up"][:3]] == ["14480", "17376", "20272"]
    losses = {name: sum(int(row["lost_packets"]) for row in table) for name, table in rows.items()}
    assert (losses["one-loss"], losses["app-limited"]) == (1, 0)
    assert losses["start-up"] > 10
    before = [row for row in rows["one-loss"] if not row["ssthresh_bytes"]]
    after = [row for row in rows["one-loss"] if row["ssthresh_bytes"]]
    in_flight = int(before[-1]["in_flight_bytes"])
    assert int(after[0]["ssthresh_bytes"]) == pytest.approx(in_flight / 2, rel=0.1), "RFC 5681 equation 4"
    # The bound is the path, two packets, and the receiver's 40 ms of waiting for a second one.
    assert max(float(row["latest_rtt_ms"]) for row in rows["app-limited"]) < 80.0 + 2 * 6.1 + 40.0
    assert all(int(row["cwnd_bytes"]) <= 2 * 14480 for row in rows["app-limited"]), "an unused window does not grow"


def test_a_scenario_can_be_run_as_it_stands(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    once("vectors", "dctcp", "--out", "v")
    dumbbell("run", "v/rate-step/experiment.toml", "--out", "again")
    dumbbell("export", "qlog", "again", "--out", "qlogs")
    (file,) = (folder / "qlogs").iterdir()
    assert read_sequence(file)[1:] == read_sequence(folder / "v/rate-step/trace.sqlog")[1:]


def test_what_differs_is_named_by_file_and_line(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    once("vectors", "reno", "--out", "v")
    same_lines = dumbbell("vectors", "--check", "v").stdout.splitlines()
    assert len(same_lines) == 7
    assert all(line.endswith(": the same") for line in same_lines)
    lines = (folder / "v/steady/acks.csv").read_text().splitlines()
    lines[41] += "1"
    (folder / "v/steady/acks.csv").write_text("\n".join(lines) + "\n")
    trace = folder / "v/idle/trace.sqlog"
    trace.write_text(trace.read_text().replace('"congestion_window":', '"congestion_window": ', 1))
    output = dumbbell("vectors", "--check", "v", expect=1).stdout
    assert "steady: differs: v/steady/acks.csv, line 42" in output
    assert "idle: differs: v/idle/trace.sqlog, line " in output
    assert output.count("the same") == 5


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), snapshot("dumbbell: vectors: name a scheme, or give --check DIR or --run SCRIPT")),
        (
            ("reno", "--check", "v"),
            snapshot("dumbbell: --check compares all that is in v: no scheme `reno` is needed"),
        ),
        (
            ("--check", "v", "--out", "w"),
            snapshot("dumbbell: --out: allowed when vectors are written, not with --check"),
        ),
        (("--check", "nowhere"), snapshot("dumbbell: nowhere: no vectors in it: no */experiment.toml")),
        (
            ("iperf3",),
            snapshot("dumbbell: `iperf3` is a real program: vectors need a controller that can be simulated"),
        ),
        (
            ("rono",),
            snapshot("dumbbell: unknown scheme `rono` (did you mean `reno`?): `dumbbell list schemes` shows all"),
        ),
        (
            ("reno", "--out", "small.toml"),
            snapshot("dumbbell: small.toml: exists already: choose another --out, or compare with --check small.toml"),
        ),
    ],
)
def test_wrong_arguments(dumbbell: Dumbbell, arguments: tuple[str, ...], complaint: str, tmp_path: Path) -> None:
    assert transcript(dumbbell("vectors", *arguments, expect=2).stderr, tmp_path) == complaint


def test_damaged_vectors_are_one_line(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "v/one").mkdir(parents=True)
    (folder / "v/one/experiment.toml").write_text("name = ")
    assert "v/one/experiment.toml: not valid TOML" in dumbbell("vectors", "--check", "v", expect=2).stderr


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (
            "duration_s = 4.5",
            "duration_s = 1000000.0",
            snapshot(
                """\
dumbbell: v/steady/experiment.toml: not the scenario `steady` of this version: write the vectors
  again: `duration_s`: 1000000.0 there, 4.5 now\
"""
            ),
        ),
        (
            "delay_ms = 40.0",
            "delay_ms = 900000.0",
            snapshot(
                """\
dumbbell: v/steady/experiment.toml: not the scenario `steady` of this version: write the vectors
  again: `path.steady.data[1].delay_ms`: 900000.0 there, 40.0 now; `path.steady.ack[0].delay_ms`:
  900000.0 there, 40.0 now\
"""
            ),
        ),
        (
            'name = "steady"',
            'name = "other"',
            snapshot(
                """\
dumbbell: v/steady/experiment.toml: not a scenario with one scheme: allowed are app-limited, ecn,
  idle, one-loss, rate-step, rtt-step, start-up, steady\
"""
            ),
        ),
        (
            'backend = "sim"',
            'backend = "emu"',
            snapshot(
                """\
dumbbell: v/steady/experiment.toml: not the scenario `steady` of this version: write the vectors
  again: `backend`: "emu" there, "sim" now\
"""
            ),
        ),
    ],
)
def test_a_scenario_of_somebody_elses_is_refused(
    dumbbell: Dumbbell, folder: Path, old: str, new: str, line: str
) -> None:
    experiment = write_steady(folder, catalog.schemes().find("reno"))
    assert old in experiment.read_text()
    experiment.write_text(experiment.read_text().replace(old, new))
    errors = dumbbell("vectors", "--check", "v", expect=2).stderr
    assert errors.startswith("dumbbell: v/steady/experiment.toml: not ")
    assert transcript(errors, folder) == line


def test_the_scheme_of_somebody_elses_scenario_sends_no_more_than_a_scenario_takes(
    dumbbell: Dumbbell, folder: Path
) -> None:
    scheme = catalog.schemes().find("udp-cbr")
    write_steady(folder, replace(scheme, application={"kind": "constant", "rate_mbps": 100_000.0}))
    errors = dumbbell("vectors", "--check", "v", expect=2).stderr
    assert "packets a second: allowed are most_events_per_s = 500000" in errors


def test_names_of_scenarios_do_nothing_to_the_terminal(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    once("vectors", "reno", "--out", "v")
    (folder / "one").mkdir()
    (folder / "v/steady").rename(folder / "one/\x1b[31mred")
    output = dumbbell("vectors", "--check", "one").stdout
    assert output.endswith(": the same\n")
    assert "\x1b" not in output
