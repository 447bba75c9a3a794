"""Numbers as people read them."""


def significant(value: float) -> str:
    """Return a number with three significant digits, or its integer part if that has more."""
    if value >= 100:
        return f"{value:,.0f}"
    decimals = 2
    while decimals < 9 and 0 < value < 10 ** (2 - decimals):
        decimals += 1
    return f"{value:.{decimals if value < 10 else 1}f}"
