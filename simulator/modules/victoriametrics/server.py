"""Requests other than rows and queries: the page /metrics, tables and their marks."""

import json
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import parse_qsl, urlencode

from simulator.modules.shared.http.client import Http
from simulator.modules.shared.http.prometheus import Metrics
from simulator.modules.victoriametrics import query as queries
from simulator.modules.victoriametrics import wire

_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_DAY_S = 86_400
NOW = f"/api/v1/query?nocache=1&time={wire.iso(wire.LAST_MS)}"
"""Path and parameters of an expression over all times."""
_UNITS_S = {
    "ms": 0.001,
    "s": 1,
    "m": 60,
    "h": 3600,
    "d": _DAY_S,
    "w": 7 * _DAY_S,
    "M": 31 * _DAY_S,
    "y": 365 * _DAY_S,
}
_MARGIN_S = 3600
"""The server might drop rows that are nearer to the end of the retention before verification."""
_DROPPED = {"vm_rows_ignored_total": "reason", "vm_rows_invalid_total": "type"}
"""Counter of rows that are dropped though the request succeeds -> label of the reason."""


class MetricsPage(Metrics):
    """The page /metrics: sizes, counters and the flags that the server was started with."""

    @property
    def is_victoriametrics(self) -> bool:
        """True if a server that stores rows has this page."""
        return "vm_app_version" in self and bool(self.flag("retentionPeriod"))

    @property
    def version(self) -> str:
        """The version; packages of some distributions do not report it."""
        (sample,) = self.of("vm_app_version")
        short = sample.labels.get("short_version", "").removeprefix("v")
        return f"VictoriaMetrics {short}" if short else "VictoriaMetrics (built without a version)"

    def flag(self, name: str) -> str:
        """Return a setting; empty if no setting has this name."""
        values = (s.labels["value"] for s in self.of("flag") if s.labels.get("name") == name)
        return next(values, "")

    def count_dropped(self) -> dict[str, float]:
        """Return the number of rows that the server has dropped, by reason."""
        return {
            f"{name}: {sample.labels.get(label, '')}": sample.value
            for name, label in _DROPPED.items()
            for sample in self.of(name)
        }

    def span_ms(self) -> tuple[int, int]:
        """Return the first and the last instant of rows that the server keeps."""
        now = time.time()  # noqa: TID251
        first = max(now - seconds(self.flag("retentionPeriod")) + _MARGIN_S, 0)
        last = now + seconds(self.flag("futureRetention") or "2d") - _MARGIN_S
        return int(first * 1000), int(last * 1000)


def seconds(duration: str) -> float:
    """Return a duration such as 1M, 2d or 1h30m in seconds; a bare number counts months."""
    if duration.replace(".", "", 1).isdigit():
        return float(duration) * _UNITS_S["M"]
    parts = re.findall(r"([\d.]+)(ms|[smhdwMy])", duration)
    return sum(float(number) * _UNITS_S[unit] for number, unit in parts)


class Api:
    """Requests to the server over one connection."""

    def __init__(self, http: Http, waiting: Callable[[], AbstractContextManager[None]]) -> None:
        """Store the connection, and the context that counts time as the database's."""
        self.page = MetricsPage({})
        """The page /metrics as last read."""
        self._http = http
        self._waiting = waiting

    def learn(self) -> MetricsPage:
        """Read the page /metrics."""
        text = self._http.query("GET", "/metrics").body
        self.page = MetricsPage.parse(text.decode())
        return self.page

    def call(self, path: str, form: Mapping[str, str] | None = None) -> bytes:
        """Post a form and return the answer."""
        with self._waiting():
            return self._http.query("POST", path, urlencode(form or {}).encode(), _FORM).body

    def ask(self, head: str, expression: str, **more: str) -> Any:
        """Return the result of an expression; `head` is path and parameters of its statement."""
        return self._read_answer(head, expression, more)["data"]["result"]

    def trace(self, head: str, expression: str, **more: str) -> Any:
        """Return the server's trace of its answer to an expression."""
        return self._read_answer(head, expression, {**more, "trace": "1"})["trace"]

    def _read_answer(self, head: str, expression: str, more: Mapping[str, str]) -> Any:
        path, _, given = head.partition("?")
        form = {**dict(parse_qsl(given)), **more, "query": expression}
        return json.loads(self.call(path, form))

    def now(self, expression: str) -> float | None:
        """Return the value of an expression over all times; None if there are no points."""
        return self.number(NOW, expression)

    def number(self, head: str, expression: str) -> float | None:
        """Return the one value of an expression; None if there are no points."""
        result = self.ask(head, expression)
        return float(result[0]["value"][1]) if result else None

    def export(self, series: str, first_ms: int, last_ms: int) -> Iterator[bytes]:
        """Yield the points of some series in pieces; the caller waits for them."""
        form = {"match[]": series, "start": wire.iso(first_ms), "end": wire.iso(last_ms)}
        return self._http.stream("POST", "/api/v1/export", urlencode(form).encode(), _FORM)

    def tables(self, *, ours: bool = True) -> set[str]:
        """Return the tables with series of ours, or else with series of others."""
        labels = self._list_values(wire.TABLE_LABEL, queries.EVERY_SERIES)
        return {n for n in labels if self._list_values("__name__", queries.of_table(n, ours=ours))}

    def foreign_metrics(self, names: Collection[str] = ()) -> set[str]:
        """Return which of these metrics, or of all, have series without a table."""
        return self._list_values("__name__", queries.of_no_table([*names]))

    def foreign_labels(self, name: str) -> list[str]:
        """Return the labels of a table's series that ours do not have.

        Empty if that is unknown, because marks of earlier versions do not name the tags.
        """
        marked = self._list_values(wire.TAGS_LABEL, queries.mark(name))
        if not marked:
            return []
        ours = {"__name__", wire.TABLE_LABEL, wire.TAGS_LABEL}
        ours |= {tag for tags in marked for tag in json.loads(tags)}
        return sorted(self._list("labels", queries.of_table(name)) - ours)

    @property
    def has_others(self) -> bool:
        """True if the server stores series that this program has not made."""
        strange = self.foreign_metrics() or self.tables(ours=False)
        return bool(strange) or any(
            self.foreign_labels(name) or not self.now(queries.marks(name)) for name in self.tables()
        )

    def delete(self, names: Iterable[str]) -> None:
        """Delete our series of tables, of any field."""
        for name in names:
            ours = queries.of_table(name, without=self.foreign_labels(name))
            self.call("/api/v1/admin/tsdb/delete_series", {"match[]": ours})

    def _list_values(self, label: str, chosen: str) -> set[str]:
        return self._list(f"label/{label}/values", chosen)

    def _list(self, what: str, chosen: str) -> set[str]:
        since_ms = 1000  # for the server, a start of 0 means no start
        form = {"match[]": chosen, "start": wire.iso(since_ms), "end": wire.iso(wire.LAST_MS)}
        return set(json.loads(self.call(f"/api/v1/{what}", form))["data"])

    def flush(self) -> None:
        """Make all sent rows visible to queries."""
        self.call("/internal/force_flush")

    def mark(self, tables: Mapping[str, Collection[str]], instant_ms: int) -> None:
        """Mark tables (name -> tags) as existing."""
        marks = [
            {
                "metric": {
                    "__name__": wire.TABLE_LABEL,
                    wire.TABLE_LABEL: name,
                    wire.TAGS_LABEL: json.dumps([*tags]),
                },
                "values": [1],
                "timestamps": [instant_ms],
            }
            for name, tags in tables.items()
        ]
        body = "\n".join(json.dumps(mark, ensure_ascii=False) for mark in marks)
        self._http.request("POST", "/api/v1/import", body.encode())
