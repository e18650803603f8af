"""Tests of planes of few and of many schemes: limits, the front, names without overlaps, and the titles of marks."""

import math
import re

import numpy
import pytest
from matplotlib.colors import to_rgb
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from dumbbell import catalog
from dumbbell.catalog.families import FAMILIES, family
from dumbbell.present.plots import (
    FEW,
    Limits,
    PlaneAxis,
    Point,
    Style,
    delay_axis,
    extent,
    for_print,
    scheme_strokes,
    styles,
    summary_figure,
    value_axis,
)
from dumbbell.present.plots.parts.axis import ticks
from dumbbell.present.plots.parts.labels import Box, nearest_on, place_what_fits
from dumbbell.present.plots.parts.sheet import SCREEN, Sheet, use_sheet
from dumbbell.present.plots.parts.style import FAMILY_COLORS, GROUND, INK
from dumbbell.results.analysis.front import pareto_front
from support.pages.drawn_boxes import SVG, crossings, marks, root_of, texts

LIMITS = Limits((100.0, 100.0), 27.0)
PLOT = Box(42.0, 36.0, 398.0, 280.0)
COLUMN = Sheet(3.5 * 72, None, 8.0)
"""Size of one column of a paper."""


def crowd(count: int) -> list[Point]:
    """Return schemes as on a path of 100 Mbit/s: many near the capacity, some with intervals."""
    draw = numpy.random.default_rng(7)
    looks = styles((f"s{index}", "", "") for index in range(count))
    spots = [
        (float(draw.uniform(28, 48)), float(100 - draw.exponential(15 if index % 3 else 40) % 100))
        for index in range(count)
    ]
    front = pareto_front([(x, y) for x, y in spots])
    return [
        Point(
            f"Scheme {index}",
            delay_ms,
            rate,
            looks[f"s{index}"],
            f"Scheme {index}: {rate:.2f} Mbit/s",
            (delay_ms - 0.5, delay_ms + 0.5),
            (rate - 2, rate + 2),
            in_front=index in front,
            scheme=f"s{index}",
            family=list(FAMILIES)[index % len(FAMILIES)],
        )
        for index, (delay_ms, rate) in enumerate(spots)
    ]


def axes_of(points: list[Point], limits: Limits = LIMITS) -> tuple[PlaneAxis, PlaneAxis]:
    """Return the axes: delay across, throughput upwards."""
    least, highest = limits.least_delay_ms, limits.capacity_mbps or ()
    delays = extent(points, False, [] if least is None else [least])
    x = PlaneAxis("P95 one-way delay (ms)", delay_axis(delays), is_reversed=True)
    return x, value_axis("Goodput (Mbit/s)", extent(points, True, highest), is_reversed=False, linear=True)


def drawing_of(points: list[Point], limits: Limits = LIMITS) -> str:
    """Return the figure of means."""
    return summary_figure("f", "t", points, axes_of(points, limits), limits, interval="95 % interval")


def words(drawing: str) -> list[str]:
    """Return the texts of a drawing."""
    return [text.strip() for text in re.findall(r"<text[^>]*>([^<]*)</text>", drawing)]


def numbers(drawing: str, across: bool) -> list[float]:
    """Return the ticks of an axis: those of the x axis are centred below it, those of the y axis end at it."""
    matches = re.findall(r'<text style="([^"]*)" [^>]*>([\d.]+)</text>', drawing)
    anchor = "text-anchor: middle" if across else "text-anchor: end"
    return [float(text) for style, text in matches if anchor in style]


@pytest.mark.parametrize("sheet", [SCREEN, COLUMN], ids=["page", "column"])
@pytest.mark.parametrize("count", [1, 3, 15, 16, 56])
def test_no_text_covers_a_text_or_a_mark(count: int, sheet: Sheet) -> None:
    with use_sheet(sheet):
        drawing = for_print(drawing_of(crowd(count)))
    assert len(marks(drawing)) >= count
    assert crossings(drawing) == []
    if sheet is COLUMN:
        assert 'width="252.00pt"' in drawing
        # 8 points on paper: letters of 9.5 in a drawing that is 9.5 / 8 times as wide
        assert {float(size) for size in re.findall(r"font-size: ([\d.]+)px", drawing)} == {9.5}
        assert float(root_of(drawing).attrib["viewBox"].split()[2]) == pytest.approx(252 * 9.5 / 8, abs=0.01)


def test_the_check_of_texts_finds_what_covers_something() -> None:
    drawing = for_print(drawing_of(crowd(3)))
    (name,) = (text for text in texts(drawing) if text.label == "Scheme 1")
    other = next(mark for mark in marks(drawing) if mark.label == "s0")
    left, top = (other.left + other.right) / 2 - (name.left + name.right) / 2, other.top - name.top
    moved_drawing = re.sub(
        r'<text ([^>]*) x="([\d.]+)" y="([\d.]+)"([^>]*)>Scheme 1<',
        lambda m: f'<text {m[1]} x="{float(m[2]) + left}" y="{float(m[3]) + top}"{m[4]}>Scheme 1<',
        drawing,
    )
    assert ("Scheme 1", "s0") in crossings(moved_drawing)


def test_every_mark_says_of_which_scheme_it_is_and_where_it_lies() -> None:
    for count in (3, 56):
        points = crowd(count)
        root = root_of(for_print(drawing_of(points)))
        groups = {group.attrib["data-scheme"]: group for group in root.iter(f"{SVG}g") if "data-scheme" in group.attrib}
        assert set(groups) == {point.scheme for point in points}
        for point in points:
            group = groups[point.scheme]
            assert float(group.attrib["data-x"]) == pytest.approx(point.x, rel=1e-5)
            assert float(group.attrib["data-y"]) == pytest.approx(point.y, rel=1e-5)
            title = group.find(f"{SVG}title")
            assert title is not None
            assert title.text == point.title


def test_the_front_is_what_nothing_beats() -> None:
    # By hand: (30, 90) beats (31, 90) and (30, 80); both of the two equal points are in the front.
    points = [(40.0, 95.0), (31.0, 90.0), (30.0, 90.0), (30.0, 80.0), (28.0, 20.0), (28.0, 20.0), (50.0, 95.0)]
    assert [points[index] for index in pareto_front(points)] == [(28.0, 20.0), (28.0, 20.0), (30.0, 90.0), (40.0, 95.0)]
    assert pareto_front([]) == []


@pytest.mark.parametrize("count", [1, 2, 8, 25, 60])
def test_no_axis_goes_beyond_data_and_capacity(count: int) -> None:
    points = crowd(count)
    drawing = drawing_of(points)
    assert max(numbers(drawing, across=False)) <= 100
    low, high = axes_of(points)[0].scale.limits
    assert low > 27.0 - 0.04 * (48.5 - 27.0)
    assert high < max(point.x for point in points) + 6.0
    assert "capacity 100 Mbit/s" in drawing
    assert "least delay 27 ms" in drawing


def test_an_axis_that_is_unusual_says_so() -> None:
    assert value_axis("Loss (%)", [0.001, 5.0], is_reversed=True).label == "Loss (%), decreasing, logarithmic"
    assert value_axis("Goodput (Mbit/s)", [9.0, 10.0], is_reversed=False).label == "Goodput (Mbit/s), not from 0"
    assert value_axis("Goodput (Mbit/s)", [2.0, 10.0], is_reversed=False).label == "Goodput (Mbit/s)"
    assert value_axis("Goodput (Mbit/s)", [0.01, 10.0], is_reversed=False, linear=True).label == "Goodput (Mbit/s)"
    assert PlaneAxis("P95 one-way delay (ms)", delay_axis([20.0, 400.0])).label == "P95 one-way delay (ms), logarithmic"


def test_ticks_are_never_so_close_that_their_texts_touch() -> None:
    assert ticks(9.79, 20.84) == [10.0, 12.0, 14.0, 16.0, 18.0, 20.0]
    for low in numpy.geomspace(2.1, 300.0, 60):
        for factor in (1.05, 1.3, 2.0, 5.0, 30.0):
            places = numpy.log(ticks(low, low * factor)) / numpy.log(factor)
            assert len(places) > 1
            assert numpy.diff(places).min() > 0.03, (low, factor)


def test_what_the_lines_are_ends_within_the_figure() -> None:
    # The text became "range of the rur": it was measured with letters as wide as whole pixels, but SVG and PDF use
    # exact widths.
    look = Style("#000000", "o")
    point = Point("a", 200.0, 0.4, look, "", (190.0, 210.0), (0.3, 0.5), in_front=True)
    limits = Limits((0.527, 0.598), 28.0)
    points = [point, Point("b", 100.0, 0.3, look, "", in_front=True)]
    drawing = summary_figure("f", "t", points, axes_of(points, limits), limits, interval="range of the runs")
    width = float(re.findall(r'viewBox="0 0 ([\d.]+) ', drawing)[0])
    matches = re.findall(
        r'<text style="font-size: ([\d.]+)px[^>]* x="([\d.]+)"[^>]*>(capacity|least|Pareto|range)([^<]*)<', drawing
    )
    assert [word for _, _, word, _ in matches] == ["capacity", "least", "Pareto", "range"]
    for size, left, *rest in matches:
        text = TextPath((0, 0), "".join(rest), size=float(size), prop=FontProperties("DejaVu Sans"))
        assert float(left) + text.get_extents().width <= width


def test_a_wide_interval_does_not_stretch_the_axis() -> None:
    looks = styles([("a", "", "")])
    point = Point("a", 30.0, 50.0, looks["a"], "", (-400.0, 460.0), (-300.0, 400.0))
    other = Point("b", 40.0, 60.0, looks["a"], "")
    ends = extent([point, other], False, [27.0])
    assert min(ends) == 27.0
    assert max(ends) <= 40.0 + 13.0
    drawing = summary_figure("f", "t", [point, other], axes_of([point, other], Limits()), interval="range of the runs")
    assert "range of the runs; an arrow: it goes on" in " ".join(words(drawing))
    assert max(numbers(drawing_of([point, other]), across=False)) <= 125.0


def test_of_many_schemes_the_front_has_names_and_the_others_are_grey() -> None:
    points = crowd(56)
    drawn_words = words(drawing_of(points))
    for point in points:
        assert drawn_words.count(point.name) == point.in_front, point.name
    assert set(FAMILIES.values()) <= set(drawn_words)
    with use_sheet(COLUMN):
        narrow = words(drawing_of(points))
    # A name without room beside its point stands below the plot.
    assert all(narrow.count(point.name) == point.in_front for point in points)


def test_a_few_schemes_all_have_their_names() -> None:
    for count in (3, 8, FEW):
        points = crowd(count)
        drawn_words = words(drawing_of(points))
        assert [drawn_words.count(point.name) for point in points] == [1] * len(points)


def test_names_stand_next_to_their_own_points_or_nowhere() -> None:
    draw = numpy.random.default_rng(3)
    spots = [(float(x), float(y)) for x, y in zip(draw.uniform(60, 380, 60), draw.uniform(150, 270, 60), strict=True)]
    sizes = [(55.0, 11.0)] * 25
    labels = place_what_fits(spots, sizes, PLOT, 5.0)
    written_labels = [(spot, label) for spot, label in zip(spots, labels, strict=False) if label]
    assert 3 <= len(written_labels) < 25
    for spot, label in written_labels:
        assert label.distance <= 30.0
        other_distances = [math.dist(nearest_on(label.box, other), other) for other in spots if other != spot]
        assert label.distance <= min(other_distances)
        assert all(label.box.overlap(Box(x - 5, y - 5, x + 5, y + 5)) == 0 for x, y in spots)
    boxes = [label.box for _, label in written_labels]
    assert all(box.overlap(other) == 0 for index, box in enumerate(boxes) for other in boxes[:index])


def test_equal_schemes_share_a_place() -> None:
    looks = [Style("#112233", "o"), Style("#332211", "s")]
    twins = [Point(name, 42.0, 96.31, look, "") for name, look in zip(("Reno", "DCTCP"), looks, strict=True)]
    drawn_words = words(drawing_of(twins))
    assert drawn_words.count("Reno") == drawn_words.count("DCTCP") == 1


def test_runs_of_a_path_of_chance_have_a_range_of_capacities() -> None:
    drawing = drawing_of(crowd(3), Limits((80.0, 100.0), 27.0))
    assert "capacity 80 to 100 Mbit/s" in drawing


def test_every_scheme_of_the_catalog_has_a_family_and_a_look_of_its_own() -> None:
    schemes = list(catalog.schemes())
    assert all(family(scheme.name) in FAMILIES for scheme in schemes)
    looks = styles((scheme.name, scheme.color, scheme.marker) for scheme in schemes)
    assert len({look.appearance for look in looks.values()}) == len(schemes) > 80
    assert looks["cubic"] == Style(INK, "*")
    assert looks["copa"] == Style(FAMILY_COLORS["copa"], "o")
    assert looks["bbr"].color == looks["bbr3"].color == FAMILY_COLORS["bbr"]
    assert family("copa-gcc2017") == "copa"
    assert family("gcc") == "media"
    assert family("cubic+bbr") is None


def test_a_scheme_that_asks_for_a_colour_gets_it() -> None:
    looks = styles([("cubic", "#123456", "o"), ("bbr", "gold", "^"), ("mine", "#654321", "s")])
    assert looks["cubic"] == Style("#123456", "o")
    assert looks["bbr"] == Style(FAMILY_COLORS["bbr"], "^")
    assert looks["mine"] == Style("#654321", "s")


def seen_by(color: str, kind: str) -> numpy.ndarray:
    """Return a colour as people without red or green receptors see it, linear RGB: Machado et al. 2009, severity 1."""
    matrices = {
        "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    }
    rgb = numpy.array(to_rgb(color))
    linear = numpy.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return numpy.clip(numpy.array(matrices[kind]) @ linear, 0, 1) if kind in matrices else linear


def lab(linear: numpy.ndarray) -> numpy.ndarray:
    """Return CIELAB of linear RGB, D65."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = numpy.array(to_xyz) @ linear / numpy.array([0.9505, 1.0, 1.089])
    f = numpy.where(xyz > 0.008856, numpy.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return numpy.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("kind", ["all", "protan", "deutan"])
def test_the_colours_of_families_differ_for_the_colour_blind(kind: str) -> None:
    colors = [lab(seen_by(color, kind)) for color in FAMILY_COLORS.values()]
    distances = [
        float(numpy.linalg.norm(color - other)) for index, color in enumerate(colors) for other in colors[:index]
    ]
    assert min(distances) > 10.0


def test_without_colours_marks_and_dashes_tell_schemes_apart() -> None:
    names = [scheme for scheme in catalog.schemes() if not scheme.real]
    with use_sheet(Sheet(theme="print")):
        looks = styles((scheme.name, scheme.color, scheme.marker) for scheme in names[:20])
        assert {look.color for look in looks.values()} == {INK}
        assert len({look.appearance for look in looks.values()}) == 20
        strokes = scheme_strokes(list(looks.values())[:15])
        assert len({(stroke.style.appearance, stroke.dashes) for stroke in strokes}) == 15
        drawing = for_print(drawing_of(crowd(5)), "print")
    colors = set(re.findall(r"#[0-9a-f]{6}", drawing))
    assert colors <= {"#000000", "#ffffff"}
    assert GROUND not in drawing


@pytest.mark.parametrize("x", [(1e18, 2.0), (-1e18, 5.0), (1e-320, 3.0), (0.0, 0.0), (5.0, 5.0)])
@pytest.mark.parametrize("y", [(1e18, 0.0), (-3.0, 5.0), (0.0, 0.0), (1e-320, 1.0)])
def test_whatever_numbers_there_are_can_be_drawn(x: tuple[float, float], y: tuple[float, float]) -> None:
    look = Style("#ff0000", "o")
    points = [Point(f"n{a}", a, b, look, "", in_front=True) for a, b in zip(x, y, strict=True)]
    upwards = value_axis("Goodput (Mbit/s)", extent(points, True), is_reversed=False)
    for across in (
        PlaneAxis("P95 one-way delay (ms)", delay_axis(extent(points, False)), is_reversed=True),
        value_axis("Loss (%)", extent(points, False), is_reversed=True),
    ):
        assert len(marks(for_print(summary_figure("f", "t", points, (across, upwards))))) == 2
