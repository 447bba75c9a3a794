"""From a result to what is shown: rows of named values, and from those a table, JSON or CSV."""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from cli.metrics import latency_of, merged
from cli.report.warnings import spread
from cli.results import Result, RunRecord
from simulator.protocol.spec import Kind
from simulator.protocol.verdict import Status, Verdict

FORMATS = ("table", "json", "csv")

_NOT_RIGHT = (Status.MISMATCH, Status.INCOMPLETE, Status.UNKNOWN)

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Heading:
    """A column of a table: its key in a row, its title, and how a value is written."""

    key: str
    title: str
    write: Callable[[Any], str]
    right: bool = True


def _rate(value: float) -> str:
    return f"{value:,.0f}"


def _milliseconds(value: float) -> str:
    return f"{value:,.3f}" if value < 10 else f"{value:,.1f}"


def _seconds(value: float) -> str:
    return f"{value:.2f}" if value >= 1 else f"{value:.4f}"


def _percent(value: float) -> str:
    return f"{value:.1%}"


_SENDS = (
    Heading("latency_p50_ms", "p50 ms", _milliseconds),
    Heading("latency_p99_ms", "p99 ms", _milliseconds),
    Heading("latency_max_ms", "Max ms", _milliseconds),
    Heading("client_share", "Client", _percent),
    Heading("verdict", "Verdict", str, right=False),
)
_INSERT = (
    Heading("workers", "Workers", str),
    Heading("rows_per_s_min", "Min", _rate),
    Heading("rows_per_s_max", "Max", _rate),
    Heading("rows_per_s_avg", "Avg rows/s", _rate),
    Heading("spread", "Spread", _percent),
    *_SENDS,
)
_STEPS = (Heading("level", "Level", str), Heading("rows_per_s", "Inserts/s", _rate), *_SENDS)
_QUERY = (
    Heading("query", "Query", str, right=False),
    Heading("duration_s_min", "Min s", _seconds),
    Heading("duration_s_max", "Max s", _seconds),
    Heading("duration_s_avg", "Avg s", _seconds),
    Heading("duration_s_p50", "p50 s", _seconds),
    Heading("duration_s_p99", "p99 s", _seconds),
    Heading("verdict", "Verdict", str, right=False),
)


_VERIFY = (
    Heading("check", "Check", str, right=False),
    Heading("expected", "Expected", str, right=False),
    Heading("found", "Found", str, right=False),
    Heading("verdict", "Verdict", str, right=False),
)


def headings_of(result: Result) -> tuple[Heading, ...]:
    """Return the columns of a result's table."""
    if result.kind is Kind.VERIFY:
        return _VERIFY
    if result.kind is Kind.QUERY:
        return _QUERY
    return _STEPS if result.configuration.get("steps") else _INSERT


def rows_of(result: Result) -> list[Row]:
    """Return the rows of a result's table; runs that failed are not in it."""
    done = [run for run in result.runs if run.outcome.status == "done"]
    if result.kind is Kind.VERIFY:
        return [row for run in done for row in _verify_rows(run)]
    if result.kind is Kind.QUERY:
        return [row for run in done for row in _query_rows(run)]
    if result.configuration.get("steps"):
        return [_step_row(run) for run in done]
    counts = dict.fromkeys(run.workers for run in done)
    return [_workers_row([run for run in done if run.workers == count]) for count in counts]


def _workers_row(runs: Sequence[RunRecord]) -> Row:
    rates = [run.metrics.rows_per_s for run in runs if run.metrics]
    reference = [run.metrics.rows_per_s_reference for run in runs if run.metrics]
    return {
        "workers": runs[0].workers,
        "runs": len(runs),
        "rows_per_s_min": min(rates),
        "rows_per_s_max": max(rates),
        "rows_per_s_avg": sum(rates) / len(rates),
        "rows_per_s_reference_avg": sum(reference) / len(reference),
        "spread": spread(rates) if len(rates) > 1 else None,
        **_sends(runs),
    }


def _step_row(run: RunRecord) -> Row:
    assert run.metrics
    return {"level": run.level, "rows_per_s": run.metrics.rows_per_s, **_sends([run])}


def _sends(runs: Sequence[RunRecord]) -> Row:
    latency = latency_of(merged(tuple(w for run in runs for w in run.outcome.workers)))
    shares = [run.metrics.client_share for run in runs if run.metrics]
    return {
        "latency_p50_ms": latency.p50_ms,
        "latency_p99_ms": latency.p99_ms,
        "latency_max_ms": latency.max_ms,
        "client_share": sum(shares) / len(shares),
        "verdict": _worst([run.outcome.verdict for run in runs]).value,
    }


def _query_rows(run: RunRecord) -> list[Row]:
    rows = []
    for query in run.outcome.queries:
        durations = sorted(
            duration
            for worker in run.outcome.workers
            for times in worker.queries
            if times.name == query.name
            for duration in times.durations_s
        )
        verdict = query.verdict.status.value + (", tuned" if query.tuned else "")
        if durations:
            rows.append(
                {
                    "query": query.name,
                    "duration_s_min": durations[0],
                    "duration_s_max": durations[-1],
                    "duration_s_avg": sum(durations) / len(durations),
                    "duration_s_p50": _percentile(durations, 0.50),
                    "duration_s_p99": _percentile(durations, 0.99),
                    "verdict": verdict,
                }
            )
        else:
            rows.append({"query": query.name, "verdict": query.verdict.reason})
    return rows


def _verify_rows(run: RunRecord) -> list[Row]:
    words = {True: Status.VERIFIED, False: Status.MISMATCH, None: Status.UNKNOWN}
    checks = run.outcome.verdict.checks if run.outcome.verdict else ()
    return [
        {
            "check": check.name,
            "expected": check.expected,
            "found": check.found,
            "verdict": words[check.ok].value,
        }
        for check in checks
    ]


def _percentile(ordered: Sequence[float], part: float) -> float:
    """Return the smallest value that `part` of all values do not exceed."""
    return ordered[max(-int(-len(ordered) * part // 1), 1) - 1]


def _worst(verdicts: Sequence[Verdict | None]) -> Status:
    order = (Status.MISMATCH, Status.INCOMPLETE, Status.UNKNOWN, Status.OFF, Status.VERIFIED)
    found = {verdict.status if verdict else Status.UNKNOWN for verdict in verdicts}
    return next(status for status in order if status in found)


def printed(result: Result, path: Path | None, form: str) -> str:
    """Return a result as text in one of FORMATS."""
    if form == "json":
        return _json(result, path)
    if form == "csv":
        return _csv(result)
    return _table(result, path)


def _json(result: Result, path: Path | None) -> str:
    shown = {
        "kind": result.kind.value,
        "target": result.target,
        "status": result.status,
        "cause": result.cause,
        "exit_code": result.exit_code,
        "rows": rows_of(result),
        "mismatches": mismatches_of(result),
        "warnings": result.warnings,
        "configuration": result.configuration,
        "file": str(path) if path else None,
    }
    return json.dumps(shown, indent=1) + "\n"


def _csv(result: Result) -> str:
    rows = rows_of(result)
    names = list(dict.fromkeys(key for row in rows for key in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _table(result: Result, path: Path | None) -> str:
    out = io.StringIO()
    console = Console(file=out, width=120, highlight=False, markup=False, color_system=None)
    if result.kind is Kind.INSERT and result.configuration.get("steps"):
        rows = int(result.configuration["num_inserts"]) * int(result.configuration["workers"][0])
        console.print(f"Stepsize: {rows}")
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    headings = headings_of(result)
    for heading in headings:
        table.add_column(heading.title, justify="right" if heading.right else "left")
    for row in rows_of(result):
        values = ((heading, row.get(heading.key)) for heading in headings)
        table.add_row(*("-" if value is None else h.write(value) for h, value in values))
    console.print(table)
    for line in _notes(result, path):
        console.print(line, soft_wrap=True)
    return out.getvalue()


def _notes(result: Result, path: Path | None) -> list[str]:
    lines = []
    if result.status != "done":
        lines.append(f"{result.status}: {result.cause}")
        lines += _done_until_then(result)
    lines += [f"mismatch: {text}" for text in mismatches_of(result)]
    lines += [f"warning: {text}" for text in result.warnings]
    lines.append(f"configuration: {_configuration(result)}")
    servers = [run.outcome.server for run in result.runs if run.outcome.server]
    if servers:
        lines.append(f"server: {servers[-1].version}; {servers[-1].durability}")
    sizes = [run for run in result.runs if run.metrics and run.metrics.bytes_per_row]
    if sizes and sizes[-1].metrics:
        size, each = sizes[-1].outcome.size_bytes or 0, sizes[-1].metrics.bytes_per_row or 0.0
        lines.append(f"on disk after settle: {size:,} bytes, {each:.1f} bytes/row")
    if result.ran_on:
        lines.append(f"cluster: {_cluster(result)}")
    machine = result.machine
    where = "command line" if result.ran_on else "client"
    lines.append(
        f"{where}: {machine.processor}, {machine.cores} cores,"
        f" {machine.memory_bytes / 2**30:.0f} GiB, {machine.system}, Python {machine.python}"
    )
    if path:
        lines.append(f"result file: {path}")
    return lines


def _cluster(result: Result) -> str:
    """Return where the pods ran, and how many workers at most on each node."""
    words = [f"{name} {value}" for name, value in result.ran_on.items()]
    most: Counter[str] = Counter()
    for run in result.runs:
        most |= Counter(worker.node for worker in run.outcome.workers if worker.node)
    nodes = ", ".join(f"{count} on {node}" for node, count in sorted(most.items()))
    return ", ".join(words) + (f"; workers at most: {nodes}" if nodes else "")


def _done_until_then(result: Result) -> list[str]:
    """Return what the run that failed had done."""
    inserts = result.kind is Kind.INSERT
    if not inserts or not result.runs or not result.runs[-1].outcome.workers:
        return []
    last = result.runs[-1]
    rows = sum(worker.rows for worker in last.outcome.workers)
    prefilled = sum(worker.prefill_rows for worker in last.outcome.workers)
    uncertain = last.metrics.uncertain_rows if last.metrics else 0
    done = sum(run.outcome.status == "done" for run in result.runs)
    last_one = f"{rows:,} rows acknowledged ({uncertain:,} uncertain, {prefilled:,} prefilled)"
    return [f"until then: {done} runs done; in the last one {last_one}"]


def _configuration(result: Result) -> str:
    words = [f"{result.kind} target={result.target} module={result.module} runner={result.runner}"]
    for key, value in result.configuration.items():
        shown = ",".join(map(str, value)) if isinstance(value, list | tuple) else value
        words.append(f"{key}={shown}")
    return " ".join(words)


def _place(run: RunRecord) -> str:
    """Return which run of a sweep it is; nothing for a verification, which has no workers."""
    plural = "s" if run.workers > 1 else ""
    return f"{run.workers} worker{plural}, run {run.run}: " if run.workers else ""


def mismatches_of(result: Result) -> list[str]:
    """Return what was wrong or could not be told, run by run."""
    return [
        f"{_place(run)}{run.outcome.verdict.reason}"
        for run in result.runs
        if run.outcome.verdict and run.outcome.verdict.status in _NOT_RIGHT
    ]
