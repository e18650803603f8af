"""Tests of the benchmark's figures: their content, lines that differ in grey, and robustness against any numbers."""

import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

from dumbbell import catalog
from dumbbell.present.plots import (
    Bars,
    DelaySteps,
    Distribution,
    Ellipse,
    MapAxis,
    OperatingSeries,
    PlanePoint,
    QueueSeries,
    Share,
    Steps,
    Stroke,
    Style,
    SweepLine,
    SweepPanel,
    WindowSeries,
    delay_axis,
    delay_cdf_figure,
    distribution_figure,
    fairness_figure,
    flow_stroke,
    for_print,
    heatmap_figure,
    matrix_figure,
    operating_point_figure,
    plane_figure,
    queue_figure,
    scheme_strokes,
    styles,
    sweep_figure,
    window_figure,
)
from dumbbell.present.plots.heatmap import COLORS, number_text
from dumbbell.present.plots.parts.canvas import look, renderer
from dumbbell.present.plots.parts.frame import LINES, frame, tick_text
from dumbbell.present.plots.parts.labels import Box, place_what_fits
from dumbbell.present.plots.parts.strokes import marker_indices
from dumbbell.present.plots.sweep import _SPREAD, Places, quantities

SVG = "{http://www.w3.org/2000/svg}"
Points = tuple[NDArray[Any], NDArray[Any]]


def parse_drawing(drawing: str) -> ElementTree.Element:
    """Parse the drawing, which must be well-formed on its own and contain finite numbers only."""
    assert not re.search(r"[\s\"](nan|inf|-inf)[\s\"]", drawing)
    return ElementTree.fromstring(for_print(drawing).split("\n", 1)[1])


def texts(drawing: str) -> list[str]:
    return [(element.text or "").strip() for element in parse_drawing(drawing).iter(f"{SVG}text")]


def lines(drawing: str, color: str) -> int:
    """Return the number of lines of this colour without markers, including those of the legend."""
    style = re.compile(rf"fill: none; stroke: {color}; stroke-width: 1.2\b")
    return sum(1 for path in parse_drawing(drawing).iter(f"{SVG}path") if style.search(f"{path.get('style')} "))


def ramp(count: int, top: float = 10.0) -> Points:
    return numpy.arange(1, count + 1) * 0.1, numpy.linspace(0.0, top, count)


NOTHING: Points = (numpy.empty(0), numpy.empty(0))
ONE: Points = (numpy.array([1.0]), numpy.array([5.0]))
ZEROS: Points = (numpy.arange(50) * 0.1, numpy.zeros(50))
HUGE: Points = (numpy.arange(50) * 0.1, numpy.linspace(1e9, 9e15, 50))
HOLES: Points = (numpy.arange(5) * 1.0, numpy.array([1.0, numpy.nan, numpy.inf, 2.0, 3.0]))
EXTREMES = {"nothing": NOTHING, "one": ONE, "zeros": ZEROS, "huge": HUGE, "holes": HOLES}


def operating(count: int, points: Points) -> list[OperatingSeries]:
    return [OperatingSeries(f"S<{n}>", flow_stroke(n), points, points, points) for n in range(1, count + 1)]


def test_every_shipped_scheme_differs_from_the_others_in_grey() -> None:
    schemes = list(catalog.schemes())
    looks = styles((scheme.name, scheme.color, scheme.marker) for scheme in schemes)
    strokes = scheme_strokes(list(looks.values()))
    assert len(strokes) > 40
    assert [stroke.style for stroke in strokes] == list(looks.values())
    # Grey keeps marker and dashes. With all schemes in one figure some repeat, but none of any fifteen.
    for first in range(0, len(strokes) - 15):
        window_strokes = scheme_strokes(list(looks.values())[first : first + 15])
        assert len({(stroke.marker, stroke.dashes) for stroke in window_strokes}) == 15


def test_seventy_flows_differ_in_grey() -> None:
    assert len({(flow_stroke(n).marker, flow_stroke(n).dashes) for n in range(1, 71)}) == 70


def test_markers_stand_evenly_and_those_of_other_lines_between_them() -> None:
    time_s = numpy.linspace(0.0, 70.0, 7001)
    first, second = (time_s[marker_indices(time_s, (0.0, 70.0), index, 2)] for index in (0, 1))
    assert first == pytest.approx([2.5, 12.5, 22.5, 32.5, 42.5, 52.5, 62.5], abs=0.02)
    assert second == pytest.approx(first + 5.0, abs=0.02)
    # A flow of 2 s in a figure of 70 s has a marker, too.
    assert len(marker_indices(time_s[2700:2900], (0.0, 70.0), 0, 2)) == 1


def test_the_operating_point_has_three_plots_with_a_line_per_flow() -> None:
    flows = operating(2, ramp(100))
    drawing = operating_point_figure("f", flows)
    labels = texts(drawing)
    for label in ("In flight (segments)", "sRTT (ms)", "Throughput (Mbit/s)", "Time (s)", "S<1>", "S<2>"):
        assert labels.count(label) == 1
    # three plots and the legend
    assert lines(drawing, flows[0].stroke.color) == 4
    assert lines(drawing, flows[1].stroke.color) == 4


def test_changes_of_the_path_are_a_line_in_each_plot() -> None:
    flows, rate = operating(1, ramp(100)), Steps((0.0, 5.0), (10.0, 40.0))
    plain = operating_point_figure("f", flows)
    changing = operating_point_figure("f", flows, capacity_mbps=rate, changes_s=[5.0, 99.0])
    dash_pattern = "stroke-dasharray: 1.2,1.6"  # the change at 99 s is outside
    assert (plain.count(dash_pattern), changing.count(dash_pattern)) == (0, 3)


@pytest.mark.parametrize(("count", "kind"), [(0, "zeros"), *((1, name) for name in EXTREMES), (20, "zeros")])
def test_figures_over_time_of_any_numbers_are_well_formed(count: int, kind: str) -> None:
    points = EXTREMES[kind]
    flows = operating(count, points)
    strokes = [flow_stroke(n + 1) for n in range(count)]
    finite = numpy.nan_to_num(points[1], posinf=0.0)
    figures = [
        operating_point_figure("f", flows),
        window_figure("f", [WindowSeries("w", stroke, points, points, points) for stroke in strokes]),
        window_figure("f", [WindowSeries("w", stroke) for stroke in strokes]),
        queue_figure("f", [QueueSeries("q", stroke, points, points) for stroke in strokes], 20.0),
        distribution_figure("f", [Distribution("d", stroke, points[1], points[1]) for stroke in strokes]),
        fairness_figure("f", points[0], [Share("s", stroke.color, finite) for stroke in strokes], points),
    ]
    for figure in figures:
        parse_drawing(figure)
        is_empty = not count or not len(points[0])
        assert ("no samples" in figure) == (is_empty or figure == figures[2])
    assert figures[0].count("S&lt;20&gt;") == (count == 20)


def test_a_figure_of_twenty_flows_names_each_once() -> None:
    labels = texts(operating_point_figure("f", operating(20, ramp(300))))
    assert [labels.count(f"S<{n}>") for n in range(1, 21)] == [1] * 20


@pytest.mark.parametrize("value", [0.0, 1e12])
def test_operating_points_of_zero_or_huge_numbers_can_be_drawn(value: float) -> None:
    parse_drawing(plane_figure("f", "t", [PlanePoint("A", value, value, Style("#ff0000", "o"))]))


@pytest.mark.parametrize("annotate", [True, False])
@pytest.mark.parametrize("count", [0, 1, 20])
def test_the_plane_names_every_point(annotate: bool, count: int) -> None:
    points = [
        PlanePoint(
            f"A{n}",
            20.0 + n,
            5.0 + 0.1 * n,
            flow_stroke(n + 1).style,
            f"hover & {n}",
            Bars((19.0 + n, 22.0 + n), (4.0, 6.0)) if n % 2 else Ellipse(2.0, 1.0, 20.0),
        )
        for n in range(count)
    ]
    drawing = plane_figure("f", "title", points, annotate)
    labels = texts(drawing)
    assert [labels.count(f"A{n}") for n in range(count)] == [1] * count
    assert [f"<title>hover &amp; {n}</title>" in drawing for n in range(count)] == [True] * count
    assert "no samples" in plane_figure("f", "title", [])


def test_names_keep_clear_of_bars() -> None:
    bar = Box(90.0, 99.0, 200.0, 101.0)
    (beside,) = place_what_fits([(100.0, 100.0)], [(40.0, 10.0)], Box(0, 0, 300, 200), 5.0)
    (clear,) = place_what_fits([(100.0, 100.0)], [(40.0, 10.0)], Box(0, 0, 300, 200), 5.0, [bar])
    assert beside
    assert clear
    assert beside.box.overlap(bar) > 0
    assert clear.box.overlap(bar) == 0


def heatmap(values: list[list[float | None]]) -> str:
    columns = MapAxis("Rate (Mbit/s)", [f"c{n}" for n in range(len(values[0]) if values else 0)])
    return heatmap_figure(
        "f", columns, MapAxis("RTT (ms)", [f"r{n}" for n in range(len(values))]), values, "Utilization"
    )


def test_a_heat_map_prints_every_value_and_hatches_what_is_missing() -> None:
    drawing = heatmap([[0.125, None, 3.0], [1e6, -2.5, 0.0]])
    labels = texts(drawing)
    for label in ("0.125", "3.00", "1.00e6", "-2.50", "0", "Utilization", "Rate (Mbit/s)", "RTT (ms)", "c2", "r1"):
        assert label in labels
    assert len(re.findall(r"fill: url\(#", drawing)) == 1


def test_numbers_in_texts_keep_all_their_digits() -> None:
    drawing = heatmap_figure("f", MapAxis("x", ["0.12345"]), MapAxis("y", ["1"]), [[0.98765]], "1.2345", None, 5)
    assert {"0.12345", "0.98765", "1.2345"} <= set(texts(drawing))
    assert not re.search(r'="[^"]*\d\.\d{3}', drawing)  # coordinates have two decimals


def test_the_first_row_of_a_heat_map_is_at_the_bottom_and_of_a_matrix_at_the_top() -> None:
    def heights(drawing: str, *names: str) -> list[float]:
        by_text = {(text.text or "").strip(): text for text in parse_drawing(drawing).iter(f"{SVG}text")}
        return [float(re.findall(r"-?[\d.]+", by_text[name].attrib["transform"])[-1]) for name in names]

    first, second = heights(heatmap([[0.25], [0.75]]), "r0", "r1")
    assert first > second
    first, second = heights(matrix_figure("f", ["A", "B"], ["C"], [[0.25], [0.75]], "Share"), "A", "B")
    assert first < second
    first, second = heights(matrix_figure("f", ["A", "B"], ["C"], [[0.25], [0.75]], "Share"), "0.25", "0.75")
    assert first < second


def test_the_colours_of_heat_maps_grow_lighter_in_grey_and_letters_stand_out() -> None:
    def lightness(color: str) -> float:
        """Return the relative luminance of WCAG 2."""
        parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    shades = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b, _ in COLORS(numpy.linspace(0, 1, 50))]
    assert (numpy.diff(shades) > 0).all()
    values: list[list[float | None]] = [[number / 20 for number in range(21)]]
    drawing = heatmap(values)
    cells = re.findall(r'<path d="[^"]*" clip-path="[^"]*" style="fill: (#\w{6}); stroke: \1', drawing)
    letters = re.findall(r"<text [^>]*fill: (#101010|#ffffff)", drawing)
    assert len(cells) == len(letters) == 21
    for cell, letter in zip(cells, letters, strict=True):
        low, high = sorted((lightness(cell), lightness(letter)))
        assert (high + 0.05) / (low + 0.05) > 3.8


@pytest.mark.parametrize("size", [0, 1, 2, 12])
def test_heat_maps_of_any_size_are_well_formed(size: int) -> None:
    values: list[list[float | None]] = [[0.5 * x * y for x in range(size)] for y in range(size)]
    parse_drawing(heatmap(values))
    assert ("no samples" in heatmap(values)) == (size == 0)
    names = [f"Scheme with a long name {n}" for n in range(size)]
    shares: list[list[float | None]] = [[0.5 for _ in names] for _ in names]
    labels = texts(matrix_figure("f", names, names, shares, "Harm"))
    assert labels.count("0.50") == size * size
    assert [labels.count(name) for name in names] == [2] * size


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.12345, None, "0.123"),
        (0.9, None, "0.900"),
        (123.4, None, "123"),
        (1234567.0, None, "1.23e6"),
        (0.0, None, "0"),
        (1e-7, None, "1.00e-7"),
        (0.5, 2, "0.50"),
    ],
)
def test_numbers_in_cells(value: float, decimals: int | None, text: str) -> None:
    assert number_text(value, decimals) == text


def test_sweeps_have_a_line_per_scheme_a_gap_for_a_missing_value_and_bars() -> None:
    red, blue = Stroke("#ff0000", "o"), Stroke("#0000ff", "s", (5.0, 1.8))
    panels = [
        SweepPanel(
            "Throughput (Mbit/s)", [SweepLine("A", red, [1.0, None, 3.0, 4.0], [(0.5, 1.5), None, None, (3.0, 5.0)])]
        ),
        SweepPanel("Loss", [SweepLine("B", blue, [0.0, 1e-3, 1e-2, 1e-1])], logarithmic=True),
    ]
    drawing = sweep_figure("f", "RTT (ms)", ["10", "20", "40", "80"], panels)
    for label in ("10", "80", "RTT (ms), logarithmic", "Throughput (Mbit/s)", "Loss, logarithmic", "A", "B"):
        assert label in texts(drawing)
    assert lines(drawing, "#ff0000") == 2
    assert len(re.findall("fill: none; stroke: #ff0000; stroke-width: 0.9", drawing)) == 2
    # M starts a piece of a line: the gap makes a second one.
    path = next(
        p
        for p in parse_drawing(drawing).iter(f"{SVG}path")
        if "stroke: #ff0000; stroke-width: 1.2" in str(p.get("style"))
    )
    assert path.attrib["d"].count("M") == 2


def test_lines_of_a_sweep_stand_beside_each_other_only_where_they_have_bars() -> None:
    def starts(intervals: list[tuple[float, float] | None]) -> set[str]:
        looks = [Stroke("#ff0000", "o"), Stroke("#0000ff", "s")]
        sweep_lines = [SweepLine(str(index), look, [1.0, 2.0], intervals) for index, look in enumerate(looks)]
        paths = parse_drawing(sweep_figure("f", "x", ["10", "20"], [SweepPanel("y", sweep_lines)])).iter(f"{SVG}path")
        numbers = [re.findall(r"[\d.]+", p.attrib["d"]) for p in paths if "stroke-width: 1.2" in str(p.get("style"))]
        return {x for x, y, *_, last in numbers if y != last}  # those of the legend are level

    assert len(starts([None, None])) == 1
    assert len(starts([(0.5, 1.5), None])) == 2


def test_panels_side_by_side_have_one_scale_and_one_legend() -> None:
    line = Stroke("#ff0000", "o")
    panels = [SweepPanel("y", [SweepLine("A", line, values)]) for values in ([1.0, 2.0], [10.0, 20.0])]
    drawing = sweep_figure("f", "x", ["10", "20"], panels, ["left", "right"], "3 runs of 12 s each")
    shown_texts = texts(drawing)
    assert [shown_texts.count(text) for text in ("A", "x", "y", "left", "right", "3 runs of 12 s each")] == [1] * 6
    ends = [
        [(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", path.attrib["d"])]
        for path in parse_drawing(drawing).iter(f"{SVG}path")
        if "stroke: #ff0000; stroke-width: 1.2" in str(path.get("style"))
    ]
    (first, two), (three, four) = (points for points in ends if points[0][1] != points[-1][1])
    assert two[0] < three[0]
    # Ten times the value is ten times as far upwards: both panels have one scale.
    assert three[1] - four[1] == pytest.approx(10 * (first[1] - two[1]), rel=0.01)


@pytest.mark.parametrize(
    ("values", "logarithmic"),
    [
        (["10", "20", "40", "80"], True),
        (["0.5", "1", "4"], True),
        (["10", "20", "30", "40"], False),
        (["1", "50", "100"], False),
        (["0", "1", "10", "100"], False),
        (["1", "100"], False),
    ],
)
def test_an_axis_is_logarithmic_where_that_sets_values_apart(values: list[str], logarithmic: bool) -> None:
    places = quantities(values)
    assert places is not None
    assert places.logarithmic is logarithmic


def test_points_over_names_are_not_joined() -> None:
    panels = [SweepPanel("y", [SweepLine("A", Stroke("#ff0000", "o"), [1.0, 2.0])])]
    assert lines(sweep_figure("f", "queue", ["codel", "red"], panels), "#ff0000") == 0
    # The line is in the plot and in the legend.
    assert lines(sweep_figure("f", "x", ["10", "20"], panels), "#ff0000") == 2


def test_a_long_name_of_an_axis_is_no_longer_than_the_axis() -> None:
    with look("f"):
        made_frame = frame(125.0, 125.0)
        made_frame.finish(["Loss", "mean_jains_fairness_throughput_l4 (Mbit/s)"], LINES, ("x",))
        short, long = (plot.yaxis.label for plot in made_frame.plots)
        assert long.get_fontsize() < short.get_fontsize()
        # Letters have sizes in whole pixels; the space between two plots remains.
        assert long.get_window_extent(renderer(made_frame.figure)).height < 125.0 + 12.0


@pytest.mark.parametrize("count", [0, 1, 40])
def test_sweeps_of_any_length_are_well_formed(count: int) -> None:
    values = [f"{n}" for n in range(count)]
    line = SweepLine("A", flow_stroke(1), [0.0] * count)
    for logarithmic in (False, True):
        parse_drawing(sweep_figure("f", "x", values, [SweepPanel("y", [line] * 20, logarithmic=logarithmic)]))


def test_stacked_shares_fill_the_plot_and_differ_in_hatches() -> None:
    time_s = numpy.arange(1, 11) * 0.5
    parts = [numpy.full(10, 3.0), numpy.full(10, 1.0)]
    shares = [Share("A", "#ff0000", parts[0]), Share("B", "#ff0000", parts[1])]
    drawing = fairness_figure("f", time_s, shares, (time_s, numpy.full(10, 0.8)))
    assert {"Jain's index", "Share", "A", "B"} <= set(texts(drawing))
    areas = re.findall(
        r'<path d="([^"]*)" clip-path="[^"]*" style="fill: (#ff0000|url\(#[^)]*\)); fill-opacity', drawing
    )
    assert len(areas) == 2
    assert areas[0][1] != areas[1][1]
    heights = [[float(y) for y in re.findall(r"[ML] [\d.]+ ([\d.]+)", area)] for area, _ in areas]
    low, high = max(heights[0]), min(heights[1])
    # 3:1: three quarters of the plot and the rest above them.
    assert (low - min(heights[0])) / (low - high) == pytest.approx(0.75, abs=0.01)
    assert max(heights[1]) == pytest.approx(min(heights[0]), abs=0.1)


def test_distributions_rise_to_one_and_ignore_what_is_no_number() -> None:
    red = Stroke("#ff0000", "o")
    drawing = distribution_figure(
        "f", [Distribution("A", red, numpy.array([3.0, 1.0, numpy.nan, 2.0]), numpy.array([9.0]))]
    )
    labels = texts(drawing)
    assert labels.count("eCDF") == 2
    assert {"Throughput (Mbit/s)", "sRTT (ms)", "A"} <= set(labels)
    assert lines(drawing, "#ff0000") == 3


def test_a_distribution_of_delays_has_a_line_for_each_flow_with_packets_and_names_all() -> None:
    steps = [("A", "#ff0000", [1.0, 40.0], [0.5, 1.0]), ("B", "#00ff00", [], [])]
    flows = [
        DelaySteps(label, Stroke(color, "o"), numpy.array(delay_ms), numpy.array(part))
        for label, color, delay_ms, part in steps
    ]
    drawing = delay_cdf_figure("f", flows, delay_axis([1.0, 40.0]))
    assert {"eCDF", "One-way delay (ms), logarithmic", "A", "B"} <= set(texts(drawing))
    assert (lines(drawing, "#ff0000"), lines(drawing, "#00ff00")) == (2, 1)
    assert "no samples" in delay_cdf_figure("f", flows[1:], delay_axis([]))


def test_a_window_figure_has_what_its_flows_have() -> None:
    stroke = flow_stroke(1)
    cwnd = window_figure("f", [WindowSeries("A", stroke, ramp(10), ramp(10))])
    paced_figure = window_figure("f", [WindowSeries("A", stroke, pacing_mbps=ramp(10))])
    assert {"cwnd, dashed ssthresh (packets)", "A"} <= set(texts(cwnd))
    assert "Pacing rate (Mbit/s)" not in texts(cwnd)
    assert {"Pacing rate (Mbit/s)", "A"} <= set(texts(paced_figure))
    assert "cwnd (packets)" not in texts(paced_figure)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (2e-4, "2e-4"), (-2.5e-5, "-2.5e-5"), (0.005, "0.005"), (12345.0, "12345"), (1e6, "1e6")],
)
def test_numbers_on_axes_are_short(value: float, text: str) -> None:
    assert tick_text(value) == text


def test_a_logarithmic_axis_has_plain_numbers_within_a_decade() -> None:
    line = SweepLine("A", flow_stroke(1), [0.3, 4.0])
    shown_texts = texts(sweep_figure("f", "x", ["10", "20"], [SweepPanel("y", [line], logarithmic=True)]))
    assert {"0.5", "1", "2"} <= set(shown_texts)


@pytest.mark.parametrize("logarithmic", [False, True])
@pytest.mark.parametrize("count", [2, 3, 4, 9])
def test_points_side_by_side_stay_within_the_axis(count: int, logarithmic: bool) -> None:
    places = Places([10.0 * 2.0**index for index in range(count)], logarithmic)
    low, high = places.margins()
    for step in (-_SPREAD / 2, _SPREAD / 2):
        assert all(low < place < high for place in places.beside(step))
