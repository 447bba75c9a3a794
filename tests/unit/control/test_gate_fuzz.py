"""The collector's HTTP under messages that are right, almost right and wrong, in any order.

The messages are made from the schemas of the models and from what a correct worker would send.
Whatever arrives, each response has an expected status, and a run is never finished unless every
worker has registered and accounted for all of its rows and answers.
"""

import asyncio
import json
import threading
from functools import cache
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from pydantic import ValidationError

from simulator import __version__
from simulator.control import script
from simulator.control.workers import coordinator
from simulator.control.workers.endpoints import KINDS
from simulator.data.ranges import RowRange
from simulator.load.fold_tasks import Folder
from simulator.protocol.arrivals import FreshAnswers, SentBatches
from simulator.protocol.folding import Folded, FoldReply, FoldRequest
from simulator.protocol.messages import Arrival, Heartbeat, Registration
from simulator.verify.truth import folding as fold_tasks
from simulator.verify.truth.folding import FoldTasks, fold_here, truths
from tests.fuzzing import CASES
from tests.unit.control.messages import SCHEMAS, STATUSES, of_schema
from tests.unit.control.run import (
    ANSWERS,
    PREFILL,
    QUERIES,
    SQLITE,
    TIMED,
    Http,
    answer,
    gate_of,
    insert_report,
    insert_spec,
    needed,
    query_report,
    query_spec,
    question,
    times,
    uid_of,
)

WORKERS = 2
STRANGER = uid_of(99)
INDEXES = st.integers(0, WORKERS - 1)
UNKNOWN = (*QUERIES, "insert", "lunch", "")
BODIES = {path: of_schema(SCHEMAS[kind.message.__name__]) for path, kind in KINDS.items()}
RIGHT_ANSWERS = st.sampled_from(
    [
        *ANSWERS,
        answer(QUERIES[0], [[7]]),
        answer(QUERIES[0], [[7]], [[1000]], [[7]]),
        answer(QUERIES[1], []),
        answer(QUERIES[1], [], [["device", 30.5, 10.25, -4.0]]),
    ]
)
COUNTS = st.integers(0, TIMED + PREFILL + 1)
SLICES = st.builds(
    lambda start, rows, step: RowRange(start=start, stop=start + rows, take=1, every=step),
    st.integers(0, PREFILL + TIMED),
    st.integers(1, 50),
    st.integers(1, 3),
)
FOLDED = st.builds(
    Folded, number=st.integers(0, 9), content=st.sampled_from([None, "", "e30K", "e30="])
)
ODD = st.sampled_from(
    [None, True, -1, 0, 1.5, 2**63, 2**200, "", "x" * 2000, [], [[]], {}, [None] * 50, {"a": {}}]
)


def plausible(script):
    """Messages that a correct worker sends at some time, and their paths."""
    phases = st.sampled_from(["start", "prefill", *script.barriers(script.spec.workers[0])])
    barriers = st.sampled_from(script.barriers(script.spec.workers[0]))
    counts = dict.fromkeys(("rows", "prefill_rows", "uncertain_rows"), COUNTS)
    errors = st.sampled_from([None, None, None, "disk is full"])
    if not script.outputs:
        reports = st.builds(
            insert_report,
            INDEXES,
            rows=st.just(TIMED) | COUNTS,
            prefill_rows=st.just(PREFILL) | COUNTS,
            rows_by_second=st.just(()),
            uncertain=st.just(()) | st.lists(SLICES, max_size=2).map(tuple),
            error=errors,
        )
    else:
        asked = st.just((times(0), times(1))) | st.lists(
            st.builds(times, st.integers(0, 1)), max_size=3
        ).map(tuple)
        reports = st.builds(query_report, INDEXES, queries=asked, error=errors)
    answers = st.builds(
        lambda made, index: made.model_copy(update={"index": index}), RIGHT_ANSWERS, INDEXES
    )
    questions = answers.map(question)
    parts, text = st.integers(0, 3), st.just("eJwDAAAAAAE=")
    return {
        "/register": st.builds(Registration, index=INDEXES, version=st.just(__version__)),
        "/barrier": st.builds(Arrival, index=INDEXES, barrier=barriers),
        "/heartbeat": st.builds(Heartbeat, index=INDEXES, phase=phases, **counts),
        "/report": reports,
        "/answers/known": questions,
        "/answers": answers,
        "/fold": st.builds(FoldRequest, index=INDEXES, folded=st.none() | FOLDED),
        "/sent": st.builds(SentBatches, index=INDEXES, part=parts, batches=text, runs=text),
        "/answers/fresh": st.builds(
            FreshAnswers, index=INDEXES, part=parts, query=st.just("count-events"),
            count=st.integers(0, 3), answers=text, values=text,
        ),
    }  # fmt: skip


def small_tasks():
    """Runs of a few rows have several tasks."""
    return [
        patch.object(fold_tasks, "FOLD_TASK_ROWS", 64),
        patch.object(fold_tasks, "_LEAST_ROWS", 8),
    ]


@cache
def true_answers(spec):
    """Return the truth that the runs of a test need."""
    return truths([*needed(spec(WORKERS))], spec(WORKERS).after)


NO_RANGE = "not a range of rows"
"""What a schema cannot say: that a range ends after it starts."""


def _problems(message, body):
    """Return what is wrong with a body, each as it begins."""
    try:
        message.model_validate_json(body, strict=True)
    except ValidationError as error:
        found = [each["msg"].removeprefix("Value error, ") for each in error.errors()]
        return [text.partition(":")[0] for text in found]
    return []


class Attacked(RuleBasedStateMachine):
    """A run of two workers, and whatever may arrive at its collector."""

    spec = staticmethod(insert_spec)

    def __init__(self):
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.hold = patch.object(coordinator, "hold_s", lambda _: 0.0)
        self.hold.start()
        self.small = [patch.object(script, "FOLD_TASK_ROWS", 64), *small_tasks()]
        for each in self.small:
            each.start()
        self.gate = gate_of(self.spec(WORKERS), ready=False)
        self.http = Http(self.gate)
        self.plausible = plausible(self.gate.script)
        self.taken = {}
        """Path and worker -> the last request that was taken."""
        self.tasks = None
        self.reply = ""
        """The last response."""

    def teardown(self):
        if self.tasks:
            fold_here(self.tasks, 1)
            true = true_answers(self.spec)
            assert {query: self.tasks.truth(query) for query in true} == true
        for each in (self.hold, *self.small):
            each.stop()
        self.loop.close()

    def state(self):
        run = self.gate.run
        return (
            dict(run.uids),
            dict(run.reports),
            dict(run.beats),
            dict(run.released_s),
            {name: set(workers) for name, workers in run._arrived.items()},
            {query: set(kept) for query, kept in self.gate._answers.items()},
            run.cause,
            dict(self.gate.fold_tasks._last),
            self.tasks and (sorted(self.tasks._taken), [*self.tasks._left]),
        )

    def send(self, path, body, uid, **request):
        before = self.state()
        status, text = self.loop.run_until_complete(self.http.ask(path, [body], uid=uid, **request))
        assert status in STATUSES, text
        self.reply = text
        if status == 200:
            KINDS[path].reply.model_validate_json(text, strict=True)
        else:
            assert 0 < len(text) < 1000
            assert self.state() == before
        return status

    # --- what arrives ---------------------------------------------------------------------------

    @rule()
    def tables_get_ready(self):
        self.gate.run.tables_ready.set()

    @precondition(lambda self: not self.tasks and self.gate.run._all_reported.is_set())
    @rule()
    def truth_is_needed(self):
        names = needed(self.spec(WORKERS))
        self.tasks = FoldTasks([*names], self.spec(WORKERS).after)
        self.gate.fold_tasks.offer(names, self.tasks)

    @rule(data=st.data(), path=st.sampled_from([*KINDS]), impostor=st.integers(0, 9))
    def plausible_message(self, data, path, impostor):
        """What a worker may send at some time, rarely by another process."""
        message = data.draw(self.plausible[path])
        uid = uid_of(message.index) if impostor else STRANGER
        body = message.model_dump_json().encode()
        self.deliver(path, body, message.index, uid)

    @rule(order=st.lists(INDEXES, min_size=1, max_size=6))
    def next_right_messages(self, order):
        """What workers have to send next, so that runs get to their end."""
        for index in order:
            self.next_right_message(index)

    def next_right_message(self, index):
        run, script = self.gate.run, self.gate.script
        if index in run.reports:
            self.fold_for(index)
            return
        barriers = script.barriers(script.spec.workers[0])
        if index not in run.uids:
            steps = [("/register", Registration(index=index, version=__version__))]
        else:
            arrived = [name for name in barriers if index in run._arrived.get(name, ())]
            opened = len(run.released_s)
            if len(arrived) > opened:
                return
            steps = [
                ("/answers", made.model_copy(update={"index": index}))
                for made in ANSWERS
                if made.query in arrived
            ]
            if len(arrived) < len(barriers):
                steps.append(("/barrier", Arrival(index=index, barrier=barriers[opened])))
            else:
                made = query_report(index) if script.outputs else insert_report(index)
                steps.append(("/report", made))
        for path, message in steps:
            body = message.model_dump_json().encode()
            self.deliver(path, body, index)

    def fold_for(self, index):
        """Ask for a task, and fold it unless that was said to be too large."""
        request, folder = FoldRequest(index=index), None
        for _ in range(2):
            body = request.model_dump_json().encode()
            if not self.deliver("/fold", body, index):
                return
            given = FoldReply.model_validate_json(self.reply)
            if given.number is None:
                return
            folder = Folder(self.spec(WORKERS), given.queries, threading.Event(), SQLITE)
            folded = folder.fold(given.number, given.ranges)
            if not given.number % 5:
                folded = folded.model_copy(update={"content": None})
            request = FoldRequest(index=index, folded=folded)

    @precondition(lambda self: self.taken)
    @rule(data=st.data())
    def repeated_message(self, data):
        """The reply was lost, and the worker sends the same again: taken, without effect."""
        before = self.state()
        request = data.draw(st.sampled_from([*self.taken.values()]))

        assert self.send(*request) == 200
        assert self.state() == before

    @rule(data=st.data(), path=st.sampled_from([*KINDS]), index=INDEXES)
    def spoilt_message(self, data, path, index):
        """A plausible message with one thing wrong."""
        message = data.draw(self.plausible[path]).model_dump(mode="json")
        name = data.draw(st.sampled_from([*message, "other"]))
        match data.draw(st.sampled_from(["replace", "drop", "cut", "bytes"])):
            case "replace":
                message[name] = data.draw(ODD)
                body = json.dumps(message).encode()
            case "drop":
                message.pop(name, None)
                body = json.dumps(message).encode()
            case "cut":
                whole = json.dumps(message).encode()
                body = whole[: data.draw(st.integers(0, len(whole)))]
            case _:
                whole = bytearray(json.dumps(message).encode())
                whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
                body = bytes(whole)
        self.deliver(path, body, index)

    @rule(data=st.data(), path=st.sampled_from([*KINDS]), index=INDEXES)
    def message_of_the_schema(self, data, path, index):
        """A message that the schema allows: valid, and most often out of turn."""
        body = json.dumps(data.draw(BODIES[path])).encode()
        assert {*_problems(KINDS[path].message, body)} <= {NO_RANGE}
        self.deliver(path, body, index)

    def deliver(self, path, body, index, uid=None):
        """Send a message as a worker; return whether it was taken.

        Of tasks, only the last request may be repeated, and only if it got one; a question
        whether an answer is known, only before the report.
        """
        uid = uid_of(index) if uid is None else uid
        if self.send(path, body, uid) != 200 or self.gate.run.uids.get(index) != uid:
            return False
        self.taken[path, index] = (path, body, uid)
        if path == "/fold" and FoldReply.model_validate_json(self.reply).number is None:
            del self.taken[path, index]
        if path == "/report":
            self.taken.pop(("/answers/known", index), None)
        return True

    @rule(path=st.sampled_from([*KINDS]), body=st.binary(max_size=200), index=INDEXES)
    def bytes_of_any_kind(self, path, body, index):
        assert self.send(path, body, uid_of(index)) == 400

    @rule(
        path=st.sampled_from([*KINDS]),
        token=st.binary(max_size=20).filter(lambda made: b"\n" not in made),
    )
    def stranger(self, path, token):
        assert self.send(path, b"{}", uid_of(0), token=token) == 403

    # --- what holds -----------------------------------------------------------------------------

    @invariant()
    def a_finished_run_is_whole(self):
        run, script = self.gate.run, self.gate.script
        if not run._all_reported.is_set() or run.stopped.is_set():
            return
        assert set(run.uids) == set(run.reports) == set(range(WORKERS))
        for report in run.reports.values():
            rows = report.rows + report.prefill_rows
            rows += sum(len(item.numbers()) for item in report.uncertain)
            assert rows == (0 if script.outputs else PREFILL + TIMED)
            assert {times.name for times in report.queries} == set(script.outputs)

    @invariant()
    def barriers_open_when_all_are_there(self):
        run = self.gate.run
        for name in run.released_s:
            assert run._arrived[name] == set(range(WORKERS)) == set(run.uids)

    @invariant()
    def only_registered_workers_count(self):
        run = self.gate.run
        assert set(run.uids) <= set(range(WORKERS))
        assert set(run.beats) | set(run.reports) <= set(run.uids)

    @invariant()
    def kept_answers_are_of_this_run(self):
        assert set(self.gate._answers) == set(self.gate.script.outputs)


class AttackedQueries(Attacked):
    """A query run of two workers, attacked."""

    spec = staticmethod(query_spec)


OFTEN = settings(CASES, stateful_step_count=40, suppress_health_check=list(HealthCheck))
TestInsertRun = Attacked.TestCase
TestQueryRun = AttackedQueries.TestCase
TestInsertRun.settings = TestQueryRun.settings = OFTEN


@pytest.mark.parametrize("path", KINDS)
def test_every_list_text_and_number_of_a_message_has_a_limit(path):
    """Except numbers in answers: a wrong answer is the database's, and may be any number."""
    unlimited = []

    def look(schema, where):
        if "$ref" in schema:
            look(SCHEMAS[schema["$ref"]], where)
        for choice in schema.get("anyOf", ()):
            look(choice, where)
        match schema.get("type"):
            case "integer" if not {"minimum", "exclusiveMinimum"} & set(schema):
                unlimited.append(where)
            case "object":
                assert schema.get("additionalProperties") is False, where
                for name, part in schema.get("properties", {}).items():
                    look(part, f"{where}.{name}")
            case "array":
                for part in schema.get("prefixItems") or [schema["items"]]:
                    look(part, f"{where}[]")

    look(SCHEMAS[KINDS[path].message.__name__], path)

    free = {"/answers": ["answers[].rows[][]"], "/answers/fresh": ["keys[][]"]}
    assert unlimited == [f"{path}.{where}" for where in free.get(path, ())]
