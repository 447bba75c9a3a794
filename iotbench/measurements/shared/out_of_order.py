"""Rows out of order as people write them, `5%:10m`: their share, and how late they may be. Pure."""

from fractions import Fraction
from typing import Annotated

from iotbench.config.input.quantities import parse_duration_s, parse_share
from iotbench.config.input.values import Notation
from simulator.data.late import MOST_STRATUM_ROWS, Late

_MOST_SHARE = 0.5
"""Largest share: with more late rows, punctual ones would be the exception."""


def parse_late(text: str) -> Late:
    """Return a share of rows and the time by which they are late at most, such as 5%:10m."""
    share, _, by = text.partition(":")
    try:
        found, by_ms = parse_share(share), round(parse_duration_s(by) * 1000)
    except ValueError:
        found, by_ms = 0.0, 0
    part = Fraction(found).limit_denominator(MOST_STRATUM_ROWS)
    if not (0 < part <= _MOST_SHARE and by_ms > 0):
        raise ValueError(
            "expected SHARE:DURATION, the share of late rows, 0.1% to 50%, and by how much they are"
            f" late at most, such as 5%:10m, got {text!r}"
        )
    return Late(rows=part.numerator, of=part.denominator, by_ms=by_ms)


def format_late(late: Late) -> str:
    """Return the text of rows out of order."""
    return f"{100 * late.rows / late.of:.6g}%:{late.by_ms / 1000:.15g}s"


OutOfOrder = Annotated[Late, Notation("share:duration", parse_late, format_late, str, format_late)]
