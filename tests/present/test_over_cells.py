"""Figures of the cells of a grid, and their numbers."""

import math
import re
from pathlib import Path

import numpy
import pytest

import dumbbell as package
from dumbbell.present.figures.ellipses import covariance, ellipse
from support.commands.command import Dumbbell
from support.inputs.paths import path_text
from support.pages.read_tables import csv_rows

GRID = """
name = "grid"
schemes = ["cubic", "reno"]
paths = ["small"]
runs = 2
start_spread_ms = 50.0
duration_s = 2.0
log = "none"

[grid]
{axes}
"""


@pytest.fixture
def run(dumbbell: Dumbbell, folder: Path):  # noqa: ANN201 (a closure)
    """Return a function that runs a grid with these axes."""

    def make_run(axes: str) -> Path:
        (folder / "small.toml").write_text(path_text(4.0))
        (folder / "grid.toml").write_text(GRID.format(axes=axes).replace('"small"', '"small.toml"'))
        dumbbell("run", "grid.toml", "--out", "r")
        return folder / "r"

    return make_run


def latex(dumbbell: Dumbbell, results: Path, *words: str) -> list[str]:
    """Return the head and the rows of a figure's table in LaTeX."""
    dumbbell("figure", results, *words, "--out", "table.tex")
    lines = (results.parent / "table.tex").read_text().splitlines()
    (start,) = [index for index, line in enumerate(lines) if line.startswith("\\begin{tabular}{l")]
    return [line for line in lines[start + 2 : lines.index("\\bottomrule")] if line != "\\midrule"]


def test_sweep_and_map_show_means_over_runs(dumbbell: Dumbbell, run) -> None:  # noqa: ANN001
    results = run("bw_factor = [1.0, 2.0]\nrtt_ms = [20.0, 80.0]")
    folder, opened_results = results.parent, package.open(results)
    dumbbell("figure", results, "grid", "--scheme", "reno", "--out", "map.svg")
    row_of = {(float(row["bw_factor"]), float(row["rtt_ms"])): row for row in csv_rows(folder / "map.csv")}
    assert len(row_of) == 4
    cell = "small.bw_factor-2.rtt_ms-80"
    used = [
        run.statistics["network"]["utilization"]
        for run in opened_results.runs
        if (run.path, run.scheme) == (cell, "reno")
    ]
    assert float(row_of[2.0, 80.0]["utilization"]) == pytest.approx(100.0 * sum(used) / 2)
    dumbbell("figure", results, "sweep", "--path", cell, "--out", "sweep.svg")
    means = {(row["scheme"], row["value"], row["metric"]): row["mean"] for row in csv_rows(folder / "sweep.csv")}
    assert len(means) == 2 * 2 * 3
    loss_rates = [opened_results.run(cell, "cubic", run).statistics["network"]["packet_loss_rate"] for run in (1, 2)]
    assert float(means["cubic", "80", "packet_loss_rate"]) == pytest.approx(100.0 * sum(loss_rates) / 2)
    (numbers,) = [line for line in latex(dumbbell, results, "grid", "--scheme", "reno") if line.startswith("2 &")]
    at = [f"{float(row_of[2.0, rtt]['utilization']):.2f}" for rtt in (20.0, 80.0)]
    assert numbers == f"2 & {' & '.join(at)} \\\\"
    head, *rows = latex(dumbbell, results, "sweep", "--path", cell)
    assert head == "metric & scheme / base RTT (ms) & 20 & 80 \\\\"
    assert len(rows) == 3 * 2
    assert rows[1].startswith(f"Goodput (Mbit/s) & TCP NewReno & {float(means['reno', '20', 'goodput_mbps']):.2f} ")
    for words, message in (
        (("grid", "--scheme", "reno", "--schemes", "cubic"), "`grid`: `scheme` and `schemes`: allowed is one of them"),
        (
            ("grid", "--range", "9,1"),
            "--range: `9,1`: allowed is LOW,HIGH, two numbers like 0,100, the lower one first",
        ),
        (("means", "--range", "1,9"), "figure `means`: takes no `range`: it is for grid"),
        (
            ("share",),
            "figure `share`: bw_factor, rtt_ms vary too: --path chooses one of small.bw_factor-1.rtt_ms-20, "
            "small.bw_factor-1.rtt_ms-80, small.bw_factor-2.rtt_ms-20, small.bw_factor-2.rtt_ms-80\n",
        ),
        (("share", "--path", cell), "figure `share`: is of runs with two schemes, such as of the mix `cubic+bbr`, or"),
        (("sweep", "--path", cell, "--scheme", "reno"), "figure `sweep`: is of all schemes: give no `scheme`"),
        (("sweep", "--path", cell, "--x", "rtt"), "figure `sweep`: unknown axis `rtt`"),
        (("grid", "--scheme", "reno", "--x", "rtt_ms", "--y", "rtt_ms"), "`x` and `y` are the same axis, `rtt_ms`"),
        (("grid", "--run", "1"), "figure `grid`: is of all runs in cells of a grid: give no run"),
    ):
        assert message in dumbbell("figure", results, *words, expect=2).stderr


def test_any_metric_over_any_axis(dumbbell: Dumbbell, run) -> None:  # noqa: ANN001
    results = run("bw_factor = [1.0, 2.0]\nrtt_ms = [20.0, 80.0]")
    folder, opened_results = results.parent, package.open(results)
    cell = "small.bw_factor-2.rtt_ms-20"
    delays = [opened_results.run(cell, "reno", number).statistics["network"]["owd_p95_ms"] for number in (1, 2)]
    words = ("--metric", "owd_p95_ms", "--x", "bw_factor")
    dumbbell("figure", results, "grid", "--scheme", "reno", *words, "--y", "rtt_ms", "--out", "map.svg")
    row_of = {(row["rtt_ms"], row["bw_factor"]): row for row in csv_rows(folder / "map.csv")}
    assert float(row_of["20", "2"]["owd_p95_ms"]) == pytest.approx(sum(delays) / 2)
    assert "P95 one-way delay (ms)" in (folder / "map.svg").read_text()
    dumbbell("figure", results, "sweep", *words, "--group-by", "rtt_ms", "--schemes", "reno", "--out", "s.svg")
    lines = {(row["scheme"], row["group"], row["value"]): float(row["mean"]) for row in csv_rows(folder / "s.csv")}
    assert len(lines) == 4
    assert lines["reno", "20", "2"] == pytest.approx(sum(delays) / 2)
    drawing = (folder / "s.svg").read_text()
    assert [drawing.count(text) for text in ("base RTT 20 ms", "base RTT 80 ms")] == [1, 1]
    assert "2 runs of 2 s each; bars: range of the runs" in drawing
    assert ", logarithmic" not in drawing
    dumbbell("figure", results, "sweep", *words, "--group-by", "rtt_ms", "--size", "1col", "--out", "p.svg")
    assert "bars:" not in (folder / "p.svg").read_text()  # of a figure on paper the caption says it
    caption = package.open(results).figure("sweep", metric="owd_p95_ms", group_by="rtt_ms").caption
    assert "with the range of the runs. 2 runs of 2 s each. Corrected: " in caption


def grounds(svg: Path) -> set[str]:
    """Return the colours of all areas of a drawing."""
    return set(re.findall(r"fill: ?(#[0-9a-f]{6})", svg.read_text()))


def test_maps_of_several_schemes_have_one_scale(dumbbell: Dumbbell, run) -> None:  # noqa: ANN001
    results = run("bw_factor = [1.0, 2.0]\nrtt_ms = [20.0, 80.0]")
    folder, opened_results = results.parent, package.open(results)
    words = ("grid", "--metric", "owd_p95_ms")
    dumbbell("figure", results, *words, "--out", "maps.svg")
    drawing = (folder / "maps.svg").read_text()
    assert drawing.count("TCP Cubic") == drawing.count("TCP NewReno") == 1
    rows = csv_rows(folder / "maps.csv")
    assert len(rows) == 2 * 4
    for row in rows:
        cell = f"small.bw_factor-{row['bw_factor']}.rtt_ms-{row['rtt_ms']}"
        delays = [
            opened_results.run(cell, row["scheme"], number).statistics["network"]["owd_p95_ms"] for number in (1, 2)
        ]
        assert float(row["owd_p95_ms"]) == pytest.approx(sum(delays) / 2)
    head, *lines = latex(dumbbell, results, *words)
    assert head == "scheme & P95 one-way delay (ms) by rate factor / base RTT (ms) & 20 & 80 \\\\"
    assert [line.split(" & ")[:2] for line in lines] == [
        [scheme, factor] for scheme in ("TCP Cubic", "TCP NewReno") for factor in ("1", "2")
    ]
    # Below and above the range all cells have the colours of its ends, in any drawing.
    for limits, ends in (("0,1", "max"), ("1e4,2e4", "min")):
        dumbbell("figure", results, *words, "--scheme", "reno", "--range", limits, "--out", f"{ends}.svg")
        dumbbell("figure", results, *words, "--scheme", "cubic", "--range", limits, "--out", f"{ends}2.svg")
        assert grounds(folder / f"{ends}.svg") == grounds(folder / f"{ends}2.svg")
    assert grounds(folder / "max.svg") != grounds(folder / "min.svg")
    dumbbell("figure", results, *words, "--scheme", "reno", "--out", "own.svg")
    assert len(grounds(folder / "own.svg")) > len(grounds(folder / "max.svg"))


def test_the_share_of_a_scheme_in_mixes(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "small.toml").write_text(path_text(4.0))
    dumbbell("run", "--mix", "cubic*2+reno", "--path", "small.toml", "--runs", "2", "--duration", "3", "--out", "r")
    opened_results = package.open(folder / "r")
    shares = [sum(flow["competing_share"] for flow in run.statistics["flows"][:2]) for run in opened_results.runs]
    table = {(row["scheme"], row["competitor"]): row for row in opened_results.figure("share").data.rows()}
    assert table["cubic", "reno"]["share"] == pytest.approx(sum(shares) / 2)
    assert table["reno", "cubic"]["share"] == pytest.approx(1 - sum(shares) / 2)
    assert table["cubic", "reno"]["fair_share"] == pytest.approx(2 / 3)
    box = opened_results.figure("box", metric="share:cubic")
    assert list(box.data["share_cubic"]) == pytest.approx([100 * share for share in shares])


def test_shares_beside_one_scheme_on_several_paths(dumbbell: Dumbbell, folder: Path) -> None:
    for rate in (4.0, 8.0):
        (folder / f"p{rate:g}.toml").write_text(path_text(rate).replace("small", f"p{rate:g}"))
    mixes = ("--mix", "vegas+cubic", "--mix", "reno+cubic", "--path", "p4.toml,p8.toml")
    dumbbell("run", *mixes, "--runs", "2", "--duration", "3", "--out", "r")
    opened_results = package.open(folder / "r")
    dumbbell("figure", "r", "share", "--out", "beside.svg")
    rows = csv_rows(folder / "beside.csv")
    assert [(row["path"], row["scheme"], row["competitor"]) for row in rows] == [
        (path, scheme, "cubic") for path in ("p4", "p8") for scheme in ("vegas", "reno")
    ]
    for row in rows:
        runs = [
            run for run in opened_results.runs if run.path == row["path"] and run.scheme == f"{row['scheme']}+cubic"
        ]
        shares = [run.statistics["flows"][0]["competing_share"] for run in runs]
        assert float(row["share"]) == pytest.approx(sum(shares) / 2)
        assert (row["fair_share"], row["runs"]) == ("0.5", "2")
    late = ("--mix", "vegas+cubic", "--mix", "reno+cubic", "--path", "p4.toml", "--runs", "2", "--duration", "4")
    dumbbell("run", *late, "--interval", "1", "--out", "late")
    caption = dumbbell("figure", "late", "share", "--format", "tex").stdout.splitlines()[-1]
    assert caption.startswith("caption: Mean share of the payload (%)")
    assert caption.endswith(" 2 runs of 4 s each. TCP Cubic starts 1 s after the other. The fair share is 50 %.")
    assert "share (\\%) with the range of the runs & fair share" in (folder / "share.tex").read_text()
    assert "start 1 s apart, in the order of the column `flows of`" in dumbbell("show", "late").stdout
    drawing = (folder / "beside.svg").read_text()
    assert "Mean share of the payload (%) that the row's scheme gets beside TCP Cubic" in drawing
    assert "2 runs of 3 s each, " in drawing
    assert " s, while all flows compete" in drawing
    head, first, _ = latex(dumbbell, folder / "r", "share")
    assert head == "share (\\%), scheme / path & p4 & p8 \\\\"
    vegas = [
        f"{100 * float(row['share']):.1f} ({100 * float(row['low']):.1f} to {100 * float(row['high']):.1f})"
        for row in rows
        if row["scheme"] == "vegas"
    ]
    assert first == f"TCP Vegas & {' & '.join(vegas)} \\\\"


def test_a_figure_over_several_axes_says_what_to_give(dumbbell: Dumbbell, run) -> None:  # noqa: ANN001
    results = run("bw_factor = [1.0, 2.0]\nrtt_ms = [20.0, 80.0]\nqlen_bdp = [1.0, 2.0]")
    errors = dumbbell("figure", results, "sweep", expect=2).stderr
    assert errors == (
        "dumbbell: figure `sweep`: bw_factor, rtt_ms vary too: --group-by AXIS draws a panel for each value of one of "
        "them, --path CELL fixes the others: for example --group-by bw_factor --path "
        "small.bw_factor-1.rtt_ms-20.qlen_bdp-1\n"
    )
    dumbbell("figure", results, "sweep", *errors.split("for example ")[1].split(), "--out", "s.svg")
    assert {(row["group"], row["value"]) for row in csv_rows(results.parent / "s.csv")} == {
        (factor, length) for factor in "12" for length in "12"
    }
    with pytest.raises(package.Error, match="group_by bw_factor path small"):
        package.open(results).figure("sweep")


def test_shares_of_mixes_are_of_one_path_and_of_pairs_that_were_run(dumbbell: Dumbbell, folder: Path) -> None:
    mixes = ("--mix", "cubic+reno", "--mix", "vegas+bbr", "--schemes", "vegas", "--runs", "2")
    dumbbell("run", *mixes, "--path", "small.toml,lossy.toml", "--duration", "3", "--out", "r")
    errors = dumbbell("figure", "r", "share", expect=2).stderr
    assert errors == "dumbbell: figure `share`: there are 2 paths: --path chooses one of small, lossy\n"
    head, *rows = latex(dumbbell, folder / "r", "share", "--path", "lossy")
    assert head == "scheme & competitor & runs & share (\\%) with the range of the runs & fair share (\\%) \\\\"
    pairs = [tuple(row.split(" & ")[:3]) for row in rows]
    assert set(pairs) == {
        (*pair, "2")
        for first, other in (("TCP Cubic", "TCP NewReno"), ("TCP Vegas", "TCP BBR"))
        for pair in ((first, other), (other, first))
    }
    shares = [
        100.0 * run.statistics["flows"][0]["competing_share"]
        for run in package.open(folder / "r").runs
        if (run.path, run.scheme) == ("lossy", "cubic+reno")
    ]
    text = f"{sum(shares) / 2:.1f} ({min(shares):.1f} to {max(shares):.1f})"
    assert f"TCP Cubic & TCP NewReno & 2 & {text} & 50.0 \\\\" in rows
    chosen_rows = latex(dumbbell, folder / "r", "share", "--path", "lossy", "--schemes", "vegas+bbr")
    assert {row.split(" & ")[0] for row in chosen_rows[1:]} == {"TCP Vegas", "TCP BBR"}


def test_pairs_are_shares_of_two_flows(dumbbell: Dumbbell, run) -> None:  # noqa: ANN001
    results = run('versus = [{ label = "c", scheme = "cubic" }, { label = "r", scheme = "reno" }]')
    dumbbell("figure", results, "share", "--out", "pairs.svg")
    row_of = {(row["scheme"], row["competitor"]): row for row in csv_rows(results.parent / "pairs.csv")}
    assert set(row_of) == {(first, other) for first in ("cubic", "reno") for other in ("cubic", "reno")}
    shares = [
        run.statistics["flows"][0]["competing_share"]
        for run in package.open(results).runs
        if (run.scheme, run.path) == ("cubic", "small.versus-r")
    ]
    assert float(row_of["cubic", "reno"]["share"]) == pytest.approx(sum(shares) / 2)
    refusal = dumbbell("figure", results, "sweep", expect=2)
    assert "figure `sweep`: is of experiments with a grid: an axis of numbers that vary" in refusal.stderr


def test_the_ellipse_is_that_of_the_covariance() -> None:
    draws = numpy.random.default_rng(1).multivariate_normal([50.0, 10.0], [[9.0, 3.0], [3.0, 4.0]], 4000)
    xx, xy, yy = covariance([(x, y) for x, y in draws.tolist()])
    assert (xx, xy, yy) == pytest.approx((9.0, 3.0, 4.0), rel=0.1)
    drawn_ellipse = ellipse(xx, xy, yy)
    # Turned back by its angle, the points vary by half its width and height, independently.
    angle = math.radians(drawn_ellipse.angle_deg)
    turned_draws = (draws - draws.mean(axis=0)) @ numpy.array(
        [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
    )
    assert turned_draws.std(axis=0, ddof=1) == pytest.approx(
        [drawn_ellipse.width_ms / 2, drawn_ellipse.height_mbps / 2], rel=1e-6
    )
    assert numpy.corrcoef(turned_draws.T)[0, 1] == pytest.approx(0.0, abs=1e-6)
