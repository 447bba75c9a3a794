"""Pictures of figures, as they are declared, drawn by one builder."""

from collections.abc import Iterator, Sequence
from itertools import chain

from cli.kinds import kind_of
from cli.page import charts
from cli.page.charts import Axis, Bar, Point, Series
from cli.page.content import VERDICT, Column, Picture, Section, Table, number, words
from cli.page.measured import Measured
from cli.report.numbers import written
from cli.summary.figures import FIGURES, Measurement, Unit, unit_of
from cli.summary.pictures import Over, Ranges
from cli.summary.rows import Row
from cli.summary.subjects import WORKERS

_LABELS = {"level": "rows in the tables before", "stage": "stages", "workers": "workers"}


Rows = tuple[Measured, Sequence[Row]]
"""A result, and the rows of it that a picture shows."""


def chunks(shown: Sequence[Rows], name: str) -> Iterator[tuple[str, Sequence[Rows]]]:
    """Yield a name and as many results as a picture has room for."""
    for start in range(0, len(shown), charts.MOST_SERIES):
        yield f"{name}-{start}", shown[start : start + charts.MOST_SERIES]


def section(name: str, group: Sequence[Measured]) -> Section:
    """Return what equal results show side by side, as their kind declares it."""
    kind, workload = kind_of(group[0].result), group[0].result.dataset.workload
    drawn = [_drawn(name, number, each, group) for number, each in enumerate(kind.pictures)]
    return Section(name, f"{kind.title}, workload {workload}", (), [*chain.from_iterable(drawn)])


def _drawn(
    prefix: str, number: int, declared: Over | Ranges, group: Sequence[Measured]
) -> Iterator[Picture]:
    """Yield a declared picture of the rows that have its figure, or several for many results."""
    figure = declared.figure if isinstance(declared, Over) else declared.low
    having = [(each, [r for r in each.summary.rows if figure in r.figures]) for each in group]
    for name, some in chunks([(each, rows) for each, rows in having if rows], f"{prefix}-{number}"):
        yield (
            over(name, declared, some)
            if isinstance(declared, Over)
            else ranges(name, declared, some)
        )


def over(name: str, drawn: Over, shown: Sequence[Rows]) -> Picture:
    """Return the picture of a figure."""
    figure = FIGURES[drawn.figure]
    share = figure.unit is Unit.SHARE
    is_time = figure.unit is Unit.MILLISECONDS
    y = Axis("" if share else figure.unit.value, log=is_time, share=share)
    series = [Series(m.label, m.style, [*_points(drawn, rows)]) for m, rows in shown]
    if any(len(each.points) > 1 for each in series):
        x = Axis(_LABELS[drawn.dimension], counts=drawn.dimension != "level")
        svg = charts.lines(name, drawn.title, x, y, series)
    else:
        bars = [
            Bar(each.label, each.style, (point.y,), point.low, point.high)
            for each in series
            for point in each.points
        ]
        svg = charts.bars(name, drawn.title, y, bars)
    ranged = any(point.low is not None for each in series for point in each.points)
    of = "repeat" if any(measured.is_repeated for measured, _ in shown) else "run"
    note = f"The lines at a value reach from its lowest to its highest {of}." if ranged else ""
    return Picture(drawn.title, svg, table_of(shown, [drawn.figure]), note)


def _points(drawn: Over, rows: Sequence[Row]) -> Iterator[Point]:
    for row in rows:
        if found := row.figures.get(drawn.figure):
            at = float(row.place.dimensions[drawn.dimension])
            yield Point(at, found.value, found.low, found.high)


def ranges(name: str, drawn: Ranges, shown: Sequence[Rows]) -> Picture:
    """Return the picture of two figures of rows that have names."""
    names = [*dict.fromkeys(row.place.name for _, rows in shown for row in rows)]
    series = [
        Series(
            measured.label,
            measured.style,
            [
                Point(
                    names.index(row.place.name),
                    row.figures[drawn.low].value,
                    high=row.figures[drawn.high].value,
                )
                for row in rows
            ],
        )
        for measured, rows in shown
    ]
    unit = FIGURES[drawn.low].unit.value
    svg = charts.ranges(name, drawn.title, Axis(unit, log=True), names, series)
    table = table_of(shown, [drawn.low, drawn.high, *drawn.beside])
    return Picture(drawn.title, svg, table, drawn.note)


def table_of(shown: Sequence[Rows], figures: Sequence[str]) -> Table:
    """Return the table behind a picture: n, ends and spread are those of the first figure."""
    rows = [(measured, row) for measured, of in shown for row in of]
    subject = shown[0][0].summary.subject if shown else WORKERS
    by_workers = subject.name == "workers"
    first = [row.figures.get(figures[0]) for _, row in rows]
    ranged = any(found is not None and found.low is not None for found in first)
    columns = [words("Result"), Column(subject.title, text=subject.is_named)]
    columns += [] if by_workers else [number("Workers")]
    columns += [number(FIGURES[name].title) for name in figures]
    columns += [number("Lowest"), number("Highest")] * ranged
    columns += [number("n"), number("Spread"), words("Durability"), VERDICT]
    cells = [
        [
            measured.label,
            row.place.name,
            *([] if by_workers else [f"{row.place.workers:,}"]),
            *(figure_text(row, name) for name in figures),
            *[figure_text(row, f"{figures[0]}{end}") for end in ("_min", "_max")] * ranged,
            f"{found.n:,}" if found else "-",
            spread_text(found),
            measured.durability,
            row.verdict,
        ]
        for (measured, row), found in zip(rows, first, strict=True)
    ]
    return Table(columns, cells)


def figure_text(row: Row, name: str) -> str:
    """Return a figure of a row, or a facet of one, with its unit's digits; or a dash."""
    value, unit = row.value(name), unit_of(name)
    return "-" if value is None or unit is None else written(value, unit)


def spread_text(found: Measurement | None) -> str:
    """Return the spread of a figure, or a dash."""
    return "-" if found is None or found.spread is None else f"{found.spread:.1%}"
