"""A stand-in for Splunk: the HTTP Event Collector and the search API as the vendor documents them.

https://help.splunk.com/en/splunk-enterprise. It accepts and answers requests as documented,
understands the SPL of the module `splunk`, and keeps events in memory. Like Splunk, it stores every
value as text. It is not Splunk.
"""

import json
import operator
import re
import threading
import uuid
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import count
from typing import Any
from urllib.parse import parse_qs, parse_qsl, unquote, urlsplit

from tests.standins.web import Request, Response

TOKEN = "11111111-2222-3333-4444-555555555555"
SEARCH_TOKEN = "eyJ-search"
VERSION = "10.2.0"
_EXTRACTED = 5000
"""Characters of an event from which fields are extracted (limits.conf)."""
_INDEX = re.compile(r"(?!.*kvstore)[a-z0-9][a-z0-9_-]*")
_STEPS = re.compile(r'\s*\|\s*(?=(?:[^"]|"(?:[^"\\]|\\.)*")*$)')
_TEXT = r'"((?:[^"\\]|\\.)*)"'

Events = list[dict[str, str]]


class Failed(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(str(body))
        self.status, self.body = status, body


class SyntheticSplunk:
    """The server's answers, for both endpoints."""

    def __init__(self, *, acknowledges: bool = False) -> None:
        self._acknowledges = acknowledges
        self._lock = threading.Lock()
        self._acks: dict[tuple[str, int], int] = {}
        self._next_ack = count()
        self.indices: dict[str, list[tuple[Decimal, str]]] = {}
        self.sourcetypes: dict[str, dict[str, str]] = {}

    def __call__(self, request: Request) -> Response:
        """Answer a request."""
        url = urlsplit(request.path)
        with self._lock:
            try:
                if url.path.startswith("/services/collector"):
                    return self._collect(request, url.path, parse_qs(url.query))
                return self._manage(request, url.path)
            except Failed as error:
                return _reply(error.body, error.status)

    # --- the HTTP Event Collector -----------------------------------------------------------------

    def _collect(self, request: Request, path: str, query: dict[str, list[str]]) -> Response:
        if path.endswith("/health"):
            return _reply({"text": "HEC is healthy", "code": 17})
        if request.headers.get("Authorization") != f"Splunk {TOKEN}":
            raise Failed(403, {"text": "Invalid token", "code": 4})
        channel = request.headers.get("X-Splunk-Request-Channel") or query.get("channel", [""])[0]
        if path.endswith("/ack"):
            return self._acknowledge(channel, json.loads(request.body)["acks"])
        if path.endswith("/raw"):
            uuid.UUID(channel)
            events = self._lines(request.body, query["index"][0], query["sourcetype"][0])
        else:
            assert path == "/services/collector/event"
            events = _parse_events(request.body)
        for place, (index, time, raw) in enumerate(events):
            if index not in self.indices:
                body = {"text": "Incorrect index", "code": 7, "invalid-event-number": place}
                raise Failed(400, body)
            self.indices[index].append((time, raw))
        if not self._acknowledges:
            return _reply({"text": "Success", "code": 0})
        number = next(self._next_ack)
        self._acks[channel, number] = 0
        return _reply({"text": "Success", "code": 0, "ackId": number})

    def _acknowledge(self, channel: str, numbers: list[int]) -> Response:
        """Answer which numbers are indexed: each exactly at its second request."""
        if not self._acknowledges:
            raise Failed(400, {"text": "ACK is disabled", "code": 14})
        found = {}
        for number in numbers:
            asked = self._acks.get((channel, number))
            found[str(number)] = asked == 1
            if asked is not None:
                self._acks[channel, number] = asked + 1
        return _reply({"acks": found})

    def _lines(self, body: bytes, index: str, kind: str) -> Iterator[tuple[str, Decimal, str]]:
        read = self.sourcetypes[kind]
        assert (read["SHOULD_LINEMERGE"], read["KV_MODE"]) == ("false", "json")
        digits = re.fullmatch(r"%s(?:%(\d)N)?", read["TIME_FORMAT"])[1] or "0"
        for line in re.split(read["LINE_BREAKER"], body.decode())[::2]:
            number = re.match(read["TIME_PREFIX"] + r"(\d+)", line)[1]
            assert len(number) <= int(read["MAX_TIMESTAMP_LOOKAHEAD"])
            yield index, Decimal(number).scaleb(-int(digits)), line

    # --- the management API -----------------------------------------------------------------------

    def _manage(self, request: Request, path: str) -> Response:
        if request.headers.get("Authorization") != f"Bearer {SEARCH_TOKEN}":
            raise _message(401, "call not properly authenticated")
        form = dict(parse_qsl(request.body.decode()))
        match request.method, *path.split("/")[1:]:
            case "GET", "services", "server", "info":
                return _reply({"entry": [{"content": {"version": VERSION}}]})
            case "GET", "services", "search", "distributed", "peers":
                return _reply({"entry": []})
            case "POST", "services", "data", "indexes":
                return self._create(form["name"])
            case ("GET" | "DELETE") as method, "services", "data", "indexes", name:
                return self._answer_index(method, unquote(name))
            case "POST", "servicesNS", "nobody", "search", "configs", "conf-props":
                name = form.pop("name")
                if name in self.sourcetypes:
                    raise _message(409, f"An object with name={name} already exists")
                self.sourcetypes[name] = form
                return _reply({"entry": []}, 201)
            case "POST", "services", "search", "v2", "jobs", "export":
                return self._export(form)
        raise _message(404, "Not Found")

    def _answer_index(self, method: str, name: str) -> Response:
        if name not in self.indices:
            raise _message(404, f"In handler 'indexes': {name} does not exist")
        if method == "DELETE":
            del self.indices[name]
            return _reply({"entry": []})
        return _reply({"entry": [{"name": name, "content": {}}]})

    def _create(self, name: str) -> Response:
        if not _INDEX.fullmatch(name):
            raise _message(400, f"Index name {name} is not valid")
        if name in self.indices:
            raise _message(409, f"Index name {name} already exists")
        self.indices[name] = []
        return _reply({"entry": []}, 201)

    def _export(self, form: dict[str, str]) -> Response:
        assert (form["output_mode"], form["preview"]) == ("json", "false")
        try:
            rows = self.search(form["search"])
        except AssertionError as error:
            message = {"type": "FATAL", "text": f"Error in 'search': {error}"}
            return _reply({"messages": [message]})
        shown = [{"preview": False, "offset": at, "result": row} for at, row in enumerate(rows)]
        body = "\n".join(json.dumps(row) for row in shown)
        return Response(200, body.encode(), {"Content-Type": "application/json"})

    def search(self, text: str) -> Events:
        """Return the results of a search."""
        generating, *steps = _STEPS.split(text)
        if not generating:
            (name,) = re.fullmatch(rf"dbinspect index={_TEXT}", steps.pop(0)).groups()
            used = sum(len(raw) for _, raw in self.indices.get(name, ()))
            return [{"sizeOnDiskMB": f"{used / 2**20:.6f}"}]
        assert re.fullmatch(rf"search index={_TEXT}( OR index={_TEXT})*", generating), generating
        names = re.findall(_TEXT, generating)
        rows = [_extract(*e) for name in names for e in self.indices.get(name, ())]
        for step in steps:
            command, _, rest = step.partition(" ")
            assert command in _COMMANDS, f"Unknown search command '{command}'."
            rows = _COMMANDS[command](rows, rest)
        return [{k: v for k, v in row.items() if k != "_time"} for row in rows]


def _parse_events(body: bytes) -> Iterator[tuple[str, Decimal, str]]:
    """Yield index, instant and text of concatenated JSON objects."""
    text, place = body.decode(), 0
    decoder = json.JSONDecoder(parse_float=Decimal)
    while place < len(text):
        event, place = decoder.raw_decode(text, place)
        while text[place : place + 1] in ("\n", " "):
            place += 1
        assert event["sourcetype"].startswith("benchmark_")
        raw = json.dumps(event["event"], ensure_ascii=False)
        yield event["index"], Decimal(event["time"]), raw


# --- SPL ------------------------------------------------------------------------------------------


def _extract(time: Decimal, raw: str) -> dict[str, Any]:
    assert len(raw) <= _EXTRACTED
    fields = {f"r.{name}": value for name, value in json.loads(raw)["r"].items()}
    assert all(isinstance(value, str) for value in fields.values())
    return {"_raw": raw, "_time": time, **fields}


def _where(rows: Events, text: str) -> Events:
    for conditions in re.split(r" AND (?=(?:\(?'|tonumber))", text):
        either = conditions[1:-1] if conditions.startswith("(") else conditions
        tests = [_parse_condition(one) for one in re.split(r" OR (?=')", either)]
        rows = [row for row in rows if any(test(row) for test in tests)]
    return rows


_SIGNS = {
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "<=": operator.le,
    "<": operator.lt,
}


def _parse_condition(text: str) -> Callable[[dict[str, str]], bool]:
    """Return the test of a row; NULL makes a condition false."""
    if equal := re.fullmatch(rf"'([\w.]+)'=={_TEXT}", text):
        field, value = equal[1], re.sub(r"\\(.)", r"\1", equal[2])
        return lambda row: row.get(field) == value
    compared = re.fullmatch(r"(?:tonumber\('([\w.]+)'\)|(\w+))(>=|<=|==|<|>)(-?[\d.e+-]+)", text)
    assert compared, f"The expression is malformed: {text}"
    field, sign, limit = compared[1] or compared[2], _SIGNS[compared[3]], float(compared[4])
    return lambda row: field in row and sign(float(row[field]), limit)


def _fillnull(rows: Events, text: str) -> Events:
    filled, *fields = re.findall(_TEXT, text)
    return [{**dict.fromkeys(fields, filled), **row} for row in rows]


def _eval(rows: Events, text: str) -> Events:
    field, width = re.fullmatch(r"bucket=floor\(tonumber\('([\w.]+)'\)/(\d+)\)", text).groups()
    return [{**row, "bucket": str(int(float(row[field]) / int(width) // 1))} for row in rows]


def _stats(rows: Events, text: str) -> Events:
    functions, _, by = text.partition(" BY ")
    fields = [quoted or bare for quoted, bare in re.findall(rf"{_TEXT}|(\w+)", by)]
    groups: dict[tuple[str, ...], Events] = {} if fields else {(): []}
    for row in rows:
        if all(field in row for field in fields):  # NULL has no group
            groups.setdefault(tuple(row[field] for field in fields), []).append(row)
    return [
        {**dict(zip(fields, key, strict=True)), **_compute(functions, members)}
        for key, members in groups.items()
    ]


def _compute(functions: str, rows: Events) -> dict[str, str]:
    if functions == "count":
        return {"count": str(len(rows))}
    if functions == "latest(_raw) AS _raw":
        return {"_raw": max(rows, key=lambda row: row["_time"])["_raw"]} if rows else {}
    wanted = re.findall(rf"(earliest|latest)\({_TEXT}\) AS {_TEXT}", functions)
    assert " ".join(f'{f}("{field}") AS "{name}"' for f, field, name in wanted) == functions
    found = {}
    for function, field, name in wanted:
        there = sorted((r for r in rows if field in r), key=lambda row: row["_time"])
        if there:
            found[name] = there[0 if function == "earliest" else -1][field]
    return found


def _sort(rows: Events, text: str) -> Events:
    number, field = re.fullmatch(r"(\d+) - (\w+)", text).groups()
    return sorted(rows, key=lambda row: Decimal(row[field]), reverse=True)[: int(number) or None]


def _streamstats(rows: Events, text: str) -> Events:
    assert text == "dc(bucket) AS place", text
    seen: dict[str, None] = {}
    found = []
    for row in rows:
        seen[row["bucket"]] = None
        found.append({**row, "place": str(len(seen))})
    return found


def _fields(rows: Events, text: str) -> Events:
    assert text == "_raw"
    return [{"_raw": row["_raw"]} for row in rows]


def _table(rows: Events, text: str) -> Events:
    fields = re.findall(_TEXT, text)
    return [{field: row[field] for field in fields if field in row} for row in rows]


def _head(rows: Events, text: str) -> Events:
    return sorted(rows, key=lambda row: row["_time"], reverse=True)[: int(text)]


_COMMANDS: dict[str, Callable[[Events, str], Events]] = {
    "where": _where,
    "fillnull": _fillnull,
    "eval": _eval,
    "stats": _stats,
    "fields": _fields,
    "head": _head,
    "sort": _sort,
    "streamstats": _streamstats,
    "table": _table,
}


def _message(status: int, text: str) -> Failed:
    return Failed(status, {"messages": [{"type": "ERROR", "text": text}]})


def _reply(content: Any, status: int = 200) -> Response:
    return Response(status, json.dumps(content).encode(), {"Content-Type": "application/json"})
