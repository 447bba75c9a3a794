"""A stand-in for ArangoDB: its HTTP endpoint as the vendor documents it, with documents in memory.

https://docs.arango.ai/arangodb/3.12/develop/http-api/. It accepts the requests that the
documentation and the vendor's client agree on, and answers as documented. It is not ArangoDB.
"""

import json
import re
import threading
import uuid
from collections import Counter
from itertools import count
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.standins import aql as synthetic_aql
from tests.standins.web import Request, Response

VERSION = {"server": "arango", "license": "community", "version": "3.12.10"}
_KEY = re.compile(r"[A-Za-z0-9_\-:.@()+,=;$!*'%]{1,254}")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,255}")
_IMPORT = {"type": "array", "complete": "1", "details": "1"}
"""Options that the client's `import_bulk` sends with the collection."""
_SILENT = {"returnNew": "0", "silent": "1", "overwrite": "0", "returnOld": "0"}
"""Options that the client's `insert(silent=True)` sends."""
_DUPLICATE = "unique constraint violated - in index primary of type primary over '_key'"


class Failed(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, number: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": True, "code": status, "errorNum": number, "errorMessage": message}


class SyntheticArango:
    """The server's answers, with one database, `_system`."""

    def __init__(self, authorization: str = "", role: str = "SINGLE") -> None:
        self._authorization = authorization
        self._role = role
        self._lock = threading.Lock()
        self._numbers = count(1000)
        self._cursors: dict[str, tuple[list[Any], int]] = {}
        self.collections: dict[str, dict[str, Any]] = {}
        self.properties: dict[str, dict[str, Any]] = {}

    def __call__(self, request: Request) -> Response:
        """Answer a request."""
        with self._lock:
            try:
                return self._answer(request)
            except Failed as error:
                return _reply(error.body, error.status)

    def _answer(self, request: Request) -> Response:
        if self._authorization not in ("", request.headers.get("Authorization")):
            raise Failed(401, 11, "not authorized to execute this request")
        url = urlsplit(request.path)
        database, _, path = url.path.removeprefix("/_db/").partition("/")
        if database != "_system":
            raise Failed(404, 1228, "database not found")
        asked = json.loads(request.body) if request.body else None
        match request.method, *map(unquote, path.split("/")):
            case "GET", "_api", "database", "current":
                found = {"id": "1", "name": database, "path": "", "isSystem": True}
                return _reply({"error": False, "code": 200, "result": found})
            case "GET", "_api", "version":
                return _reply(VERSION)
            case "GET", "_admin", "server", "role":
                return _reply({"error": False, "code": 200, "role": self._role})
            case "GET", "_admin", "cluster", "health":
                roles = ("Agent", "Coordinator", "DBServer", "DBServer", "DBServer")
                members = {f"member-{at}": {"Role": role} for at, role in enumerate(roles)}
                return _reply({"error": False, "code": 200, "Health": members})
            case _, "_api", ("collection" | "view") as kind, *named:
                answer = self._answer_collections if kind == "collection" else _answer_no_views
                return answer(request.method, named, asked)
            case "POST", "_api", ("document" | "import"), *named:
                options = dict(parse_qsl(url.query))
                store = self._insert if named else self._import
                return store(*named, asked, options)
            case _, "_api", "cursor", *named:
                return self._answer_cursors(request.method, named, asked)
        raise Failed(404, 404, f"unknown path '{path}'")

    def _answer_collections(self, method: str, named: list[str], asked: Any) -> Response:
        if named:
            stored = self._find_collection(named[0])
        match method, *named[1:]:
            case ("GET",) if not named:
                shown = [{"name": n, "isSystem": False, "type": 2, "status": 3, "id": "1"}
                         for n in self.collections]  # fmt: skip
                return _reply({"error": False, "code": 200, "result": shown})
            case "GET", "count":
                return _reply({"error": False, "code": 200, "count": len(stored)})
            case ("POST",):
                return self._create(asked)
            case ("DELETE",):
                del self.collections[named[0]]
                return _reply({"error": False, "code": 200, "id": "1"})
            case "PUT", "compact":
                found = {"id": "1", "name": named[0], "status": 3, "type": 2, "isSystem": False}
                return _reply({"error": False, "code": 200, **found})
            case "GET", "properties":
                shown = {"id": "1", "name": named[0], "status": 3, "type": 2, "isSystem": False}
                return _reply({"error": False, "code": 200, **shown, **self.properties[named[0]]})
            case "GET", "figures":
                indices = {"count": 1, "size": len(stored)}
                sizes = {"documentsSize": len(json.dumps(stored)), "indexes": indices}
                return _reply({"error": False, "code": 200, "figures": sizes})
        raise Failed(405, 405, "method not supported")

    def _answer_cursors(self, method: str, named: list[str], asked: Any) -> Response:
        if not named:
            return self._query(asked)
        if method == "POST":
            return self._next(*named)
        if self._cursors.pop(named[0], None) is None:
            raise Failed(404, 1600, "cursor not found")
        return _reply({"error": False, "code": 202, "id": named[0]}, 202)

    def _find_collection(self, name: str) -> dict[str, Any]:
        if name not in self.collections:
            raise Failed(404, 1203, f"collection or view not found: {name}")
        return self.collections[name]

    def _create(self, asked: dict[str, Any]) -> Response:
        name = asked["name"]
        if not _NAME.fullmatch(name):
            raise Failed(400, 1208, "illegal name: collection name invalid")
        if name in self.collections:
            raise Failed(409, 1207, "duplicate name")
        self.collections[name] = {}
        self.properties[name] = asked
        return _reply({"error": False, "code": 200, "name": name})

    # --- documents --------------------------------------------------------------------------------

    def _insert(self, name: str, asked: Any, options: dict[str, str]) -> Response:
        status = 201 if self._is_synced(name, options) else 202
        assert options == _SILENT
        if isinstance(asked, list):
            return self._insert_each(name, asked, status)
        self._store(name, self._find_collection(name), asked)
        return _reply({}, status)

    def _insert_each(self, name: str, asked: list[Any], status: int) -> Response:
        """Store valid documents, and answer the errors of the others."""
        errors = []
        for document in asked:
            try:
                self._store(name, self._find_collection(name), document)
            except Failed as error:
                errors.append({k: v for k, v in error.body.items() if k != "code"})
        numbers = Counter(error["errorNum"] for error in errors)
        codes = ",".join(f"{number}:{times}" for number, times in numbers.items())
        return _reply(errors or {}, status, {"X-Arango-Error-Codes": codes} if codes else {})

    def _import(self, asked: Any, options: dict[str, str]) -> Response:
        """Store all documents, or none and answer the first error."""
        name = options.pop("collection")
        self._is_synced(name, options)
        assert options == _IMPORT
        stored = {**self._find_collection(name)}
        for document in asked:
            self._store(name, stored, document)
        self.collections[name] = stored
        counts = {"created": len(asked), "errors": 0, "empty": 0, "updated": 0, "ignored": 0}
        return _reply({"error": False, **counts, "details": []}, 201)

    def _is_synced(self, name: str, options: dict[str, str]) -> bool:
        self._find_collection(name)
        synced = options.pop("waitForSync", "0") == "1"
        assert synced == self.properties[name]["waitForSync"]
        return synced

    def _store(self, name: str, stored: dict[str, Any], document: Any) -> None:
        if not isinstance(document, dict):
            raise Failed(400, 1227, "invalid document type")
        drawn = self.properties[name]["keyOptions"]["type"] == "uuid"
        made = str(uuid.uuid4()) if drawn else str(next(self._numbers))
        key = document.get("_key", made)
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise Failed(400, 1221, "illegal document key")
        if key in stored:
            raise Failed(409, 1210, f"{_DUPLICATE}; conflicting key: {key}")
        stored[key] = {**document, "_key": key, "_id": f"{name}/{key}", "_rev": "_k"}

    # --- queries ----------------------------------------------------------------------------------

    def _query(self, asked: dict[str, Any]) -> Response:
        assert asked["options"] == {"stream": True, "failOnWarning": True, "allowRetry": False}
        assert asked["count"] is False
        try:
            rows = synthetic_aql.run(asked["query"], self.collections)
        except synthetic_aql.UnknownCollection as error:
            raise Failed(404, 1203, f"AQL: {error} (while parsing)") from error
        except synthetic_aql.AqlError as error:
            raise Failed(400, 1501, f"AQL: {error} (while parsing)") from error
        cursor = str(next(self._numbers))
        self._cursors[cursor] = rows, asked["batchSize"]
        return self._next(cursor, 201)

    def _next(self, cursor: str, status: int = 200) -> Response:
        if cursor not in self._cursors:
            raise Failed(404, 1600, "cursor not found")
        rows, size = self._cursors[cursor]
        answer = {"error": False, "code": status, "hasMore": len(rows) > size}
        answer["result"] = rows[:size]
        if answer["hasMore"]:
            self._cursors[cursor] = rows[size:], size
            answer["id"] = cursor
        else:
            del self._cursors[cursor]
        return _reply(answer, status)

    @property
    def open_cursors(self) -> int:
        """Number of cursors that clients have left open."""
        return len(self._cursors)


def _answer_no_views(*_request: Any) -> Response:
    return _reply({"error": False, "code": 200, "result": []})


def _reply(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    return Response(status, body, {"Content-Type": "application/json", **(headers or {})})
