"""Numbers for people."""

import pytest

from dumbbell.base.digits import decimal


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (3.14159, 2, "3.14"),
        (0.0, 2, "0.00"),
        (-0.0, 1, "0.0"),
        (0.004, 2, "0.004"),
        (-0.00042, 2, "-0.0004"),
        (1e-15, 2, "0.00"),
        (12.0, 0, "12"),
        (0.3, 0, "0.3"),
    ],
)
def test_a_number_is_not_rounded_to_nothing(value: float, places: int, text: str) -> None:
    assert decimal(value, places) == text
