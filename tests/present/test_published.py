"""Tests of an experiment with published numbers: text, JSON and both reports show them with the simulated ones."""

import json
import tomllib
from pathlib import Path

import pytest

from support.commands.command import Dumbbell, show

PLAN = """
name = "beside"
schemes = ["reno"]
paths = ["small.toml", "lossy.toml"]
runs = 2
duration_s = 2.0
start_spread_ms = 50.0
"""

PUBLISHED = """
published_source = "Somebody, 2018"

[[published]]
scheme = "reno"
title = "TCP Reno there"
throughput_mbps = { mean = 7.25, low = 6.5, high = 8.0 }
delay_p95_ms = -3.5
loss_rate = 0.0125

[[published]]
title = "Learned"
path = "small.toml"
throughput_mbps = 1.5

[[published]]
scheme = "cubic"
throughput_mbps = 2.5
"""


@pytest.fixture
def plan(folder: Path) -> Path:
    """Write an experiment on two paths."""
    (folder / "beside.toml").write_text(PLAN + PUBLISHED)
    return folder / "beside.toml"


@pytest.mark.usefixtures("plan")
def test_ours_stand_beside_the_published_numbers(dumbbell: Dumbbell) -> None:
    output = dumbbell("run", "beside.toml", "--out", "out").stdout
    content = show(dumbbell, "out")["published"]
    assert content["source"] == "Somebody, 2018"
    rows = {(row["path"], row["title"]): row for row in content["rows"]}
    names = ["TCP Reno there", "Learned", "TCP Cubic"]
    assert list(rows) == [("small", name) for name in names] + [("lossy", name) for name in names if name != "Learned"]

    row = rows["small", "TCP Reno there"]
    assert row["published"]["throughput_mbps"] == {"mean": 7.25, "low": 6.5, "high": 8.0}
    assert row["published"]["delay_p95_ms"] == {"mean": -3.5, "low": None, "high": None}
    runs = [run for run in show(dumbbell, "out")["runs"] if run["path"] == "small"]
    for metric in ("throughput_mbps", "delay_p95_ms", "loss_rate"):
        values = [run["network"][metric] for run in runs]
        assert row["ours"][metric] == {"mean": sum(values) / 2, "low": min(values), "high": max(values)}
    assert row["runs"] == 2
    own_means = {metric: row["ours"][metric]["mean"] for metric in row["ours"]}
    assert row["error"]["throughput_mbps"] == pytest.approx(own_means["throughput_mbps"] / 7.25 - 1)
    assert row["error"]["loss_rate"] == pytest.approx(own_means["loss_rate"] - 0.0125)
    assert row["error"]["delay_p95_ms"] is None, "a share of a negative delay says nothing"
    assert content["replication"] == [], "no scheme has throughput and delay on both sides"

    # Neither scheme ran: no simulated number is invented.
    for title in ("Learned", "TCP Cubic"):
        assert (rows["small", title]["runs"], set(rows["small", title]["ours"].values())) == (0, {None})

    for text in (output, dumbbell("show", "out").stdout):
        assert text.count("beside published: Somebody, 2018") == 2
        line = next(line for line in text.split("Ours on small")[1].splitlines() if line.startswith("reno"))
        assert "7.25 (6.50 to 8.00)" in line
        errors = [f"{row['error']['throughput_mbps'] * 100:+.0f}", "-", f"{row['error']['loss_rate'] * 100:+.2f}"]
        assert line.split("1.25 ")[-1].strip() == " / ".join(errors)
        assert text.count("Learned") == 1, "a row with a path is of that path only"


def test_the_replication_error_is_pantheons_and_reports_have_it(dumbbell: Dumbbell, plan: Path, folder: Path) -> None:
    counted_text = PUBLISHED.replace("delay_p95_ms = -3.5", "delay_p95_ms = 50.0")
    plan.write_text(PLAN + counted_text)
    dumbbell("run", plan, "--out", "out")
    content = show(dumbbell, "out")["published"]
    for entry in content["replication"]:
        (row,) = [row for row in content["rows"] if row["path"] == entry["path"] and row["scheme"] == "reno"]
        throughput, delay = abs(row["error"]["throughput_mbps"]), abs(row["error"]["delay_p95_ms"])
        assert (entry["throughput"], entry["delay"]) == (throughput, delay)
        assert entry["error"] == pytest.approx((throughput + delay) / 2)
        assert entry["schemes"] == ["reno"]
    assert [path_entry["path"] for path_entry in content["replication"]] == ["small", "lossy"]
    dumbbell("report", "out")
    expected = f"{content['replication'][0]['error'] * 100:.1f} %"
    page = (folder / "out/report.html").read_text()
    assert f"Replication error: {expected}" in page
    # both reports have the table
    assert page.count("<h3>Ours beside published</h3>") == 2
    assert "Published: Somebody, 2018." in page
    assert "<small>there: TCP Reno there</small>" in page
    assert "(6.50 to 8.00)" in page
    assert (folder / "out/report.pdf").stat().st_size > 10_000
    assert f"replication error: {expected}" in dumbbell("show", "out").stdout

    # A row with a reason for not counting is shown, but left out of means.
    plan.write_text(PLAN + counted_text.replace('scheme = "reno"', 'scheme = "reno"\nuncounted = "of another year"', 1))
    output = dumbbell("run", plan, "--out", "apart").stdout
    assert show(dumbbell, "apart")["published"]["replication"] == []
    assert output.count("not counted: of another year") == 2
    assert "replication error" not in output


def test_the_resolved_experiment_keeps_them(dumbbell: Dumbbell, plan: Path, folder: Path) -> None:
    dumbbell("run", plan, "--out", "out")
    document = tomllib.loads((folder / "out/experiment.toml").read_text())
    given_rows = tomllib.loads(PUBLISHED)["published"]
    assert document["published"][0] == given_rows[0] | {
        "delay_p95_ms": {"mean": -3.5},
        "loss_rate": {"mean": 0.0125},
    }
    assert document["published"][1]["path"] == "small"
    before = show(dumbbell, "out")["published"]
    dumbbell("run", "--out", "out", "--resume")
    dumbbell("run", "out/experiment.toml", "--out", "again")
    assert show(dumbbell, "out")["published"] == show(dumbbell, "again")["published"] == before


def test_without_published_numbers_nothing_changes(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "plain.toml").write_text(PLAN)
    text = dumbbell("run", "plain.toml", "--out", "out").stdout
    assert "published" not in text
    assert "published" not in show(dumbbell, "out")
    assert "published" not in (folder / "out/experiment.toml").read_text()
    dumbbell("report", "out", "--html")
    assert "published</h3>" not in (folder / "out/report.html").read_text()


def test_other_schemes_and_paths_leave_out_what_does_not_run(dumbbell: Dumbbell, plan: Path) -> None:
    result = dumbbell("run", plan, "--schemes", "vegas", "--path", "lossy.toml", "--out", "out", "--json")
    rows = json.loads(result.stdout)["published"]["rows"]
    assert [(row["path"], row["scheme"], row["runs"]) for row in rows] == [("lossy", "", 0)] * 2


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ('scheme = "cubic"', 'scheme = "cubik"', ["beside.toml", "published[2]", "unknown scheme `cubik`", "`cubic`"]),
        (
            'path = "small.toml"',
            'path = "korea-chian"',
            ["published[1]", "unknown path `korea-chian`", "`korea-china`"],
        ),
        ("delay_p95_ms", "delay_ms", ["unknown key `published[0].delay_ms`", "did you mean `delay_p95_ms`"]),
        ("loss_rate = 0.0125", "loss_rate = 1.25", ["`published[0].loss_rate` = 1.25", "a number from 0 to 1"]),
        ("= 7.25", '= "7.25"', ['`published[0].throughput_mbps.mean` = "7.25"', "allowed is a number"]),
        ("= -3.5", '= "low"', ['`published[0].delay_p95_ms` = "low"', "allowed is a number"]),
        ("= -3.5", "= 1.7e308", ["`published[0].delay_p95_ms` = 1.7e+308", "a number from -1e+18 to 1e+18"]),
        ("low = 6.5", "low = 7.5", ["`published[0].throughput_mbps.low` = 7.5", "from 0 to 7.25"]),
        ("high = 8.0", "most = 8.0", ["unknown key `published[0].throughput_mbps.most`", "mean, low, high"]),
        ("throughput_mbps = 2.5", "", ["published[2]", "at least one of throughput_mbps"]),
        ('title = "Learned"', "", ["published[1].scheme", "or give `title`"]),
        ('published_source = "Somebody, 2018"', "", ["key `published_source` is missing"]),
    ],
)
def test_bad_input_is_one_line(dumbbell: Dumbbell, plan: Path, old: str, new: str, parts: list[str]) -> None:
    assert old in PUBLISHED
    plan.write_text(PLAN + PUBLISHED.replace(old, new, 1))
    (line,) = dumbbell("run", "beside.toml", "--out", "out", expect=2).stderr.splitlines()
    assert all(part in line for part in ["dumbbell: ", *parts]), line
    assert not (plan.parent / "out").exists()


def test_a_source_of_nothing_is_refused(dumbbell: Dumbbell, plan: Path) -> None:
    plan.write_text(PLAN + 'published_source = "x"\n')
    assert '`published_source` = "x"' in dumbbell("run", "beside.toml", expect=2).stderr
    plan.write_text(PLAN + 'published_source = "x"\npublished = "all"\n')
    assert '`published` = "all": allowed is a list of tables' in dumbbell("run", "beside.toml", expect=2).stderr
