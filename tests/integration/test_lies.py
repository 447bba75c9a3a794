"""A proxy lies on the wire of a real server: no run is verified unless every row is stored.

What the server holds is read without the benchmark, and compared with what an honest run stored.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import psycopg2
import pymysql
import pytest

from tests.faults.behind import Behind, behind
from tests.faults.liar import LIES, OF_ANSWERS, OF_COMMIT
from tests.integration.conftest import CommandLine
from tests.servers import Server

ROWS, SENDS = 200, 10
INSERT = (
    "insert", "--target=lied", "--workers=1", "--runs=1", "--batch=20", f"--num-inserts={ROWS}",
    "--seed=1", "--start-time=2026-11-01T00:00:00Z", "--quiet",
)  # fmt: skip
COLUMNS = "device_id, timestamp, sequence_number, temperature"


def of_postgres(server: Any, database: str) -> list[Any]:
    where = server.connection_string(database)
    with closing(psycopg2.connect(where, password=server.password)) as connection:
        cursor = connection.cursor()
        cursor.execute(f"SELECT {COLUMNS} FROM events")
        return list(cursor.fetchall())


def of_mysql(server: Any, database: str) -> list[Any]:
    with closing(pymysql.connect(**server.options(database))) as connection:
        cursor = connection.cursor()
        cursor.execute(f"SELECT {COLUMNS} FROM events")
        return list(cursor.fetchall())


def of_mongodb(server: Any, database: str) -> list[Any]:
    with server.client() as client:
        found = client[database]["events"].find({})
        return [[each[name] for name in COLUMNS.split(", ")] for each in found]


def of_cassandra(server: Any, database: str) -> list[Any]:
    cluster, session = server.connect()
    try:
        return list(session.execute(f"SELECT {COLUMNS} FROM {database}.events"))
    finally:
        cluster.shutdown()


Stored = list[tuple[str, ...]]
READ: dict[str, Callable[[Any, str], list[Any]]] = {
    "postgres": of_postgres,
    "mysql": of_mysql,
    "mariadb": of_mysql,
    "ferretdb": of_mongodb,
    "cassandra": of_cassandra,
}
"""Server -> the rows that its database holds."""


@dataclass
class Lied(Behind):
    """The same, with a look at the server past the liar."""

    server: Server
    database: str

    def stored(self) -> Stored:
        """Return the rows that the server holds."""
        rows = READ[self.server.name](self.server, self.database)
        return sorted(tuple(map(str, row)) for row in rows)


@pytest.fixture
def lied(cli: CommandLine, server: Server, server_database: str) -> Iterator[Lied]:
    more = {"protocol_version": 4} if server.name == "cassandra" else {}
    with behind(cli, server, server_database, **more) as found:
        yield Lied(found.cli, found.plot, found.proxy, server, server_database)


# --- what is found -------------------------------------------------------------------------------

VERIFIED, MISMATCH, INCOMPLETE, FAILED = "verified", "mismatch", "incomplete", "failed"
CODES = {VERIFIED: 0, MISMATCH: 3, INCOMPLETE: 1, FAILED: 1}
FOUND = {
    "acknowledged, not stored": MISMATCH,
    "acknowledged, stored after the next": VERIFIED,
    "acknowledged, and closed": MISMATCH,
    "closed": INCOMPLETE,
    "stored, and closed": VERIFIED,
    "stored twice": MISMATCH,
    "stored, and refused": MISMATCH,
    "stored, and acknowledged twice": VERIFIED,
    "last row cut": MISMATCH,
    "last row cut, and said so": INCOMPLETE,
    "a value altered": MISMATCH,
    "two values swapped": MISMATCH,
    "commit acknowledged, not done": MISMATCH,
    "commit done, and refused": MISMATCH,
    "commit done, and closed": VERIFIED,
}
"""Lie -> what `insert` says of it with `--verify full`."""
OF_MYSQL = {
    "acknowledged, and closed": INCOMPLETE,  # the commit, sent later, is not acknowledged
    "closed": VERIFIED,  # sent again: nothing had asked for a commit
    "stored, and refused": VERIFIED,  # rolled back, and sent again
    "last row cut, and said so": FAILED,
}
OTHERWISE = {
    "mysql": OF_MYSQL,
    "mariadb": OF_MYSQL,
    "cassandra": {  # a row that is stored twice replaces itself
        "stored twice": VERIFIED,
        "stored, and refused": VERIFIED,
        "last row cut, and said so": MISMATCH,  # its acknowledgements count no rows
    },
}
ONLY_FULL = {"two values swapped"}
"""What leaves counts, sums, minima, maxima and keys as they are."""
HASHED = {"postgres", "mysql", "mariadb"}
"""Servers that compute hashes of rows, which see it."""
NAMED = "LOAD DATA stored 19 of 20 rows|Got response id"
"""Why a run failed."""
COUNTED = "expected an answer of one row, got|hold [\\d,]+ rows?, but their insert left"
"""What is said of a wrong count, before any query is timed."""
RIGHT_ANYWAY = "cassandra", "answered with a row twice"
"""Each range of tokens has one row with sum and number: both double, and the mean is right."""
OFTEN_ASKED = "postgres", "answered with a value altered"
OFTEN = {
    ("postgres", "acknowledged, not stored"), ("postgres", "last row cut, and said so"),
    ("postgres", "two values swapped"), ("mysql", "commit acknowledged, not done"),
    ("mysql", "stored twice"),
}  # fmt: skip
CELLS = [
    pytest.param(server, lie, marks=[] if (server, lie) in OFTEN else [pytest.mark.rare])
    for server in READ
    for lie in FOUND
    if lie not in OF_COMMIT or server in ("mysql", "mariadb")
]
TRUTH: dict[str, Stored] = {}
"""Server -> what an honest run stores."""


def truth(lied: Lied, server_name: str) -> Stored:
    if server_name not in TRUTH:
        assert lied.cli.run(*INSERT).code == 0
        TRUTH[server_name] = lied.stored()
        assert len(TRUTH[server_name]) == ROWS
    return TRUTH[server_name]


def status_of(result: Any) -> str:
    """Return the verdict of the one run."""
    (run,) = result["runs"]
    verdict = run["outcome"]["verdict"]
    return str(verdict["status"]) if verdict else FAILED


def test_every_lie_has_an_expected_finding() -> None:
    assert FOUND.keys() == LIES.keys() | OF_COMMIT.keys()


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("server_name", "lie"), CELLS)
def test_no_lie_about_rows_is_verified_unless_they_are_stored(
    lied: Lied, server_name: str, lie: str
) -> None:
    expected = OTHERWISE.get(server_name, {}).get(lie, FOUND[lie])
    honest = truth(lied, server_name)
    lied.plot.begin(lie, at=SENDS if lie in OF_COMMIT else SENDS // 2)
    done = lied.cli.run(*INSERT, "--verify=counts")
    lies = lied.plot.lies
    lied.plot.begin("")
    again = lied.cli.run("verify", "--target=lied", f"--output={lied.cli.output}")

    text = f"{done.out}{done.err}{again.out}{again.err}"
    assert lies == 1
    assert (lied.stored() == honest) == (expected == VERIFIED), text
    found = VERIFIED if lie in ONLY_FULL and server_name not in HASHED else expected
    assert status_of(lied.cli.results()[-2]) == found, text
    assert done.code == CODES[found], text
    assert again.code == CODES[expected], text
    if expected == FAILED:
        assert re.search(NAMED, done.err), text


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("server_name", "lie"),
    [
        pytest.param(server, lie, marks=[] if (server, lie) == OFTEN_ASKED else [pytest.mark.rare])
        for server in READ
        for lie in OF_ANSWERS
    ],
)
def test_a_lie_about_an_answer_is_found(lied: Lied, server_name: str, lie: str) -> None:
    expected = VERIFIED if (server_name, lie) == RIGHT_ANYWAY else MISMATCH
    assert lied.cli.run(*INSERT).code == 0
    asking = ("query", "--target=lied", "--runs=1", "--quiet")
    lied.plot.begin(lie)
    done = lied.cli.run(*asking)
    lies = lied.plot.lies
    lied.plot.begin(lie, about_counts=True)
    counted = lied.cli.run(*asking)

    first = lied.cli.results()[-2]
    queries = first["runs"][0]["outcome"]["queries"]
    statuses = {each["name"]: each["verdict"]["status"] for each in queries}
    assert lies > 0
    assert done.code == CODES[expected], done.out + done.err
    assert statuses.pop("count-events") == VERIFIED
    assert statuses == dict.fromkeys(statuses, expected), done.out
    assert lied.plot.lies > 0
    assert counted.code == CODES[MISMATCH], counted.out + counted.err
    assert re.search(COUNTED, counted.err), counted.err
