"""Tests of schemes, paths and experiments of other packages and files: listed, run, and added to the benchmark."""

import json
import os
from pathlib import Path

import pytest

from support.commands.command import Dumbbell
from support.pages.written import handed_over

EXPERIMENT = """
name = "lab-short"
title = "A short flow in our lab"
paths = ["lab"]
duration_s = 2.0

[benchmark]
group = "Steady state"
text = "One flow."
references = ["lab-reno"]
network_metrics = ["throughput_mbps"]

[grid]
k = [1, 2]

[quick.grid]
k = [1]
"""

ENTRY_POINTS = """
[dumbbell.schemes]
lab = lab_catalog.schemes

[dumbbell.paths]
lab = lab_catalog.paths

[dumbbell.experiments]
lab = lab_catalog.experiments
"""


@pytest.fixture
def distribution(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a distribution with one scheme, one path and one experiment; return its package."""
    package = folder / "site" / "lab_catalog"
    for kind, name, text in (
        ("schemes", "lab-reno", 'title = "Our Reno"\ncontroller = "reno"\nparameters = { beta = 0.6 }\n'),
        ("paths", "lab", (folder / "small.toml").read_text()),
        ("experiments", "lab-short", EXPERIMENT),
    ):
        (package / kind).mkdir(parents=True)
        (package / kind / f"{name}.toml").write_text(text)
    (package / "__init__.py").write_text("")
    information = folder / "site" / "lab_catalog-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: lab-catalog\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(ENTRY_POINTS)
    places = [str(folder / "site"), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(places))
    return package


def test_an_installed_package_adds_to_the_catalog(dumbbell: Dumbbell, distribution: Path) -> None:
    for kind, name in (("schemes", "lab-reno"), ("paths", "lab"), ("experiments", "lab-short")):
        assert name in [row["name"] for row in json.loads(dumbbell("list", kind, "--json").stdout)]
    document = json.loads(dumbbell("run", "lab-short", "--schemes", "lab-reno", "--out", "out", "--json").stdout)
    assert [(run["scheme"], run["path"], run["status"]) for run in document["runs"]] == [
        ("lab-reno", "lab.k-1", "done"),
        ("lab-reno", "lab.k-2", "done"),
    ]


def test_an_installed_experiment_joins_the_benchmark_and_stays_there(dumbbell: Dumbbell, distribution: Path) -> None:
    command = ["benchmark", "--schemes", "vegas", "--quick", "--only", "lab-short", "--out", "out"]
    assert json.loads(dumbbell(*command, "--json").stdout)["finished"] == 2
    benchmark_data = distribution.parents[1] / "out" / "pages/data/benchmark.json.js"
    assert "A short flow in our lab" in handed_over(benchmark_data).decode()
    # the results outlive the package
    (distribution / "experiments" / "lab-short.toml").unlink()
    benchmark_data.unlink()
    dumbbell("report", "out")
    assert "A short flow in our lab" in handed_over(benchmark_data).decode()
    assert "--experiment out/experiments/lab-short.toml" in handed_over(benchmark_data).decode()


def test_a_file_joins_the_benchmark(dumbbell: Dumbbell, folder: Path) -> None:
    text = EXPERIMENT.replace('"lab"', '"small.toml"').replace('"lab-reno"', '"reno"')
    (folder / "mine.toml").write_text(text)
    command = ["benchmark", "--schemes", "vegas", "--experiment", "mine.toml", "--only", "lab-short,ack_loss"]
    command += ["--quick", "--out", "out"]
    document = json.loads(dumbbell(*command, "--json").stdout)
    assert (document["failed"], document["finished"]) == (0, 2 + 4)
    assert "6 of 6 runs are finished already" in dumbbell(*command, "--resume").stderr
    assert "A short flow in our lab" in handed_over(folder / "out" / "pages/data/benchmark.json.js").decode()


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (("lab-short", "ack_loss"), "--experiment mine.toml: the name `ack_loss` is taken by a listed experiment"),
        (("[benchmark]", "[path.benchmark]"), "mine.toml: unknown key `path.benchmark."),
        (('group = "Steady state"', 'group = "Ours"'), "mine.toml: `benchmark.group`"),
        (("throughput_mbps", "throughput_mbit"), "mine.toml: `benchmark.network_metrics`: unknown metric"),
        (("duration_s = 2.0", 'backend = "emu"'), "mine.toml: `backend` = emu: the benchmark takes experiments that"),
    ],
)
def test_files_that_cannot_join(dumbbell: Dumbbell, folder: Path, change: tuple[str, str], part: str) -> None:
    text = EXPERIMENT.replace('"lab"', '"small.toml"').replace('"lab-reno"', '"reno"')
    assert change[0] in text
    (folder / "mine.toml").write_text(text.replace(*change))
    result = dumbbell("benchmark", "--schemes", "vegas", "--experiment", "mine.toml", "--out", "out", expect=2)
    assert part in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (folder / "out").exists()


def test_a_file_without_membership_and_a_missing_one(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "mine.toml").write_text('name = "mine"\npaths = ["small.toml"]\n')
    for file, part in (("mine.toml", "mine.toml: has no [benchmark] table"), ("absent.toml", "absent.toml: No such")):
        assert part in dumbbell("benchmark", "--schemes", "vegas", "--experiment", file, expect=2).stderr


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (
            "lab = lab_catalog.nowhere",
            "`lab_catalog.nowhere`: allowed is a package",
        ),
        (
            "lab = absent.paths",
            "package `absent.paths`: No module named 'absent'",
        ),
    ],
)
def test_entry_points_that_lead_nowhere(dumbbell: Dumbbell, distribution: Path, text: str, part: str) -> None:
    points = distribution.parent / "lab_catalog-1.0.dist-info" / "entry_points.txt"
    points.write_text(ENTRY_POINTS.replace("lab = lab_catalog.paths", text))
    result = dumbbell("list", "paths", expect=2)
    assert f"entry point `lab` of `dumbbell.paths`: {part}" in result.stderr
    assert result.stderr.count("\n") == 1


def test_an_installed_package_adds_a_command(dumbbell: Dumbbell, distribution: Path) -> None:
    points = distribution.parent / "lab_catalog-1.0.dist-info" / "entry_points.txt"
    points.write_text("[dumbbell.commands]\nshout = lab_catalog.shout\n")
    (distribution / "shout.py").write_text(
        '"""Say something loudly."""\n\n\ndef add_arguments(parser):\n    parser.add_argument("what")\n\n\n'
        "def main(arguments):\n    print(arguments.what.upper())\n    return 0\n"
    )
    assert "shout        say something loudly\n" in dumbbell("--help").stdout
    assert dumbbell("shout", "hello").stdout == "HELLO\n"
    points.write_text("[dumbbell.commands]\nshout = absent.shout\n")
    errors = dumbbell("--help", expect=2).stderr
    reason = "entry point `shout` of `dumbbell.commands`: package `absent.shout`: No module named 'absent'"
    assert errors == f"dumbbell: {reason}\n"


def test_an_installed_package_adds_importers(dumbbell: Dumbbell, distribution: Path) -> None:
    points = distribution.parent / "lab_catalog-1.0.dist-info" / "entry_points.txt"
    points.write_text("[dumbbell.importers]\nlab = lab_catalog.lab\nplan = lab_catalog.plan\n")
    refusing = '    raise UserError(f"{request.source}: is read")\n'
    (distribution / "lab.py").write_text(
        '"""Logs of our lab."""\n\nfrom dumbbell.base.errors import UserError\n\n\ndef read(request):\n' + refusing
    )
    (distribution / "plan.py").write_text(
        '"""Plans of our lab, made experiments."""\n\n\ndef convert(source, out):\n'
        '    out.write_text(source.read_text())\n    return ["line 2: a room"]\n'
    )
    (distribution.parent / "plan.txt").write_text("a plan")
    join = " ".join(dumbbell("import", "--help").stdout.split())
    assert "lab: logs of our lab; " in join
    assert "plan: plans of our lab, made experiments" in join
    assert dumbbell("import", "lab", "x", "--out", "out", expect=2).stderr == "dumbbell: x: is read\n"
    result = dumbbell("import", "plan", "site/plan.txt", "--out", "made.txt")
    assert (result.stdout, result.stderr) == ("made.txt\n", "note: site/plan.txt: left out: line 2: a room\n")
    errors = dumbbell("import", "plan", "site/plan.txt", "--out", "made.txt", "--strict", expect=2).stderr
    assert errors == "dumbbell: --strict: is for results, not for plans of our lab\n"
    again = dumbbell("import", "plan", "site/plan.txt", "--out", "made.txt", expect=2).stderr
    assert again == "dumbbell: made.txt: exists: choose another file\n"
    # Faults of another package's importers are not dumbbell's.
    points.write_text("[dumbbell.importers]\nlab = lab_catalog.broken\n")
    (distribution / "broken.py").write_text('"""Nothing."""\n\nimport absent\n')
    join = dumbbell("import", "ss", "x", "--out", "out", "--strict", expect=2).stderr
    assert join == "dumbbell: --strict: is for pantheon, not for ss\n"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("qlog = lab_catalog", "the name is taken by dumbbell's own"),
        ("lab = lab_catalog.absent", "there is no such module"),
    ],
)
def test_importers_that_lead_nowhere(dumbbell: Dumbbell, distribution: Path, line: str, problem: str) -> None:
    points = distribution.parent / "lab_catalog-1.0.dist-info" / "entry_points.txt"
    points.write_text(f"[dumbbell.importers]\n{line}\n")
    name, _, value = line.partition(" = ")
    errors = dumbbell("import", "ss", "x", "--out", "out", expect=2).stderr
    assert errors == f"dumbbell: entry point `{name}` of `dumbbell.importers`: `{value}`: {problem}\n"


def test_a_name_that_is_taken_is_refused_with_the_file(dumbbell: Dumbbell, distribution: Path) -> None:
    (distribution / "paths" / "lab.toml").rename(distribution / "paths" / "default.toml")
    assert (
        "default.toml: the name `default` is taken by the path `default`" in dumbbell("list", "paths", expect=2).stderr
    )
