"""Tests of the values on grid axes in tables, figures and pages."""

import pytest

from dumbbell.results.analysis.axis_words import (
    axis_label,
    axis_phrases,
    axis_title,
    axis_value,
    axis_values,
    axis_words,
)


@pytest.mark.parametrize(
    ("value", "in_tables", "in_figures", "on_pages"),
    [
        (0.50, "0.5", "0.5", "0.5"),
        (2000000, "2000000", "2e+06", "2000000"),
        ("cubic", "cubic", "cubic", "cubic"),
        (True, "True", "True", "True"),
        ([97, 76], "[97, 76]", "97 76", "97, 76"),
        ({"kind": "silent", "for_s": 5.0}, "{'kind': 'silent', 'for_s': 5.0}", "silent 5", "(kind silent, for_s 5)"),
    ],
)
def test_a_value_of_an_axis_in_words(value: object, in_tables: str, in_figures: str, on_pages: str) -> None:
    assert (axis_value(value), axis_label(value), axis_words(value)) == (in_tables, in_figures, on_pages)


def test_axes_in_one_line_leave_out_the_empty_one() -> None:
    assert axis_values({"k": 2, "scheme": "", "rtts": [97, 76]}) == "k 2, rtts 97, 76"


def test_axes_of_a_cell_read_as_words_with_units() -> None:
    cell = {"rtt_ms": 20.0, "qlen_bdp": 4, "loss": 0.01, "scheme": "cubic", "bw_factor": 0.5, "custom": 3, "none": None}
    words = "base RTT 20 ms, queue 4 BDP, random loss 0.01, beside cubic, rate factor 0.5, custom 3"
    assert axis_phrases(cell) == words


def test_the_axis_of_competitors_is_not_called_as_the_scheme_under_test() -> None:
    assert (axis_title("scheme"), axis_title("rtt_ms")) == ("beside", "rtt_ms")
