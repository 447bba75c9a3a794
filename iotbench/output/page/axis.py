"""The picture of all results on one axis: one specification, for paper and for the browser."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from iotbench.output.page.charts import WIDE, WRITTEN
from iotbench.output.page.drawing import LOOK, Spec
from iotbench.output.page.style import INK, LINE, MUTED

WIDTH_PX = 1000
ROW_PX = 17
LETTER_PX, MOST_NAME_PX = 7.4, 260
_PROMISES = {"durable": 0, "not durable": 1, "unknown": 3, "-": 7}
"""Durability -> colour."""
_SHAPES = {"durable": "circle", "not durable": "diamond", "unknown": "triangle-up", "-": "cross"}
_DIGIT = "round(datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9)))"
_WIDE = f"domain('x')[1] > {WIDE} * domain('x')[0]"
_IS_MARKED = f"indexof({_WIDE} ? [1, 10] : [1, 2, 5, 10], {_DIGIT}) >= 0"
"""True if a logarithmic axis shows the text of a mark."""
_HAS_LINE = f"indexof([1, 10], {_DIGIT}) >= 0"


def room_px(texts: Iterable[str], most_px: float = MOST_NAME_PX) -> float:
    """Return the width that texts take next to the axis."""
    return min(max(map(len, texts), default=0) * LETTER_PX, most_px)


def axis_of(
    shown: Sequence[Any],
    promises: Sequence[str],
    *,
    is_log: bool,
    title: str = "",
    share: bool = False,
) -> Spec:
    """Return the specification: a row for each result, the best one first.

    A row has a name, value, low, high, text, title of the axis, durability, and A or B if it is
    compared.
    """
    scale: Spec = {"type": "log", "nice": False, "padding": 12} if is_log else {"zero": True}
    look: Spec = {
        "orient": "top",
        "title": {"expr": "title"},
        "titleAnchor": "start",
        "titleColor": INK,
        "grid": True,
        "domain": False,
        "ticks": False,
        "labelExpr": f"share ? format(datum.value, '.4~%') : ({WRITTEN})",
        "tickCount": 8,
    }
    if is_log:
        look["title"] = {"expr": "title + ', log scale'"}
        look["labelExpr"] = f"{_IS_MARKED} ? ({look['labelExpr']}) : ''"
        look["gridOpacity"] = {"condition": {"test": _HAS_LINE, "value": 1}, "value": 0}
    value = {"type": "quantitative", "scale": scale, "axis": look}
    names = {
        "field": "name", "type": "nominal", "sort": None,
        "axis": {
            "title": None, "labelLimit": {"expr": "names"}, "labelColor": INK, "labelPadding": 8,
            "minExtent": {"expr": "names"}, "maxExtent": {"expr": "names"},
        },
    }  # fmt: skip
    legend = {"values": promises, "direction": "horizontal", "offset": 8}
    looks = {"field": "durability", "type": "nominal", "title": None, "legend": legend}
    inks = [f"var(--s{_PROMISES[each]})" for each in promises]
    colour = {"color": {**looks, "scale": {"domain": promises, "range": inks}}}
    shapes = {"domain": promises, "range": [_SHAPES[each] for each in promises]}
    reader = {"description": {"field": "description", "type": "nominal"}}
    text = {"type": "text", "align": "left", "fontSize": 12}
    layers: list[Spec] = [
        {
            "mark": {"type": "rect", "cursor": "pointer", "aria": False},
            "encoding": {
                "x": {"value": 0},
                "x2": {"value": "width"},
                "color": {
                    "condition": {"test": "datum.picked", "value": LINE},
                    "value": "transparent",
                },
            },
        },
        {
            "mark": {"type": "rule", "strokeWidth": 1.4, "aria": False},
            "encoding": {"x": {"field": "low", **value}, "x2": {"field": "high"}, **colour},
        },
        *(
            {
                "mark": {"type": "tick", "size": 8, "thickness": 1.4, "aria": False},
                "encoding": {"x": {"field": end, **value}, **colour},
            }
            for end in ("low", "high")
        ),
        {
            "mark": {"type": "point", "size": 58, "cursor": "pointer"},
            "encoding": {
                "x": {"field": "value", **value},
                **colour,
                "shape": {**looks, "scale": shapes},
                **reader,
            },
        },
        {
            "mark": text | {"dx": 10, "color": MUTED, "aria": False},
            "encoding": {"x": {"value": "width"}, "text": {"field": "text", "type": "nominal"}},
        },
        {
            "mark": text | {"dx": 4, "color": INK, "fontWeight": "bold", "aria": False},
            "encoding": {"x": {"value": 0}, "text": {"field": "picked", "type": "nominal"}},
        },
    ]  # fmt: skip
    if not is_log:
        stem = {"type": "rule", "strokeWidth": 1, "color": LINE, "aria": False}
        layers.insert(1, {
            "mark": stem,
            "encoding": {"x": {"field": "zero", **value}, "x2": {"field": "value"}},
        })  # fmt: skip
    return {
        "width": WIDTH_PX,
        "height": {"step": ROW_PX},
        "autosize": {"type": "fit-x", "contains": "padding"},
        "padding": {
            "left": 4,
            "right": room_px((row["text"] for row in shown), math.inf) + 12,
            "top": 4,
            "bottom": 6,
        },
        "params": [
            {"name": "title", "value": title},
            {"name": "share", "value": share},
            {"name": "names", "value": room_px(row["name"] for row in shown)},
        ],
        "data": {"name": "shown", "values": [*shown]},
        "layer": [layer | {"encoding": {"y": names} | layer["encoding"]} for layer in layers],
        "config": {**LOOK, "axisY": {"ticks": False, "domain": False}, "axisX": {}},
    }
