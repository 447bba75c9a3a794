"""Exports the figures of results for other programs: as CSV, JSON, Markdown or OpenMetrics.

Every figure has its number of measurements, its spread (if known), and the verdict of its row.
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
_FACTS = ("id", "created", "kind", "target", "module", "what", "status", "batch")
PLACED = (*_FACTS, *(each.name for each in fields(Place)), "runs")
"""Columns before the figures of a row, in CSV and in frames."""
JUDGED = ("verdict", "verify", *ORIGIN)
"""Columns after the figures of a row."""
FIGURE = ("figure", "value", "unit", "n", "low", "high", "spread")
"""Columns of a figure in CSV."""
FORMATS = ("csv", "json", "markdown", "openmetrics", HGRM)
OWN = {
    "csv": re.compile(rb"id,created,kind,target,module,what,status,"),
    "json": re.compile(rb'\[\]|\[\n \{\n  "id": "[^\n]*\n  "created": "[^\n]*\n  "kind": "'),
    "markdown": re.compile(rb"### [a-z]+ of [^\n]+\n\n[^\n]+, \d{4}-\d\d-\d\dT[^\n]+\n"),
    "openmetrics": openmetrics.OWN,
    HGRM: re.compile(rb" +Value +Percentile TotalCount 1/\(1-Percentile\)"),
}
"""Format -> pattern of the beginning of a file in this format."""


@dataclass(frozen=True, slots=True)
class Exported:
    """A result with its ID, and the parts of the result to export."""

    id: str
    result: Result
    summary: Summary
    percentiles: tuple[str, ...] = ()
    """Names of percentiles to export in addition to the listed figures."""
    origin: Mapping[str, str | int] = field(default_factory=dict)
    """Plan, setting and repeat of a gathered result; empty if the result was measured alone."""

    @property
    def rows(self) -> Iterator[tuple[Row, Mapping[str, FigureValue]]]:
        """Rows to export, each with its figures."""
        for row in self.summary.every:
            yield row, self.figures(row)

    def figures(self, row: Row) -> Mapping[str, FigureValue]:
        """Return the figures of a row, including the additional percentiles."""
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

    def describe(self, row: Row) -> dict[str, Any]:
        """Return the columns of a row that are not figures."""
        return {
            **self.facts,
            "status": self.result.status,
            "batch": self.result.configuration.get("batch"),
            **row.place.dimensions,
            "runs": row.runs,
            **_judge(row),
            **self.origin,
        }


def export(
    found: Iterable[tuple[str, Result]],
    form: str,
    percentiles: tuple[str, ...] = (),
    pattern: str = "*",
    parts: Mapping[str, GatheredSweep] = MappingProxyType({}),
) -> str:
    """Return results with their IDs in one of FORMATS; `pattern` selects rows by name.

    `parts`: ID of a result -> its gathered sweep.
    """
    write = {
        "csv": _write_csv,
        "json": _write_json,
        "markdown": _write_markdown,
        "openmetrics": _write_openmetrics,
        HGRM: _write_hgrm,
    }
    return write[form](select(found, percentiles, pattern, parts))


def select(
    found: Iterable[tuple[str, Result]],
    percentiles: tuple[str, ...] = (),
    pattern: str = "*",
    parts: Mapping[str, GatheredSweep] = MappingProxyType({}),
) -> list[Exported]:
    """Return results with the rows and percentiles to export, as `export` takes them."""
    each = []
    for name, result in found:
        summary = summary_of(result)
        rows, totals = (
            tuple(row for row in some if fnmatchcase(str(row.place), pattern))
            for some in (summary.rows, summary.totals)
        )
        shown = replace(summary, rows=rows, totals=totals)
        origin = parts[name].origin if name in parts else {}
        each.append(Exported(name, result, shown, percentiles, origin))
    return each


def _write_csv(found: Sequence[Exported]) -> str:
    """Return a line for each figure."""
    records = [record for each in found for record in list_figures(each)]
    return csv_text(records, (*PLACED, *FIGURE, *JUDGED))


def list_figures(each: Exported) -> list[dict[str, Any]]:
    """Return a record for each figure of a result, with the columns of CSV."""
    return [
        {**each.describe(row), **content}
        for row, measured in each.rows
        for content in [_describe(*item) for item in measured.items()] or [{}]
    ]


def _describe(name: str, found: FigureValue) -> dict[str, Any]:
    unit = find_figure(name).unit.value
    return {"figure": name, "value": found.value, "unit": unit, "n": found.n, "low": found.low,
            "high": found.high, "spread": found.spread}  # fmt: skip


def _describe_row(each: Exported, row: Row) -> dict[str, Any]:
    figures = {name: _describe(name, found) for name, found in each.figures(row).items()}
    unknown = {"value": None, "low": None, "high": None, "spread": None}
    for name in row.withheld:
        figures[name] = {**_describe(name, row.figures["p50_ms"]), **unknown}
    checked = {"expected": row.expected, "found": row.found} if row.place.check else {}
    return {**row.place.dimensions, "runs": row.runs, "figures": figures, **checked,
            **_judge(row)}  # fmt: skip


def _judge(row: Row) -> dict[str, str]:
    """Return the verdict of a row, and the extent of the comparison of stored rows."""
    return {"verdict": row.verdict, "verify": row.level.value if row.level else ""}


def _write_json(found: Sequence[Exported]) -> str:
    records = [
        {
            **each.facts,
            **each.origin,
            "status": each.result.status,
            "tags": each.result.tags,
            "configuration": each.result.configuration,
            "target_options": each.result.target_options,
            "subject": each.summary.subject.name,
            "rows": [_describe_row(each, row) for row in each.summary.rows],
            "totals": [_describe_row(each, row) for row in each.summary.totals],
        }
        for each in found
    ]
    return json.dumps(records, indent=1) + "\n"


def _write_markdown(found: Sequence[Exported]) -> str:
    return "\n".join(line for each in found for line in _format_markdown(each))


def _format_markdown(each: Exported) -> Iterator[str]:
    """Yield a heading and a table; each cell has value, spread and number of measurements."""
    facts = {name: escape_markdown(text) for name, text in each.facts.items()}
    yield f"### {facts['kind']} of {facts['target']}: {facts['what']}\n"
    origin = "".join(f", {name} {escape_markdown(str(text))}" for name, text in each.origin.items())
    yield f"{facts['id']}, {facts['created']}, {each.result.status}{origin.replace('_', ' ')}\n"
    names = list(dict.fromkeys(name for _, measured in each.rows for name in measured))
    rows = (
        [
            str(row.place),
            *(_format_cell(find_figure(name), measured.get(name)) for name in names),
            row.judged,
        ]
        for row, measured in each.rows
    )
    titles = [each.summary.subject.title, *(find_figure(name).title for name in names), "Verdict"]
    yield from markdown_table(titles, rows)
    yield ""


def _format_cell(figure: Figure, found: FigureValue | None) -> str:
    if found is None:
        return "-"
    spread = "" if found.spread is None else f", spread {found.spread:.1%}"
    return f"{format_value(found.value, figure.unit)} (n={found.n:,}{spread})"


def _write_hgrm(found: Sequence[Exported]) -> str:
    """Return the waits of the only row in ms, as a percentile file of HdrHistogram."""
    rows = [(each, row) for each in found for row, _ in each.rows if waits_of(row)]
    if len(rows) != 1:
        listed = "; ".join(f"{each.id}: {row.place}" for each, row in rows)
        one = f"; choose one with --row '{rows[0][1].place}'" if rows else ""
        raise ConfigError(
            f"--format {HGRM}: takes the waits of one row, and"
            f" {f'{len(rows)} rows have waits ({listed})' if rows else 'no row was timed'}{one}"
        )
    waits = waits_of(rows[0][1])
    assert waits
    text = BytesIO()
    waits.output_percentile_distribution(text, 1000.0)
    deviation = waits.get_stddev() / 1000  # the library does not scale it
    fixed = rf"\g<1>{deviation:12.3f}"
    return re.sub(r"(StdDeviation   = ) *[\d.]+", fixed, text.getvalue().decode())


def waits_of(row: Row) -> HdrHistogram | None:
    """Return the histogram of the waits of a row; None if no waits were timed."""
    waits = row.figures.waits if isinstance(row.figures, Figures) else None
    return waits if waits and waits.get_total_count() else None


# --- OpenMetrics


def _write_openmetrics(found: Sequence[Exported]) -> str:
    """Return gauges, grouped by name, with the times of the results."""
    families: dict[str, list[str]] = {}
    for each in found:
        at = f"{each.result.created.timestamp():.3f}"
        facts = {name: value for name, value in each.facts.items() if name != "created"}
        for number, (row, measured) in enumerate(each.rows):
            place = row.place.dimensions | _judge(row) | {"row": number}
            labels = labels_of(facts | {k: str(v) for k, v in {**each.origin, **place}.items()})
            for name, value in _list_samples(measured):
                families.setdefault(name, []).append(f"{name}{labels} {value!r} {at}")
    lines = []
    for name, samples in families.items():
        lines += [f"# TYPE {name} gauge", *samples]
    return "\n".join([*lines, END]) + "\n"


def _list_samples(measured: Mapping[str, FigureValue]) -> Iterator[tuple[str, float]]:
    """Yield names and values of metrics: each figure, its number of measurements and its spread."""
    for name, figure in measured.items():
        metric, factor = metric_of(name)
        yield f"{PREFIX}_{metric}", figure.value * factor
        yield f"{PREFIX}_{metric}_measurements", float(figure.n)
        if figure.spread is not None:
            yield f"{PREFIX}_{metric}_spread_ratio", figure.spread
