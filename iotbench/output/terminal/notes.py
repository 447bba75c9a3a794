"""The lines below the table of a result: answers, plans, ramps and notes."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC
from itertools import chain
from pathlib import Path
from typing import Any

from iotbench.figures.numbers import significant
from iotbench.figures.resources import measure_used
from iotbench.figures.summary import OnDisk, on_disk_of
from iotbench.figures.verdicts import describe_worst, level_of, verdict_of
from iotbench.machine.disk import DROPPED
from iotbench.machine.program import command_line
from iotbench.measurements import kind_of, summary_of
from iotbench.measurements.warnings import merge_warnings
from iotbench.output.terminal.course import format_seconds, occurrences_of
from iotbench.results.command import GivenCommand, words_of
from iotbench.results.faults import accounts_of
from iotbench.results.names import DEFAULT_FOLDER
from iotbench.results.result import Result, RunRecord
from simulator.data.walks import Precision
from simulator.errors import ConfigError, counted
from simulator.protocol.events import QueryPlans, QueryRamp, RampEnd, ShownAnswer
from simulator.protocol.messages import Scalar
from simulator.protocol.verdict import Status, Verdict

_DRAWN = {
    Precision.GRID: "precision grid: about 13 bits, which compress well",
    Precision.FULL: "precision full: every bit of a double",
}
"""Precision -> note on the size of the tables."""
_MOST_TIMED_RUNS = 4
"""Maximum number of runs for which the times of occurrences are listed."""
_DAY_S = 86_400
_WARNING = "warning"
_MOST_WRONG = 5
_REACHING = ("target", "config", "runner", "extra-option")
"""Options that the next command needs to reach the same target."""
_WITHOUT_ROWS = ("start", "init")
"""Phases before the first row."""
_NOT_RIGHT = (Status.MISMATCH, Status.INCOMPLETE, Status.UNKNOWN)
_PLAN_LINES = 20
"""Maximum number of lines of a query plan in a terminal."""
_MORE = "and further statements, without plans"


def notes_of(result: Result, path: Path | None) -> Iterator[str]:
    """Yield the lines below the table."""
    yield from (f"{name}: {text}" for name, text in alerts_of(result))
    yield from kind_of(result).remarks(result)
    yield f"configuration: {_describe_configuration(result)}"
    if result.target_options:
        yield f"target options: {_format_options(result.target_options)}"
    yield from (f"{name}: {text}" for name, text in facts_of(result))
    if path:
        yield f"result file: {path}"


def brief_of(result: Result, path: Path | None) -> Iterator[str]:
    """Yield at most five lines: verdict, durability, first warning, file, next command.

    Before these lines, yield failures, and facts that the user requested with an option.
    """
    alerts = [*alerts_of(result)]
    wrong = [f"{name}: {text}" for name, text in alerts if name != _WARNING]
    warnings = [text for name, text in alerts if name == _WARNING]
    yield from wrong[:_MOST_WRONG]
    if wrong[_MOST_WRONG:]:
        yield f"and {counted(len(wrong) - _MOST_WRONG, 'more line')} like these"
    answers = chain(kind_of(result).answers(result), _describe_resources(result))
    yield from (f"{name}: {text}" for name, text in answers)
    if not wrong:
        yield f"verdict: {describe_worst([verdict_of(result)], [result])}"
    if result.server and kind_of(result).writes:
        yield f"server: {result.server.version}; {result.server.durability}"
    if warnings:
        others = f" ({counted(len(warnings) - 1, 'more warning')})" if warnings[1:] else ""
        yield f"{_WARNING}: {warnings[0]}{others}"
    if path:
        yield f"result file: {path}"
        yield _suggest_next(result, path)


def _suggest_next(result: Result, path: Path) -> str:
    """Return a line with the next command, and the command that shows the whole result."""
    where = [] if path.parent == DEFAULT_FOLDER else ["--output", str(path.parent)]
    everything = f"everything about it: `{command_line(['show', *where])}`"
    if result.status != "done" or not kind_of(result).is_measured:
        return everything
    words = ["report"]
    if result.kind == "insert" and result.manifest and isinstance(result.command, GivenCommand):
        words = ["query", *(word for option in _REACHING if option in result.command.options
                            for word in result.command.words_of(option))]  # fmt: skip
    return f"next: `{command_line([*words, *where])}`; {everything}"


def alerts_of(result: Result) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) of failures, wrong rows or answers, and warnings."""
    if result.status == "running":
        yield "running", "did not end: its command line was killed, or is still running"
    elif result.status != "done":
        yield result.status, result.cause
    if result.status != "done":
        yield from _describe_done(result)
    for run, verdict in _find_failed_verdicts(result):
        yield verdict.status.value, f"{_describe_place(run)}{verdict.reason}"
    yield from ((_WARNING, text) for text in merge_warnings(result.warnings))


def facts_of(result: Result) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of facts about the server, the size on disk and the machines."""
    if result.command:
        yield "command", command_line(words_of(result.command))
    if result.server:
        yield "server", f"{result.server.version}; {result.server.durability}"
    if background := background_of(result):
        yield "server's own work", background
    if failures := _count_failures(result):
        yield "failures", failures
    if on_disk := on_disk_of(result):
        yield "on disk after compaction", _describe_size(on_disk, result.dataset.workload)
    if compared := _describe_compared(result):
        yield "compared with the truth", compared
    yield from kind_of(result).facts(result)
    if result.caches == DROPPED:
        yield "system caches", "dropped before each run"
    yield from _describe_resources(result)
    if result.ran_on:
        yield "cluster", _describe_cluster(result)
    machine = result.machine
    where = "command line" if result.ran_on else "client"
    yield where, f"{machine.hardware}, {machine.system}, Python {machine.python}"


def _describe_resources(result: Result) -> Iterator[tuple[str, str]]:
    measured = [run.resources for run in result.runs if run.resources]
    yield from (("resources", measure_used(found, kind_of(result).work)) for found in measured[-1:])


def background_of(result: Result) -> str:
    """Return the server's background work in the timed parts; empty if none was counted."""
    total: Counter[str] = Counter()
    runs = [run.outcome.background for run in result.runs if run.outcome.background]
    for each in runs:
        total.update(each)
    shown = format_counts(total)
    if not shown:
        return ""
    where = f"in the timed parts of {counted(len(runs), 'run')}"
    return f"{shown}, {where}{_describe_times(result, are_failures=False)}"


def _count_failures(result: Result) -> str:
    """Return the failures in the timed parts of the runs; empty if there were none."""
    total: Counter[str] = Counter()
    for run in result.runs:
        for each in occurrences_of(run.outcome):
            total[each.what] += each.count if each.is_failure else 0
    return format_counts(+total) + _describe_times(result, are_failures=True)


def _describe_times(result: Result, *, are_failures: bool) -> str:
    """Return the times of occurrences in each run, in parentheses."""
    found = [
        (run, [e for e in occurrences_of(run.outcome) if e.is_failure == are_failures])
        for run in result.runs
    ]
    some = [(run, occurrences) for run, occurrences in found if occurrences]
    if len(some) > _MOST_TIMED_RUNS:
        return ""
    texts = [
        f"{_describe_place(run) if len(found) > 1 else ''}{format_seconds(occurrences)}"
        for run, occurrences in some
    ]
    return f" ({'; '.join(texts)})" if texts else ""


def _describe_compared(result: Result) -> str:
    """Describe how stored rows were compared, and which differences remain undetected."""
    level = level_of(result.runs)
    if level is None:
        return ""
    verdicts = [run.outcome.rows_verdict or run.outcome.verdict for run in result.runs]
    left_out = [what for verdict in verdicts if verdict for what in verdict.left_out]
    unseen = [level.depth.unseen] if level.depth.unseen else []
    unseen += dict.fromkeys(left_out)
    words = f"--verify {level}: {level.depth.compares}"
    return f"{words}; not seen: {'; '.join(unseen)}" if unseen else words


def format_counts(counts: Mapping[str, int]) -> str:
    """Return counts as text, each after its name in the plural."""
    return ", ".join(f"{name}: {count:,}" for name, count in counts.items())


def _describe_size(on_disk: OnDisk, workload: str) -> str:
    size, each = counted(on_disk.size_bytes, "byte"), f"{on_disk.bytes_per_row:.1f} bytes/row"
    if on_disk.bits_per_value is None:
        return f"{size}, {each}"
    drawn = _DRAWN[on_disk.precision] if on_disk.precision else f"values of workload {workload}"
    return f"{size}, {each}, {on_disk.bits_per_value:.1f} bits/value ({drawn})"


def mismatches_of(result: Result) -> list[str]:
    """Return the reasons of the wrong, incomplete or unknown verdicts of the runs."""
    return [
        f"{_describe_place(run)}{verdict.reason}" for run, verdict in _find_failed_verdicts(result)
    ]


def _find_failed_verdicts(result: Result) -> list[tuple[RunRecord, Verdict]]:
    runs = ((run, run.outcome.verdict) for run in result.runs)
    return [(run, verdict) for run, verdict in runs if verdict and verdict.status in _NOT_RIGHT]


def _describe_place(run: RunRecord) -> str:
    """Return the place of a run in its sweep; empty for a verification."""
    return f"{counted(run.workers, 'worker')}, run {run.run}: " if run.workers else ""


def _describe_done(result: Result) -> list[tuple[str, str]]:
    if not kind_of(result).writes:
        return []
    done = sum(run.outcome.status == "done" for run in result.runs)
    before = f"{counted(done, 'run')} done; in the {{}} one " if done else ""
    last = result.runs[-1] if result.runs else None
    progress = result.in_progress or (last and last.progress)
    if progress:
        if not done and progress.phase in _WITHOUT_ROWS:
            return []
        which = f"{counted(progress.workers, 'worker')}, phase {progress.phase}"
        known = f"{counted(progress.rows, 'row')} acknowledged, {progress.prefill_rows:,} prefilled"
        as_of = f"as of {progress.at.astimezone(UTC):%F %T} UTC"
        return [("before that", f"{before.format('next')}at least {known} ({which}), {as_of}")]
    if last is None or not last.outcome.workers:
        return []
    rows = sum(worker.rows for worker in last.outcome.workers)
    prefilled = sum(worker.prefill_rows for worker in last.outcome.workers)
    uncertain = last.metrics.uncertain_rows if last.metrics else 0
    lost = sum(worker.is_lost for worker in last.outcome.workers)
    later = f" and what {counted(lost, 'lost worker')} sent after the last heartbeat"
    later *= bool(lost and not accounts_of(last.outcome))
    if not (done or rows or prefilled or uncertain or later):
        return []
    last_one = f"{counted(rows, 'row')} acknowledged ({uncertain:,} uncertain{later}"
    return [("before that", f"{before.format('last')}{last_one}, {prefilled:,} prefilled)")]


def _describe_configuration(result: Result) -> str:
    words = [f"{result.kind} target={result.target} module={result.module} runner={result.runner}"]
    return " ".join([*words, _format_options(result.configuration)])


def _format_options(options: Mapping[str, Any]) -> str:
    """Return options as key=value words, with commas between the items of a list."""
    lists = {
        key: ",".join(map(str, v)) for key, v in options.items() if isinstance(v, list | tuple)
    }
    return " ".join(f"{key}={lists.get(key, value)}" for key, value in options.items())


def _describe_cluster(result: Result) -> str:
    """Describe the cluster, and the largest number of workers on each node."""
    words = [f"{name} {value}" for name, value in result.ran_on.items()]
    most: Counter[str] = Counter()
    for run in result.runs:
        most |= Counter(worker.node for worker in run.outcome.workers if worker.node)
    nodes = ", ".join(f"{count} on {node}" for node, count in sorted(most.items()))
    return ", ".join(words) + (f"; workers at most: {nodes}" if nodes else "")


def days_until_full(result: Result, disk_bytes: int) -> str:
    """Return a line with the number of days until the disk is full, for each rate.

    ConfigError if the size on disk or the rate was not measured.
    """
    summary, on_disk = summary_of(result), on_disk_of(result)
    rows = () if kind_of(result).asks else summary.rows
    rates = {row.place: rate for row in rows if (rate := row.value("rows_per_s"))}
    if not on_disk or not rates:
        raise ConfigError("--disk: this result has no rows/s or no size on disk; use an insert's")
    days = ", ".join(
        f"{_format_days(disk_bytes / on_disk.bytes_per_row / rate / _DAY_S)} at {rate:,.0f} rows/s"
        f" ({place})"
        for place, rate in rates.items()
    )
    return f"days until {counted(disk_bytes, 'byte')} are full: {days}"


def _format_days(days: float) -> str:
    return f"{days:,.0f}" if days >= 100 else f"{days:.3g}"


def answers_of(result: Result) -> Iterator[str]:
    """Yield lines with the answers of the first run that shows answers."""
    runs = [run for run in result.runs if any(query.shown for query in run.outcome.queries)]
    for query in runs[0].outcome.queries if runs else ():
        for each in query.shown:
            yield from _format_answer(query.name, each)


def _format_answer(name: str, shown: ShownAnswer) -> Iterator[str]:
    verdict = "equal to the truth" if shown.ok else "not equal to the truth"
    verdict = "not checked" if shown.ok is None else verdict
    yield f"{name}, answer {shown.instance}: {counted(shown.all_rows, 'row')}, {verdict}"
    yield from (f"    {line}" for line in shown.statement.splitlines())
    yield f"  {' | '.join(shown.columns)}"
    if shown.skipped:
        yield f"  after {counted(shown.skipped, 'row')} equal to the truth"
    for row in shown.rows:
        yield f"  {format_cells(row)}"
    left = shown.all_rows - shown.skipped - len(shown.rows)
    if left:
        yield f"  and {counted(left, 'more row')}"
    yield ""


def format_cells(row: Sequence[Scalar]) -> str:
    """Return the values of a row of an answer as text."""
    return " | ".join("NULL" if value is None else str(value) for value in row)


def plans_of(result: Result) -> Iterator[str]:
    """Yield the first lines of the query plans."""
    for name, plans in result.query_plans.items():
        yield f"{name}: query plan"
        lines = format_plans(plans).splitlines()
        yield from (f"  {line}" for line in lines[:_PLAN_LINES])
        if len(lines) > _PLAN_LINES:
            left = counted(len(lines) - _PLAN_LINES, "more line")
            yield f"  and {left}, which the result and its page have"
        yield ""


def format_plans(plans: QueryPlans) -> str:
    """Return the plans of a query as text; each of several plans follows its statement."""
    if plans.problem:
        return f"none: {plans.problem}"
    if len(plans.statements) == 1 and not plans.more:
        return plans.statements[0].text
    parts = [f"{each.statement}\n\n{each.text}" for each in plans.statements]
    return "\n\n".join([*parts, *[_MORE] * plans.more])


def ramps_of(result: Result) -> Iterator[str]:
    """Yield a line for each ramp of each run."""
    limit_ms = 1000 * float(result.configuration.get("ramp_limit_s") or 0.0)
    for run in result.runs:
        for ramp in run.outcome.ramps:
            yield f"ramp {ramp.query}: {_describe_ramp(ramp, limit_ms)}"


def _describe_ramp(ramp: QueryRamp, limit_ms: float) -> str:
    average = f"{significant(ramp.wait_ms_avg)} ms on average"
    workers = counted(ramp.workers, "worker")
    match ramp.end:
        case RampEnd.LIMIT:
            return f"answers passed {limit_ms:,g} ms with {workers}: {average}"
        case RampEnd.ABORT:
            return f"answers passed three times {limit_ms:,g} ms with {workers}: {average}"
        case RampEnd.ALL:
            return f"answers stayed within {limit_ms:,g} ms with all {workers}: {average}"
