"""A run without processes: its script, its gate, and HTTP requests to its application."""

import asyncio
import json
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from simulator import __version__
from simulator.control.journal import Journal
from simulator.control.script import Script
from simulator.control.workers.coordinator import Coordinator
from simulator.control.workers.endpoints import application
from simulator.control.workers.gate import Gate
from simulator.data.ranges import lane_range
from simulator.data.reader import DatasetReader
from simulator.load.durations import encode_durations
from simulator.modules.sqlite import Sqlite, SqliteOptions
from simulator.protocol.messages import (
    TOKEN_HEADER,
    UID_HEADER,
    AnswerKey,
    AnswerQuestion,
    AnswerRows,
    AnswerWithRows,
    Message,
    QueryTimes,
    WorkerReport,
    digest_of,
)
from simulator.protocol.spec import Ask, InsertTask, QueryLoad, Ramp, RunSpec, Work
from simulator.verify.truth.needed import Names, names_of_instances, names_of_tables
from tests.unit.specs import dataset, run_spec

TOKEN = "the-token"
PREFILL, TIMED, REPEATS = 30, 100, 2
QUERIES = ("count-events", "temperature-stats-per-device")
Done = TypeVar("Done")
SQLITE = Sqlite(SqliteOptions(path="unused"))


def insert_spec(workers: int) -> RunSpec:
    """Return an insert run with a prefill."""
    plans = tuple(
        InsertTask(prefill=(lane_range(i, 0, PREFILL),), timed=(lane_range(i, PREFILL, TIMED),))
        for i in range(workers)
    )
    return run_spec(workers=plans)


def query_spec(workers: int) -> RunSpec:
    """Return a run of two queries."""
    stored = dataset(ranges=(lane_range(0, 0, 1000),))
    return run_spec(
        work=Work.QUERY,
        workers=tuple(Ask(place=i, every=workers, runs=REPEATS) for i in range(workers)),
        dataset=stored,
        load=QueryLoad(queries=dict.fromkeys(QUERIES, "")),
    )


def mixed_spec() -> RunSpec:
    """Return a mixed run: worker 0 writes, worker 1 asks two queries in turn."""
    stored = dataset(ranges=(lane_range(0, 0, 1000),))
    return run_spec(
        work=Work.MIXED,
        workers=(
            InsertTask(timed=(lane_range(0, 1000, TIMED),)),
            Ask(place=0, every=1, runs=0, most=10),
        ),
        dataset=stored,
        duration_s=1.0,
        clean=False,
        load=QueryLoad(queries=dict.fromkeys(QUERIES, ""), until_ms=10**9),
    )


def ramp_spec(workers: int) -> RunSpec:
    """Return a run of two queries that lets its workers in one by one."""
    spec = query_spec(workers)
    ramp = Ramp(step=1, interval_s=1.0, window_s=1.0, limit_s=0.1)
    tasks = tuple(task.model_copy(update={"runs": 0}) for task in spec.asks)
    load = spec.load.model_copy(update={"ramp": ramp})
    return spec.model_copy(update={"workers": tasks, "load": load})


def gate_of(spec: RunSpec, *, ready: bool = True, journal: Journal | None = None) -> Gate:
    """Return the gate of a run whose tables are ready."""
    script = Script.of(spec, SQLITE)
    at_once = spec.load.ramp.step if spec.load.ramp else None
    run = Coordinator(len(spec.workers), arrivals=script.arrivals, at_once=at_once, journal=journal)
    gate = Gate(run, script)
    if ready:
        gate.run.tables_ready.set()
    return gate


def needed(spec: RunSpec) -> Names:
    """Return the queries whose truth a run needs, and their names; not all rows of tables."""
    reader = DatasetReader(spec.dataset)
    if not spec.asks:
        names = names_of_tables(reader.tables)
        return {query: name for query, name in names.items() if not name[0]}
    types = reader.query_types()
    return names_of_instances({name: {0: types[name].instance(0)} for name in spec.load.queries})


def uid_of(index: int) -> str:
    """Return the uid of the process that is worker `index`."""
    return f"{index:032x}"


def answer(query: str, *answers: Iterable[Iterable[Any]], index: int = 0) -> AnswerRows:
    """Return a message of answers to the first instance of a query, with their digests."""
    found = (tuple(map(tuple, rows)) for rows in answers)
    with_rows = (AnswerWithRows(instance=0, digest=digest_of(rows), rows=rows) for rows in found)
    return AnswerRows(index=index, query=query, answers=tuple(with_rows))


def question(made: AnswerRows) -> AnswerQuestion:
    """Return the question whether these answers are known."""
    keys = (AnswerKey(instance=each.instance, digest=each.digest) for each in made.answers)
    return AnswerQuestion(index=made.index, query=made.query, answers=tuple(keys))


ANSWERS = (
    answer(QUERIES[0], [[1000]]),
    answer(QUERIES[1], [["device", 30.5, 10.25, -4.0]]),
)


def times(which: int, **changes: Any) -> QueryTimes:
    """Return the measurements of a query whose answer is in ANSWERS."""
    given = {
        "name": QUERIES[which],
        "first_s": 0.75,
        "runs": REPEATS,
        "waits": encode_durations([500_000_000] * REPEATS),
        "wait_s": 0.5 * REPEATS,
        "client_s": 0.0,
        "elapsed_s": 0.5 * REPEATS,
        "answers": 1,
    }
    return QueryTimes(**(given | changes))


def insert_report(index: int = 0, **changes: Any) -> WorkerReport:
    """Return the report of a worker that has inserted its rows."""
    given = {"index": index, "rows": TIMED, "prefill_rows": PREFILL, "rows_by_second": (TIMED,)}
    return WorkerReport(**(given | changes))


def query_report(index: int = 0, **changes: Any) -> WorkerReport:
    """Return the report of a worker that has asked both queries."""
    return WorkerReport(**({"index": index, "queries": (times(0), times(1))} | changes))


REGISTRATION = {"version": __version__}


def within_a_moment(scenario: Coroutine[Any, Any, Done]) -> Done:
    """Run a scenario that must not hang."""

    async def bounded() -> Done:
        async with asyncio.timeout(10):
            return await scenario

    return asyncio.run(bounded())


class Http:
    """Requests to the application of a run, without a network."""

    def __init__(self, gate: Gate) -> None:
        self._app = application(gate, TOKEN)
        self.headers: dict[bytes, bytes] = {}
        """Of the last response."""

    async def post(self, path: str, message: Message, uid: str | None = None) -> tuple[int, str]:
        """Post a message as the worker of its index."""
        uid = uid_of(message.index) if uid is None else uid
        return await self.ask(path, [message.model_dump_json().encode()], uid=uid)

    async def ask(
        self,
        path: str,
        parts: Iterable[bytes] | None,
        *,
        uid: str | bytes = uid_of(0),
        token: str | bytes | None = TOKEN,
        method: str = "POST",
    ) -> tuple[int, str]:
        """Send a request whose body comes in parts, or never; return status and text."""
        headers = [(UID_HEADER.lower().encode(), uid.encode() if isinstance(uid, str) else uid)]
        if token is not None:
            given = token.encode() if isinstance(token, str) else token
            headers.append((TOKEN_HEADER.lower().encode(), given))
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": headers,
            "scheme": "http",
            "server": ("collector", 80),
            "client": None,
        }
        rest = iter(parts) if parts is not None else None
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            if rest is None:
                await asyncio.Event().wait()
            part = next(rest, None)
            return {"type": "http.request", "body": part or b"", "more_body": part is not None}

        async def send(event: dict[str, Any]) -> None:
            sent.append(event)

        await self._app(scope, receive, send)
        self.headers = dict(sent[0]["headers"])
        body = b"".join(event.get("body", b"") for event in sent[1:])
        return sent[0]["status"], body.decode()


def json_bytes(content: object) -> bytes:
    """Return content as JSON."""
    return json.dumps(content).encode()
