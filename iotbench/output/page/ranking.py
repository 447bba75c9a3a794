"""All results on one axis: the choices, the first picture, and the data for the others."""

import base64
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from iotbench.figures.figures import FIGURES, Better, Figure, FigureValue, Unit
from iotbench.figures.numbers import format_value
from iotbench.figures.rows import Row
from iotbench.figures.verdicts import verdict_of
from iotbench.output.page.axis import LETTER_PX, MOST_NAME_PX, axis_of
from iotbench.output.page.content import Ranking, Selector
from iotbench.output.page.drawing import ORIGIN, compile_spec, draw, library
from iotbench.output.page.html import SYMBOLS
from iotbench.output.page.measured import PageResult
from iotbench.output.page.overview import MOST_CARDS, line_of
from iotbench.output.page.pictures import spread_text

EVERY = "every"
"""Choice without a restriction."""
_BEST = "best"
_FAR = 30
"""Ratio of values from which the first picture has a logarithmic axis."""
_PROMISES = ("durable", "not durable", "unknown", "-")
_DIGITS = 6


def ranking_of(found: Sequence[PageResult]) -> Ranking | None:
    """Return the ranking of all results; None if there are fewer than two to compare."""
    kinds = Counter(each.about for each in found if each.summary.headline)
    if not kinds or max(kinds.values()) < 2:
        return None
    kind = max(kinds, key=kinds.__getitem__)
    of_kind = [each for each in found if each.about == kind and each.summary.headline]
    first = FIGURES[of_kind[0].summary.subject.listed_by]
    having = {each.about for each in found for r in each.summary.every if first.name in r.figures}
    chosen_kind = EVERY if having == {kind} else kind
    setting = _first_setting(of_kind)
    of_kind = [each for each in of_kind if setting in (EVERY, _setting(each))]
    rows = [*_rows(found)]
    figures = [f for f in FIGURES.values() if any(f.name in row["figures"] for row in rows)]
    shown = _first_shown(first, of_kind, is_one_of_target=setting != EVERY)
    values = [row["value"] for row in shown]
    is_log = min(values) > 0 and max(values) > _FAR * min(values)
    promises = [
        each
        for each in _PROMISES
        if any(m.durability == each and m.summary.headline for m in found)
    ]
    specs = {name: axis_of([], promises, is_log=name == "log") for name in ("linear", "log")}
    title = axis_title(first)
    is_share = first.unit is Unit.SHARE
    picture = axis_of(shown, promises, is_log=is_log, title=title, share=is_share)
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
        "figures": {f.name: _about(f) for f in figures},
        "results": [_result(each) for each in found],
        "rows": rows,
        "specs": {name: compile_spec(spec) for name, spec in specs.items()},
        "statuses": [*SYMBOLS],
        "letterPx": LETTER_PX,
        "mostNamePx": MOST_NAME_PX,
        "chosen": chosen,
    }
    drawing, program = library(), _program()
    return Ranking(
        title=f"{kind}: {title}",
        svg=draw(f"{kind}: {title}", picture),
        choices=[*_choices(found, rows, figures)],
        data=json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
        origin=ORIGIN,
        library=base64.b64encode(gzip.compress(drawing.encode(), mtime=0)).decode(),
        program=program,
        allowed=f"'sha256-{_hash(program)}' 'sha256-{_hash(drawing)}'",
    )


def _program() -> str:
    return (Path(__file__).parent / "ranking.js").read_text(encoding="utf-8")


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def axis_title(figure: Figure) -> str:
    """Return the title of a figure's axis, with the better direction."""
    return f"{figure.title}, {figure.better} is better"


def _about(figure: Figure) -> Mapping[str, Any]:
    return {
        "title": figure.title,
        "axis": axis_title(figure),
        "higher": figure.better is Better.HIGHER,
        "share": figure.unit is Unit.SHARE,
        "meaning": figure.meaning,
    }


def _result(each: PageResult) -> Mapping[str, Any]:
    return {
        "name": each.label,
        "target": each.result.target,
        "kind": each.about,
        "setting": _setting(each),
        "durability": each.durability,
        "link": each.anchor,
        "cells": [*line_of(each, each.summary.headline).values()],
    }


def _rows(found: Sequence[PageResult]) -> Iterator[dict[str, Any]]:
    """Yield what each result measured, row by row; a result without rows has an empty one."""
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
                "rank": _rank(each, row),
                "verdict": verdict_of(each.result) if row is None else row.verdict,
                "cells": {i: cell for i, cell in enumerate(cells) if cell != own[i]},
                "figures": _figures(row),
            }


def _rank(each: PageResult, row: Row | None) -> int:
    """Return the rank of a row in its result: headline, total, or another row."""
    return 2 if row is each.summary.headline else int(row in each.summary.totals)


def _figures(row: Row | None) -> dict[str, Any]:
    """Return the compared figures: value, text, n, lowest, highest, and their texts."""
    if row is None:
        return {}
    shown = {name: f for name, f in row.figures.items() if FIGURES[name].compared}
    return {name: _facets(FIGURES[name], found) for name, found in shown.items()}


def _facets(figure: Figure, found: FigureValue) -> list[Any]:
    value = float(f"{found.value:.{_DIGITS}g}")
    facets = [value, format_value(found.value, figure.unit), f"{found.n:,}"]
    if found.low is None or found.high is None:
        return facets
    ends = [float(f"{end:.{_DIGITS}g}") for end in (found.low, found.high)]
    text = f"{format_value(found.low, figure.unit)} to {format_value(found.high, figure.unit)}"
    return [*facets, *ends, text, spread_text(found)]


def _setting(each: PageResult) -> str:
    return each.repeated.setting if each.repeated else ""


def _first_setting(found: Sequence[PageResult]) -> str:
    """Return the setting of plans to show first: the first one that most targets have.

    EVERY if there are few results, or some are of no plan. A search is no choice.
    """
    items = [each.repeated for each in found if each.repeated]
    places = {item.setting: item.place for item in items if not item.is_search}
    if len(found) <= MOST_CARDS or len(items) < len(found) or not places:
        return EVERY
    targets = Counter(item.setting for item in {replace(item, record=Path()) for item in items})
    return min(places, key=lambda name: (-targets[name], places[name]))


def _first_shown(
    figure: Figure, found: Sequence[PageResult], *, is_one_of_target: bool
) -> list[dict[str, Any]]:
    """Return the rows of the picture that is chosen first, the best one first."""
    shown = []
    targets = Counter(each.result.target for each in found)
    for each in found:
        row = each.summary.headline
        assert row
        value = row.figures[figure.name]
        facets = _facets(figure, value)
        low, high = facets[3:5] or (None, None)
        verdict = "" if row.verdict == "verified" else f" · {row.verdict}"
        shown.append({
            "name": each.result.target if is_one_of_target and targets[each.result.target] == 1
            else each.label, "value": facets[0], "low": low, "high": high, "zero": 0,
            "text": facets[1] + verdict, "durability": each.durability, "picked": "",
        })  # fmt: skip
    return sorted(shown, key=lambda row: row["value"], reverse=figure.better is Better.HIGHER)


def _choices(
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
