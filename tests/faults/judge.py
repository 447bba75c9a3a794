"""True if a cell is right: what was seen, against what must hold after its fault."""

import json
import re
from collections.abc import Iterator

from iotbench.results.faults import accounts_of
from iotbench.results.result import Result
from simulator.protocol.verdict import Status
from tests.faults.causes import causes, may_survive, must_survive
from tests.faults.cells import Cell
from tests.faults.line import Finished
from tests.faults.trial import LIMIT_S, Seen

_UNFINISHED = (
    r"did not end|did not finish|not all of its rows|no insert of|another insert"
    r"|run an insert first"
)
_SMALL_ROWS = 500


def problems(cell: Cell, seen: Seen) -> list[str]:
    """Return what is wrong, in words; nothing if the cell is right."""
    killed = cell.place.victim == "command" and cell.place.fault in ("kill", "stop")
    found = list(_end(cell, seen))
    if seen.ended_at:  # otherwise it was killed in the end
        found += _left(seen, killed=killed)
    found += _killed(cell, seen) if killed else _ended(cell, seen)
    found += _rows(cell, seen)
    if seen.result and cell.place.fault == "kill":  # what is stopped may send on, once it continues
        found += wrongly_counted(seen.result, seen.stored.rows)
    found += _next(cell, seen)
    kept, now = seen.neighbour
    if kept != now:
        found.append(f"what the user had stored beside was {kept}, and is {now}")
    return found


def ended_after_s(seen: Seen) -> float:
    """Return the time from the fault, or from its end, to the end of the last process."""
    return seen.ended_at - max(seen.fault_at, min(seen.resumed_at, seen.ended_at))


def _end(cell: Cell, seen: Seen) -> Iterator[str]:
    if not seen.ended_at:
        yield f"it did not end within {LIMIT_S:.0f} s of the fault"
        return
    allowed_s = LIMIT_S + (cell.length_s if seen.done.code == 0 else 0)
    if cell.waits_for_timeout:  # which counts from the beginning of the run
        allowed_s += max(seen.began_at - seen.fault_at, 0)
    if ended_after_s(seen) > allowed_s:
        yield f"it ended {ended_after_s(seen):.1f} s after the fault; {allowed_s:.0f} s are allowed"


def _left(seen: Seen, *, killed: bool) -> Iterator[str]:
    if "Traceback" in seen.done.err:
        yield f"a traceback: {seen.done.err.strip().splitlines()[-1]}"
    if seen.exposed:
        yield f"the credential is in {', '.join(sorted(set(seen.exposed)))}"
    if seen.used_by:
        yield f"still in use: {seen.used_by}"
    folders = [name for name in seen.left if not name.startswith("process")]
    alive = [name for name in seen.left if name.startswith("process")]
    if alive:
        yield f"left running: {', '.join(alive)}"
    if killed:  # nobody may be left who could remove them
        if seen.after_cleanup:
            yield f"left after `cleanup`: {', '.join(seen.after_cleanup)}"
    elif folders:
        yield f"left: {', '.join(folders)}"


# --- the outcome of the command


def _killed(cell: Cell, seen: Seen) -> Iterator[str]:
    """The command line itself was killed: what its result file says."""
    if seen.unreadable:
        yield seen.unreadable
    result = seen.result
    if result is None:
        if seen.parts_seen and not seen.unreadable:
            yield "there is no result file"
        return
    if result.status == "done" and not _whole(cell, result):
        yield "its result says done, and is not whole"
    touched = seen.stored.rows is not None and seen.stored.rows != seen.before.rows
    if cell.place.command == "insert" and touched and result.status != "done":
        if result.manifest is None:
            yield "the tables were written, and its result has no manifest"
        elif result.manifest.complete and result.manifest.rows != seen.stored.rows:
            yield "its manifest is complete, and the insert was killed"


def _ended(cell: Cell, seen: Seen) -> Iterator[str]:
    """The command ended by itself: exit code, cause and result agree with what happened."""
    code, result = seen.done.code, seen.result
    if not seen.ended_at:
        return
    if seen.unreadable or result is None:
        yield seen.unreadable or "there is no result file"
        return
    if code != result.exit_code:
        yield f"exit code {code}, and its result file stands for {result.exit_code}"
    if code == 0:
        yield from _survived(cell, seen, result)
    else:
        yield from _failed(cell, seen, result)


def _survived(cell: Cell, seen: Seen, result: Result) -> Iterator[str]:
    if not _whole(cell, result):
        yield f"exit code 0, and its result is not whole: {result.status}, {_verdicts(result)}"
    if not may_survive(cell):
        yield "exit code 0 after a fault that nothing can survive"
    try:
        json.loads(seen.done.out)
    except ValueError as error:
        yield f"standard output is not JSON: {error}"


def _failed(cell: Cell, seen: Seen, result: Result) -> Iterator[str]:
    code = seen.done.code
    if code != 1:
        yield f"exit code {code}; a failed run has 1"
    manifest = result.manifest if cell.place.command == "insert" else None
    # An earlier run's rows are whole if this one did not touch them.
    if manifest and manifest.complete and manifest.rows != seen.stored.rows:
        yield f"its manifest is complete with {manifest.rows} rows, and the insert failed"
    if must_survive(cell):
        yield f"exit code {code} after a fault that does no harm: {result.cause}"
    elif lacks_rows(result):
        return  # its verdict says so
    elif problem := causes(cell, seen.victim).problem(result.cause):
        yield problem
    elif " ".join(result.cause.split()) not in " ".join(seen.done.err.split()):
        yield "the cause is not on standard error"


def lacks_rows(result: Result) -> bool:
    """Return whether a result is complete, and rows of unknown outcome are not stored."""
    return result.status == "done" and Status.INCOMPLETE in _verdicts(result)


def _verdicts(result: Result) -> list[str]:
    verdicts = [run.outcome.verdict for run in result.runs]
    return [verdict.status if verdict else "none" for verdict in verdicts]


def _whole(cell: Cell, result: Result) -> bool:
    """Return whether a result says that all was done and verified."""
    verified = _verdicts(result) == [Status.VERIFIED] * cell.runs
    complete = result.manifest is not None and result.manifest.complete
    return result.status == "done" and verified and (complete or cell.place.command == "query")


# --- the rows


def _rows(cell: Cell, seen: Seen) -> Iterator[str]:
    """No acknowledged row is lost, none is doubled, and none is there that nobody sent."""
    stored = seen.stored.rows
    if cell.place.command == "query":
        if stored != seen.before.rows:
            yield f"a query changed the rows: {seen.before.rows} before, {stored} after"
        return
    if stored != seen.stored.distinct:
        yield f"{stored} rows are stored, and only {seen.stored.distinct} of them are distinct"
    most = max(cell.planned, seen.before.rows or 0)
    if stored is not None and stored > most:
        yield f"{stored} rows are stored, and only {most} were to be sent"
    result = seen.result
    if result and result.status == "done" and seen.done.code == 0 and stored != cell.planned:
        yield f"verified, and {stored} of {cell.planned} rows are stored"
    if result and len(result.runs) == cell.run and seen.at.run == cell.run:
        acknowledged = _acknowledged(result)
        if acknowledged > (stored or 0):
            yield f"{acknowledged} rows were acknowledged, and {stored} are stored"
    if seen.at.phase in ("prefill", "insert", "visible", "compact", "verify"):
        shown = seen.at.rows if seen.at.phase in ("prefill", "insert") else 0
        shown += cell.prefill if seen.at.phase != "prefill" else 0
        if shown > (stored or 0) and not (seen.at.run < cell.runs and seen.at.phase == "verify"):
            yield f"{shown} rows were shown as acknowledged, and {stored} are stored"


def wrongly_counted(result: Result, stored: int | None) -> Iterator[str]:
    """The rows that were counted after the loss of a worker are those that are stored."""
    accounts = accounts_of(result.runs[-1].outcome) if result.runs else None
    if accounts and accounts.kept + accounts.present != stored:
        yield f"{accounts.kept + accounts.present} rows were counted, and {stored} are stored"


def _acknowledged(result: Result) -> int:
    """Return the number of rows that the workers of the last run had acknowledged."""
    workers = result.runs[-1].outcome.workers
    return sum(worker.rows + worker.prefill_rows for worker in workers)


# --- the next commands


def _next(cell: Cell, seen: Seen) -> Iterator[str]:
    """What `query` or `verify` says next is true, and a plain insert works."""
    then = seen.then
    if cell.place.command == "query":
        if then.code != 0:
            yield f"the rows are whole, and then {then}"
    else:
        yield from _next_of_insert(cell, seen, then)
    if seen.stored_then.rows != seen.stored.rows:
        yield f"`{then.command}` changed the rows: {seen.stored.rows}, {seen.stored_then.rows}"
    if seen.insert.code != 0 or seen.stored_last.rows != _SMALL_ROWS:
        stored = seen.stored_last.rows
        yield f"the next insert stored {stored} of {_SMALL_ROWS} rows; {seen.insert}"


def _next_of_insert(cell: Cell, seen: Seen, then: Finished) -> Iterator[str]:
    whole = seen.result is not None and _whole(cell, seen.result) and seen.done.code == 0
    untouched = seen.before.rows is not None and seen.stored.rows == seen.before.rows
    if then.code == 3:
        yield f"a false accusation: {then}"
    elif whole and then.code != 0:
        yield f"the rows are whole, and then {then}"
    elif then.code == 0 and not (whole or untouched or seen.stored.rows == cell.planned):
        yield f"`{then.command}` says that {seen.stored.rows} rows are whole"
    elif then.code not in (0, 1, 2):
        yield f"{then}"
    elif seen.found_then is not None:
        # Of an insert that ended, only the rows of unknown outcome are uncertain.
        ended = seen.result if seen.result and lacks_rows(seen.result) else None
        found = seen.found_then + (_acknowledged(ended) if ended else 0)
        if found != seen.stored.rows:
            yield f"`verify` found {found} rows, and {seen.stored.rows} are stored"
    elif then.code and not re.search(_UNFINISHED, then.err):
        yield f"it does not say that the insert did not end: {then}"
