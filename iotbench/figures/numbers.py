"""Numbers formatted for tables and pages."""

from iotbench.figures.figures import Unit

_LONG = 8
"""Maximum length of a title on one line."""


def two_lines(title: str) -> str:
    """Return the title of a column, with its unit on a second line if it is long."""
    words, _, unit = title.rpartition(" ")
    if words:
        return f"{words}\n{unit}"
    counted, _, per = title.partition("/")
    return f"{counted}\n/{per}" if per and len(title) > _LONG else title


def significant(value: float) -> str:
    """Return a number with three significant digits, but never less than its integer part."""
    if value >= 100:
        return f"{value:,.0f}"
    decimals = 2
    while decimals < 9 and 0 < value < 10 ** (2 - decimals):
        decimals += 1
    return f"{value:.{decimals if value < 10 else 1}f}"


def format_value(value: float, unit: Unit) -> str:
    """Return a number with the number of digits that tables show for its unit."""
    match unit:
        case Unit.SHARE:
            return f"{value:.1%}"
        case Unit.ROWS_PER_S | Unit.VALUES_PER_S | Unit.ROWS:
            return f"{value:,.0f}"
        case Unit.BYTES_PER_S:
            megabytes = value / 1e6
            return significant(megabytes) if megabytes >= 1 else f"{megabytes:.2f}"
    return significant(value)
