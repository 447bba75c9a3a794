"""Ranks all results on one axis: the selections, the first picture, and data for other pictures."""

import base64
import gzip
import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from iotbench.figures.figures import FIGURES, Better, Figure, FigureValue, Unit
from iotbench.figures.numbers import format_value
from iotbench.figures.rows import Row
from iotbench.figures.verdicts import verdict_of
from iotbench.output.page.charts import FAR, WIDE, WRITTEN
from iotbench.output.page.content import SYMBOLS, Ranking, Selector
from iotbench.output.page.drawing import LOOK, ORIGIN, Spec, bundle_library, compile_spec, draw
from iotbench.output.page.measured import PageResult
from iotbench.output.page.overview import MOST_CARDS, line_of
from iotbench.output.page.pictures import spread_text
from iotbench.output.page.style import INK, LINE, MUTED

EVERY = "every"
"""Option of a selector that does not restrict the results."""
_BEST = "best"
_DIGITS = 6
_WIDTH_PX = 1000
_ROW_PX = 17
_LETTER_PX, _MOST_NAME_PX = 7.4, 260
_PROMISES = {"durable": 0, "not durable": 1, "unknown": 3, "-": 7}
"""Durability -> number of the colour."""
_SHAPES = {"durable": "circle", "not durable": "diamond", "unknown": "triangle-up", "-": "cross"}
_DIGIT = "round(datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9)))"
_WIDE = f"domain('x')[1] > {WIDE} * domain('x')[0]"
_IS_MARKED = f"indexof({_WIDE} ? [1, 10] : [1, 2, 5, 10], {_DIGIT}) >= 0"
"""Expression that is true if a logarithmic axis shows the text of a mark."""
_HAS_LINE = f"indexof([1, 10], {_DIGIT}) >= 0"


def ranking_of(found: Sequence[PageResult]) -> Ranking | None:
    """Return the ranking of all results; None if fewer than two results can be compared."""
    kinds = Counter(each.about for each in found if each.summary.headline)
    if not kinds or max(kinds.values()) < 2:
        return None
    kind = max(kinds, key=kinds.__getitem__)
    of_kind = [each for each in found if each.about == kind and each.summary.headline]
    first = FIGURES[of_kind[0].summary.subject.listed_by]
    having = {each.about for each in found for r in each.summary.every if first.name in r.figures}
    chosen_kind = EVERY if having == {kind} else kind
    setting = _choose_setting(of_kind)
    of_kind = [each for each in of_kind if setting in (EVERY, _find_setting(each))]
    rows = [*_list_rows(found)]
    figures = [f for f in FIGURES.values() if any(f.name in row["figures"] for row in rows)]
    shown = _list_first(first, of_kind, is_one_of_target=setting != EVERY)
    values = [row["value"] for row in shown]
    is_log = min(values) > 0 and max(values) > FAR * min(values)
    promises = [
        each
        for each in _PROMISES
        if any(m.durability == each and m.summary.headline for m in found)
    ]
    specs = {name: _specify([], promises, is_log=name == "log") for name in ("linear", "log")}
    title = axis_title(first)
    is_share = first.unit is Unit.SHARE
    picture = _specify(shown, promises, is_log=is_log, title=title, share=is_share)
    chosen = {
        "figure": first.name,
        "kind": chosen_kind,
        "setting": setting,
        "part": EVERY,
        "workers": _BEST,
        "durability": EVERY,
        "verdict": EVERY,
        "scale": "log" if is_log else "linear",
    }
    data = {
        "figures": {f.name: _describe_figure(f) for f in figures},
        "results": [_describe_result(each) for each in found],
        "rows": rows,
        "specs": {name: compile_spec(spec) for name, spec in specs.items()},
        "statuses": [*SYMBOLS],
        "letterPx": _LETTER_PX,
        "mostNamePx": _MOST_NAME_PX,
        "chosen": chosen,
    }
    program = (Path(__file__).parent / "ranking.js").read_text(encoding="utf-8")
    drawing = bundle_library()
    return Ranking(
        title=f"{kind}: {title}",
        svg=draw(f"{kind}: {title}", picture),
        choices=[*_list_choices(found, rows, figures)],
        data=json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
        origin=ORIGIN,
        library=base64.b64encode(gzip.compress(drawing.encode(), mtime=0)).decode(),
        program=program,
        allowed=f"'sha256-{_compute_hash(program)}' 'sha256-{_compute_hash(drawing)}'",
    )


def _compute_hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def axis_title(figure: Figure) -> str:
    """Return the title of an axis, which names the better direction."""
    return f"{figure.title}, {figure.better} is better"


def _describe_figure(figure: Figure) -> Mapping[str, Any]:
    return {
        "title": figure.title,
        "axis": axis_title(figure),
        "higher": figure.better is Better.HIGHER,
        "share": figure.unit is Unit.SHARE,
        "meaning": figure.meaning,
    }


def _describe_result(each: PageResult) -> Mapping[str, Any]:
    return {
        "name": each.label,
        "target": each.result.target,
        "kind": each.about,
        "setting": _find_setting(each),
        "durability": each.durability,
        "link": each.link,
        "cells": [*line_of(each, each.summary.headline).values()],
    }


def _list_rows(found: Sequence[PageResult]) -> Iterator[dict[str, Any]]:
    """Yield the data of each row; a result without rows gives one empty row."""
    for number, each in enumerate(found):
        own = [*line_of(each, each.summary.headline).values()]
        rows: list[Row | None] = [row for row in each.summary.every if row.figures]
        for row in rows or [None]:
            cells = own if row is None else [*line_of(each, row).values()]
            yield {
                "result": number,
                "part": "" if row is None else f"{row.place.any_workers}",
                "workers": None if row is None else row.place.workers,
                "at": "" if row is None else f"{row.place}",
                "rank": _find_rank(each, row),
                "verdict": verdict_of(each.result) if row is None else row.verdict,
                "cells": {i: cell for i, cell in enumerate(cells) if cell != own[i]},
                "figures": _list_figures(row),
            }


def _find_rank(each: PageResult, row: Row | None) -> int:
    """Return the rank of a row in its result: 2 for the headline, 1 for a total, 0 otherwise."""
    return 2 if row is each.summary.headline else int(row in each.summary.totals)


def _list_figures(row: Row | None) -> dict[str, Any]:
    """Return the figures of a row that rankings compare, each with its facets."""
    if row is None:
        return {}
    shown = {name: f for name, f in row.figures.items() if FIGURES[name].compared}
    return {name: _list_facets(FIGURES[name], found) for name, found in shown.items()}


def _list_facets(figure: Figure, found: FigureValue) -> list[Any]:
    value = float(f"{found.value:.{_DIGITS}g}")
    facets = [value, format_value(found.value, figure.unit), f"{found.n:,}"]
    if found.low is None or found.high is None:
        return facets
    ends = [float(f"{end:.{_DIGITS}g}") for end in (found.low, found.high)]
    text = f"{format_value(found.low, figure.unit)} to {format_value(found.high, figure.unit)}"
    return [*facets, *ends, text, spread_text(found)]


def _find_setting(each: PageResult) -> str:
    return each.repeated.setting if each.repeated else ""


def _choose_setting(found: Sequence[PageResult]) -> str:
    """Return the setting to show first: the first setting with the largest number of targets.

    EVERY is returned for few results, or if a result belongs to no plan. Settings with a search are
    ignored.
    """
    items = [each.repeated for each in found if each.repeated]
    places = {item.setting: item.place for item in items if not item.is_search}
    if len(found) <= MOST_CARDS or len(items) < len(found) or not places:
        return EVERY
    targets = Counter(item.setting for item in {replace(item, record=Path()) for item in items})
    return min(places, key=lambda name: (-targets[name], places[name]))


def _list_first(
    figure: Figure, found: Sequence[PageResult], *, is_one_of_target: bool
) -> list[dict[str, Any]]:
    """Return the rows of the first picture, the best row first."""
    shown = []
    targets = Counter(each.result.target for each in found)
    for each in found:
        row = each.summary.headline
        assert row
        value = row.figures[figure.name]
        facets = _list_facets(figure, value)
        low, high = facets[3:5] or (None, None)
        verdict = "" if row.verdict == "verified" else f" · {row.verdict}"
        shown.append({
            "name": each.result.target if is_one_of_target and targets[each.result.target] == 1
            else each.label, "value": facets[0], "low": low, "high": high, "zero": 0,
            "text": facets[1] + verdict, "durability": each.durability, "picked": "",
        })  # fmt: skip
    return sorted(shown, key=lambda row: row["value"], reverse=figure.better is Better.HIGHER)


def _list_choices(
    found: Sequence[PageResult], rows: Sequence[Mapping[str, Any]], figures: Sequence[Figure]
) -> Iterator[Selector]:
    yield Selector("figure", "Figure", {f.name: f.title for f in figures})
    kinds = dict.fromkeys(each.about for each in found)
    yield Selector("kind", "Kind", {k: k for k in kinds} | {EVERY: "all kinds"})
    items = sorted(
        {(each.repeated.place, each.repeated.setting) for each in found if each.repeated}
    )
    settings = {setting: setting for _, setting in items}
    yield Selector("setting", "Setting", {EVERY: "all"} | settings)
    parts = dict.fromkeys(row["part"] for row in rows if row["part"])
    yield Selector("part", "Part", {EVERY: "best of each result"} | {part: part for part in parts})
    counts = sorted({row["workers"] for row in rows if row["workers"] is not None})
    workers = {f"{count}": f"{count:,}" for count in counts}
    yield Selector("workers", "Workers", {_BEST: "best", EVERY: "each"} | workers)
    durabilities = dict.fromkeys(each.durability for each in found)
    yield Selector("durability", "Durability", {EVERY: "all"} | {d: d for d in durabilities})
    verdicts = dict.fromkeys(row["verdict"].partition(",")[0] for row in rows)
    yield Selector(
        "verdict", "Verdict", {EVERY: "all"} | {verdict: verdict for verdict in verdicts}
    )
    yield Selector("scale", "Scale", {"linear": "linear", "log": "logarithmic"})


def _measure_px(texts: Iterable[str], most_px: float = _MOST_NAME_PX) -> float:
    """Return the width of the longest text next to the axis."""
    return min(max(map(len, texts), default=0) * _LETTER_PX, most_px)


def _specify(
    shown: Sequence[Any],
    promises: Sequence[str],
    *,
    is_log: bool,
    title: str = "",
    share: bool = False,
) -> Spec:
    """Return the specification of a picture with a row for each item of `shown`.

    An item has name, value, low, high, zero, text, durability, and `picked`, which is A or B if the
    item is compared.
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
        "width": _WIDTH_PX,
        "height": {"step": _ROW_PX},
        "autosize": {"type": "fit-x", "contains": "padding"},
        "padding": {
            "left": 4,
            "right": _measure_px((row["text"] for row in shown), math.inf) + 12,
            "top": 4,
            "bottom": 6,
        },
        "params": [
            {"name": "title", "value": title},
            {"name": "share", "value": share},
            {"name": "names", "value": _measure_px(row["name"] for row in shown)},
        ],
        "data": {"name": "shown", "values": [*shown]},
        "layer": [layer | {"encoding": {"y": names} | layer["encoding"]} for layer in layers],
        "config": {**LOOK, "axisY": {"ticks": False, "domain": False}, "axisX": {}},
    }
