"""The measures that figures and claims compare, taken from an item's results."""

from collections.abc import Iterable, Mapping

from cli.report.summary import summary_of
from cli.results import Result
from simulator.protocol.spec import Kind

UNITS = {
    "rows": "rows",
    "rows_per_s": "rows/s",
    "rows_per_s_reference": "rows/s",
    "rows_per_s_stored": "rows/s",
    "bytes_per_s": "bytes/s",
    "stored_s": "s",
    "bytes_per_row": "bytes/row",
    "last_to_first": "",
    "verified": "",
    "wait_ms": "ms",
    "queries_per_s": "queries/s",
}
"""Measure -> its unit; those of queries are followed by the query's name: wait_ms groupby.

`last_to_first` is the rate of the last step of a fill-level test over that of the first; `verified`
is 1 if all rows and answers are right, and 0 otherwise.
"""
_OF_QUERIES = ("wait_ms", "queries_per_s")


def is_measure(name: str) -> bool:
    """Whether a measure of this name exists."""
    kind, _, query = name.partition(" ")
    return kind in UNITS and bool(query) == (kind in _OF_QUERIES)


def unit_of(measure: str) -> str:
    """Return the unit of a measure."""
    return UNITS[measure.partition(" ")[0]]


def measures_of(results: Iterable[Result]) -> dict[str, float]:
    """Return what was measured by one item."""
    found: dict[str, float] = {}
    right = True
    for result in results:
        found |= _asked(result) if result.kind is Kind.QUERY else _inserted(result)
        right = right and result.exit_code == 0
    return {**found, "verified": float(right)} if found else {}


def _inserted(result: Result) -> dict[str, float]:
    """Return the measures of an insert; of a fill-level test, means over its steps."""
    runs = [run.metrics for run in result.runs if run.metrics]
    if not runs:
        return {}
    rates = [run.rows_per_s for run in runs]
    found: dict[str, float | None] = {
        "rows": float(sum(run.rows for run in runs)),
        "rows_per_s": _mean(rates),
        "rows_per_s_reference": _mean([run.rows_per_s_reference for run in runs]),
        "bytes_per_row": runs[-1].bytes_per_row,
        "last_to_first": rates[-1] / rates[0] if len(rates) > 1 and rates[0] else None,
    }
    stored = [run.rows_per_s_stored for run in runs if run.rows_per_s_stored]
    if len(stored) == len(runs):
        rows = (run.rows for run in runs)
        seconds = sum(count / rate for count, rate in zip(rows, stored, strict=True))
        found |= {"rows_per_s_stored": _mean(stored), "stored_s": seconds}
    sent = [run.bytes_per_s for run in runs if run.bytes_per_s is not None]
    if len(sent) == len(runs):
        found["bytes_per_s"] = _mean(sent)
    return {name: value for name, value in found.items() if value is not None}


def _asked(result: Result) -> Mapping[str, float]:
    figures = {"wait_ms": "wait_ms_avg", "queries_per_s": "queries_per_s"}
    return {
        f"{measure} {row.name}": row.figures[name].value
        for row in summary_of(result).rows
        for measure, name in figures.items()
        if name in row.figures
    }


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
