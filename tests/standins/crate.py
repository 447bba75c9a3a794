"""A stand-in for CrateDB: its HTTP endpoint as the vendor documents it, in front of PostgreSQL.

https://cratedb.com/docs/crate/reference/en/latest/interfaces/http.html. It checks the form of the
requests, answers in the form of CrateDB 6.3.7, and refuses what that version refuses; PostgreSQL
stores the rows.
"""

import json
import re
import threading
import time
from datetime import datetime
from decimal import Decimal
from typing import Any

import psycopg2

from tests.standins.web import Request, Response

VERSION = "CrateDB 6.3.7 (built 1b5d0a5/2026-10-25T08:24:31Z, Linux 6.8.0 amd64, OpenJDK 24)"
_KEPT = """
CREATE OR REPLACE FUNCTION {name}_kept(kept text[], item anyelement, key bigint) RETURNS text[]
LANGUAGE plpgsql AS $$ BEGIN
    IF kept IS NULL OR key {operator} kept[1]::bigint THEN RETURN ARRAY[key::text, item::text];
    END IF;
    RETURN kept;
END $$;
CREATE OR REPLACE AGGREGATE {name}(anyelement, bigint)
    (sfunc = {name}_kept, stype = text[], finalfunc = kept_item, finalfunc_extra);
"""
SETUP = """
CREATE OR REPLACE FUNCTION gen_random_text_uuid() RETURNS text LANGUAGE sql AS
    $$ SELECT gen_random_uuid()::text $$;
CREATE OR REPLACE FUNCTION kept_item(kept text[], item anyelement, key bigint) RETURNS anyelement
LANGUAGE plpgsql AS $$ BEGIN item := kept[2]; RETURN item; END $$;
""" + "".join(
    _KEPT.format(name=name, operator=operator)
    for name, operator in (("min_by", "<"), ("max_by", ">"))
)
"""Functions of CrateDB that PostgreSQL does not have."""

_STORAGE = re.compile(r"( CLUSTERED INTO \d+ SHARDS)? WITH \(.*\)$")
_SIZES = re.compile(r"SELECT sum\(size\) FROM sys\.shards .* table_name IN \((.*)\)$")
_SEGMENTS = re.compile(r"SELECT max\(segments\) FROM \(SELECT count\(\*\) AS segments FROM sys\.")
_CREATED = re.compile(r'CREATE TABLE ("(?:[^"]|"")*") \((.*)\)')
_NAME = re.compile(r'(?:^|, |\()("(?:[^"]|"")*") [A-Z]')
_NO_ROWS = re.compile(r"(REFRESH TABLE|OPTIMIZE TABLE) ")
_MOST_CONNECTIONS = 40
"""PostgreSQL accepts 100; those of clients that have gone are not noticed."""
_BIGINT_ENDS = (-(2**63), 2**63 - 1)
_DUPLICATE = "DuplicateKeyException[A document with the same primary key exists already]"
_ERRORS = {
    "23505": (409, 4091, _DUPLICATE),
    "42P07": (409, 4093, "RelationAlreadyExists[Relation 'doc.x' already exists.]"),
    "42P01": (404, 4041, "RelationUnknown[Relation 'x' unknown]"),
}
_FLOOD_WORDS = "blocked by: [FORBIDDEN/12/index read-only / allow delete (api)];"
FLOOD_STAGE = (403, 4030, f"ClusterBlockException[{_FLOOD_WORDS}]")
_BLOCK_WORDS = 'The relation "doc.events" doesn\'t support or allow INSERT operations'
WRITES_BLOCKED = (400, 4007, f"OperationOnInaccessibleRelationException[{_BLOCK_WORDS}]")
_NO_PERMISSION = (404, 4045, "SchemaUnknownException[Schema 'sys' unknown]")


class Refusal(Exception):
    """An error of CrateDB: status, number and message."""


class SyntheticCrate:
    """The server's answers, with a connection to PostgreSQL for each client."""

    def __init__(self, dsn: str, authorization: str = "", stale_s: float = 0) -> None:
        self._dsn = dsn
        self._authorization = authorization
        self._stale_s = stale_s
        self._asked_at: float | None = None
        self._connections: dict[Any, Any] = {}
        self._lock = threading.Lock()
        self.statements: list[str] = []
        self.may_read_sys = True
        """True if the user has DQL on sys.nodes, sys.shards and sys.segments."""
        self.block: tuple[int, int, str] | None = None
        """The error that answers an INSERT: FLOOD_STAGE or WRITES_BLOCKED."""
        self.recovering = 0
        """Number of INSERTs answered with RelationUnknown, as just after a restart."""
        self.without_master = 0
        """Number of questions before a node that has just started has a master."""

    def close(self) -> None:
        """Close the connections."""
        for connection in self._connections.values():
            connection.close()

    def __call__(self, request: Request) -> Response:
        """Answer a request to the endpoint."""
        if (request.method, request.path) != ("POST", "/_sql"):
            return _reply_error(400, 4000, f"no handler found for uri [{request.path}]")
        if self._authorization not in ("", request.headers.get("Authorization")):
            return _reply_error(401, 4010, 'trust authentication failed for user "crate"')
        if request.headers.get("Content-Type") != "application/json":
            return _reply_error(400, 4000, "expected JSON")
        asked = json.loads(request.content)
        statement: str = asked["stmt"]
        self.statements.append(statement)
        try:
            self._check(statement)
            with self._cursor(request) as cursor:
                if "bulk_args" in asked:
                    results = [self._bulk(cursor, statement, row) for row in asked["bulk_args"]]
                    return _reply({"cols": [], "duration": 1.5, "results": results})
                return self._run(cursor, statement, asked.get("args"))
        except Refusal as refusal:
            return _reply_error(*refusal.args)
        except psycopg2.Error as error:
            return _reply_error(*_describe(error))

    def _cursor(self, request: Request) -> Any:
        with self._lock:
            if request.client not in self._connections:
                if len(self._connections) >= _MOST_CONNECTIONS:
                    oldest = next(iter(self._connections))
                    self._connections.pop(oldest).close()
                connection = psycopg2.connect(self._dsn)
                connection.autocommit = True
                self._connections[request.client] = connection
            return self._connections[request.client].cursor()

    def _check(self, statement: str) -> None:
        """Refuse a statement that CrateDB refuses before it runs it."""
        if " sys." in statement and not self.may_read_sys:
            raise Refusal(*_NO_PERMISSION)
        if statement.startswith("INSERT"):
            if self.block:
                raise Refusal(*self.block)
            if self.recovering:
                self.recovering -= 1
                raise Refusal(*_ERRORS["42P01"])
        if created := _CREATED.match(statement):
            _check_names(created[1], created[2])

    def _bulk(self, cursor: Any, statement: str, row: list[Any]) -> dict[str, Any]:
        """Insert a row on its own: a refused row does not stop the others."""
        try:
            _check_row(row)
            cursor.execute(_place_parameters(statement), list(map(_keep_sign, row)))
        except Refusal as refusal:
            _, code, message = refusal.args
        except psycopg2.Error as error:
            _, code, message = _describe(error)
        else:
            return {"rowcount": 1}
        return {"rowcount": -2, "error": {"code": code, "message": message}}

    def _run(self, cursor: Any, statement: str, arguments: list[Any] | None) -> Response:
        if statement == "SELECT version()":
            return _reply({"cols": ["version"], "rows": [[VERSION]], "rowcount": 1})
        if statement == "SELECT master_node FROM sys.cluster":
            master = None if self.without_master else "one"
            self.without_master = max(self.without_master - 1, 0)
            return _reply({"cols": ["master_node"], "rows": [[master]], "rowcount": 1})
        if statement == "SELECT count(*) FROM sys.nodes":
            return _reply({"cols": ["count(*)"], "rows": [[1]], "rowcount": 1})
        if _NO_ROWS.match(statement):
            return _reply({"cols": [], "rows": [[]], "rowcount": 1})
        if _SEGMENTS.match(statement):
            return _reply({"cols": ["x"], "rows": [[5 if self._is_stale else 1]], "rowcount": 1})
        if statement.startswith("CREATE TABLE"):
            statement, stripped = _STORAGE.subn("", statement)
            assert stripped == 1
        sizes = _SIZES.match(statement)
        if sizes:
            self._asked_at = self._asked_at or time.monotonic()
            factor = 2 if self._is_stale else 1
            statement = (
                f"SELECT {factor} * sum(pg_total_relation_size(oid)) FROM pg_class "
                f"WHERE relname IN ({sizes[1]})"
            )
        _check_row(arguments or [])
        if arguments is None:
            cursor.execute(statement)
        else:
            cursor.execute(_place_parameters(statement), arguments)
        columns = [column.name for column in cursor.description or ()]
        rows = [[_convert(value) for value in row] for row in cursor] if columns else []
        if "AS NUMERIC" not in statement:
            _check_sums(rows)
        return _reply({"cols": columns, "rows": rows, "rowcount": cursor.rowcount, "duration": 1})

    @property
    def _is_stale(self) -> bool:
        """True if sys.shards still shows the size before the merge."""
        asked_at = self._asked_at or time.monotonic()
        return time.monotonic() - asked_at < self._stale_s


def _check_names(table: str, columns: str) -> None:
    name = table[1:-1].replace('""', '"')
    if name.startswith("_") or set(name) & set('/\\*?"<>|, .'):
        raise Refusal(400, 4002, f'InvalidRelationName[Relation name "doc.{name}" is invalid.]')
    for quoted in _NAME.findall(columns):
        column = quoted[1:-1].replace('""', '"')
        if "." in column or "[" in column or re.fullmatch("_[a-z]+(_[a-z]+)*", column):
            raise Refusal(400, 4008, f'InvalidColumnNameException["{column}" is not allowed]')


def _check_row(values: list[Any]) -> None:
    for value in values:
        if value in _BIGINT_ENDS:
            raise Refusal(400, 4003, f"ColumnValidationException[Invalid value '{value}']")


def _check_sums(rows: list[list[Any]]) -> None:
    for value in (value for row in rows for value in row):
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise Refusal(500, 5000, "ArithmeticException[long overflow]")


def _place_parameters(statement: str) -> str:
    """Return a statement with psycopg2's placeholders."""
    return statement.replace("%", "%%").replace("?", "%s")


def _keep_sign(value: Any) -> Any:
    """Return -0.0 as a text: without quotes, PostgreSQL would read a decimal without sign."""
    return "-0.0" if isinstance(value, float) and str(value) == "-0.0" else value


def _convert(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    return int(value.timestamp() * 1000) if isinstance(value, datetime) else value


def _describe(error: Exception) -> tuple[int, int, str]:
    other = (400, 4000, f"SQLParseException[{' '.join(str(error).split())}]")
    return _ERRORS.get(error.pgcode, other)


def _reply_error(status: int, code: int, message: str) -> Response:
    return _reply({"error": {"message": message, "code": code}}, status)


def _reply(content: Any, status: int = 200) -> Response:
    body = json.dumps(content, separators=(",", ":")).encode()
    return Response(status, body, {"Content-Type": "application/json"})
