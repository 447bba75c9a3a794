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
    "step_rows_per_s_reference": "rows/s",
    "values_per_s": "values/s",
    "bytes_per_s": "bytes/s",
    "inserted_s": "s",
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
    "wait_min_ms": "ms",
    "wait_max_ms": "ms",
    "queries_per_s": "queries/s",
    "asked_s": "s",
    "mixed_rows_per_s": "rows/s",
    "mixed_queries_per_s": "queries/s",
    "mixed_p50_ms": "ms",
    "mixed_p99_ms": "ms",
}
"""Measure -> its unit; those of queries are followed by the query's name: wait_ms groupby.

Those of a mixed load are followed by the query, `inserts` or `all queries`: mixed_p99_ms inserts.
That of a step of a fill-level test is followed by its number: step_rows_per_s_reference 1.

`inserted_s` is the time until the last acknowledgement, `asked_s` that of all runs of a query.
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
_OF_QUERIES = {
    "wait_ms": "wait_ms_avg",
    "wait_min_ms": "wait_ms_min",
    "wait_max_ms": "wait_ms_max",
    "queries_per_s": "queries_per_s",
}
_OF_ROWS = {Kind.QUERY: _OF_QUERIES, Kind.MIXED: _MIXED}
"""Kind of a result -> measures of each row."""
_STEP, _ASKED_S = "step_rows_per_s_reference", "asked_s"
_OF_NAMED = {_ASKED_S, *_OF_QUERIES, *_MIXED}
"""Measures that are followed by the name of a row."""


def is_measure(name: str) -> bool:
    """Whether a measure of this name exists."""
    kind, _, row = name.partition(" ")
    if kind == _STEP:
        return step_of(name) is not None
    return kind in UNITS and bool(row) == (kind in _OF_NAMED)


def step_of(measure: str) -> int | None:
    """Return the number of the step that a measure is of, from 1; None: it is of no step."""
    kind, _, number = measure.partition(" ")
    return int(number) if kind == _STEP and number.isdecimal() and int(number) else None


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
        found |= _asked(result) if result.kind is Kind.QUERY else {}
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
        "inserted_s": _seconds([run.rows for run in runs], rates),
        "p50_ms": _mean([run.latency.p50_ms for run in runs]),
        "p99_ms": _mean([run.latency.p99_ms for run in runs]),
        "last_to_first": rates[-1] / rates[0] if len(rates) > 1 and rates[0] else None,
    }
    stored = [run.rows_per_s_stored for run in runs if run.rows_per_s_stored]
    if len(stored) == len(runs):
        found["rows_per_s_stored"] = _mean(stored)
        found["stored_s"] = _seconds([run.rows for run in runs], stored)
    for name in ("bytes_per_s", "values_per_s"):
        known = [value for run in runs if (value := getattr(run, name)) is not None]
        found[name] = _mean(known) if len(known) == len(runs) else None
    if len(runs) > 1:
        found |= {f"{_STEP} {n}": run.rows_per_s_reference for n, run in enumerate(runs, 1)}
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


def _asked(result: Result) -> Mapping[str, float]:
    """Return in what time all runs of each query were answered."""
    rates = {row.name: row.figures.get("queries_per_s") for row in summary_of(result).rows}
    return {
        f"{_ASKED_S} {name}": rate.n / rate.value
        for name, rate in rates.items()
        if rate and rate.value
    }


def _seconds(rows: list[int], rates: list[float]) -> float | None:
    """Return in what time rows were inserted at these rates, one after the other."""
    if not all(rates):
        return None
    return sum(count / rate for count, rate in zip(rows, rates, strict=True))


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
