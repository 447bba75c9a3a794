"""Draws the course of runs: values over time with marks, and phases below."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from statistics import fmean

from iotbench.output.page.charts import (
    LONGEST_LABEL_PX,
    ROW_PX,
    Axis,
    ChartPoint,
    ChartSeries,
    encode_keys,
    legend_of,
    rows_axis,
    rows_of,
    scale_numbers,
    upward,
)
from iotbench.output.page.drawing import LETTER_PX, WIDTH_PX, Spec, draw
from iotbench.output.page.style import INK, PAPER, SeriesStyle

_HEIGHT_PX = 120.0
_TIMED = ("insert", "query")
_TONES = (0.5, 0.22, 0.36, 0.64, 0.15, 0.43)
"""Tones of the phases without timed work, which are distinct in print."""
_WORK = ("triangle-down", "diamond", "triangle-up", "circle")
_FAILURES = ("cross", "square", "triangle-left", "triangle-right")
"""Markers of failures; `_WORK` are the markers of the server's own work."""
_MOST_WHOLE_MARKS = 30
_STEP_PX = 3.0
"""Minimum distance between values, about the width of a line."""
_BAND_OPACITY = 0.2
_MARK_PX = 12.0
"""Height of a row of markers."""


@dataclass(frozen=True, slots=True)
class PhaseSpan:
    """A phase of a run, in seconds from the common start."""

    name: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class TimelineMark:
    """An occurrence in a run."""

    at_s: float
    kind: str
    style: SeriesStyle
    """Style of the run."""
    is_failure: bool = False


def draw_course(
    title: str,
    y: Axis,
    series: Sequence[ChartSeries],
    phases: Mapping[str, Sequence[PhaseSpan]],
    marks: Sequence[TimelineMark] = (),
) -> str:
    """Return a picture of values over time with marks, and rows of phases below.

    If the picture has more values than pixels, a line shows means, and a band the range of values.
    """
    left_px = max(min(max(map(len, phases)) * LETTER_PX, LONGEST_LABEL_PX) + 10, 44.0)
    width_px = WIDTH_PX - left_px - 18
    times = [t for spans in phases.values() for span in spans for t in (span.start_s, span.end_s)]
    times += [p.x for each in series for p in each.points] + [mark.at_s for mark in marks]
    domain = min(times), max(times)
    series = [replace(each, points=thin(each.points, domain, width_px)) for each in series]
    place = {"type": "quantitative", "scale": {"domain": [*domain], "nice": False}}
    width = {"width": width_px}
    return draw(
        title,
        {
            "spacing": 6,
            "vconcat": [
                width | _draw_values(y, series, marks, place),
                width | _draw_phases(phases, place),
            ],
        },
    )


def thin(
    points: Sequence[ChartPoint], domain: tuple[float, float], width_px: float
) -> list[ChartPoint]:
    """Return the points; if the picture has too many, return the mean and range of each column."""
    if len(points) <= width_px:
        return [*points]
    start, end = domain
    step = _STEP_PX / width_px * (end - start)
    found: dict[int, list[float]] = defaultdict(list)
    for point in points:
        found[int((point.x - start) / step)].append(point.y)
    return [
        ChartPoint(start + (number + 0.5) * step, fmean(some), min(some), max(some))
        for number, some in found.items()
    ]


def _draw_bands(series: Sequence[ChartSeries], place: Spec, value: Spec) -> Iterator[Spec]:
    """Yield the area between the lowest and highest values of each thinned series."""
    for each in series:
        if any(point.low is not None for point in each.points):
            ends = {"y": {"field": "low", **value}, "y2": {"field": "high"}}
            yield {
                "data": {"values": rows_of([each])},
                "mark": {"type": "area", "color": each.style.ink, "opacity": _BAND_OPACITY},
                "encoding": {"x": {"field": "x", **place}, **ends},
            }


def _draw_values(
    y: Axis, series: Sequence[ChartSeries], marks: Sequence[TimelineMark], place: Spec
) -> Spec:
    points = [point for each in series for point in each.points]
    kinds = [*dict.fromkeys((mark.kind, mark.is_failure) for mark in marks)]
    height_px = _HEIGHT_PX + _MARK_PX * len(kinds)
    hidden = {"title": None, "labels": False, "ticks": False}
    value = {"type": "quantitative", **upward(y, points)}
    value["scale"] |= {"range": [height_px, _MARK_PX * len(kinds)]}
    encoding = {
        "x": {"field": "x", **place, "axis": hidden},
        "y": {"field": "y", **value},
        **encode_keys(series, dashed=True),
    }
    lines: Spec = {"data": {"values": rows_of(series)}, "mark": "line", "encoding": encoding}
    bands = _draw_bands(series, place, value)
    work = _draw_marks(marks, kinds, place, height_px)
    return {"height": height_px, "layer": [*bands, lines, *work]}


def _draw_marks(
    marks: Sequence[TimelineMark], kinds: Sequence[tuple[str, bool]], place: Spec, height_px: float
) -> list[Spec]:
    """Return the layers of marks: a row of markers for each kind, and a line at each mark.

    If the picture has many marks, the lines are short, so that values remain visible.
    """
    if not marks:
        return []
    shapes = {True: cycle(_FAILURES), False: cycle(_WORK)}
    markers = [next(shapes[is_failure]) for _, is_failure in kinds]
    is_short = len(marks) > _MOST_WHOLE_MARKS
    data = [
        {"x": mark.at_s, "kind": f"k{kind}", "ink": mark.style.ink, "top": top_px,
         "end": top_px + _MARK_PX / 2 if is_short else height_px}
        for mark in marks
        for kind in [kinds.index((mark.kind, mark.is_failure))]
        for top_px in [_MARK_PX * (kind + 0.5)]
    ]  # fmt: skip
    ink = {"color": {"field": "ink", "type": "nominal", "scale": None}}
    pixels = {"type": "quantitative", "scale": None, "axis": None}
    there = {"x": {"field": "x", **place}, "y": {"field": "top", **pixels}, **ink}
    legend = legend_of([kind for kind, _ in kinds], "k") | {
        "symbolFillColor": INK,
        "symbolStrokeWidth": 0,
    }
    shape = {
        "field": "kind", "type": "nominal", "legend": legend,
        "scale": scale_numbers(markers, "k"),
    }  # fmt: skip
    rule = {"type": "rule", "strokeWidth": 1, "strokeDash": [3, 2]}
    return [
        {"data": {"values": data}, "mark": rule, "encoding": there | {"y2": {"field": "end"}}},
        {"data": {"values": data}, "mark": "point", "encoding": there | {"shape": shape}},
    ]


def _draw_phases(phases: Mapping[str, Sequence[PhaseSpan]], place: Spec) -> Spec:
    names = [*dict.fromkeys(span.name for spans in phases.values() for span in spans)]
    data = [
        {"row": row, "phase": f"p{names.index(span.name)}", "from": span.start_s, "to": span.end_s}
        for row, spans in enumerate(phases.values())
        for span in spans
    ]
    tones = [0.85 if n in _TIMED else _TONES[i % len(_TONES)] for i, n in enumerate(names)]
    legend = legend_of(names, "p") | {"symbolFillColor": INK, "symbolType": "square"}
    across = {"title": "seconds", "grid": True, "domain": False, "ticks": False, "tickCount": 8}
    return {
        "height": ROW_PX * max(len(phases), 2),
        "data": {"values": data},
        "mark": {"type": "bar", "color": INK, "stroke": PAPER, "strokeWidth": 0.5},
        "encoding": {
            "x": {"field": "from", **place, "axis": across},
            "x2": {"field": "to"},
            "y": rows_axis([*phases]),
            "opacity": {
                "field": "phase", "type": "nominal", "legend": legend,
                "scale": scale_numbers(tones, "p"),
            },
        },
    }  # fmt: skip
