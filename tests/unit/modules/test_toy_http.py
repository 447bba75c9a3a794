"""A new database that is reached by HTTP takes few lines, and everything works on it.

`toy_http.py` is the module as CONTRIBUTING describes it. The server is small and real: HTTP in
front of SQLite. The command line runs on it, and the wide dataset of the contract tests.
"""

import json
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote

import pytest

from simulator.data import workloads
from simulator.data.schema import PrimaryKey
from simulator.errors import SetupError
from simulator.modules.contract import BATCH, Failure
from simulator.modules.shared.http.client import HttpOptions
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.comparison import verify
from tests import ROOT
from tests.commands import KeptForks, run_here
from tests.contract.harness import Wideset, ask
from tests.contract.wide import Wide
from tests.standins.web import Request, Response, Web
from tests.unit.modules import toy_http
from tests.unit.modules.toy_http import Toy

LINES = 50
"""Lines of the module, without its docstring, imports and empty lines."""


class ToyServer:
    """Statements to /sql, rows to /rows/TABLE; a request is a transaction."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self.lose = 0
        """How many rows of each request the server drops without an error."""

    def close(self) -> None:
        self._rows.close()

    def __call__(self, request: Request) -> Response:
        with self._lock:
            try:
                return Response(200, json.dumps(self._answer(request)).encode())
            except sqlite3.Error as error:
                if self._rows.in_transaction:
                    self._rows.execute("ROLLBACK")
                return Response(400, json.dumps({"error": str(error)}).encode())

    def _answer(self, request: Request) -> object:
        if request.path == "/sql":
            for statement in request.body.decode().split(";\n"):
                found = self._rows.execute(statement).fetchall()
            return found
        table = unquote(request.path).removeprefix("/rows/")
        rows = json.loads(request.body)[self.lose :]
        self._rows.execute("BEGIN")
        marks = ", ".join("?" * len(rows[0]))
        self._rows.executemany(f'INSERT INTO "{table}" VALUES ({marks})', rows)
        self._rows.execute("COMMIT")
        return {"stored": len(rows)}


@pytest.fixture
def server():
    made = ToyServer()
    yield made
    made.close()


@pytest.fixture
def toy(server):
    with Web(server) as web:
        yield Toy(HttpOptions(url=web.url))


def test_a_new_http_database_takes_few_lines():
    text = Path(toy_http.__file__).read_text()
    code = text[text.index("\n\nROWS = ") :]
    assert len([line for line in code.splitlines() if line.strip()]) <= LINES


TARGET = "targets: {toy: {module: 'tests.unit.modules.toy_http:Toy', runner: local, url: '%s'}}"


def run(folder, forks, command, *more):
    words = [command, "-ttoy", "-cc.yaml", "--format=json", *more]
    environment = {"PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(folder)}
    done = run_here(words, folder, environment, forks)
    assert done.code == 0, done.err
    return done.json


def test_the_command_line_inserts_queries_and_verifies(tmp_path, server):
    with closing(KeptForks()) as forks, Web(server) as web:
        (tmp_path / "c.yaml").write_text(TARGET % web.url)
        inserted = run(tmp_path, forks, "insert", "--num-inserts=1000", "--batch=100", "-w1")
        queried = run(tmp_path, forks, "query")
        verified = run(tmp_path, forks, "verify", "--verify=full")
    for result in (inserted, queried, verified):
        assert {row["verdict"] for row in result["rows"]} == {"verified"}


@pytest.mark.parametrize("parts", [1, 4])
@pytest.mark.parametrize("primary_key", [PrimaryKey.NONE, PrimaryKey.CLIENT])
def test_every_value_and_query_of_the_wide_dataset(toy, monkeypatch, primary_key, parts):
    monkeypatch.setitem(workloads.WORKLOADS, Wide.name, Wide)
    wide = Wideset(primary_key, parts)
    wide.fill(toy)
    assert verify(toy, wide.dataset, (), VerifyMode.FULL).status is Status.VERIFIED
    with toy.connect() as session:
        for name, query in wide.queries.items():
            assert ask(session, toy.render(query)) == wide.answer(query), name


def test_errors_have_a_meaning_and_a_remedy(toy, server, monkeypatch):
    monkeypatch.setitem(workloads.WORKLOADS, Wide.name, Wide)
    wide = Wideset(PrimaryKey.CLIENT)
    toy.create(wide.tables, 10)
    with pytest.raises(SetupError, match=r"400: table .* already exists; run with --clean"):
        toy.create(wide.tables, 10)
    with toy.connect() as session:
        (payload,) = session.encode(wide.batches[0].slice(0, 10), BATCH, 10)
        server.lose = 1
        with pytest.raises(Exception, match="acknowledged 9 of 10 rows") as lost:
            session.send(payload)
        assert session.classify(lost.value) is Failure.UNKNOWN
        server.lose = 0
        with pytest.raises(Exception, match="400: UNIQUE constraint failed") as refused:
            session.send(payload)
        assert session.classify(refused.value) is Failure.FATAL
