"""Checks that a worker's report accounts for every row of its task, and every answer it got."""

from collections.abc import Collection, Mapping

from simulator.control.answers.arrivals import Arrivals
from simulator.control.script import Rejected, Script, row_count
from simulator.protocol.messages import CORRECTIONS, DELETION, TAGS, WorkerReport
from simulator.protocol.spec import Ask, ChangeTask, InsertTask


def check_report(
    report: WorkerReport,
    script: Script,
    answers: Mapping[str, Collection[tuple[int, str]]],
    arrivals: Arrivals,
    *,
    stopped: bool,
) -> None:
    """Raise Rejected if a report does not account for rows or answers.

    `answers`: query -> instance and digest of the answers that the worker has sent. Something may
    be left out if the report has an error or the run was stopped.
    """
    task = script.spec.workers[report.index]
    whole = report.error is None and not stopped
    if isinstance(task, InsertTask):
        _check_rows(report, task, whole=whole, by_time=bool(script.spec.clocking.duration_s))
        if script.spec.load.fresh_ms and whole and not arrivals.has_sent(report.index):
            raise _reject(report, "its rows, and has not sent all of its batches")
    elif isinstance(task, Ask):
        _check_answers(report, task, script, answers, arrivals, whole=whole)
    elif whole:
        _check_changes(report, task)


def _reject(report: WorkerReport, text: str) -> Rejected:
    return Rejected(f"worker {report.index}: reports {text}")


def _check_rows(report: WorkerReport, task: InsertTask, *, whole: bool, by_time: bool) -> None:
    own = task.timed + task.prefill
    if not all(any(item in r for r in own) and len(item) for item in report.uncertain):
        raise _reject(report, "uncertain rows that are not its own")
    if not all(any(item in r for r in task.timed) for item in report.written or ()):
        raise _reject(report, "written rows that are not its own")
    by_end = report.written if by_time and report.written is not None else task.timed
    planned = row_count(by_end) + row_count(task.prefill)
    rows = report.rows + report.prefill_rows + row_count(report.uncertain)
    if whole and rows != planned:
        raise _reject(report, f"{rows} rows of {planned}, and no error")


def _check_changes(report: WorkerReport, task: ChangeTask) -> None:
    corrected = sum(times.rows for times in report.changes if times.name == CORRECTIONS)
    if corrected != row_count(task.correct):
        raise _reject(report, f"{corrected} corrected rows of {row_count(task.correct)}")
    requests = {times.name: times.count for times in report.changes}
    updates = sum(len(retag.values) for retag in task.retags)
    for name, wanted in ((DELETION, len(task.delete_ms)), (TAGS, updates)):
        if requests.get(name, 0) != wanted:
            raise _reject(report, f"{requests.get(name, 0)} requests of {wanted}: {name}")


def _check_answers(  # noqa: PLR0913
    report: WorkerReport,
    task: Ask,
    script: Script,
    answers: Mapping[str, Collection[tuple[int, str]]],
    arrivals: Arrivals,
    *,
    whole: bool,
) -> None:
    names, queries = {times.name for times in report.queries}, {*script.queries}
    may_lack_some = script.spec.load.ramp or not whole
    if not names <= queries or (names < queries and not may_lack_some):
        raise _reject(report, f"{len(names)} queries of {len(queries)}, and no error")
    least = 0 if script.in_turn or script.spec.clocking.stages else 1
    for times in report.queries:
        wanted = task.weighted(script.spec.load.weights.get(times.name, 1)).runs
        if times.runs != (wanted or max(times.runs, least)):
            ran = f"{times.runs} of {wanted or f'at least {least}'} times"
            raise _reject(report, f"that query {times.name} ran {ran}")
        if script.spec.load.fresh_ms:
            got = 1 + times.warmup_runs + times.runs
            sent = arrivals.count_answered(times.name, report.index)
            if whole and sent != got:
                raise _reject(report, f"{got} answers to query {times.name}, and has sent {sent}")
            continue
        found = answers[times.name]
        asked = script.instances(times.name, task, times.runs, times.warmup_runs)
        if len(found) != times.answers or {instance for instance, _ in found} != asked:
            raise _reject(
                report,
                f"{times.answers} answers to {len(asked)} instances of query {times.name}, and has"
                f" sent {len(found)}",
            )
