"""Results for other programs: the figures of their summaries as CSV, JSON, Markdown, OpenMetrics.

Every figure has its number of measurements, its spread if there is one, and its row's verdict.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from io import BytesIO
from types import MappingProxyType
from typing import Any

from hdrh.histogram import HdrHistogram

from iotbench.figures.figures import Figure, Figures, FigureValue, find_figure
from iotbench.figures.numbers import format_value
from iotbench.figures.rows import Place, Row
from iotbench.figures.summary import Summary
from iotbench.machine.cleaning import csv_text, escape_markdown, markdown_table
from iotbench.measurements import summary_of
from iotbench.results.result import Result
from iotbench.store import openmetrics
from iotbench.store.gathered import ORIGIN, GatheredSweep
from iotbench.store.listing import what_of
from iotbench.store.openmetrics import END, PREFIX, labels_of, metric_of
from simulator.errors import ConfigError

HGRM = "hgrm"
_FACTS = ("id", "created", "kind", "target", "module", "what")
_FIGURE = ("figure", "value", "unit", "n", "low", "high", "spread")
FORMATS = ("csv", "json", "markdown", "openmetrics", HGRM)
OWN = {
    "csv": re.compile(rb"id,created,kind,target,module,what,status,"),
    "json": re.compile(rb'\[\]|\[\n \{\n  "id": "[^\n]*\n  "created": "[^\n]*\n  "kind": "'),
    "markdown": re.compile(rb"### [a-z]+ of [^\n]+\n\n[^\n]+, \d{4}-\d\d-\d\dT[^\n]+\n"),
    "openmetrics": openmetrics.OWN,
    HGRM: re.compile(rb" +Value +Percentile TotalCount 1/\(1-Percentile\)"),
}
"""Format -> the beginning of such a file."""


@dataclass(frozen=True, slots=True)
class Exported:
    """A result, and the id that it is known by."""

    id: str
    result: Result
    summary: Summary
    percentiles: tuple[str, ...] = ()
    """Names of percentiles to export in addition to the listed figures."""
    origin: Mapping[str, str | int] = field(default_factory=dict)
    """The plan, setting and repeat that it is a part of; empty: it was measured alone."""

    @property
    def rows(self) -> Iterator[tuple[Row, Mapping[str, FigureValue]]]:
        """Yield each row with its figures."""
        for row in self.summary.every:
            yield row, self.figures(row)

    def figures(self, row: Row) -> Mapping[str, FigureValue]:
        """Return the figures of a row, including percentiles that its samples carry."""
        more = {name: row.figures[name] for name in self.percentiles if name in row.figures}
        return {**row.figures, **more}

    @property
    def facts(self) -> dict[str, str]:
        """Properties that distinguish this result from others."""
        return {
            "id": self.id,
            "created": self.result.created.isoformat(timespec="milliseconds"),
            "kind": self.result.kind,
            "target": self.result.target,
            "module": self.result.module,
            "what": what_of(self.result),
        }


def export(
    found: Iterable[tuple[str, Result]],
    form: str,
    percentiles: tuple[str, ...] = (),
    pattern: str = "*",
    parts: Mapping[str, GatheredSweep] = MappingProxyType({}),
) -> str:
    """Return results with their ids, in one of FORMATS: only rows with matching names.

    `parts`: id -> what a result is a part of.
    """
    each = []
    for name, result in found:
        rows = _matching(summary_of(result), pattern)
        origin = parts[name].origin if name in parts else {}
        each.append(Exported(name, result, rows, percentiles, origin))
    if form == HGRM:
        return _hgrm(each)
    write = {"csv": _csv, "json": _json, "markdown": _write_markdown, "openmetrics": _openmetrics}
    return write[form](each)


def _matching(summary: Summary, pattern: str) -> Summary:
    rows, totals = (
        tuple(row for row in some if fnmatchcase(str(row.place), pattern))
        for some in (summary.rows, summary.totals)
    )
    return replace(summary, rows=rows, totals=totals)


def _csv(found: Sequence[Exported]) -> str:
    """Return a line for each figure."""
    dimensions = [field.name for field in fields(Place)]
    records = [
        {
            **each.facts,
            "status": each.result.status,
            **row.place.dimensions,
            "runs": row.runs,
            **content,
            **_judge(row),
            **each.origin,
        }
        for each in found
        for row, measured in each.rows
        for content in [_content(*item) for item in measured.items()] or [{}]
    ]
    names = (*_FACTS, "status", *dimensions, "runs", *_FIGURE, "verdict", "verify", *ORIGIN)
    return csv_text(records, names)


def _content(name: str, found: FigureValue) -> dict[str, Any]:
    """Return a figure as plain data."""
    unit = find_figure(name).unit.value
    return {"figure": name, "value": found.value, "unit": unit, "n": found.n, "low": found.low,
            "high": found.high, "spread": found.spread}  # fmt: skip


def _row(each: Exported, row: Row) -> dict[str, Any]:
    figures = {name: _content(name, found) for name, found in each.figures(row).items()}
    unknown = {"value": None, "low": None, "high": None, "spread": None}
    for name in row.withheld:
        figures[name] = {**_content(name, row.figures["p50_ms"]), **unknown}
    checked = {"expected": row.expected, "found": row.found} if row.place.check else {}
    return {**row.place.dimensions, "runs": row.runs, "figures": figures, **checked,
            **_judge(row)}  # fmt: skip


def _judge(row: Row) -> dict[str, str]:
    """Return the verdict of a row, and how much of the stored rows was compared."""
    return {"verdict": row.verdict, "verify": row.level.value if row.level else ""}


def _json(found: Sequence[Exported]) -> str:
    records = [
        {
            **each.facts,
            **each.origin,
            "status": each.result.status,
            "tags": each.result.tags,
            "configuration": each.result.configuration,
            "target_options": each.result.target_options,
            "subject": each.summary.subject.name,
            "rows": [_row(each, row) for row in each.summary.rows],
            "totals": [_row(each, row) for row in each.summary.totals],
        }
        for each in found
    ]
    return json.dumps(records, indent=1) + "\n"


def _write_markdown(found: Sequence[Exported]) -> str:
    return "\n".join(line for each in found for line in _format_markdown(each))


def _format_markdown(each: Exported) -> Iterator[str]:
    """Yield a heading and a table; a cell has the value, its spread and its measurements."""
    facts = {name: escape_markdown(text) for name, text in each.facts.items()}
    yield f"### {facts['kind']} of {facts['target']}: {facts['what']}\n"
    origin = "".join(f", {name} {escape_markdown(str(text))}" for name, text in each.origin.items())
    yield f"{facts['id']}, {facts['created']}, {each.result.status}{origin.replace('_', ' ')}\n"
    names = list(dict.fromkeys(name for _, measured in each.rows for name in measured))
    rows = (
        [
            str(row.place),
            *(_cell(find_figure(name), measured.get(name)) for name in names),
            row.judged,
        ]
        for row, measured in each.rows
    )
    titles = [each.summary.subject.title, *(find_figure(name).title for name in names), "Verdict"]
    yield from markdown_table(titles, rows)
    yield ""


def _cell(figure: Figure, found: FigureValue | None) -> str:
    if found is None:
        return "-"
    spread = "" if found.spread is None else f", spread {found.spread:.1%}"
    return f"{format_value(found.value, figure.unit)} (n={found.n:,}{spread})"


def _hgrm(found: Sequence[Exported]) -> str:
    """Return the percentile file of HdrHistogram of the only row, in ms."""
    rows = [(each, row) for each in found for row, _ in each.rows if waits_of(row)]
    if len(rows) != 1:
        listed = "; ".join(f"{each.id}: {row.place}" for each, row in rows)
        one = f"; choose one with --row '{rows[0][1].place}'" if rows else ""
        raise ConfigError(
            f"--format {HGRM}: holds the waits of one row, and here"
            f" {f'are {len(rows)} ({listed})' if rows else 'is none that was timed'}{one}"
        )
    waits = waits_of(rows[0][1])
    assert waits
    text = BytesIO()
    waits.output_percentile_distribution(text, 1000.0)
    deviation = waits.get_stddev() / 1000  # which the library does not scale
    fixed = rf"\g<1>{deviation:12.3f}"
    return re.sub(r"(StdDeviation   = ) *[\d.]+", fixed, text.getvalue().decode())


def waits_of(row: Row) -> HdrHistogram | None:
    """Return the histogram of the waits behind a row; None: nothing was timed."""
    waits = row.figures.waits if isinstance(row.figures, Figures) else None
    return waits if waits and waits.get_total_count() else None


# --- OpenMetrics


def _openmetrics(found: Sequence[Exported]) -> str:
    """Return gauges, all samples of one together; each has the time of its result."""
    families: dict[str, list[str]] = {}
    for each in found:
        at = f"{each.result.created.timestamp():.3f}"
        for number, (row, measured) in enumerate(each.rows):
            labels = _labels(each, row, number)
            for name, value in _samples(measured):
                families.setdefault(name, []).append(f"{name}{labels} {value!r} {at}")
    lines = []
    for name, samples in families.items():
        lines += [f"# TYPE {name} gauge", *samples]
    return "\n".join([*lines, END]) + "\n"


def _samples(measured: Mapping[str, FigureValue]) -> Iterator[tuple[str, float]]:
    """Yield metrics and values: each figure, its measurements, its spread."""
    for name, figure in measured.items():
        metric, factor = metric_of(name)
        yield f"{PREFIX}_{metric}", figure.value * factor
        yield f"{PREFIX}_{metric}_measurements", float(figure.n)
        if figure.spread is not None:
            yield f"{PREFIX}_{metric}_spread_ratio", figure.spread


def _labels(each: Exported, row: Row, number: int) -> str:
    facts = {name: value for name, value in each.facts.items() if name != "created"}
    place = {name: str(value) for name, value in row.place.dimensions.items()}
    origin = {name: str(value) for name, value in each.origin.items()}
    end = {**_judge(row), "row": str(number)}
    labels: Mapping[str, str] = {**facts, **origin, **place, **end}
    return labels_of(labels)
