"""What a result says, as typed figures: made once, and shown as a table, JSON or CSV."""

from cli.results.result import Result
from cli.summary.checks import rows_by_check
from cli.summary.figures import Headline, OnDisk, Summary
from cli.summary.inserts import rows_by_level, rows_by_stage, rows_by_workers
from cli.summary.mixed import load_totals, rows_by_load
from cli.summary.queries import rows_by_query, totals
from simulator.protocol.spec import Kind


def summary_of(result: Result) -> Summary:
    """Return the summary of a result."""
    kind, done = result.kind, [run for run in result.runs if run.outcome.status == "done"]
    match kind:
        case Kind.VERIFY:
            return Summary(kind, "check", tuple(rows_by_check(done)))
        case Kind.QUERY:
            return Summary(kind, "query", tuple(rows_by_query(done)), tuple(totals(done)))
        case Kind.MIXED:
            return Summary(kind, "load", tuple(rows_by_load(done)), tuple(load_totals(done)))
    if result.configuration.get("steps"):
        return Summary(kind, "level", tuple(rows_by_level(done)))
    if result.configuration.get("stages"):
        return Summary(kind, "stage", tuple(rows_by_stage(done)))
    return Summary(kind, "workers", tuple(rows_by_workers(done)))


def headline_of(summary: Summary) -> Headline | None:
    """Return the highest rate, or that of the last step; None for checks and failed runs."""
    name = {
        "workers": "rows_per_s_avg",
        "level": "rows_per_s",
        "stage": "rows_per_s",
        "query": "queries_per_s",
        "load": "rows_per_s",
    }
    figure = name.get(summary.subject, "")
    rows = [row for row in summary.totals if figure in row.figures]
    rows = rows or [row for row in summary.rows if figure in row.figures]
    if not rows:
        return None
    if summary.subject == "level":
        row = rows[-1]
    else:
        row = max(rows, key=lambda each: each.figures[figure].value)
    return Headline(row, figure, row.figures[figure])


def on_disk_of(result: Result) -> OnDisk | None:
    """Return what the rows of a result take on disk, if that is known."""
    for run in reversed(result.runs):
        size_bytes, found = run.outcome.size_bytes, run.metrics
        if size_bytes and found and found.bytes_per_row:
            return OnDisk(size_bytes, found.bytes_per_row, found.bits_per_value, found.precision)
    return None
