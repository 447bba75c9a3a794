"""Results for other programs: the figures of their summaries as CSV, JSON, Markdown, OpenMetrics.

Every figure has its number of measurements, its spread if there is one, and its row's verdict.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from cli.archive.entry import what_of
from cli.host.cleaning import csv_text, markdown
from cli.kinds import summary_of
from cli.report import openmetrics
from cli.report.numbers import written
from cli.report.openmetrics import END, PREFIX, labels_of, metric_of
from cli.results.result import Result
from cli.summary.figures import FIGURES, Figure, Measurement
from cli.summary.rows import Place, Row
from cli.summary.summary import Summary

FORMATS = ("csv", "json", "markdown", "openmetrics")
OWN = {
    "csv": re.compile(rb"id,created,kind,target,module,what,status,"),
    "json": re.compile(rb'\[\]|\[\n \{\n  "id": "[^\n]*\n  "created": "[^\n]*\n  "kind": "'),
    "markdown": re.compile(rb"### [a-z]+ of [^\n]+\n\n[^\n]+, \d{4}-\d\d-\d\dT[^\n]+\n"),
    "openmetrics": openmetrics.OWN,
}
"""Format -> the beginning of such a file."""


@dataclass(frozen=True, slots=True)
class Exported:
    """A result, and the id that it is known by."""

    id: str
    result: Result
    summary: Summary

    @property
    def facts(self) -> dict[str, str]:
        """What distinguishes this result from others."""
        return {
            "id": self.id,
            "created": self.result.created.isoformat(timespec="milliseconds"),
            "kind": self.result.kind,
            "target": self.result.target,
            "module": self.result.module,
            "what": what_of(self.result),
        }


def exported(found: Iterable[tuple[str, Result]], form: str) -> str:
    """Return results, each with its id, in one of FORMATS."""
    each = [Exported(name, result, summary_of(result)) for name, result in found]
    write = {"csv": _csv, "json": _json, "markdown": _markdown, "openmetrics": _openmetrics}
    return write[form](each)


def _csv(found: Sequence[Exported]) -> str:
    """Return a line for each figure."""
    facts = ("id", "created", "kind", "target", "module", "what")
    dimensions = [field.name for field in fields(Place)]
    of_figure = ("figure", "value", "unit", "n", "low", "high", "spread")
    rows: list[list[Any]] = [[*facts, "status", *dimensions, "runs", *of_figure, "verdict"]]
    for each in found:
        for row in each.summary.every:
            values = row.place.dimensions
            place = [each.result.status, *map(values.get, dimensions), row.runs]
            figures = map(_content, row.figures, row.figures.values())
            rows += ([*each.facts.values(), *place, *f.values(), row.verdict] for f in figures)
            if not row.figures:
                empty = [None] * len(of_figure)
                rows.append([*each.facts.values(), *place, *empty, row.verdict])
    return csv_text(rows)


def _content(name: str, found: Measurement) -> dict[str, Any]:
    """Return a figure as plain data."""
    unit = FIGURES[name].unit.value
    return {"figure": name, "value": found.value, "unit": unit, "n": found.n, "low": found.low,
            "high": found.high, "spread": found.spread}  # fmt: skip


def _row(row: Row) -> dict[str, Any]:
    figures = {name: _content(name, found) for name, found in row.figures.items()}
    checked = {"expected": row.expected, "found": row.found} if row.place.check else {}
    return {**row.place.dimensions, "runs": row.runs, "figures": figures, **checked,
            "verdict": row.verdict}  # fmt: skip


def _json(found: Sequence[Exported]) -> str:
    records = [
        {
            **each.facts,
            "status": each.result.status,
            "tags": each.result.tags,
            "configuration": each.result.configuration,
            "target_options": each.result.target_options,
            "subject": each.summary.subject.name,
            "rows": [*map(_row, each.summary.rows)],
            "totals": [*map(_row, each.summary.totals)],
        }
        for each in found
    ]
    return json.dumps(records, indent=1) + "\n"


def _markdown(found: Sequence[Exported]) -> str:
    return "\n".join(line for each in found for line in _markdown_of(each))


def _markdown_of(each: Exported) -> Iterator[str]:
    """Yield a heading and a table; a cell has the value, its spread and its measurements."""
    facts = {name: markdown(text) for name, text in each.facts.items()}
    yield f"### {facts['kind']} of {facts['target']}: {facts['what']}\n"
    yield f"{facts['id']}, {facts['created']}, {each.result.status}\n"
    names = list(dict.fromkeys(name for row in each.summary.every for name in row.figures))
    yield _line([each.summary.subject.title, *(FIGURES[name].title for name in names), "Verdict"])
    yield "|" + "---|" * (len(names) + 2)
    for row in each.summary.every:
        cells = [_cell(FIGURES[name], row.figures.get(name)) for name in names]
        yield _line([str(row.place), *cells, row.verdict])
    yield ""


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(map(markdown, cells)) + " |"


def _cell(figure: Figure, found: Measurement | None) -> str:
    if found is None:
        return "-"
    spread = "" if found.spread is None else f", spread {found.spread:.1%}"
    return f"{written(found.value, figure.unit)} (n={found.n:,}{spread})"


# --- OpenMetrics


def _openmetrics(found: Sequence[Exported]) -> str:
    """Return gauges, all samples of one together; each stands at the time of its result."""
    families: dict[str, list[str]] = {}
    for each in found:
        at = f"{each.result.created.timestamp():.3f}"
        for number, row in enumerate(each.summary.every):
            labels = _labels(each, row, number)
            for name, value in _samples(row):
                families.setdefault(name, []).append(f"{name}{labels} {value!r} {at}")
    lines = []
    for name, samples in families.items():
        lines += [f"# TYPE {name} gauge", *samples]
    return "\n".join([*lines, END]) + "\n"


def _samples(row: Row) -> Iterator[tuple[str, float]]:
    """Yield metrics and values: each figure, its measurements, its spread."""
    for name, figure in row.figures.items():
        metric, factor = metric_of(name)
        yield f"{PREFIX}_{metric}", figure.value * factor
        yield f"{PREFIX}_{metric}_measurements", float(figure.n)
        if figure.spread is not None:
            yield f"{PREFIX}_{metric}_spread_ratio", figure.spread


def _labels(each: Exported, row: Row, number: int) -> str:
    facts = {name: value for name, value in each.facts.items() if name != "created"}
    place = {name: str(value) for name, value in row.place.dimensions.items()}
    labels: Mapping[str, str] = {**facts, **place, "verdict": row.verdict, "row": str(number)}
    return labels_of(labels)
