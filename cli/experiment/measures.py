"""The measures that figures and claims compare, taken from an item's results."""

from collections.abc import Iterable, Mapping

from cli.host.resources import Resources
from cli.report.resources import client_in, machine_in, server_in
from cli.results.result import Result
from cli.summary.build import summary_of
from simulator.protocol.spec import Kind

UNITS = {
    "rows": "rows",
    "rows_per_s": "rows/s",
    "rows_per_s_reference": "rows/s",
    "rows_per_s_stored": "rows/s",
    "bytes_per_s": "bytes/s",
    "stored_s": "s",
    "bytes_per_row": "bytes/row",
    "p50_ms": "ms",
    "p99_ms": "ms",
    "server_cores": "cores",
    "server_memory_mib": "MiB",
    "client_cores": "cores",
    "client_memory_mib": "MiB",
    "machine_load": "",
    "last_to_first": "",
    "verified": "",
    "wait_ms": "ms",
    "queries_per_s": "queries/s",
    "mixed_rows_per_s": "rows/s",
    "mixed_queries_per_s": "queries/s",
    "mixed_p50_ms": "ms",
    "mixed_p99_ms": "ms",
}
"""Measure -> its unit; those of queries are followed by the query's name: wait_ms groupby.

Those of a mixed load are followed by the query, `inserts` or `all queries`: mixed_p99_ms inserts.

Cores are means over the timed phase of an item with `resources`, memory is the most in it.
`last_to_first` is the rate of the last step of a fill-level test over that of the first; `verified`
is 1 if all rows and answers are right, and 0 otherwise.
"""
_MIXED = {
    "mixed_rows_per_s": "rows_per_s",
    "mixed_queries_per_s": "queries_per_s",
    "mixed_p50_ms": "p50_ms",
    "mixed_p99_ms": "p99_ms",
}
"""Measure of a mixed load -> figure of its rows."""
_OF_QUERIES = {"wait_ms": "wait_ms_avg", "queries_per_s": "queries_per_s"}
_OF_ROWS = {Kind.QUERY: _OF_QUERIES, Kind.MIXED: _MIXED}
"""Kind of a result -> measures of each row."""


def is_measure(name: str) -> bool:
    """Whether a measure of this name exists."""
    kind, _, query = name.partition(" ")
    return kind in UNITS and bool(query) == any(kind in each for each in _OF_ROWS.values())


def unit_of(measure: str) -> str:
    """Return the unit of a measure."""
    return UNITS[measure.partition(" ")[0]]


def measures_of(results: Iterable[Result]) -> dict[str, float]:
    """Return what was measured by one item."""
    found: dict[str, float] = {}
    right = True
    for result in results:
        figures = _OF_ROWS.get(result.kind)
        found |= _of_rows(result, figures) if figures else _inserted(result)
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
        "p50_ms": _mean([run.latency.p50_ms for run in runs]),
        "p99_ms": _mean([run.latency.p99_ms for run in runs]),
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
    if used := result.runs[-1].resources:
        found |= _used(used)
    return {name: value for name, value in found.items() if value is not None}


def _used(found: Resources) -> Mapping[str, float]:
    """Return what client, server and machine used while rows were inserted."""
    parts = {"server": server_in(found, Kind.INSERT), "client": client_in(found, Kind.INSERT)}
    measured = {name: part for name, part in parts.items() if part}
    machine = machine_in(found, Kind.INSERT)
    return {
        **{f"{name}_cores": part.cores for name, part in measured.items()},
        **{f"{name}_memory_mib": part.memory_bytes / 2**20 for name, part in measured.items()},
        **({"machine_load": machine.load} if machine and machine.load is not None else {}),
    }


def _of_rows(result: Result, figures: Mapping[str, str]) -> Mapping[str, float]:
    """Return the measures of each query, and of a mixed load's inserts and queries together."""
    summary = summary_of(result)
    totals = summary.totals if result.kind is Kind.MIXED else ()
    return {
        f"{measure} {row.name}": row.figures[name].value
        for row in (*summary.rows, *totals)
        for measure, name in figures.items()
        if name in row.figures
    }


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
