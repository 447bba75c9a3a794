"""A result as JSON and CSV: the summary's figures as flat records, with every digit."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from iotbench.figures.figures import FACETS, FIGURES, Unit
from iotbench.figures.rows import Row
from iotbench.figures.summary import on_disk_of
from iotbench.machine.cleaning import csv_text
from iotbench.measurements import summary_of
from iotbench.output.terminal.notes import mismatches_of
from iotbench.results.result import Result

Record = dict[str, Any]
_WITH_ENDS = (Unit.ROWS_PER_S, Unit.QUERIES_PER_S)
"""Units of figures for which a record of several runs also has lowest, highest and spread."""


def records_of(result: Result) -> list[Record]:
    """Return a record for each row of the summary."""
    return [*map(_record, summary_of(result).rows)]


def totals_of(result: Result) -> list[Record]:
    """Return a record for each run that asked several queries: all of them together."""
    return [*map(_record, summary_of(result).totals)]


def _record(row: Row) -> Record:
    """Return dimensions, figures and the basis of each: min, max and spread of several runs."""
    record: Record = {**row.place.dimensions}
    record |= {} if row.place.check else {"runs": row.runs}
    for name, found in row.figures.items():
        ends = FIGURES[name].unit in _WITH_ENDS and found.low is not None
        known = FACETS if ends else ("",)
        record |= {f"{name}{facet}": FACETS[facet](found) for facet in known}
    record |= dict.fromkeys(row.withheld)
    if "p50_ms" in row.figures:
        record["timed"] = row.figures["p50_ms"].n
    if row.place.check is not None:
        record |= {"expected": row.expected, "found": row.found}
    return {**record, "verdict": row.verdict} | ({"verify": row.level.value} if row.level else {})


def as_json(result: Result, path: Path | None) -> str:
    """Return a result's summary, and the facts to judge it by, as JSON."""
    on_disk = on_disk_of(result)
    shown = {
        "kind": result.kind,
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
    return csv_text(records_of(result) + totals_of(result))
