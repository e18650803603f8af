"""Tests of `dumbbell figure`: every kind as a file with its numbers, and the figures of runs."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy
import pytest
from inline_snapshot import snapshot

import dumbbell as package
from dumbbell.present.plots import spans_widely
from support.commands.command import Dumbbell
from support.inputs.paths import path_text
from support.pages.drawn_boxes import crossings, marks, root_of
from support.pages.long_form import LongForm
from support.pages.read_tables import csv_rows
from support.told import transcript

VARYING = path_text(
    4.0,
    link='queue = { kind = "codel", packets = 200, ecn = true }\n'
    "schedule = [{ at_s = 1.5, rate_mbps = 12.0 }, { at_s = 3.0, rate_mbps = 4.0 }]",
)


@pytest.fixture
def results(once: Dumbbell, folder: Path) -> Path:
    """Run schemes with modes, gains, velocity and marks on a path whose rate varies, and on one whose rate does not."""
    (folder / "varying.toml").write_text(VARYING)
    options = ("--schemes", "bbr,copa,cubic,dctcp", "--path", "varying.toml,small.toml", "--duration", "5", "--exact")
    once("run", *options, "--out", "r")
    return folder / "r"


def series(file: Path, field: str) -> list[tuple[float, float]]:
    """Return the times and values of a field."""
    return [(float(row["time_s"]), float(row["value"])) for row in csv_rows(file) if row["field"] == field]


def test_every_kind_is_a_file_with_its_numbers_beside_it(dumbbell: Dumbbell, results: Path) -> None:
    listed_kinds = [line.split()[0] for line in dumbbell("figure", results).stdout.splitlines()[1:]]
    assert listed_kinds == [kind["kind"] for kind in package.figure_kinds()]
    folder = results.parent
    for kind in listed_kinds:
        if kind in ("media", "over-time", "by-hour", "sweep", "grid", "share"):  # of live sources, campaigns, grids
            continue
        options = [] if kind == "normalised" else ["--path", "varying"]
        options += (
            []
            if kind in ("means", "runs", "ellipses", "jain-cdf", "normalised", "box", "ecdf")
            else ["--scheme", "bbr"]
        )
        result = dumbbell("figure", results, kind, *options, "--out", f"{kind}.svg")
        *files, caption = result.stdout.splitlines()
        assert files == [f"{kind}.csv", f"{kind}.svg"]
        assert caption.startswith("caption: ")
        assert caption.endswith(".")
        assert ElementTree.parse(folder / f"{kind}.svg").getroot().tag.endswith("svg")
        assert len(csv_rows(folder / f"{kind}.csv")) >= 4
    row_of = {row["scheme"]: row for row in csv_rows(folder / "means.csv")}
    network = package.open(results).run("varying", "bbr").statistics["network"]
    assert float(row_of["bbr"]["goodput_mbps"]) == network["goodput_mbps"]
    assert float(row_of["bbr"]["owd_p95_ms"]) == network["owd_p95_ms"]
    assert row_of["bbr"]["goodput_mbps_low"] == ""  # of a single run there is no interval
    dumbbell("figure", results, "means", "--path", "small", "--out", "a.pdf", "--data", "numbers.json")
    assert (folder / "a.pdf").read_bytes().startswith(b"%PDF-")
    assert (folder / "numbers.json").read_text().startswith("[")
    dumbbell("figure", results, "queue", "--path", "small", "--scheme", "bbr", "--out", "a.png")
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["stat", "--path", "small"],
            snapshot(
                """\
dumbbell: unknown figure `stat` (did you mean `state`?): allowed are box, ecdf, ellipses, jain-cdf,
  means, runs, by-hour, over-time, normalised, grid, share, sweep, delay, delay-cdf, distribution,
  fairness, jain, media, operating-point, queue, staircase, state, throughput, time, window\
"""
            ),
        ),
        (["means"], snapshot("dumbbell: there are 2 paths: choose one of varying, small")),
        (
            ["queue", "--path", "small"],
            snapshot("dumbbell: there are 4 schemes: choose one of bbr, copa, cubic, dctcp"),
        ),
        (
            ["queue", "--path", "small", "--scheme", "cubik"],
            snapshot("dumbbell: unknown scheme `cubik` (did you mean `cubic`?): allowed are bbr, copa, cubic, dctcp"),
        ),
        (
            ["means", "--path", "small", "--scheme", "bbr"],
            snapshot("dumbbell: figure `means`: is of all schemes and runs on a path: give `path` only"),
        ),
        (
            ["means", "--path", "small", "--out", "a.gif"],
            snapshot(
                """\
dumbbell: a.gif: figures are written as .svg, .pdf, .png, .tex: allowed is a name that ends in one
  of these\
"""
            ),
        ),
        (
            ["means", "--path", "small", "--data", "a.xls"],
            snapshot("dumbbell: a.xls: tables are written as .csv, .json: allowed is a name that ends in one of these"),
        ),
        (
            ["means", "--path", "small", "--out", "none/a.svg"],
            snapshot("dumbbell: none/a.svg: there is no folder none"),
        ),
        (
            ["media", "--path", "small", "--scheme", "bbr"],
            snapshot("dumbbell: bbr on small, run 1: figure `media`: nothing of it was recorded"),
        ),
        (
            ["means", "--path", "small", "--x", "jain_indx"],
            snapshot(
                "dumbbell: unknown metric `jain_indx` (did you mean `jain_index`?): `dumbbell list metrics` shows all"
            ),
        ),
        (
            ["means", "--path", "small", "--y", "share:bbx"],
            snapshot(
                "dumbbell: share:bbx: unknown scheme `bbx` (did you mean `bbr`?): there are bbr, copa, cubic, dctcp"
            ),
        ),
        (
            ["means", "--path", "small", "--schemes", "bbr,cubik"],
            snapshot("dumbbell: unknown scheme `cubik` (did you mean `cubic`?): allowed are bbr, copa, cubic, dctcp"),
        ),
        (
            ["means", "--path", "small", "--metric", "loss_rate"],
            snapshot("dumbbell: figure `means`: takes no `metric`: it is for box, ecdf, grid, sweep, time"),
        ),
        (
            ["queue", "--path", "small", "--x", "loss_rate"],
            snapshot("dumbbell: figure `queue`: takes no `x`: it is for means, runs, grid, sweep"),
        ),
        (
            ["box", "--path", "small", "--group-by", "pth"],
            snapshot("dumbbell: figure `box`: unknown axis `pth` (did you mean `path`?): there are path"),
        ),
        (
            ["sweep", "--x", "path", "--group-by", "path"],
            snapshot("dumbbell: figure `sweep`: `group_by` = path: this is the axis that the figure goes along"),
        ),
        (
            ["means", "--path", "small", "--size", "3col"],
            snapshot(
                """\
dumbbell: `size` = 3col: allowed are 1col, 2col, or a width or WIDTHxHEIGHT with mm, cm or in: 88mm,
  3.5x2.5in\
"""
            ),
        ),
        (
            ["means", "--path", "small", "--size", "4"],
            snapshot(
                """\
dumbbell: `size` = 4: allowed are 1col, 2col, or a width or WIDTHxHEIGHT with mm, cm or in: 88mm,
  3.5x2.5in\
"""
            ),
        ),
        (
            ["means", "--path", "small", "--size", "1000cm"],
            snapshot("dumbbell: `size` = 1000cm: allowed are sides of 1 to 60 in"),
        ),
        (
            ["means", "--path", "small", "--size", "3.5x1in"],
            snapshot("dumbbell: the height is too small for the plot and what is around it: they need 1.6 in"),
        ),
        (
            ["window", "--path", "small", "--scheme", "bbr", "--size", "3.5x1in"],
            snapshot("dumbbell: the height is too small for the plots and their legend: they need 2.2 in"),
        ),
        (
            ["box", "--path", "small", "--size", "3x1in", "--font", "12"],
            snapshot("dumbbell: `size`: 4 rows need a height of 1.5 in"),
        ),
        (
            ["means", "--path", "small", "--font", "99pt"],
            snapshot("dumbbell: `font` = 99: allowed are 4 to 24 points"),
        ),
        (
            ["means", "--path", "small", "--font", "big"],
            snapshot(
                """\
dumbbell: argument --font: big: allowed is a number of points, such as 8 or 8pt (`dumbbell figure
  --help` shows what is possible)\
"""
            ),
        ),
        (
            ["means", "--path", "small", "--theme", "sepia"],
            snapshot("dumbbell: `theme` = sepia: allowed are light, dark, print"),
        ),
        (
            ["means", "--path", "small", "--format", "pdf", "--out", "a.svg"],
            snapshot("dumbbell: --format pdf: a.svg ends in something else"),
        ),
        (
            ["time", "--path", "small", "--scheme", "bbr", "--metric", "cwmd"],
            snapshot(
                """\
dumbbell: bbr on small, run 1: figure `time`: unknown field `cwmd` (did you mean `cwnd`?): sampled
  are throughput_mbps, bw, cwnd, cwnd_gain, delivered, delivery_rate, extra_acked, full_bw,
  in_flight, lt_bw, min_rtt, mode, pacing_gain, pacing_rate, round_count, srtt, dropped, marked,
  offered, queue, queue_bytes\
"""
            ),
        ),
        (
            ["time", "--path", "small", "--scheme", "bbr", "--from", "3", "--to", "2"],
            snapshot("dumbbell: figure `time`: from 3 s to 2 s is no part of a run"),
        ),
        (
            ["delay", "--path", "small", "--scheme", "bbr", "--format", "tex"],
            snapshot("dumbbell: delay.tex: the figure has 4133 numbers: allowed are at most 100 rows in LaTeX"),
        ),
    ],
)
def test_what_cannot_be_drawn_is_one_line_and_leaves_nothing(
    dumbbell: Dumbbell, results: Path, words: list[str], message: str, tmp_path: Path
) -> None:
    before = set(results.parent.iterdir())
    result = dumbbell("figure", results, *words, expect=2)
    assert transcript(result.stderr, tmp_path) == message
    assert len(result.stderr.splitlines()) == 1
    assert set(results.parent.iterdir()) == before


def test_a_plane_of_any_two_metrics_and_some_schemes(dumbbell: Dumbbell, results: Path) -> None:
    words = ("--path", "small", "--x", "mean_srtt_ms", "--y", "utilization", "--schemes", "bbr,copa")
    dumbbell("figure", results, "means", *words)
    rows = csv_rows(results.parent / "means.csv")
    assert [row["scheme"] for row in rows] == ["bbr", "copa"]
    run = package.open(results).run("small", "copa").statistics
    assert float(rows[1]["utilization"]) == pytest.approx(100 * run["network"]["utilization"])
    assert float(rows[1]["mean_srtt_ms"]) == pytest.approx(run["flows"][0]["mean_srtt_ms"])
    drawing = (results.parent / "means.svg").read_text()
    for label in ("Utilisation, whole run (%)", "Mean smoothed RTT, whole run (ms)", 'data-scheme="copa"'):
        assert label in drawing
    assert "capacity" not in drawing  # it limits no utilisation
    dumbbell("figure", results, "runs", *words[:2], "--convention", "pantheon")
    text = (results.parent / "runs.svg").read_text()
    assert "Throughput (Mbit/s), Pantheon&#x27;s convention" in text.replace("'", "&#x27;")
    assert "corrected" not in text
    dumbbell("figure", results, "runs", *words[:2])
    assert (results.parent / "runs.svg").read_text().count("corrected") == 1


@pytest.mark.parametrize("kind", ["means", "runs", "box", "ecdf", "time", "window", "delay", "queue"])
def test_a_figure_for_paper_has_its_width_and_its_letters(dumbbell: Dumbbell, results: Path, kind: str) -> None:
    options = ["--path", "small"] + ([] if kind in ("means", "runs", "box", "ecdf") else ["--scheme", "bbr"])
    for size, width in (("1col", 252.0), ("120mm", 340.16)):
        dumbbell(
            "figure", results, kind, *options, "--size", size, "--font", "8pt", "--theme", "print", "--out", "p.svg"
        )
        drawing = (results.parent / "p.svg").read_text()
        root = root_of(drawing)
        assert float(root.attrib["width"].removesuffix("pt")) == pytest.approx(width, abs=0.02)
        scale = width / float(root.attrib["viewBox"].split()[2])
        assert {round(scale * float(font_size), 1) for font_size in re.findall(r"font-size: ([\d.]+)px", drawing)} == {
            8.0
        }
        assert crossings(drawing) == []
        colors = re.findall(r"(?:stroke|fill): #([0-9a-f]{6})", drawing)
        assert all(color[:2] == color[2:4] == color[4:] for color in colors), "black, white, greys"


def test_a_pdf_for_paper_has_its_size_and_a_dark_figure_its_ground(dumbbell: Dumbbell, results: Path) -> None:
    dumbbell("figure", results, "means", "--path", "small", "--size", "88x70mm", "--format", "pdf")
    (box,) = re.findall(rb"/MediaBox ?\[ ?0 0 ([\d.]+) ([\d.]+)", (results.parent / "means.pdf").read_bytes())
    assert [float(side) for side in box] == pytest.approx([88 / 25.4 * 72, 70 / 25.4 * 72], abs=0.1)
    dumbbell("figure", results, "means", "--path", "small", "--theme", "dark", "--out", "dark.svg")
    assert '<rect width="100%" height="100%" fill="#15171b"/>' in (results.parent / "dark.svg").read_text()


def test_a_latex_table_has_the_numbers_that_are_drawn(dumbbell: Dumbbell, results: Path) -> None:
    result = dumbbell("figure", results, "means", "--path", "small", "--format", "tex")
    assert result.stdout.split()[:2] == ["means.csv", "means.tex"]
    lines = (results.parent / "means.tex").read_text().splitlines()
    assert [lines[index] for index in (1, 2, 4, 5, 6, 8, -3, -2, -1)] == [
        "\\begin{table*}",
        "\\centering",
        "\\label{tab:means-small}",
        "\\begin{tabular}{lrrr}",
        "\\toprule",
        "\\midrule",
        "\\bottomrule",
        "\\end{tabular}",
        "\\end{table*}",
    ]
    assert lines[3].startswith("\\caption{small: goodput over p95 one-way delay: mean of each scheme")
    assert lines[7] == "scheme & runs & Goodput (Mbit/s) & P95 one-way delay (ms) \\\\"
    network = package.open(results).run("small", "bbr").statistics["network"]
    numbers = f"1 & {network['goodput_mbps']:.2f} & {network['owd_p95_ms']:.1f} \\\\"
    assert any(line in lines for line in (f"TCP BBR & {numbers}", f"\\textbf{{TCP BBR}} & {numbers}"))
    rows = csv_rows(results.parent / "means.csv")
    in_front = [row["scheme"] for row in rows if row["in_front"] == "1"]
    assert sum("\\textbf" in line for line in lines) == len(in_front) > 0


def test_a_part_of_a_run_over_time(dumbbell: Dumbbell, results: Path) -> None:
    options = ("--path", "small", "--scheme", "bbr")
    dumbbell("figure", results, "time", *options, "--metric", "mode", "--from", "1", "--to", "3")
    rows = csv_rows(results.parent / "time.csv")
    assert rows
    assert all(1.0 <= float(row["time_s"]) <= 3.0 for row in rows)
    assert "probe_bw" in (results.parent / "time.svg").read_text()
    dumbbell("figure", results, "time", *options, "--metric", "queue")
    assert {row["of"] for row in csv_rows(results.parent / "time.csv")} == {"data/link"}


def test_boxes_and_distributions_have_every_run(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell("run", "--schemes", "reno,cubic", "--path", "small.toml", "--runs", "5", "--duration", "2", "--out", "r")
    opened_results = package.open(folder / "r")
    values = sorted(run.statistics["network"]["owd_p95_ms"] for run in opened_results.runs if run.scheme == "reno")
    box = opened_results.figure("box", metric="owd_p95_ms")
    assert sorted(box.data.where("scheme", "reno")["owd_p95_ms"]) == values
    assert len(marks(box.svg)) == 10
    ecdf = opened_results.figure("ecdf", metric="owd_p95_ms", schemes="reno").data
    assert list(ecdf["owd_p95_ms"]) == values
    assert list(ecdf["part"]) == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])


def test_numbers_of_somebody_beside_a_new_figure_are_kept(dumbbell: Dumbbell, results: Path) -> None:
    keep = results.parent / "keep.csv"
    keep.write_text("years,of\nwork,1\n")
    words = ("figure", results.name, "means", "--path", "small", "--out", "keep.svg")
    errors = dumbbell(*words, expect=2).stderr
    assert (
        errors
        == "dumbbell: keep.csv: exists already, and keep.svg does not: --data names another file for the numbers\n"
    )
    assert keep.read_text() == "years,of\nwork,1\n"
    dumbbell(*words, "--data", "other.csv")
    keep.unlink()
    for _ in range(2):
        dumbbell("figure", results.name, "means", "--path", "small", "--out", "new.svg")


def test_rates_stand_where_the_figure_has_them(dumbbell: Dumbbell, results: Path) -> None:
    dumbbell("figure", results, "throughput", "--path", "small", "--scheme", "bbr", "--out", "rates.svg")
    out, into = (series(results.parent / "rates.csv", f"{way}_mbps") for way in ("egress", "ingress"))
    assert [time_s for time_s, _ in out[:3]] == [0.5, 1.0, 1.5]
    assert [time_s for time_s, _ in into[:3]] == [0.0, 0.5, 1.0]


def test_capacity_and_marks_are_drawn_as_they_were(dumbbell: Dumbbell, results: Path) -> None:
    options = ("--path", "varying", "--scheme", "dctcp")
    dumbbell("figure", results, "throughput", *options)
    capacity = dict(series(results.parent / "throughput.csv", "capacity_mbps"))
    assert capacity[0.5] == pytest.approx(4.0)
    assert capacity[2.0] == pytest.approx(12.0)
    assert capacity[4.0] == pytest.approx(4.0)
    dumbbell("figure", results, "queue", *options)
    link = package.open(results).run("varying", "dctcp").statistics["links"][0]
    for field, metric in (("drops_packets", "packets_dropped"), ("marks_packets", "packets_marked")):
        assert sum(value for _, value in series(results.parent / "queue.csv", field)) == link[metric]
    assert link["packets_marked"] > 10
    assert ">Marks" in (results.parent / "queue.svg").read_text()
    dumbbell("figure", results, "queue", "--path", "small", "--scheme", "cubic")
    assert ">Marks" not in (results.parent / "queue.svg").read_text()


def test_what_was_acknowledged_so_far_grows_to_all_that_was_from_the_start_of_each_flow(
    dumbbell: Dumbbell, folder: Path
) -> None:
    mix = ("--mix", "vegas*2+cubic", "--interval", "2", "--log", "none")  # flows start at 0, 2 and 4 s
    dumbbell("run", *mix, "--path", "small.toml", "--duration", "7", "--out", "r")
    dumbbell("figure", "r", "time", "--metric", "delivered")
    rows = csv_rows(folder / "time.csv")
    for flow in package.open(folder / "r").run().statistics["flows"]:
        total = [(float(row["time_s"]), float(row["value"])) for row in rows if row["of"] == f"flow {flow['flow']}"]
        assert [value for _, value in total] == sorted(value for _, value in total)
        assert not any(value for time_s, value in total if time_s <= flow["start_s"])
        active_s = flow["stop_s"] - flow["start_s"]
        assert total[-1][1] * 8e-6 / active_s == pytest.approx(flow["mean_throughput_l4"], rel=0.02)
    assert "Acknowledged (MB)" in (folder / "time.svg").read_text()


@pytest.mark.parametrize(
    ("scheme", "modes", "variables"),
    [
        ("bbr", ["startup", "probe_bw"], ["pacing_gain", "cwnd_gain", "bw"]),
        ("copa", ["default", "competitive"], ["velocity", "delta"]),
        ("cubic", ["slow start", "concave", "convex"], ["w_max", "w_est"]),
        ("dctcp", [], ["alpha"]),
    ],
)
def test_the_state_of_controllers_is_drawn_by_name(
    dumbbell: Dumbbell, results: Path, scheme: str, modes: list[str], variables: list[str]
) -> None:
    dumbbell("figure", results, "state", "--path", "small", "--scheme", scheme)
    drawing = (results.parent / "state.svg").read_text()
    for word in (*modes, *variables):
        assert word in drawing
    assert set(variables) <= {row["field"] for row in csv_rows(results.parent / "state.csv")}


def test_the_distribution_of_delays_has_the_percentiles_of_the_metrics(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell("run", "--mix", "vegas+cubic", "--path", "small.toml", "--duration", "5", "--out", "r")
    dumbbell("figure", "r", "delay-cdf")
    rows = csv_rows(folder / "delay-cdf.csv")
    for flow in package.open(folder / "r").run().statistics["flows"]:
        steps = [(float(row["delay_ms"]), float(row["part"])) for row in rows if row["of"] == f"flow {flow['flow']}"]
        assert steps == sorted(steps)
        assert steps[-1][1] == 1.0
        assert next(delay_ms for delay_ms, part in steps if part >= 0.95) == pytest.approx(
            flow["delay_p95_ms"], rel=2e-3
        )


def test_of_a_long_log_every_packet_counts_in_the_distribution_of_delays() -> None:
    path = package.make_path(rate="1gbit", rtt="2ms")
    run = package.simulate(package.specification("reno", path, duration=7.0))
    arrival_delays_ms = numpy.floor(run.packets().where("event", "deliver")["one_way_delay_ns"] / 1e3 + 0.5) / 1e3
    assert len(arrival_delays_ms) > 500_000
    table = run.figure("delay-cdf").data
    assert 1000 < len(table) <= 2000
    for delay_ms, part in zip(table["delay_ms"], table["part"], strict=True):
        assert part == pytest.approx((arrival_delays_ms <= delay_ms + 1e-9).mean(), abs=1e-9)


@pytest.mark.parametrize(("queue", "logarithmic"), [(4, False), (400, True)])
def test_the_axis_of_the_distribution_of_delays_is_logarithmic_where_they_span_widely(
    queue: int, logarithmic: bool
) -> None:
    path = package.make_path(rate="8mbit", rtt="40ms", queue=f"{queue}p")
    drawing = package.simulate(package.specification("cubic", path, duration=6.0)).figure("delay-cdf")
    assert ("One-way delay (ms), logarithmic" in drawing.svg) == logarithmic
    assert "One-way delay (ms)" in drawing.svg


def test_all_schemes_on_a_path_have_the_same_delay_axis(dumbbell: Dumbbell, results: Path) -> None:
    drawings = [drawing for name, drawing in LongForm.of(results).drawings.items() if name.endswith("delay.svg")]
    assert len(drawings) == 8
    labels = [tuple(re.findall(r"text-anchor: end[^>]*>([^<]*)<", drawing)) for drawing in drawings]
    assert len(set(labels)) == 2, "one axis for each path"
    assert len(set(labels[:4])) == len(set(labels[4:])) == 1


def test_the_delay_axes_of_a_report_are_of_one_kind_with_the_reason(dumbbell: Dumbbell, folder: Path) -> None:
    wide = VARYING.replace('kind = "codel", packets = 200, ecn = true', 'kind = "droptail", packets = 200')
    (folder / "wide.toml").write_text(wide)
    dumbbell("run", "--schemes", "vegas,cubic", "--path", "wide.toml,small.toml", "--duration", "5", "--out", "r")
    form = LongForm.of(folder / "r")
    alone = {delay_ms: spans_widely([delay_ms, 25.0]) for delay_ms in (44.0, 400.0)}
    assert alone == {44.0: False, 400.0: True}
    assert len(re.findall(r"P95 one-way delay \(ms\)[^<]*, logarithmic", form.drawn)) == 4
    reason = "The delay axis is logarithmic on every path, since the delays on wide span more than a factor of four."
    assert form.text.count(reason) == 3  # of the first figures, and of each path


def test_a_run_without_a_packet_log_has_the_figures_of_what_was_sampled(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell("run", "--schemes", "bbr", "--path", "small.toml", "--duration", "2", "--log", "none", "--out", "n")
    form = LongForm.of(folder / "n")
    assert not any(run["problem"] for path in form.data["paths"] for run in path["runs"])
    for words in (
        "Queue, drops and marks",
        "Congestion window and pacing rate",
        "Smoothed RTT",
        "State of the controller",
    ):
        assert f"\n{words}" in form.text
    assert "One-way delay of every packet" not in form.text
    assert "has no packet log: it kept none" in dumbbell("figure", "n", "delay", expect=2).stderr
