"""Scatters of many schemes: limits, the front, names next to their points, the key and the magnifying glass."""

import math
import re

import numpy
import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from dumbbell.present.plots import (
    FEW,
    Limits,
    Point,
    Style,
    delay_axis,
    delay_range,
    pareto_front,
    styles,
    summary_figure,
)
from dumbbell.present.plots.parts.inset import find_inset
from dumbbell.present.plots.parts.labels import Box, nearest_on, place_what_fits

LIMITS = Limits((100.0, 100.0), 27.0)
PLOT = Box(42.0, 36.0, 398.0, 280.0)


def crowd(count: int) -> list[Point]:
    """Schemes as on a path of 100 Mbit/s: many near the capacity, some with intervals."""
    draw = numpy.random.default_rng(7)
    looks = styles((f"s{index}", "", "") for index in range(count))
    spots = [
        (float(draw.uniform(28, 48)), float(100 - draw.exponential(15 if index % 3 else 40) % 100))
        for index in range(count)
    ]
    front = pareto_front(spots)
    return [
        Point(
            f"Scheme {index}",
            delay_ms,
            rate,
            looks[f"s{index}"],
            "",
            (delay_ms - 0.5, delay_ms + 0.5),
            (rate - 2, rate + 2),
            named=index < 3,
            in_front=index in front,
        )
        for index, (delay_ms, rate) in enumerate(spots)
    ]


def drawing_of(points: list[Point], limits: Limits = LIMITS) -> str:
    """The figure of means."""
    return summary_figure("f", "t", points, delay_axis(delay_range(points, limits)), limits, interval="95 % interval")


def texts(drawing: str) -> list[str]:
    """The texts in it."""
    return [text.strip() for text in re.findall(r"<text[^>]*>([^<]*)</text>", drawing)]


def numbers(drawing: str, across: bool) -> list[float]:
    """The ticks of an axis: those of the x axis are centred below it, those of the y axis end at it."""
    found = re.findall(r'<text style="([^"]*)" [^>]*>([\d.]+)</text>', drawing)
    wanted = "text-anchor: middle" if across else "text-anchor: end"
    return [float(text) for style, text in found if wanted in style]


def test_the_front_is_what_nothing_beats() -> None:
    # by hand: (30, 90) beats (31, 90) and (30, 80); of the two equal ones both are there
    points = [(40.0, 95.0), (31.0, 90.0), (30.0, 90.0), (30.0, 80.0), (28.0, 20.0), (28.0, 20.0), (50.0, 95.0)]
    assert [points[index] for index in pareto_front(points)] == [(28.0, 20.0), (28.0, 20.0), (30.0, 90.0), (40.0, 95.0)]
    assert pareto_front([]) == []


@pytest.mark.parametrize("count", [1, 2, 8, 25, 60])
def test_no_axis_goes_beyond_data_and_capacity(count: int) -> None:
    points = crowd(count)
    drawing = drawing_of(points)
    assert max(numbers(drawing, across=False)) <= 100
    low, high = delay_axis(delay_range(points, LIMITS)).limits
    assert low > 27.0 - 0.04 * (48.5 - 27.0)
    assert high < max(point.delay_ms for point in points) + 6.0
    assert "capacity 100 Mbit/s" in drawing
    assert "least delay 27 ms" in drawing


def test_what_the_lines_are_ends_within_the_figure() -> None:
    # "range of the rur": texts were measured with letters as wide as whole pixels, SVG and PDF write them as they are.
    look = Style("#000000", "o")
    point = Point("a", 200.0, 0.4, look, "", (190.0, 210.0), (0.3, 0.5), in_front=True)
    limits = Limits((0.527, 0.598), 28.0)
    axis = delay_axis(delay_range([point], limits))
    drawing = summary_figure("f", "t", [point], axis, limits, interval="range of the runs")
    width = float(re.findall(r'viewBox="0 0 (\d+) ', drawing)[0])
    said = re.findall(
        r'<text style="font-size: ([\d.]+)px[^>]* x="([\d.]+)"[^>]*>(capacity|least|Pareto|range)([^<]*)<', drawing
    )
    assert [word for _, _, word, _ in said] == ["capacity", "least", "Pareto", "range"]
    for size, left, *words in said:
        text = TextPath((0, 0), "".join(words), size=float(size), prop=FontProperties("DejaVu Sans"))
        assert float(left) + text.get_extents().width <= width


def test_a_wide_interval_does_not_stretch_the_axis() -> None:
    looks = styles([("a", "", "")])
    point = Point("a", 30.0, 50.0, looks["a"], "", (-400.0, 460.0), (-300.0, 400.0))
    other = Point("b", 40.0, 60.0, looks["a"], "")
    ends = delay_range([point, other], LIMITS)
    assert min(ends) == 27.0
    assert max(ends) <= 40.0 + 0.25 * 13.0
    assert max(numbers(drawing_of([point, other]), across=False)) <= 125.0


def test_of_many_schemes_the_front_and_the_named_few_have_names_and_all_are_in_the_key() -> None:
    points = crowd(35)
    found = texts(drawing_of(points))
    for point in points:
        times = found.count(point.name)
        assert 1 <= times <= 2, point.name  # in the key, and at most once beside its point
        assert f"{point.throughput_mbps:.2f}" in found
        assert f"{point.delay_ms:.1f}" in found
    beside = [point for point in points if found.count(point.name) == 2]
    assert len(beside) >= 0.7 * sum(point.in_front for point in points)


def test_a_few_schemes_all_have_their_names_and_no_key() -> None:
    points = crowd(FEW - 4)
    found = texts(drawing_of(points))
    assert [found.count(point.name) for point in points] == [1] * len(points)


def test_names_stand_next_to_their_own_points_or_nowhere() -> None:
    draw = numpy.random.default_rng(3)
    spots = [(float(x), float(y)) for x, y in zip(draw.uniform(60, 380, 60), draw.uniform(150, 270, 60), strict=True)]
    sizes = [(55.0, 11.0)] * 25
    labels = place_what_fits(spots, sizes, PLOT, 5.0)
    written = [(spot, label) for spot, label in zip(spots, labels, strict=False) if label]
    assert 3 <= len(written) < 25
    for spot, label in written:
        assert label.distance <= 30.0
        others = [math.dist(nearest_on(label.box, other), other) for other in spots if other != spot]
        assert label.distance <= min(others)
        assert all(label.box.overlap(Box(x - 5, y - 5, x + 5, y + 5)) == 0 for x, y in spots)
    boxes = [label.box for _, label in written]
    assert all(box.overlap(other) == 0 for index, box in enumerate(boxes) for other in boxes[:index])


def test_two_close_schemes_get_a_magnifying_glass() -> None:
    close = [(60.0, 270.0), (63.0, 271.0), (380.0, 60.0)]
    glass = find_inset(close, PLOT, 5.0)
    assert glass
    assert glass.members == (0, 1)
    shown = (glass.target.right - glass.target.left) / (glass.source.right - glass.source.left)
    assert 3.0 * shown > 12.0, "they stand apart"
    assert glass.target.overlap(glass.source) == 0
    assert glass.target.overlap(Box(375, 55, 385, 65)) == 0
    far = [(60.0, 270.0), (200.0, 200.0)]
    assert find_inset(far, PLOT, 5.0) is None


def test_no_glass_tells_equal_schemes_apart_they_share_a_name() -> None:
    assert find_inset([(60.0, 270.0), (60.0, 270.0)], PLOT, 5.0) is None
    looks = [Style("#112233", "o"), Style("#332211", "s")]
    twins = [Point(name, 42.0, 96.31, look, "") for name, look in zip(("Reno", "DCTCP"), looks, strict=True)]
    found = texts(drawing_of(twins))
    assert found.count("Reno") == found.count("DCTCP") == 1


def test_the_names_of_close_schemes_are_in_the_glass() -> None:
    looks = styles([("a", "", ""), ("b", "", "")])
    points = [Point("Cubic", 42.0, 96.3, looks["a"], ""), Point("Reno", 42.1, 96.9, looks["b"], "")]
    drawing = drawing_of(points)
    found = texts(drawing)
    assert found.count("Cubic") == found.count("Reno") == 1
    assert any(96.0 < tick < 97.5 and tick != round(tick) for tick in numbers(drawing, across=False))


def test_runs_of_a_path_of_chance_have_a_range_of_capacities() -> None:
    drawing = drawing_of(crowd(3), Limits((80.0, 100.0), 27.0))
    assert "capacity 80 to 100 Mbit/s" in drawing
