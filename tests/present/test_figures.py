"""Figures: the axis rule, places of names, styles, and the SVG that comes out."""

import io
import re
import xml.etree.ElementTree as ElementTree

import numpy
import pytest
from PIL import Image

from dumbbell.present.plots import (
    FEW,
    FlowDelays,
    FlowRates,
    PlaneAxis,
    Point,
    Style,
    delay_axis,
    delay_figure,
    flow_color,
    for_page,
    for_print,
    spans_widely,
    styles,
    summary_figure,
    swatch,
    throughput_figure,
    value_axis,
)
from dumbbell.present.plots.parts.axis import ticks
from dumbbell.present.plots.parts.labels import Box, place_what_fits
from dumbbell.present.plots.parts.raster import PIXELS_PER_POINT, Cloud, dots
from dumbbell.present.plots.parts.style import INK


@pytest.mark.parametrize(
    ("delays", "logarithmic"),
    [
        # The powers of two around the delays decide: the scale is logarithmic if they are far apart.
        ([30.0, 200.0], True),  # 256 > 4 * 16
        ([16.0, 64.0], False),  # 64 = 4 * 16 is not more than 4 times
        ([16.0, 64.1], True),
        ([33.0, 60.0], False),
        ([2.0, 8.0], False),
        ([2.0, 8.1], True),
        ([1.9, 5.0], True),  # below 2 the axis starts at 0; 8 is enough for it
        ([1.9, 4.0], False),
        ([0.0, 0.5], False),
        ([-1.0, 3.0], True),  # negative delays: clocks that disagree
        ([-5.0, 1.0], True),
        ([-8.0, 100.0], True),
        ([-9.0, -3.0], True),
        ([128.0], False),
        ([], False),
    ],
)
def test_the_scale_of_the_delay_axis_follows_pantheons_rule(delays: list[float], logarithmic: bool) -> None:
    axis = delay_axis(delays)
    assert spans_widely(delays) == axis.logarithmic == logarithmic
    if delays:
        low, high = axis.limits
        air = max(0.06 * max(map(abs, delays)), 0.5)
        assert min(delays) - air <= low <= min(delays), "the axis ends with the data"
        assert max(delays) <= high <= max(delays) + air, "the axis ends with the data"


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (19.0, 1400.0, [20, 50, 100, 200, 500, 1000]),
        (26.0, 49.0, [30, 35, 40, 45]),
        (91.9, 92.4, [92, 92.1, 92.2, 92.3]),
        (5.0, 2e6, [10, 100, 1000, 10000, 100000, 1000000]),
        (-3.0, 40.0, [-2, 0, 2, 4, 8, 16, 32]),
    ],
)
def test_ticks_of_a_logarithmic_axis_are_round_and_within_it(low: float, high: float, expected: list[float]) -> None:
    values = [round(value, 6) for value in ticks(low, high)]
    assert set(expected) <= set(values)
    assert all(low <= value <= high for value in values)
    assert 4 <= len(values) <= 9


def spots(count: int) -> list[tuple[float, float]]:
    """Return points in a crowd: a spiral of 30 points' radius."""
    angles = [0.7 * index for index in range(count)]
    return [(200 + angle * 2 * numpy.cos(angle), 150 + angle * 2 * numpy.sin(angle)) for angle in angles]


def test_names_in_a_crowd_cover_neither_each_other_nor_a_point() -> None:
    points = spots(17)
    sizes = [(30.0 + 5 * (index % 7), 11.0) for index in range(17)]
    bounds = Box(0, 0, 420, 300)
    labels = place_what_fits(points, sizes, bounds, 5.0, leading=17)
    boxes = [label.box for label in labels if label]
    assert len(boxes) >= 12
    for index, box in enumerate(boxes):
        assert all(box.overlap(other) == 0 for other in boxes[:index])
        assert all(box.overlap(Box(x - 5, y - 5, x + 5, y + 5)) == 0 for x, y in points)
        assert bounds.left <= box.left
        assert box.right <= bounds.right
        assert bounds.bottom <= box.bottom
        assert box.top <= bounds.top
    assert labels == place_what_fits(points, sizes, bounds, 5.0, leading=17)


def test_a_lone_name_stands_right_of_its_point() -> None:
    (label,) = place_what_fits([(100.0, 100.0)], [(40.0, 10.0)], Box(0, 0, 300, 200), 5.0)
    assert label
    assert label.box == Box(108.0, 95.0, 148.0, 105.0)


def test_styles_are_kept_and_doubles_get_others() -> None:
    wishes = [("a", "red", "o"), ("b", "red", "o"), ("c", "red", "s"), ("d", "", ""), ("e", "black", "*")]
    style_of = styles(wishes)
    assert style_of["a"] == Style("#ff0000", "o")
    assert style_of["c"] == Style("#ff0000", "s")
    assert style_of["e"] == Style(INK, "*")
    assert len(set(style_of.values())) == 5


def test_a_scheme_without_style_looks_the_same_in_every_report() -> None:
    assert styles([("mine", "", "")])["mine"] == styles([("other", "red", "o"), ("mine", "", "")])["mine"]


def test_forty_schemes_without_style_look_different() -> None:
    assert len(set(styles((f"scheme{index}", "", "") for index in range(40)).values())) == 40


def test_flows_take_six_colours_in_turn() -> None:
    assert len({flow_color(flow) for flow in range(1, 7)}) == 6
    assert flow_color(7) == flow_color(1)
    assert flow_color(0) == flow_color(1)


def points(count: int) -> list[Point]:
    """Return points of schemes with names that need escaping."""
    style_of = styles((f"s{index}", "", "") for index in range(count))
    return [
        Point(f"A<{index}>", 20.0 * 1.3**index, 1.0 + index, style_of[f"s{index}"], f"hover & {index}")
        for index in range(count)
    ]


def axes_of(shown_points: list[Point]) -> tuple[PlaneAxis, PlaneAxis]:
    """Return the axes for these points alone."""
    x = PlaneAxis("P95 one-way delay (ms)", delay_axis([point.x for point in shown_points]), is_reversed=True)
    return x, value_axis("Goodput (Mbit/s)", [point.y for point in shown_points], is_reversed=False)


def parse_drawing(drawing: str) -> ElementTree.Element:
    """Parse the drawing, which must be well-formed on its own."""
    return ElementTree.fromstring(for_print(drawing).split("\n", 1)[1])


@pytest.mark.parametrize("annotate", [True, False])
@pytest.mark.parametrize("count", [0, 1, 17, 40])
def test_a_summary_figure_is_well_formed_and_names_every_scheme(annotate: bool, count: int) -> None:
    drawing = summary_figure("f", "title with <brackets>", points(count), axes_of(points(count)), annotate=annotate)
    parse_drawing(drawing)
    for index in range(count):
        assert (f">A&lt;{index}&gt;<" in drawing) == (count <= FEW)  # nobody is in front
        assert f"<title>hover &amp; {index}</title>" in drawing
    assert "P95 one-way delay (ms)" in drawing
    assert "Goodput (Mbit/s)" in drawing


def tick_places(drawing: str, ticks: list[str]) -> list[float]:
    """Return the horizontal places of the texts `ticks`."""
    texts = {
        (element.text or "").strip(): element
        for element in parse_drawing(drawing).iter("{http://www.w3.org/2000/svg}text")
    }
    # a tick's text has transform="rotate(-0 x y)"
    return [float(re.findall(r"-?[\d.]+", texts[tick].attrib["transform"])[-2]) for tick in ticks]


def test_lower_delay_is_to_the_right_in_steps_of_equal_factors() -> None:
    # 20 ms to 20 * 1.3^16 = 1331 ms
    drawing = summary_figure("f", "t", points(17), axes_of(points(17)), annotate=False)
    places = tick_places(drawing, ["1000", "500", "200", "100", "50", "20"])
    steps = numpy.diff(places) / numpy.log([2, 2.5, 2, 2, 2.5])
    assert (steps > 0).all()
    assert steps == pytest.approx([steps[0]] * 5, rel=0.002)
    assert "P95 one-way delay (ms), decreasing, logarithmic" in drawing


def rates(flows: int) -> list[FlowRates]:
    """Return flows of 2 s in bins of 0.5 s."""
    return [
        FlowRates(n, f"Flow {n}", [1.0, 2.0, 3.0, 4.0], [0.0, 2.0, 3.0, 4.0], 2.5, None) for n in range(1, flows + 1)
    ]


@pytest.mark.parametrize("flows", [0, 1, 3, 12, 13, 300])
def test_throughput_figures_of_any_number_of_flows_are_well_formed(flows: int) -> None:
    drawing = throughput_figure("f", rates(flows), 0.5, [12.0, 12.0, 0.0, 12.0], 9.0)
    parse_drawing(drawing)
    assert "Average capacity 9.00 Mbit/s (shaded region)" in drawing
    if flows:
        assert "Flow 1 ingress (mean 2.50 Mbit/s)" in drawing
        assert "Flow 1 egress (mean n/a Mbit/s)" in drawing
    # 24 entries at most: 12 flows; of 13, entries for 12 of ingress and 11 of egress, and the rest in words
    assert ("and 3 more, see the table" in drawing) == (flows == 13)


def delays(flows: int, count: int = 500) -> list[FlowDelays]:
    """Return flows with rising delays."""
    time_s = numpy.linspace(0.1, 9.0, count)
    return [FlowDelays(n, f"Flow {n} (x)", time_s, 20.0 + 3 * n + time_s, 31.25) for n in range(1, flows + 1)]


@pytest.mark.parametrize("flows", [0, 1, 3, 12, 300])
def test_delay_figures_of_any_number_of_flows_are_well_formed(flows: int) -> None:
    drawing = delay_figure("f", delays(flows))
    parse_drawing(drawing)
    assert drawing.count("<image ") == (1 if flows else 0)
    assert drawing.count("(95th percentile 31.25 ms)") == (flows if flows < 25 else 23)


def test_a_flow_without_packets_and_a_single_packet_can_be_drawn() -> None:
    empty_flow = FlowDelays(1, "Flow 1", numpy.empty(0), numpy.empty(0), None)
    single_flow = FlowDelays(2, "Flow 2", numpy.array([0.5]), numpy.array([-3.0]), -3.0)
    parse_drawing(delay_figure("f", [empty_flow]))
    parse_drawing(delay_figure("f", [empty_flow, single_flow]))


def test_every_packet_is_a_dot_of_its_flows_colour() -> None:
    size = (100 / PIXELS_PER_POINT, 50 / PIXELS_PER_POINT)
    clouds = [
        Cloud(numpy.array([1.0, 9.0]), numpy.array([1.0, 1.0]), "#ff0000"),
        Cloud(numpy.array([5.0]), numpy.array([4.0]), "#0000ff"),
    ]
    image = Image.open(io.BytesIO(dots(clouds, (0.0, 10.0, 0.0, 5.0), size))).convert("RGBA")
    assert image.size == (100, 50)
    # x: 1 / 10 * 100 = 10; y: (5 - 1) / 5 * 50 = 40 from the top
    assert image.getpixel((10, 40)) == (255, 0, 0, 255)
    assert image.getpixel((90, 40)) == (255, 0, 0, 255)
    assert image.getpixel((50, 10)) == (0, 0, 255, 255)
    assert image.getpixel((30, 25))[3] == 0  # type: ignore[index]
    assert sum(pixel[3] > 0 for pixel in image.get_flattened_data()) == 3 * 9  # type: ignore[index]


def test_two_hundred_thousand_packets_stay_small() -> None:
    draw = numpy.random.default_rng(1)
    flow = FlowDelays(1, "Flow 1", numpy.sort(draw.random(200_000)) * 30, draw.gamma(2.0, 20.0, 200_000), 60.0)
    assert len(delay_figure("f", [flow])) < 60_000


def test_drawings_repeat_and_their_identifiers_do_not_clash() -> None:
    first, second = throughput_figure("a", rates(2), 0.5, [], None), throughput_figure("b", rates(2), 0.5, [], None)
    assert first == throughput_figure("a", rates(2), 0.5, [], None)
    identifiers = [set(re.findall(r' id="([^"]+)"', drawing)) for drawing in (first, second)]
    assert identifiers[0]
    assert not identifiers[0] & identifiers[1]
    for drawing, identifier in zip((first, second), identifiers, strict=True):
        assert set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", drawing)) <= identifier


def test_on_a_page_ink_is_the_pages_own_and_the_figure_has_a_name() -> None:
    page_drawing = for_page(throughput_figure("a", rates(1), 0.5, [12.0], 12.0), 'all "about" it')
    assert page_drawing.startswith('<svg role="img" aria-label="all &quot;about&quot; it"')
    assert "currentColor" in page_drawing
    assert "var(--shade)" in page_drawing
    assert INK not in page_drawing
    assert "http" not in page_drawing


def test_a_swatch_is_a_closed_shape_in_the_schemes_colour() -> None:
    assert 'fill="#ff0000"' in swatch(Style("#ff0000", "o"))
    assert 'stroke="#ff0000"' in swatch(Style("#ff0000", "+"))
    ElementTree.fromstring(swatch(Style(INK, "*")))
