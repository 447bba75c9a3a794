"""Results for other programs: the figures of their summaries as CSV, JSON, Markdown, OpenMetrics.

Every figure has its number of measurements, its spread if there is one, and its row's verdict.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from cli.archive.entry import what_of
from cli.report.numbers import significant
from cli.report.openmetrics import END, PREFIX, labels_of
from cli.results.result import Result
from cli.summary.build import summary_of
from cli.summary.figures import Figure, Row, Summary, Unit

FORMATS = ("csv", "json", "markdown", "openmetrics")


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
            "kind": self.result.kind.value,
            "target": self.result.target,
            "module": self.result.module,
            "what": what_of(self.result),
        }

    @property
    def rows(self) -> tuple[Row, ...]:
        """Its rows, and what several queries come to together."""
        return (*self.summary.rows, *self.summary.totals)


def exported(found: Iterable[tuple[str, Result]], form: str) -> str:
    """Return results, each with its id, in one of FORMATS."""
    each = [Exported(name, result, summary_of(result)) for name, result in found]
    write = {"csv": _csv, "json": _json, "markdown": _markdown, "openmetrics": _openmetrics}
    return write[form](each)


def _csv(found: Sequence[Exported]) -> str:
    """Return a line for each figure."""
    out = io.StringIO()
    facts = ("id", "created", "kind", "target", "module", "what")
    names = (*facts, "status", "subject", "row", "workers", "runs", "figure", "value", "unit", "n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*names, "spread", "verdict"])
    for each in found:
        for row in each.rows:
            place = (each.result.status, each.summary.subject, row.name, row.workers, row.runs)
            for name, figure in row.figures.items():
                value = (name, figure.value, figure.unit.value, figure.n, figure.spread)
                writer.writerow([*each.facts.values(), *place, *value, row.verdict])
            if not row.figures:
                writer.writerow([*each.facts.values(), *place, *[None] * 5, row.verdict])
    return out.getvalue()


def _json(found: Sequence[Exported]) -> str:
    records = [
        {
            **each.facts,
            "status": each.result.status,
            "tags": each.result.tags,
            "configuration": each.result.configuration,
            "target_options": each.result.target_options,
            "summary": asdict(each.summary),
        }
        for each in found
    ]
    return json.dumps(records, indent=1) + "\n"


def _markdown(found: Sequence[Exported]) -> str:
    return "\n".join(line for each in found for line in _markdown_of(each))


def _markdown_of(each: Exported) -> Iterator[str]:
    """Yield a heading and a table; a cell has the value, its spread and its measurements."""
    facts = each.facts
    yield f"### {facts['kind']} of {facts['target']}: {facts['what']}\n"
    yield f"{facts['id']}, {facts['created']}, {each.result.status}\n"
    names = list(dict.fromkeys(name for row in each.rows for name in row.figures))
    yield _line([each.summary.subject, *names, "verdict"])
    yield "|" + "---|" * (len(names) + 2)
    for row in each.rows:
        cells = [_cell(row.figures.get(name)) for name in names]
        yield _line([str(row.name), *cells, row.verdict])
    yield ""


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return "-"
    spread = "" if figure.spread is None else f", spread {figure.spread:.1%}"
    share = figure.unit is Unit.SHARE
    value = f"{figure.value:.1%}" if share else f"{significant(figure.value)} {figure.unit.value}"
    return f"{value} (n={figure.n:,}{spread})"


# --- OpenMetrics

_BASE = {
    Unit.MILLISECONDS: ("_ms", "_seconds", 1e-3),
    Unit.SHARE: ("_share", "_share_ratio", 1.0),
}
"""Unit -> end of a figure's name, that of its metric, and what the value is multiplied by."""


def _openmetrics(found: Sequence[Exported]) -> str:
    """Return gauges, all samples of one together; each stands at the time of its result."""
    families: dict[str, list[str]] = {}
    for each in found:
        at = f"{each.result.created.timestamp():.3f}"
        for number, row in enumerate(each.rows):
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
        end, metric, factor = _BASE.get(figure.unit, ("", "", 1.0))
        base = re.sub(rf"{end}(?=_|$)", "", name) + metric if metric else name
        yield f"{PREFIX}_{base}", figure.value * factor
        yield f"{PREFIX}_{base}_measurements", float(figure.n)
        if figure.spread is not None:
            yield f"{PREFIX}_{base}_spread_ratio", figure.spread


def _labels(each: Exported, row: Row, number: int) -> str:
    facts = {name: value for name, value in each.facts.items() if name != "created"}
    own = {each.summary.subject: str(row.name), "verdict": row.verdict, "row": str(number)}
    if each.summary.subject in ("query", "load"):
        own["workers"] = str(row.workers)
    labels: Mapping[str, str] = {**facts, **own}
    return labels_of(labels)
