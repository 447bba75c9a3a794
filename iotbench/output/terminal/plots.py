"""Draws a picture of a summary in a terminal: bars of rates, or bars of waits."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from iotbench.figures.figures import Unit
from iotbench.figures.numbers import format_value, significant
from iotbench.figures.rows import Row
from iotbench.figures.summary import Summary
from simulator.errors import counted

_SOLID, _LIGHT = "█", "░"
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
_LONGEST_NAME = 32
_LEAST_WIDTH = 8
_MOST_BARS = 40


@dataclass(frozen=True, slots=True)
class _Bar:
    name: str
    value: float
    highest: float
    """Value at the end of the lighter part."""
    text: str


def plot_of(summary: Summary, width: int) -> Iterator[str]:
    """Yield the lines of a picture and an empty line; nothing if the picture has no bars."""
    title, bars = _list_bars(summary)
    most = max((bar.highest for bar in bars), default=0.0)
    if not most or len(bars) > _MOST_BARS:
        return
    names = max(len(bar.name) for bar in bars)
    texts = max(len(bar.text) for bar in bars)
    room = max(width - names - texts - 2, _LEAST_WIDTH)
    yield title
    for bar in bars:
        drawn = draw_bar(bar.value / most * room, bar.highest / most * room)
        yield f"{bar.name:>{names}} {drawn:<{room}} {bar.text:>{texts}}"
    yield ""


def draw_bar(value: float, highest: float = 0.0) -> str:
    """Return a bar drawn with whole and eighth blocks, followed by its lighter part."""
    eighths = round(8 * value)
    solid = _SOLID * (eighths // 8) + _EIGHTHS[eighths % 8]
    return solid + _LIGHT * (round(highest) - len(solid))


def _list_bars(summary: Summary) -> tuple[str, Sequence[_Bar]]:
    rows = [row for row in summary.rows if row.figures]
    if not summary.subject.figures:
        return "", []
    if summary.subject.is_named:
        several = len({row.place.workers for row in rows}) > 1
        of = "Latency of inserts, wait of queries" if any(r.place.load for r in rows) else "Wait"
        return f"{of} in ms: median ({_LIGHT} up to p99)", [
            _draw_wait(row, several=several and not row.place.load) for row in rows
        ]
    return f"Rows/s ({_LIGHT} up to the fastest run)", [*map(_draw_rate, rows)]


def _draw_rate(row: Row) -> _Bar:
    rate = row.figures["rows_per_s"]
    text = format_value(rate.value, Unit.ROWS_PER_S)
    return _Bar(str(row.place), rate.value, rate.high or rate.value, text)


def _draw_wait(row: Row, *, several: bool) -> _Bar:
    median, p99 = row.figures["p50_ms"].value, row.value("p99_ms")
    name = row.place.name
    name = name if len(name) <= _LONGEST_NAME else f"{name:.{_LONGEST_NAME - 3}}..."
    at = f", {counted(row.place.workers or 0, 'worker')}" if several else ""
    beyond = "" if p99 is None else f" {_LIGHT} {significant(p99)}"
    return _Bar(f"{name}{at}", median, p99 or median, f"{significant(median)}{beyond}")
