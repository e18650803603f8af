"""Numbers for people, with as many digits as are significant."""

NOTHING = 1e-9
"""Limit below which a value is treated as a rounding error of floating-point sums."""


def decimal(value: float, places: int) -> str:
    """Return the value with `places` decimals, or with more if the text would be zero for another value (0.004)."""
    if abs(value) < NOTHING:
        value = 0.0
    text = f"{value:.{places}f}"
    if value == 0 or float(text) != 0:
        return text
    while float(text) == 0:
        places += 1
        text = f"{value:.{places}f}"
    return text
