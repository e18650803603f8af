"""Numbers for people: as many digits as say something."""

NOTHING = 1e-9
"""What is smaller is the rounding of floating-point sums."""


def decimal(value: float, places: int) -> str:
    """The value with `places` decimals; more where these would make a zero of what is none: 0.004, not 0.00."""
    if abs(value) < NOTHING:
        value = 0.0
    text = f"{value:.{places}f}"
    if value == 0 or float(text) != 0:
        return text
    while float(text) == 0:
        places += 1
        text = f"{value:.{places}f}"
    return text
