"""What a result says, as typed figures: made once, and shown as a table, JSON or CSV."""

from cli.results.result import Result
from cli.summary.checks import rows_by_check
from cli.summary.inserts import rows_by_level, rows_by_stage, rows_by_workers
from cli.summary.mixed import load_totals, rows_by_load
from cli.summary.queries import rows_by_query, totals
from cli.summary.rows import SUBJECTS, OnDisk, Subject, Summary
from simulator.protocol.spec import Kind

_ROWS = {
    "check": rows_by_check,
    "query": rows_by_query,
    "load": rows_by_load,
    "level": rows_by_level,
    "stage": rows_by_stage,
    "workers": rows_by_workers,
}
_TOTALS = {"query": totals, "load": load_totals}
_SUBJECTS = {Kind.VERIFY: "check", Kind.QUERY: "query", Kind.MIXED: "load"}


def subject_of(result: Result) -> Subject:
    """Return what the rows of a result's summary are about."""
    options = result.configuration
    parted = "level" if options.get("steps") else "stage" if options.get("stages") else "workers"
    return SUBJECTS[_SUBJECTS.get(result.kind, parted)]


def summary_of(result: Result) -> Summary:
    """Return the summary of a result."""
    subject, done = subject_of(result), [r for r in result.runs if r.outcome.status == "done"]
    rows, of_all = _ROWS[subject.name], _TOTALS.get(subject.name, lambda _: ())
    return Summary(result.kind, subject, tuple(rows(done)), tuple(of_all(done)))


def on_disk_of(result: Result) -> OnDisk | None:
    """Return what the rows of a result take on disk, if that is known."""
    for run in reversed(result.runs):
        size_bytes, found = run.outcome.size_bytes, run.metrics
        if size_bytes and found and found.bytes_per_row:
            return OnDisk(size_bytes, found.bytes_per_row, found.bits_per_value, found.precision)
    return None
