"""A campaign over time: medians and quartiles by hour of day and by round, in tables and figures."""

import csv
import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy
import pytest

import dumbbell as package
from dumbbell.base.conventions import PANTHEON
from dumbbell.present.model.content import load
from dumbbell.present.model.over_time import OverTime
from dumbbell.present.plots import TimedAxis, TimedLine, TimedPanel, over_time_figure, scheme_strokes, styles
from dumbbell.results.analysis.over_time import Spread, hour_of_day, periods, stretch
from support.commands.command import Dumbbell
from support.shelf import BEGAN, Shelf


def run(scheme: str, number: int, throughput: float, **changes: object) -> dict[str, Any]:
    start = (BEGAN + timedelta(hours=number - 1)).isoformat().replace("+00:00", "Z")
    network = {"throughput_mbps": throughput, "delay_p95_ms": 10.0 * throughput, "loss_rate": None}
    return {"scheme": scheme, "run": number, "status": "done", "started_at": start, "network": network} | changes


def test_quartiles_are_interpolated_between_runs() -> None:
    assert Spread.of([4.0]) == Spread(1, 4.0, 4.0, 4.0)
    assert Spread.of([3.0, 1.0]) == Spread(2, 1.5, 2.0, 2.5)
    assert Spread.of([5.0, 1.0, 3.0, 2.0, 4.0]) == Spread(5, 2.0, 3.0, 4.0)


def test_runs_that_do_not_count_are_in_no_period() -> None:
    runs = [
        run("a", 1, 5.0),
        run("a", 25, 7.0),
        run("a", 2, 9.0, status="degraded"),
        run("a", 3, 9.0, started_at=None),
        run("b", 16, 2.0),
    ]
    periods_of = periods(runs, hour_of_day, PANTHEON.keys)
    assert [(period.number, period.runs) for period in periods_of["a"]] == [(9, 2)]
    assert periods_of["a"][0].metrics["throughput_mbps"] == Spread(2, 5.5, 6.0, 6.5)
    assert "loss_rate" not in periods_of["a"][0].metrics, "what no run has is absent"
    assert [period.number for period in periods_of["b"]] == [0], "after midnight"
    assert periods_of["a"][0].at_s == BEGAN.timestamp()


def test_many_rounds_stand_together() -> None:
    assert [stretch(rounds, 12) for rounds in (1, 12, 13, 168)] == [1, 1, 2, 14]


def line(label: str, values: list[float], spread: float) -> TimedLine:
    median = numpy.array(values)
    (stroke,) = scheme_strokes(list(styles([(label, "", "")]).values()))
    return TimedLine(label, stroke, numpy.arange(len(values)) * 1.0, median, median - spread, median + spread)


@pytest.mark.parametrize("values", [[], [5.0], [1.0, float("nan"), 3.0], [0.0, 0.0], [1.0, 2.0, 1e6, 1.5]])
def test_a_figure_is_drawn_of_whatever_there_is(values: list[float]) -> None:
    for spread in (0.0, 0.5):
        panels = [TimedPanel(label, [line("a", values, spread), line("b", values, 0.0)]) for label in ("up", "down")]
        drawing = over_time_figure("d", TimedAxis("Hour", (-0.5, 23.5), 1.0, range(0, 24, 3)), panels)
        shown_text = "".join(ElementTree.fromstring(drawing).itertext())
        assert "Hour" in shown_text
        assert "up" in shown_text


@pytest.fixture
def week(shelf: Shelf, folder: Path) -> Path:
    return shelf.copy("campaign", folder / "out")


def test_figures_and_tables_of_a_campaign(week: Path) -> None:
    model = load(week)
    over_time = OverTime(model)
    by_hour = over_time.periods("by-hour", "small")["reno"]
    assert [period.number for period in by_hour] == list(range(24))
    assert [period.runs for period in by_hour] == [3 if hour in (9, 10) else 2 for hour in range(24)]
    assert by_hour[12].metrics["goodput_mbps"] == Spread(2, 12.125, 12.25, 12.375)
    (_, rounds), (heading, hours) = over_time.tables("small")
    assert heading == "Over time, by hour of day"
    shown_rows = [[field.text for field in row[1:4]] + [row[3].note] for row in hours.rows if row[0].scheme == "reno"]
    assert shown_rows[12] == ["12:00", "2", "12.25", "12.12 to 12.38"]
    copa = [row for row in rounds.rows if row[0].scheme == "copa"]
    assert [row[1].text for row in copa][:2] == ["1 to 5", "6 to 10"], "at most twelve rows"
    assert copa[0][1].note == "2026-11-02 09:30:00"
    assert [row[2].text for row in copa] == ["5", "5", "5", "5", "5", "4", "4", "5", "5", "5"]


def test_figures_of_a_campaign_are_files_with_their_numbers(dumbbell: Dumbbell, week: Path) -> None:
    folder = week.parent
    dumbbell("figure", "out", "over-time", "--out", "rounds.svg")
    with (folder / "rounds.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 98
    assert (rows[0]["scheme"], rows[0]["round"], rows[0]["started_at"]) == ("reno", "1", "2026-11-02T09:30:00Z")
    assert rows[0]["goodput_mbps_median"] == "9.0"
    dumbbell("figure", "out", "by-hour", "--out", "hours.png", "--data", "hours.json")
    assert json.loads((folder / "hours.json").read_text())
    words = "".join(ElementTree.parse(folder / "rounds.svg").getroot().itertext())
    assert "Time since the first run (h)" in words
    assert "Goodput (Mbit/s)" in words
    dumbbell("figure", "out", "over-time", "--convention", "pantheon", "--out", "pantheon.svg")
    with (folder / "pantheon.csv").open() as stream:
        assert next(csv.DictReader(stream))["throughput_mbps_median"] == "18.0"
    words = "".join(ElementTree.parse(folder / "pantheon.svg").getroot().itertext())
    assert "Throughput (Mbit/s),Pantheon's convention" in words  # two lines


def test_the_report_of_a_campaign_shows_it_over_time(week: Path) -> None:
    for file in week.glob("runs/*/*/*/*.parquet"):  # figures of two runs are enough
        if file.parent.name != "1":
            file.unlink()
    page = package.open(week).write_report(pdf=True)[0].read_text()
    assert page.count("Over time, by hour of day") >= 1
    assert 'aria-label="Throughput, delay and loss of every round"' in page
    assert "Over time: goodput, p95 one-way delay and loss (corrected) of every round" in page
    assert (week / "report.pdf").read_bytes()[:4] == b"%PDF"


def test_what_is_no_campaign_has_nothing_over_time(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    once("run", "--schemes", "reno", "--path", "small.toml", "--duration", "0.5", "--out", "out")
    refusal = dumbbell("figure", "out", "over-time", expect=2)
    assert "figure `over-time`: is of campaigns: out was made without --every" in refusal.stderr
    assert OverTime(load(folder / "out")).tables("small") == []


def test_one_run_of_a_campaign_can_be_made_again(dumbbell: Dumbbell, week: Path) -> None:
    command = load(week).runs[1].command
    assert command == "dumbbell run experiment.toml --schemes reno --path small --runs 2 --out NEW"
    dumbbell(*command.replace("experiment.toml", "out/experiment.toml").split()[1:], "--dry-run")
