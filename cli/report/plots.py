"""A small picture of a summary for a terminal: bars of rates, or of the waits of queries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cli.report.numbers import significant, written
from cli.summary.figures import Row, Summary, Unit
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
    """Up to here the bar goes on, in a lighter tone."""
    text: str


def plot_of(summary: Summary, width: int) -> Iterator[str]:
    """Yield the lines of a picture that fits a width, and an empty line; nothing without bars."""
    title, bars = _bars(summary)
    most = max((bar.highest for bar in bars), default=0.0)
    if not most or len(bars) > _MOST_BARS:
        return
    names = max(len(bar.name) for bar in bars)
    texts = max(len(bar.text) for bar in bars)
    room = max(width - names - texts - 2, _LEAST_WIDTH)
    yield title
    for bar in bars:
        drawn = _drawn(bar.value / most * room, bar.highest / most * room)
        yield f"{bar.name:>{names}} {drawn:<{room}} {bar.text:>{texts}}"
    yield ""


def _drawn(value: float, highest: float) -> str:
    """Return a bar of so many characters, to an eighth of one; the rest in a lighter tone."""
    eighths = round(8 * value)
    solid = _SOLID * (eighths // 8) + _EIGHTHS[eighths % 8]
    return solid + _LIGHT * (round(highest) - len(solid))


def _bars(summary: Summary) -> tuple[str, Sequence[_Bar]]:
    rows = [row for row in summary.rows if row.figures]
    match summary.subject:
        case "workers":
            title = f"Average rows/s ({_LIGHT} up to the fastest run)"
            return title, [_rate(row, counted(int(row.name), "worker"), "avg") for row in rows]
        case "level":
            return "Rows/s by level", [_rate(row, f"{row.name:,}", "") for row in rows]
        case "stage":
            names = [f"stage {row.name}, {counted(row.workers, 'worker')}" for row in rows]
            bars = [_rate(row, name, "") for row, name in zip(rows, names, strict=True)]
            return "Rows/s by stage", bars
        case "load":
            title = f"Latency of inserts, wait of queries in ms: median ({_LIGHT} up to p99)"
            return title, [_wait(row, "p50_ms", "p99_ms") for row in rows]
        case "query":
            several = len({row.workers for row in rows}) > 1
            return f"Wait in ms: median ({_LIGHT} up to p99)", [
                _wait(row, "wait_ms_p50", "wait_ms_p99", several=several) for row in rows
            ]
    return "", []


def _rate(row: Row, name: str, kind: str) -> _Bar:
    value = row.figures[f"rows_per_s_{kind}".rstrip("_")].value
    highest = row.figures.get("rows_per_s_max")
    text = written(value, Unit.ROWS_PER_S)
    return _Bar(name, value, highest.value if highest else value, text)


def _wait(row: Row, middle: str, high: str, *, several: bool = False) -> _Bar:
    median, p99 = row.figures[middle].value, row.figures[high].value
    name = (
        str(row.name)
        if len(str(row.name)) <= _LONGEST_NAME
        else f"{row.name:.{_LONGEST_NAME - 3}}..."
    )
    at = f", {counted(row.workers, 'worker')}" if several else ""
    return _Bar(f"{name}{at}", median, p99, f"{significant(median)} {_LIGHT} {significant(p99)}")
