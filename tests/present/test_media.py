"""Tests of live sources through the real command: metrics, tables and figures, none without such a source."""

import re
import sqlite3
from pathlib import Path

import pytest

from dumbbell import core
from dumbbell.present.model.content import load
from dumbbell.present.model.drawing import draw
from support.commands.command import Dumbbell, show
from support.pages.long_form import LongForm

EXPERIMENT = """
schemes = ["reno", "vegas"]
paths = ["small.toml"]
runs = 2
duration_s = 6.0
warmup_s = 1.0
start_spread_ms = 0.0

[[flow]]
application = { kind = "encoder", fps = 25, start_rate_mbps = 1.0, max_rate_mbps = 2.0, key_after_loss = false }
"""
SERIES = ("encoder_rate", "frame_delay", "frame_size")


@pytest.fixture
def cameras(folder: Path, once: Dumbbell) -> Path:
    """Return the results of the experiment above."""
    (folder / "cameras.toml").write_text(EXPERIMENT)
    once("run", "cameras.toml", "--out", "out")
    return folder / "out"


def test_a_camera_on_a_wide_link_is_seen_at_its_highest_bitrate(cameras: Path, dumbbell: Dumbbell) -> None:
    run = show(dumbbell, cameras)["runs"][0]
    media = run["flows"][0]["media"]
    # 25 frames/s for 6 s; the frames of the last 10 ms of the path, and of a frame's own time, are still in flight.
    assert (media["frames_written"], media["frames_skipped"]) == (150, 0)
    assert 147 <= media["frames_decoded"] <= 150
    # The camera takes 2 of 10 Mbit/s.
    assert media["media_rate_mbps"] == pytest.approx(2.0, rel=0.05)
    assert media["media_utilization"] == pytest.approx(media["media_rate_mbps"] / 2.0)
    # The delay is 10 ms of propagation, and at most 8 ms of the link for a frame's 10 kB, unless a window delays it.
    assert 10.0 < media["frame_delay_p50_ms"] < 10.0 + 8.0 + 20.0
    assert media["frame_delay_p50_ms"] <= media["frame_delay_p95_ms"] <= media["frame_delay_p99_ms"]
    assert (media["stalls"], media["stall_time_s"], media["stall_ratio"]) == (0, 0.0, 0.0)


def test_the_samples_of_frames_agree_with_the_metrics(cameras: Path, dumbbell: Dumbbell) -> None:
    run = show(dumbbell, cameras)["runs"][0]
    samples = {
        field: values for _, field, _, *values in core.samples(str(cameras / run["directory"] / "flows.parquet"))
    }
    times, delays, sizes = (
        memoryview(column).cast("d") for column in (*samples["frame_delay"], samples["frame_size"][1])
    )
    media = run["flows"][0]["media"]
    assert len(times) == len(sizes) == media["frames_decoded"]
    measured_indexes = [index for index, time in enumerate(times) if time >= 1.0]
    assert sum(sizes[index] for index in measured_indexes) * 8e-6 / 5.0 == pytest.approx(media["media_rate_mbps"])
    ordered_delays = sorted(delays[index] for index in measured_indexes)
    assert ordered_delays[len(ordered_delays) // 2] == pytest.approx(media["frame_delay_p50_ms"], abs=1.0)
    rates = memoryview(samples["encoder_rate"][1]).cast("d")
    assert 1.0 <= min(rates) <= max(rates) <= 2.0


def test_show_and_the_database_have_media(cameras: Path, dumbbell: Dumbbell) -> None:
    output = dumbbell("show", cameras).stdout
    runs = show(dumbbell, cameras)["runs"]
    medias = [run["flows"][0]["media"] for run in runs if run["scheme"] == "reno"]
    line = next(line for line in output.partition("\nMedia\n")[2].splitlines() if " reno " in line)
    rate = sum(media["media_rate_mbps"] for media in medias) / 2
    decoded_frames = sum(media["frames_decoded"] for media in medias) / 2
    assert line.split()[:4] == ["small", "reno", "1", f"{rate:.2f}"]
    assert line.split()[-1] == f"{decoded_frames:.1f}"
    with sqlite3.connect(cameras / "results.sqlite") as database:
        query = "SELECT value FROM metric WHERE name = 'media.media_rate_mbps' ORDER BY value"
        stored_rates = [row[0] for row in database.execute(query)]
    assert stored_rates == sorted(run["flows"][0]["media"]["media_rate_mbps"] for run in runs)


def test_the_long_report_shows_media(cameras: Path, dumbbell: Dumbbell) -> None:
    runs = load(cameras).runs
    dumbbell("report", cameras, "--all-runs")
    assert (cameras / "report.pdf").read_bytes().startswith(b"%PDF")
    form = LongForm.of(cameras)
    assert form.headings.count("Media") == 1
    words = "Encoder rate, decoded bitrate and the delay of every frame over time, run"
    assert form.text.count(words) == len(runs)
    drawings = [drawing for name, drawing in form.drawings.items() if name.endswith("media.svg")]
    for run, drawing in zip(runs, drawings, strict=True):
        texts = [text.strip() for text in re.findall("<text[^>]*>([^<]*)<", drawing)]
        mean = run.flows[0]["media"]["media_rate_mbps"]
        assert {"Bitrate (Mbit/s)", "Frame delay (ms)", "Flow 1 encoder"} <= set(texts)
        assert f"Flow 1 decoded (mean {mean:.2f} Mbit/s)" in texts
        assert drawing.count("data:image/png") == 1


def test_without_live_sources_nothing_speaks_of_media(folder: Path, dumbbell: Dumbbell) -> None:
    output = dumbbell("run", "--schemes", "reno", "--path", "small.toml", "--duration", "3", "--out", "out").stdout
    assert "Media" not in output
    run = show(dumbbell, "out")["runs"][0]
    assert run["flows"][0]["media"] is None
    model = load(folder / "out")
    figures = draw(model, 1)
    assert all("media" not in run_figures.drawings and run_figures.drawings for run_figures in figures.runs.values())
    form = LongForm.of(folder / "out")
    assert "Media" not in form.headings
    assert "Frame delay" not in form.drawn
    with sqlite3.connect(folder / "out" / "results.sqlite") as database:
        assert not database.execute("SELECT 1 FROM metric WHERE name LIKE 'media.%'").fetchall()


def test_a_starved_camera_skips_frames_and_stands_still(folder: Path, dumbbell: Dumbbell) -> None:
    """The camera's lowest bitrate is three times the link's capacity."""
    (folder / "small.toml").write_text((folder / "small.toml").read_text().replace("10.0\nqueue", "0.5\nqueue"))
    replace = EXPERIMENT.replace("start_rate_mbps = 1.0", "min_rate_mbps = 1.5, start_rate_mbps = 1.5")
    (folder / "starved.toml").write_text(replace)
    dumbbell("run", "starved.toml", "--out", "out")
    media = show(dumbbell, "out")["runs"][0]["flows"][0]["media"]
    assert media["frames_skipped"] > 50
    assert media["frames_written"] + media["frames_skipped"] == 150
    assert media["stalls"] > 0
    assert media["stall_time_s"] > 0.3
    assert media["stall_ratio"] == pytest.approx(media["stall_time_s"] / 5.0)
    assert media["frame_delay_p95_ms"] > 400.0


@pytest.mark.parametrize(
    ("application", "name"),
    [
        ('{ kind = "encoder", fps = 0 }', "application.fps = 0: allowed is 1 to 1000"),
        ('{ kind = "encoder", max_rate_mbps = 0.2 }', "application.start_rate_mbps = 0.3: allowed is 0.03 to 0.2"),
        ('{ kind = "encoder", frames = 30 }', "unknown field `frames`, expected one of `fps`"),
    ],
)
def test_bad_encoders_are_refused_in_one_line(folder: Path, dumbbell: Dumbbell, application: str, name: str) -> None:
    (folder / "bad.toml").write_text(re.sub("application = .*", f"application = {application}", EXPERIMENT))
    result = dumbbell("run", "bad.toml", "--out", "out", expect=2)
    assert name in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    assert not (folder / "out").exists()
