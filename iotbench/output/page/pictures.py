"""Draws pictures of figures, as the kinds of measurements declare them."""

from collections.abc import Iterator, Sequence

from iotbench.figures.figures import FIGURES, Better, FigureValue, Unit, unit_of
from iotbench.figures.numbers import format_value
from iotbench.figures.pictures import Over, Ranges
from iotbench.figures.rows import Row
from iotbench.output.page import charts
from iotbench.output.page.charts import Axis, Bar, ChartPoint, ChartSeries
from iotbench.output.page.content import PageTable, Picture
from iotbench.output.page.measured import PageResult

_LABELS = {"level": "rows in the tables before", "stage": "stages", "workers": "workers"}


Rows = tuple[PageResult, Sequence[Row]]
"""A result, and those of its rows that a picture shows."""


def chunks(shown: Sequence[Rows], most: int = charts.MOST_SERIES) -> Iterator[Sequence[Rows]]:
    """Yield the results in groups, one group for each picture."""
    for start in range(0, len(shown), most):
        yield shown[start : start + most]


def picture_over(drawn: Over, shown: Sequence[Rows]) -> Iterator[Picture]:
    """Yield the pictures of a figure, all with the same scale; many bars are sorted by value."""
    figure = FIGURES[drawn.figure]
    share = figure.unit is Unit.SHARE
    points = [point for _, rows in shown for point in _list_points(drawn, rows)]
    values = [v for p in points for v in (p.y, p.low, p.high) if v is not None]
    several = len(shown) > charts.MOST_SERIES
    ends = (min(values), max(values)) if several and values else None
    is_far = ends is not None and ends[1] > charts.FAR * max(ends[0], 0.0)
    is_log = figure.unit is Unit.MILLISECONDS or (is_far and not share)
    y = Axis("" if share else figure.unit.value, log=is_log, share=share, ends=ends)
    if len(points) > len(shown):
        for some in chunks(shown):
            yield _draw_over(drawn, y, some)
        return
    if several:
        is_better = figure.better is Better.HIGHER
        shown = sorted(shown, key=lambda each: _find_first(drawn, each), reverse=is_better)
    for some in chunks(shown, charts.MOST_BARS):
        yield _draw_over(drawn, y, some)


def _find_first(drawn: Over, shown: Rows) -> float:
    return next((point.y for point in _list_points(drawn, shown[1])), 0.0)


def _draw_over(drawn: Over, y: Axis, shown: Sequence[Rows]) -> Picture:
    series = [ChartSeries(m.label, m.style, [*_list_points(drawn, rows)]) for m, rows in shown]
    if any(len(each.points) > 1 for each in series):
        x = Axis(_LABELS[drawn.dimension], counts=drawn.dimension != "level")
        svg = charts.draw_lines(drawn.title, x, y, series)
    else:
        bars = [
            Bar(each.label, each.style, (point.y,), point.low, point.high)
            for each in series
            for point in each.points
        ]
        svg = charts.draw_bars(drawn.title, y, bars)
    ranged = any(point.low is not None for each in series for point in each.points)
    of = "repeat" if any(measured.is_repeated for measured, _ in shown) else "run"
    note = f"The lines at a value reach from its lowest to its highest {of}." if ranged else ""
    return Picture(drawn.title, svg, table_of(shown, [drawn.figure]), note)


def _list_points(drawn: Over, rows: Sequence[Row]) -> Iterator[ChartPoint]:
    for row in rows:
        if found := row.figures.get(drawn.figure):
            at = float(row.place.dimensions[drawn.dimension])
            yield ChartPoint(at, found.value, found.low, found.high)


def picture_ranges(drawn: Ranges, shown: Sequence[Rows]) -> Picture:
    """Return the picture of the ranges between two figures of named rows."""
    names = [*dict.fromkeys(row.place.name for _, rows in shown for row in rows)]
    series = [
        ChartSeries(
            measured.label,
            measured.style,
            [
                ChartPoint(
                    names.index(row.place.name),
                    row.figures[drawn.low].value,
                    high=row.value(drawn.high),
                )
                for row in rows
            ],
        )
        for measured, rows in shown
    ]
    unit = FIGURES[drawn.low].unit.value
    svg = charts.draw_ranges(drawn.title, Axis(unit, log=True), names, series)
    table = table_of(shown, [drawn.low, drawn.high, *drawn.beside])
    return Picture(drawn.title, svg, table, drawn.note)


def table_of(shown: Sequence[Rows], figures: Sequence[str]) -> PageTable:
    """Return the table of a picture, with number of values, ends and spread of the first figure."""
    rows = [(measured, row) for measured, of in shown for row in of]
    subject, first = shown[0][0].summary.subject, figures[0]
    found = [row.figures.get(first) for _, row in rows]
    ranged = any(each is not None and each.low is not None for each in found)
    ends = {"Lowest": f"{first}_min", "Highest": f"{first}_max"} if ranged else {}
    records = [
        {
            "Result": measured.label,
            subject.title: row.place.name,
            **({} if subject.name == "workers" else {"Workers": f"{row.place.workers:,}"}),
            **{FIGURES[name].title: figure_text(row, name) for name in figures},
            **{title: figure_text(row, name) for title, name in ends.items()},
            "n": f"{each.n:,}" if each else "-",
            "Spread": spread_text(each),
            "Durability": measured.durability,
            "Verdict": row.judged,
        }
        for (measured, row), each in zip(rows, found, strict=True)
    ]
    return PageTable(records)


def figure_text(row: Row, name: str) -> str:
    """Return a figure of a row, or one of its facets, as text; a dash if it was not measured."""
    value, unit = row.value(name), unit_of(name)
    return "-" if value is None or unit is None else format_value(value, unit)


def spread_text(found: FigureValue | None) -> str:
    """Return the spread of a figure as text; a dash if the spread is unknown."""
    return "-" if found is None or found.spread is None else f"{found.spread:.1%}"
