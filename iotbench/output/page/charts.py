"""Draws the kinds of pictures: lines, ranges and bars."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any

from iotbench.machine.cleaning import in_picture
from iotbench.output.page.drawing import LETTER_PX, WIDTH_PX, Spec, draw
from iotbench.output.page.style import INK, MUTED, PAPER, SeriesStyle

MOST_SERIES = 8
MOST_BARS = 60
"""Maximum number of bars in a picture."""
LONGEST_LABEL_PX = 210
ROW_PX = 16.0
_HEIGHT_PX = 150.0
FAR = 30
"""Ratio of the largest to the smallest value above which a scale is logarithmic."""
_NARROW = 2
WIDE = 200
"""Ratio of the ends of a logarithmic axis above which only powers of ten are marked."""
WRITTEN = "abs(datum.value) >= 10000 ? format(datum.value, '~s') : format(datum.value, ',.6~g')"
"""Expression for the text of an axis mark, such as 0.5, 20, 2,000, 10k or 1.5M."""
_PERCENT = "format(datum.value, '.0%')"
_WHISKERS: Sequence[tuple[Spec, Sequence[str]]] = (
    ({"type": "rule"}, ("low", "high")),
    ({"type": "tick", "size": 7}, ("low",)),
    ({"type": "tick", "size": 7}, ("high",)),
)
"""(mark, fields of the mark's position) for each part of a range."""
_POINT: Spec = {"type": "point", "size": 14, "fill": PAPER, "stroke": INK, "strokeWidth": 1}
"""Mark of a single run."""
_PERCENTILES = {0: "0", 0.30103: "50", 1: "90", 2: "99", 3: "99.9", 4: "99.99", 5: "99.999"}
"""-log10(1 - share) -> percentage."""


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A value at a position; for several values, also the lowest and the highest value."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """The points and the style of a series."""

    label: str
    style: SeriesStyle
    points: Sequence[ChartPoint]


@dataclass(frozen=True, slots=True)
class Axis:
    """The quantity and the scale of an axis."""

    label: str
    log: bool = False
    share: bool = False
    counts: bool = False
    """True if the axis marks each value, because the values are few whole numbers."""
    percentiles: bool = False
    """True if values are -log10(1 - share)."""
    ends: tuple[float, float] | None = None
    """Ends of the axis for several pictures with the same scale; None for the ends of the
    values."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of consecutive parts, with the range of the sum of the parts."""

    label: str
    style: SeriesStyle
    parts: Sequence[float]
    low: float | None = None
    high: float | None = None
    runs: Sequence[float] = ()
    """Sums of single runs, which are drawn as points."""


def draw_lines(  # noqa: PLR0913
    title: str,
    x: Axis,
    y: Axis,
    series: Sequence[ChartSeries],
    *,
    marked: bool = True,
    limit: float | None = None,
) -> str:
    """Return a picture of series as lines, with a marker at each value, and a line at a limit."""
    return draw(
        title,
        {
            "width": WIDTH_PX,
            "height": _HEIGHT_PX,
            "autosize": {"type": "fit-x", "contains": "padding"},
            "layer": [*line_layers(x, y, series, marked=marked, limit=limit)],
        },
    )


def line_layers(
    x: Axis, y: Axis, series: Sequence[ChartSeries], *, marked: bool, limit: float | None = None
) -> Iterator[Spec]:
    """Yield the layers of a picture of series as lines."""
    points = [point for each in series for point in each.points]
    place = {"field": "x", "type": "quantitative", **_scale_horizontally(x, [p.x for p in points])}
    value = {"type": "quantitative", **upward(y, points)}
    if limit:
        at = {"y": {"datum": limit, **value}}
        look = {"type": "rule", "color": MUTED, "strokeDash": [3, 3], "strokeWidth": 1}
        yield {"data": {"values": [{}]}, "mark": look, "encoding": at}
    both = {"x": place, "y": {"field": "y", **value}, **encode_keys(series, dashed=True)}
    if marked:  # the legend shows the markers
        both["strokeDash"]["legend"] = None
        both["color"] = encode_keys(series)["color"]
    yield {"data": {"values": rows_of(series)}, "mark": "line", "encoding": both}
    if not marked:
        return
    with_ends = [row for row in rows_of(series) if "low" in row]
    if with_ends:
        ends = {"x": place, "y": {"field": "low", **value}, "y2": {"field": "high"}}
        look = {"type": "rule", "strokeWidth": 1}
        yield {"data": {"values": with_ends}, "mark": look, "encoding": ends | encode_keys(series)}
        look = {"type": "tick", "size": 6, "orient": "horizontal"}
        for end in ("low", "high"):
            at = {"x": place, "y": {"field": end, **value}, **encode_keys(series)}
            yield {"data": {"values": with_ends}, "mark": look, "encoding": at}
    shaped = {"x": place, "y": {"field": "y", **value}, **encode_keys(series, shaped=True)}
    yield {"data": {"values": rows_of(series)}, "mark": "point", "encoding": shaped}


def rows_of(series: Sequence[ChartSeries]) -> list[Spec]:
    """Return points as rows of data. Series have numbers, because a label may be any text."""
    return [
        {"s": f"s{number}", "x": p.x, "y": p.y}
        | ({} if p.low is None or p.high is None else {"low": p.low, "high": p.high})
        for number, each in enumerate(series)
        for p in each.points
    ]


def encode_keys(
    series: Sequence[ChartSeries], *, dashed: bool = False, shaped: bool = False
) -> Spec:
    """Return the encodings that distinguish series, with a common legend."""
    look = (
        {"symbolStrokeWidth": 0}
        if shaped or not dashed
        else {"symbolType": "stroke", "symbolSize": 160}
    )
    legend = legend_of([each.label for each in series]) | look if series[1:] else None

    def scale_axis(found: Iterable[Any]) -> Spec:
        return {"field": "s", "type": "nominal", "scale": scale_numbers(found), "legend": legend}

    dashes = {"strokeDash": scale_axis(list(each.style.dash) for each in series)} if dashed else {}
    shapes = {"shape": scale_axis(each.style.marker for each in series)} if shaped else {}
    return {"color": scale_axis(each.style.ink for each in series), **dashes, **shapes}


def scale_numbers(found: Iterable[Any], letter: str = "s") -> Spec:
    """Return a scale of numbered items; `letter` distinguishes the items of different legends."""
    looks = [*found]
    names = [f"{letter}{number}" for number in range(len(looks))]
    return {"type": "ordinal", "domain": names, "range": looks}


def legend_of(labels: Sequence[str], letter: str = "s") -> Spec:
    """Return a legend above a picture, in columns that fit the width."""
    widest_px = min(max(map(len, labels)) * LETTER_PX, LONGEST_LABEL_PX) + 44
    return {
        "columns": min(max(int(WIDTH_PX / widest_px), 1), len(labels)),
        "labelExpr": _map_labels(
            {f"{letter}{number}": label for number, label in enumerate(labels)}
        ),
        "labelLimit": LONGEST_LABEL_PX,
    }


def _map_labels(labels: Mapping[str, str]) -> str:
    """Return the expression that maps a value to its label."""
    return f"{json.dumps(in_picture(labels))}[datum.value]"


def _scale_horizontally(axis: Axis, values: Sequence[float]) -> Spec:
    """Return the horizontal scale and axis for numbers."""
    places = sorted({*values})
    scale: Spec = {"zero": False, "nice": False, "padding": 4}
    look: Spec = {"title": axis.label or None, "labelExpr": WRITTEN, "tickCount": 7}
    if axis.counts:
        scale["padding"] = 16
        look["tickCount"] = None
        look["values"] = places if len(places) < 12 else places[:: len(places) // 8]
        if places and places[0] > 0 and places[-1] > 8 * places[0]:
            scale |= {"type": "log", "base": 2}
            look["title"] = _format_log_title(axis)
    if axis.percentiles:
        shown = [at for at in _PERCENTILES if at <= max(places, default=0)]
        texts = {f"{at:g}": f"{_PERCENTILES[at]} %" for at in shown}
        look |= {"values": shown, "labelExpr": _map_labels(texts), "tickCount": None}
    return {"scale": scale, "axis": look}


def upward(axis: Axis, points: Sequence[ChartPoint]) -> Spec:
    """Return the vertical scale and axis for values."""
    values = [v for p in points for v in (p.y, p.low, p.high) if v is not None]
    values += axis.ends or ()
    look: Spec = {"title": axis.label or None, "labelExpr": WRITTEN, "tickCount": 5}
    if axis.log and values and min(values) > 0:
        look |= {"values": powers(values), "tickCount": None, "title": _format_log_title(axis)}
        return {"scale": logarithmic(values), "axis": look}
    if axis.share:
        look |= {"labelExpr": _PERCENT, "values": [0, 0.25, 0.5, 0.75, 1]}
        return {"scale": {"domain": [0, 1]}, "axis": look}
    return {"scale": {"domain": [0, max(values, default=0) or 1], "nice": True}, "axis": look}


def _format_log_title(axis: Axis) -> str:
    return ", ".join(filter(None, (axis.label, "log scale")))


def logarithmic(values: Sequence[float]) -> Spec:
    """Return a logarithmic scale for positive values, with room at both ends."""
    return {"type": "log", "domain": [*_find_ends(values)], "nice": False, "padding": 8}


def _find_ends(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of a logarithmic scale, which covers at least a few marks."""
    low, high = min(values), max(values)
    return (low, high) if high > _NARROW * low else (low / _NARROW, high * _NARROW)


def powers(values: Sequence[float]) -> list[float]:
    """Return the marks of a logarithmic axis: 1, 2, 5, 10, ...; on a wide axis, powers of ten."""
    low, high = _find_ends(values)
    steps = (1, 2, 5) if high < WIDE * low else (1,)
    exponents = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    return [10**exponent * step for exponent in exponents for step in steps
            if low / 1.3 <= 10**exponent * step <= high * 1.3]  # fmt: skip


def draw_bars(title: str, x: Axis, found: Sequence[Bar], parts: Sequence[str] = ("",)) -> str:
    """Return a picture of horizontal bars; each of several `parts` has its own tone.

    Values that are far apart are drawn as markers on a logarithmic axis, which has no zero for
    bars.
    """
    sums = [[*accumulate(bar.parts, initial=0.0)] for bar in found]
    data = [
        {"row": row, "part": f"p{part}", "from": start, "to": end, "ink": bar.style.ink}
        for row, (bar, ends) in enumerate(zip(found, sums, strict=True))
        for part, (start, end) in enumerate(pairwise(ends))
    ]
    whiskers = [
        {"row": row, "low": bar.low, "high": bar.high}
        for row, bar in enumerate(found)
        if bar.low is not None
    ]
    every = [v for bar in found for v in (sum(bar.parts), bar.low, bar.high) if v is not None]
    every += x.ends or ()
    is_log = x.log and not parts[1:] and min(every, default=0) > 0
    is_log &= max(every, default=0) > FAR * min(every, default=0)
    value = _scale_values(replace(x, log=is_log), every)
    there = {
        "y": rows_axis([bar.label for bar in found]),
        "color": {"field": "ink", "type": "nominal", "scale": None},
    }
    look: Spec = {"type": "bar", "stroke": PAPER, "strokeWidth": 0.5}
    across: Spec = {"x": {"field": "from", **value}, "x2": {"field": "to"}}
    if is_log:
        look, across = {"type": "point"}, {"x": {"field": "to", **value}}
    legend = legend_of(parts, "p") | {"symbolFillColor": INK, "symbolType": "square"}
    tones = {
        "field": "part",
        "type": "nominal",
        "scale": scale_numbers([1.0, *[0.4] * (len(parts) - 1)], "p"),
        "legend": legend if parts[1:] else None,
    }
    encoding = there | across | {"opacity": tones}
    layers: list[Spec] = [{"data": {"values": data}, "mark": look, "encoding": encoding}]
    for mark, shown in _WHISKERS if whiskers else ():
        ends = {"y": there["y"], "x": {"field": shown[0], **value}}
        ends |= {"x2": {"field": shown[1]}} if shown[1:] else {}
        ink = {**mark, "color": INK}
        layers.append({"data": {"values": whiskers}, "mark": ink, "encoding": ends})
    if runs := [{"row": row, "run": run} for row, bar in enumerate(found) for run in bar.runs]:
        at = {"y": there["y"], "x": {"field": "run", **value}}
        layers.append({"data": {"values": runs}, "mark": _POINT, "encoding": at})
    return _draw_rows(title, layers, max(len(found), 2) * ROW_PX)


def draw_ranges(title: str, x: Axis, rows: Sequence[str], series: Sequence[ChartSeries]) -> str:
    """Return a picture with a row for each name: markers at values, lines to the highest values."""
    data = [
        {"s": f"s{number}", "row": int(p.x), "low": p.y, "high": p.y if p.high is None else p.high}
        for number, each in enumerate(series)
        for p in each.points
    ]
    value = _scale_values(x, [v for row in data for v in (row["low"], row["high"])])
    order = {"domain": scale_numbers(series)["domain"], "paddingOuter": 0.6}
    there = {
        "y": rows_axis(rows),
        "yOffset": {"field": "s", "type": "nominal", "scale": order},
        **encode_keys(series),
    }
    low, high = {"field": "low", **value}, {"field": "high", **value}
    layers: list[Spec] = [
        {"mark": "rule", "encoding": there | {"x": low, "x2": {"field": "high"}}},
        {"mark": {"type": "tick", "size": 6}, "encoding": there | {"x": high}},
        {"mark": "point", "encoding": there | {"x": low} | encode_keys(series, shaped=True)},
    ]
    height_px = len(rows) * max(ROW_PX, 8.0 * len(series) + 8)
    return _draw_rows(title, [layer | {"data": {"values": data}} for layer in layers], height_px)


def _scale_values(axis: Axis, values: Sequence[Any]) -> Spec:
    """Return the horizontal scale and axis for values."""
    found = upward(axis, [ChartPoint(0, value) for value in values])
    look = {"grid": True, "domain": False, "ticks": False}
    if not axis.log:
        found["scale"]["nice"] = False
    return {"type": "quantitative", "scale": found["scale"], "axis": found["axis"] | look}


def rows_axis(labels: Sequence[str]) -> Spec:
    """Return the encoding of numbered rows."""
    return {
        "field": "row",
        "type": "nominal",
        "scale": {"domain": [*range(len(labels))], "paddingInner": 0.34, "paddingOuter": 0.17},
        "axis": {
            "title": None,
            "grid": False,
            "labelExpr": _map_labels({f"{row}": label for row, label in enumerate(labels)}),
            "labelLimit": LONGEST_LABEL_PX,
            "labelColor": INK,
        },
    }


def _draw_rows(title: str, layers: Sequence[Spec], height_px: float) -> str:
    fit = {"type": "fit-x", "contains": "padding"}
    look = {"width": WIDTH_PX, "height": height_px, "autosize": fit}
    return draw(title, look | {"layer": layers})
