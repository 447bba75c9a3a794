"""The kinds of pictures: lines, ranges, bars and the course of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

from cli.page.drawing import LETTER_PT, drawn
from cli.page.style import INK, MUTED, PAPER, Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_SERIES = 8
"""More are drawn in several pictures."""
_LONGEST_LABEL = 30
_ROW_PT = 15.0
_TIMED = ("insert", "query")
_WORK, _FAILURES = ("v", "d", "h", "p"), ("X", "P", "s", "*")
"""Markers of the server's own work, and of failures."""
_MOST_WHOLE_MARKS = 30
_ROW_OF_MARKS = 0.08
"""Height of a row of markers, as a part of the picture's."""
_TONES = (0.5, 0.22, 0.36, 0.64, 0.15, 0.43)
"""Of the phases beside the timed one: a printer shows them, too."""


@dataclass(frozen=True, slots=True)
class Point:
    """A value at a place; with the lowest and highest one where there are several."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one thing."""

    label: str
    style: Style
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class Axis:
    """What an axis counts."""

    label: str
    log: bool = False
    share: bool = False
    counts: bool = False
    """Its values are few whole numbers, each of which is written."""
    percentiles: bool = False
    """Its values are -log10(1 - share)."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of several parts, one after the other, with the range of its whole."""

    label: str
    style: Style
    parts: Sequence[float]
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A phase of a run, in seconds from the common start."""

    name: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened at one moment of a run."""

    at_s: float
    kind: str
    style: Style
    """That of the run."""
    is_failure: bool = False


def short(label: str) -> str:
    """Return a label that a picture has room for; its table has the whole one."""
    return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}…"


def lines(  # noqa: PLR0913
    name: str,
    title: str,
    x: Axis,
    y: Axis,
    series: Sequence[Series],
    *,
    marked: bool = True,
    limit: float | None = None,
) -> str:
    """Return series over a number, with a marker at each value, and a line at a limit."""

    def draw(axes: "Sequence[Axes]") -> None:
        (ax,) = axes
        for each in series:
            _add_line(ax, each, marked=marked)
        if limit:
            ax.axhline(limit, color=MUTED, linewidth=1, dashes=(2, 2))
        _scale(ax, x, y, [p for each in series for p in each.points])

    legend = [short(each.label) for each in series]
    return drawn(name, title, draw, legend=legend if len(series) > 1 else ())


def _add_line(ax: "Axes", series: Series, *, marked: bool) -> None:
    xs, ys = [p.x for p in series.points], [p.y for p in series.points]
    look: dict[str, Any] = {
        "color": series.style.ink,
        "label": short(series.label),
        "marker": series.style.marker if marked else None,
    }
    if series.style.dash:
        look["dashes"] = series.style.dash
    ax.plot(xs, ys, **look)
    ranged = [p for p in series.points if p.low is not None and p.high is not None]
    if ranged:
        below = [p.y - (p.low or 0.0) for p in ranged]
        above = [(p.high or 0.0) - p.y for p in ranged]
        where = [p.x for p in ranged], [p.y for p in ranged]
        ax.errorbar(*where, yerr=[below, above], fmt="none", ecolor=series.style.ink, elinewidth=1)


def _scale(ax: "Axes", x: Axis, y: Axis, points: Sequence[Point]) -> None:
    from matplotlib.ticker import FixedLocator, NullLocator  # noqa: PLC0415

    ax.set_xlabel(x.label)
    ax.set_title(y.label, fontsize=10)
    xs = sorted({p.x for p in points})
    if x.counts:
        if xs and xs[0] > 0 and xs[-1] > 8 * xs[0]:
            ax.set_xscale("log", base=2)
        ax.xaxis.set_major_locator(FixedLocator(xs if len(xs) < 12 else xs[:: len(xs) // 8]))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.margins(x=0.06)
    if x.percentiles:
        shown = [
            (0.0, "0"),
            (0.30103, "50"),
            (1, "90"),
            (2, "99"),
            (3, "99.9"),
            (4, "99.99"),
            (5, "99.999"),
        ]
        kept = [each for each in shown if each[0] <= (xs[-1] if xs else 0)]
        ax.set_xticks([at for at, _ in kept], [f"{text} %" for _, text in kept])
    else:
        ax.xaxis.set_major_formatter(_written)
    if y.log and all(p.y > 0 for p in points):
        ax.set_yscale("log")
        _mark_powers(ax.yaxis, ax.get_ylim())
    elif y.share:
        ax.set_ylim(0, 1.02)
        ax.yaxis.set_major_locator(FixedLocator([0, 0.25, 0.5, 0.75, 1]))
    else:
        ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter(_percent if y.share else _written)


def _mark_powers(axis: Any, limits: tuple[float, float]) -> None:
    """Have a logarithmic axis show 1, 2, 5, 10, ...; of a wide one only the powers of ten."""
    from matplotlib.ticker import LogLocator, NullLocator  # noqa: PLC0415

    low, high = limits
    axis.set_major_locator(LogLocator(10, (1.0, 2.0, 5.0) if high < 200 * low else (1.0,)))
    axis.set_minor_locator(NullLocator())


def _percent(value: float, _: Any = None) -> str:
    return f"{value:.0%}"


def _written(value: float, _: Any = None) -> str:
    """Return the text of a mark: 0.5, 20, 10k, 1.5M."""
    size = abs(value)
    for least, divisor, letter in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if size >= least:
            return f"{value / divisor:g}{letter}"
    return f"{value:,.0f}" if size >= 1000 else f"{value:g}"


def bars(name: str, title: str, x: Axis, found: Sequence[Bar], parts: Sequence[str] = ("",)) -> str:
    """Return lying bars, one below the other; with several `parts` a part is a pattern."""
    several = len(parts) > 1

    def draw(axes: "Sequence[Axes]") -> None:
        (ax,) = axes
        rows = range(len(found))
        before = [0.0] * len(found)
        for number, part in enumerate(parts):
            lengths = [bar.parts[number] for bar in found]
            ax.barh(
                rows,
                lengths,
                left=before,
                height=0.66,
                color=[bar.style.ink for bar in found],
                alpha=0.4 if number else 1.0,
                label=part,
                edgecolor=PAPER,
                linewidth=0.5,
            )
            before = [a + b for a, b in zip(before, lengths, strict=True)]
        for row, bar in zip(rows, found, strict=True):
            if bar.low is not None and bar.high is not None:
                ax.plot([bar.low, bar.high], [row, row], color=INK, linewidth=1.2)
                ax.plot([bar.low, bar.high], [row, row], "|", color=INK, markeredgewidth=1.2)
        _rows(ax, [bar.label for bar in found])
        ax.set_xlim(left=0, right=None if any(before) else 1)
        ax.set_xlabel(x.label)
        ax.xaxis.set_major_formatter(_percent if x.share else _written)

    labels = [bar.label for bar in found]
    legend = parts if several else ()
    height, left = _height(len(found)), _left(labels)
    return drawn(name, title, draw, height_pt=height, left_pt=left, top_pt=6.0, legend=legend)


def ranges(name: str, title: str, x: Axis, rows: Sequence[str], series: Sequence[Series]) -> str:
    """Return a row for each name: a marker at the value of each series, a line to its highest."""

    def draw(axes: "Sequence[Axes]") -> None:
        (ax,) = axes
        for number, each in enumerate(series):
            shift = (number - (len(series) - 1) / 2) * 0.7 / max(len(series), 2)
            at = [p.x + shift for p in each.points]
            values = [p.y for p in each.points]
            highs = [p.y if p.high is None else p.high for p in each.points]
            ax.hlines(at, values, highs, color=each.style.ink, linewidth=1.2)
            ax.plot(highs, at, "|", color=each.style.ink, markeredgewidth=1.2)
            ax.plot(values, at, each.style.marker, color=each.style.ink, label=short(each.label))
        every = [p for each in series for p in each.points]
        if x.log and all(p.y > 0 for p in every):
            ax.set_xscale("log")
            _mark_powers(ax.xaxis, ax.get_xlim())
        _rows(ax, rows)
        ax.set_xlabel(x.label)
        ax.xaxis.set_major_formatter(_written)

    legend = [short(each.label) for each in series]
    height = max(_height(len(rows)), 46 + len(rows) * len(series) * 8.0)
    legend = legend if len(series) > 1 else []
    left = _left(rows)
    return drawn(name, title, draw, height_pt=height, left_pt=left, top_pt=6.0, legend=legend)


def _rows(ax: "Axes", labels: Sequence[str]) -> None:
    ax.set_yticks(range(len(labels)), [short(label) for label in labels])
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.grid(visible=False, axis="y")
    ax.grid(visible=True, axis="x")


def _height(rows: int) -> float:
    return 46.0 + max(rows, 2) * _ROW_PT


def _left(labels: Sequence[str]) -> float:
    return 12 + LETTER_PT * max((len(short(label)) for label in labels), default=0)


def course(  # noqa: PLR0913
    name: str,
    title: str,
    y: Axis,
    series: Sequence[Series],
    phases: Mapping[str, Sequence[Span]],
    *,
    marks: Sequence[Mark] = (),
) -> str:
    """Return values over time with marks, and below them rows of phases as bars."""
    names = [*dict.fromkeys(span.name for spans in phases.values() for span in spans)]

    def draw(axes: "Sequence[Axes]") -> None:
        above, below = axes
        for each in series:
            _add_line(above, each, marked=False)
        _scale(above, Axis(""), y, [p for each in series for p in each.points])
        _add_marks(above, marks)
        above.tick_params(axis="x", length=0, labelbottom=False)
        for number, phase in enumerate(names):
            _add_phase(below, number, phase, [*phases.values()])
        _rows(below, [*phases])
        below.set_xlabel("seconds")

    legend = [short(each.label) for each in series] if len(series) > 1 else []
    return drawn(
        name,
        title,
        draw,
        height_pt=150.0 + _height(len(phases)),
        left_pt=max(_left([*phases]), 48.0),
        legend=[*legend, *names, *dict.fromkeys(mark.kind for mark in marks)],
        ratios=(130.0, _ROW_PT * max(len(phases), 2)),
    )


def _add_marks(ax: "Axes", marks: Sequence[Mark]) -> None:
    """Add a line in the colour of its run at each mark; each kind has a marker in a row of its own.

    Of many marks the lines are short, so that the values behind them can be seen.
    """
    kinds = dict.fromkeys((mark.kind, mark.is_failure) for mark in marks)
    if not kinds:
        return
    ax.set_ylim(top=ax.get_ylim()[1] / (1 - _ROW_OF_MARKS * (len(kinds) + 0.5)))
    shapes = {True: cycle(_FAILURES), False: cycle(_WORK)}
    for row, (kind, is_failure) in enumerate(kinds, 1):
        shape, top = next(shapes[is_failure]), 1 - _ROW_OF_MARKS * (row - 0.5)
        low = 0.0 if len(marks) <= _MOST_WHOLE_MARKS else top - _ROW_OF_MARKS / 2
        ax.plot([], [], shape, color=INK, label=kind)
        for style in dict.fromkeys(mark.style for mark in marks):
            look: dict[str, Any] = {"color": style.ink, "transform": ax.get_xaxis_transform()}
            at_s = [mark.at_s for mark in marks if (mark.kind, mark.style) == (kind, style)]
            dashes = "-" if is_failure else (0, (3, 2))
            ax.vlines(at_s, low, top, linewidth=1.0, linestyle=dashes, **look)
            ax.plot(at_s, [top] * len(at_s), shape, **look)


def _add_phase(ax: "Axes", number: int, name: str, rows: Sequence[Sequence[Span]]) -> None:
    """Add the bars of one phase in all rows, in a pattern of its own."""
    tone = 0.85 if name in _TIMED else _TONES[number % len(_TONES)]
    for row, spans in enumerate(rows):
        ax.broken_barh(
            [(span.start_s, span.end_s - span.start_s) for span in spans if span.name == name],
            (row - 0.33, 0.66),
            facecolor=INK,
            alpha=tone,
            edgecolor=PAPER,
            linewidth=0.5,
            label="" if row else name,
        )
