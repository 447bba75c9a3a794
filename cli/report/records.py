"""A result as JSON and CSV: the summary's figures as flat records, with every digit."""

import csv
import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cli.report.notes import mismatches_of
from cli.results.result import Result
from cli.summary.build import on_disk_of, summary_of
from cli.summary.figures import Row
from simulator.protocol.spec import Kind

Record = dict[str, Any]
_RATES = {"workers": ("rows_per_s_avg",), "load": ("rows_per_s", "queries_per_s")}
"""Subject of a summary -> the figures whose spread a record has."""


def records_of(result: Result) -> list[Record]:
    """Return a record for each row of the summary."""
    summary = summary_of(result)
    return [_record(result.kind, summary.subject, row) for row in summary.rows]


def totals_of(result: Result) -> list[Record]:
    """Return a record for each run that asked several queries: all of them together."""
    summary = summary_of(result)
    return [_record(result.kind, summary.subject, row) for row in summary.totals]


def _record(kind: Kind, subject: str, row: Row) -> Record:
    record: Record = {subject: row.name}
    if subject in ("workers", "load"):
        record["runs"] = row.runs
    for name, figure in row.figures.items():
        record[name] = figure.value
        if name in _RATES.get(subject, ()):
            record["spread"] = figure.spread
    if subject == "stage":
        record |= {"workers": row.workers, "runs": row.runs}
    if kind in (Kind.QUERY, Kind.MIXED):
        record["workers"] = row.workers
        record["executions"] = max((figure.n for figure in row.figures.values()), default=0)
    if kind is Kind.VERIFY:
        record |= {"expected": row.expected, "found": row.found}
    record["verdict"] = row.verdict
    return record


def as_json(result: Result, path: Path | None) -> str:
    """Return a result's summary, and what is needed to judge it, as JSON."""
    on_disk = on_disk_of(result)
    shown = {
        "kind": result.kind.value,
        "target": result.target,
        "status": result.status,
        "cause": result.cause,
        "exit_code": result.exit_code,
        "rows": records_of(result),
        "all_queries": totals_of(result),
        "ramps": [
            {"workers_at_most": run.workers, **ramp.model_dump(mode="json")}
            for run in result.runs
            for ramp in run.outcome.ramps
        ],
        "mismatches": mismatches_of(result),
        "warnings": result.warnings,
        "answers": [
            {"query": query.name, "workers": run.workers, **each.model_dump(mode="json")}
            for run in result.runs
            for query in run.outcome.queries
            for each in query.shown
        ],
        "on_disk": asdict(on_disk) if on_disk else None,
        "configuration": result.configuration,
        "target_options": result.target_options,
        "file": str(path) if path else None,
    }
    return json.dumps(shown, indent=1) + "\n"


def as_csv(result: Result) -> str:
    """Return a result's summary as CSV."""
    records = records_of(result) + totals_of(result)
    names = list(dict.fromkeys(key for record in records for key in record))
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()
