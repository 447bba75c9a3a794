"""Trends as text: a table with bars, JSON or CSV."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from statistics import fmean
from typing import Any

from iotbench.comparison.history import Trend
from iotbench.comparison.sides import differing
from iotbench.config.options.basic import FORMATS
from iotbench.figures.figures import Unit
from iotbench.figures.numbers import format_value
from iotbench.figures.rows import Place
from iotbench.machine.cleaning import csv_text
from iotbench.machine.tables import CellKind, TextTable, draw
from iotbench.output.terminal.plots import draw_bar
from iotbench.store.listing import what_of
from simulator.errors import counted

_BAR_WIDTH = 12


def format_trends(trends: Sequence[Trend], form: str, width: int) -> str:
    """Return trends in one of FORMATS."""
    if form == FORMATS[0]:
        return draw([part for trend in trends for part in _draw_trend(trend)], width)
    records = [record for trend in trends for record in _list_records(trend)]
    return json.dumps(records, indent=1) + "\n" if form == "json" else csv_text(records)


def _list_records(trend: Trend) -> Iterator[dict[str, Any]]:
    """Yield a record for each repeat of the row."""
    none = {each.name: None for each in fields(Place)}
    for number, (side, value) in enumerate(zip(trend.sides, trend.values, strict=True)):
        first = side.first
        yield {
            "id": side.name,
            "created": first.created.isoformat(timespec="milliseconds"),
            "kind": first.kind,
            "target": first.target,
            "what": what_of(first),
            **none,
            **trend.place.dimensions,
            "results": len(side.results),
            "program": first.program_version,
            "server": first.server.version if first.server else "",
            "figure": trend.figure.name,
            "value": value,
            "unit": trend.figure.unit.value,
            "step": trend.steps.get(number),
            "since_good": trend.change if side is trend.sides[-1] else None,
            "changed": _describe_changes(_list_changes(trend, number)),
        }


def _list_changes(trend: Trend, number: int) -> list[tuple[str, str, str]]:
    """Return (name, value before, value) of what has changed since the repeat before."""
    return differing(trend.sides[number - 1].first, trend.sides[number].first) if number else []


def _describe_changes(changes: Sequence[tuple[str, str, str]]) -> str:
    return "; ".join(f"{name} {before} -> {after}" for name, before, after in changes)


def _draw_trend(trend: Trend) -> Iterator[TextTable | str]:
    first, figure, most = trend.sides[0].first, trend.figure, max(trend.values)
    yield f"{first.kind} on {first.target}: {what_of(first)}: {trend.place}"
    table, notes = TextTable(), []
    table.add_column("Time (UTC)", CellKind.ID)
    table.add_column("Result", CellKind.ID, drop=3)
    table.add_column("", CellKind.ID, drop=2)
    table.add_column(figure.title)
    table.add_column("Step")
    table.add_column("Changed", CellKind.TEXT, drop=1)
    for number, (side, value) in enumerate(zip(trend.sides, trend.values, strict=True)):
        time, changes = f"{side.first.created:%F %H:%M}", _list_changes(trend, number)
        notes += [f"changed {time}: {_describe_changes(changes)}"] if changes else []
        table.add_row(
            time,
            side.name,
            draw_bar(value / most * _BAR_WIDTH),
            format_value(value, figure.unit),
            f"{trend.steps[number]:+.1%}" if number in trend.steps else "",
            ", ".join(name for name, *_ in changes),
        )
    yield table
    yield from (*notes, _describe_state(trend), "")


def _describe_state(trend: Trend) -> str:
    if trend.change is None:
        return "no earlier result with these rows and settings"
    good = [trend.values[number] for number in trend.good]
    last = trend.sides[trend.good[-1]].first.created
    text = format_value(fmean(good), trend.figure.unit)
    unit = "" if trend.figure.unit is Unit.SHARE else f" {trend.figure.unit.value}"
    count = counted(len(good), "result")
    return f"last good state: {text}{unit} in {count} until {last:%F}; newest: {trend.change:+.1%}"
