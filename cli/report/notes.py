"""The lines below a result's table: failures, warnings, configuration, server, machine."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC
from pathlib import Path
from typing import Any

from cli.report.resources import used
from cli.report.summary import OnDisk, on_disk_of, summary_of
from cli.results import Result, RunRecord
from simulator.data.walks import Precision
from simulator.errors import counted
from simulator.protocol.spec import Kind
from simulator.protocol.verdict import Status, Verdict

_DRAWN = {
    Precision.GRID: "precision grid: about 13 bits, which compress well",
    Precision.FULL: "precision full: every bit of a double",
}
"""What to know about the values of a table whose size is shown."""
_NOT_RIGHT = (Status.MISMATCH, Status.INCOMPLETE, Status.UNKNOWN)


def notes_of(result: Result, path: Path | None) -> Iterator[str]:
    """Yield the lines below the table."""
    if result.status == "running":
        yield "running: did not end: its command line was killed, or is still running"
    elif result.status != "done":
        yield f"{result.status}: {result.cause}"
    if result.status != "done":
        yield from _done_before(result)
    for run, verdict in _not_right(result):
        yield f"{verdict.status}: {_place(run)}{verdict.reason}"
    yield from (f"warning: {text}" for text in result.warnings)
    yield from _reference_rates(result)
    yield f"configuration: {_configuration(result)}"
    if result.target_options:
        yield f"target options: {_words(result.target_options)}"
    servers = [run.outcome.server for run in result.runs if run.outcome.server]
    if servers:
        yield f"server: {servers[-1].version}; {servers[-1].durability}"
    if on_disk := on_disk_of(result):
        yield f"on disk after compaction: {_size(on_disk, result.dataset.workload)}"
    measured = [run.resources for run in result.runs if run.resources]
    yield from (f"resources: {used(found, result.kind)}" for found in measured[-1:])
    if result.ran_on:
        yield f"cluster: {_cluster(result)}"
    machine = result.machine
    where = "command line" if result.ran_on else "client"
    yield (
        f"{where}: {machine.processor}, {counted(machine.cores, 'core')},"
        f" {machine.memory_bytes / 2**30:.0f} GiB, {machine.system}, Python {machine.python}"
    )
    if path:
        yield f"result file: {path}"


def _reference_rates(result: Result) -> Iterator[str]:
    """Yield the rates by the formula of the published benchmark that this tool reproduces."""
    if result.kind is not Kind.INSERT:
        return
    found = []
    for row in summary_of(result).rows:
        at_level = "rows_per_s_reference" in row.figures
        name = "rows_per_s_reference" if at_level else "rows_per_s_reference_avg"
        where = f"at level {row.name:,}" if at_level else f"with {counted(int(row.name), 'worker')}"
        found.append(f"{row.figures[name].value:,.0f} {where}")
    if found:
        formula = "rows/s by the published formula (rows / mean duration of the workers)"
        yield f"{formula}: {', '.join(found)}"


def _size(on_disk: OnDisk, workload: str) -> str:
    size, each = counted(on_disk.size_bytes, "byte"), f"{on_disk.bytes_per_row:.1f} bytes/row"
    if on_disk.bits_per_value is None:
        return f"{size}, {each}"
    drawn = _DRAWN[on_disk.precision] if on_disk.precision else f"values of workload {workload}"
    return f"{size}, {each}, {on_disk.bits_per_value:.1f} bits/value ({drawn})"


def mismatches_of(result: Result) -> list[str]:
    """Return what is wrong, incomplete or unknown, run by run."""
    return [f"{_place(run)}{verdict.reason}" for run, verdict in _not_right(result)]


def _not_right(result: Result) -> list[tuple[RunRecord, Verdict]]:
    runs = ((run, run.outcome.verdict) for run in result.runs)
    return [(run, verdict) for run, verdict in runs if verdict and verdict.status in _NOT_RIGHT]


def _place(run: RunRecord) -> str:
    """Return which run of a sweep it is; nothing for a verification, which has no workers."""
    return f"{counted(run.workers, 'worker')}, run {run.run}: " if run.workers else ""


def _done_before(result: Result) -> list[str]:
    """Return what was done before the failure."""
    if result.kind is not Kind.INSERT:
        return []
    done = sum(run.outcome.status == "done" for run in result.runs)
    before = f"before that: {counted(done, 'run')} done"
    last = result.runs[-1] if result.runs else None
    progress = result.in_progress or (last and last.progress)
    if progress:
        which = f"{counted(progress.workers, 'worker')}, phase {progress.phase}"
        known = f"{counted(progress.rows, 'row')} acknowledged, {progress.prefill_rows:,} prefilled"
        as_of = f"as of {progress.at.astimezone(UTC):%F %T} UTC"
        return [f"{before}; in the next one ({which}) at least {known}, {as_of}"]
    if last is None or not last.outcome.workers:
        return []
    rows = sum(worker.rows for worker in last.outcome.workers)
    prefilled = sum(worker.prefill_rows for worker in last.outcome.workers)
    uncertain = last.metrics.uncertain_rows if last.metrics else 0
    last_one = f"{counted(rows, 'row')} acknowledged ({uncertain:,} uncertain"
    return [f"{before}; in the last one {last_one}, {prefilled:,} prefilled)"]


def _configuration(result: Result) -> str:
    words = [f"{result.kind} target={result.target} module={result.module} runner={result.runner}"]
    return " ".join([*words, _words(result.configuration)])


def _words(options: Mapping[str, Any]) -> str:
    """Return options as key=value words; lists separated by commas."""
    lists = {
        key: ",".join(map(str, v)) for key, v in options.items() if isinstance(v, list | tuple)
    }
    return " ".join(f"{key}={lists.get(key, value)}" for key, value in options.items())


def _cluster(result: Result) -> str:
    """Return where the pods ran, and how many workers at most on each node."""
    words = [f"{name} {value}" for name, value in result.ran_on.items()]
    most: Counter[str] = Counter()
    for run in result.runs:
        most |= Counter(worker.node for worker in run.outcome.workers if worker.node)
    nodes = ", ".join(f"{count} on {node}" for node, count in sorted(most.items()))
    return ", ".join(words) + (f"; workers at most: {nodes}" if nodes else "")
