"""A synthetic CrateDB: its HTTP endpoint as the vendor documents it, in front of PostgreSQL.

https://cratedb.com/docs/crate/reference/en/latest/interfaces/http.html. It is not CrateDB: it says
what a request must look like and what replies look like, and lets PostgreSQL keep the rows.
"""

import json
import re
import threading
from datetime import datetime
from decimal import Decimal
from typing import Any

import psycopg2

from tests.standins.web import Request, Response

VERSION = "CrateDB 6.0.2 (built 1b5d0a5/2025-08-25T08:24:31Z, Linux 6.8.0 amd64, OpenJDK 24)"
SETUP = (
    "CREATE OR REPLACE FUNCTION gen_random_text_uuid() RETURNS text LANGUAGE sql AS "
    "$$ SELECT gen_random_uuid()::text $$"
)

_STORAGE = re.compile(r"( CLUSTERED INTO \d+ SHARDS)? WITH \(.*\)$")
_SIZES = re.compile(r"SELECT sum\(size\) FROM sys\.shards .* table_name IN \((.*)\)$")
_NO_ROWS = re.compile(r"(REFRESH TABLE|OPTIMIZE TABLE) ")
_DUPLICATE = "DuplicateKeyException[A document with the same primary key exists already]"
_ERRORS = {
    "23505": (409, 4091, _DUPLICATE),
    "42P07": (409, 4093, "RelationAlreadyExists[Relation 'doc.x' already exists.]"),
    "42P01": (404, 4041, "RelationUnknown[Relation 'x' unknown]"),
}


class SyntheticCrate:
    """The answers; a connection to PostgreSQL for each of the clients'."""

    def __init__(self, dsn: str, authorization: str = "") -> None:
        self._dsn = dsn
        self._authorization = authorization
        self._connections: dict[Any, Any] = {}
        self._lock = threading.Lock()
        self.statements: list[str] = []

    def close(self) -> None:
        """Close the connections."""
        for connection in self._connections.values():
            connection.close()

    def __call__(self, request: Request) -> Response:
        """Answer a request to the endpoint."""
        if (request.method, request.path) != ("POST", "/_sql"):
            return _error(400, 4000, f"no handler found for uri [{request.path}]")
        if self._authorization not in ("", request.headers.get("Authorization")):
            return _error(401, 4010, 'trust authentication failed for user "crate"')
        if request.headers.get("Content-Type") != "application/json":
            return _error(400, 4000, "expected JSON")
        asked = json.loads(request.content)
        self.statements.append(asked["stmt"])
        with self._cursor(request) as cursor:
            if "bulk_args" in asked:
                results = [self._bulk(cursor, asked["stmt"], row) for row in asked["bulk_args"]]
                return _reply({"cols": [], "duration": 1.5, "results": results})
            try:
                return self._run(cursor, asked["stmt"], asked.get("args"))
            except psycopg2.Error as error:
                return _error(*_told(error))

    def _cursor(self, request: Request) -> Any:
        with self._lock:
            if request.client not in self._connections:
                connection = psycopg2.connect(self._dsn)
                connection.autocommit = True
                self._connections[request.client] = connection
            return self._connections[request.client].cursor()

    def _bulk(self, cursor: Any, statement: str, row: list[Any]) -> dict[str, Any]:
        """Each row on its own: one that is refused does not stop the others."""
        try:
            cursor.execute(_placed(statement), row)
        except psycopg2.Error as error:
            _, code, message = _told(error)
            return {"rowcount": -2, "error": {"code": code, "message": message}}
        return {"rowcount": 1}

    def _run(self, cursor: Any, statement: str, arguments: list[Any] | None) -> Response:
        if statement == "SELECT version()":
            return _reply({"cols": ["version"], "rows": [[VERSION]], "rowcount": 1})
        if statement == "SELECT count(*) FROM sys.nodes":
            return _reply({"cols": ["count(*)"], "rows": [[1]], "rowcount": 1})
        if _NO_ROWS.match(statement):
            return _reply({"cols": [], "rows": [[]], "rowcount": 1})
        if statement.startswith("CREATE TABLE"):
            statement, stripped = _STORAGE.subn("", statement)
            assert stripped == 1
        sizes = _SIZES.match(statement)
        if sizes:
            statement = (
                "SELECT sum(pg_total_relation_size(oid)) FROM pg_class "
                f"WHERE relname IN ({sizes[1]})"
            )
        if arguments is None:
            cursor.execute(statement)
        else:
            cursor.execute(_placed(statement), arguments)
        columns = [column.name for column in cursor.description or ()]
        rows = [[_value(value) for value in row] for row in cursor] if columns else []
        return _reply({"cols": columns, "rows": rows, "rowcount": cursor.rowcount, "duration": 1})


def _placed(statement: str) -> str:
    """Return a statement with the placeholders that psycopg2 knows."""
    return statement.replace("%", "%%").replace("?", "%s")


def _value(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    return int(value.timestamp() * 1000) if isinstance(value, datetime) else value


def _told(error: Exception) -> tuple[int, int, str]:
    other = (400, 4000, f"SQLParseException[{' '.join(str(error).split())}]")
    return _ERRORS.get(error.pgcode, other)


def _error(status: int, code: int, message: str) -> Response:
    return _reply({"error": {"message": message, "code": code}}, status)


def _reply(content: Any, status: int = 200) -> Response:
    body = json.dumps(content, separators=(",", ":")).encode()
    return Response(status, body, {"Content-Type": "application/json"})
