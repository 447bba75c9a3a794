"""`--ui`: serves the read-only live page and its events by HTTP, in a thread of this process."""

import asyncio
import json
import secrets
import threading
from collections import deque
from collections.abc import AsyncIterator
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from iotbench.machine.streams import say
from iotbench.output.live.address import Address
from iotbench.output.terminal.course import SweepMoment
from iotbench.output.terminal.progress import describe_end
from iotbench.results.result import Result
from simulator.protocol.events import AskedSample, Outcome, PhaseEvent, ProgressEvent, SampleEvent

_KEPT = 10_000
"""Maximum number of messages kept for browsers that connect later: about three hours."""
_LOOK_S = 0.3
_LAST_S = 1
"""Time for browsers to receive the last message."""
_MOST_CONNECTIONS = 40
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; connect-src 'self';"
    " script-src 'nonce-{nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class _Messages:
    """The messages so far, for any number of readers."""

    def __init__(self, heading: dict[str, Any]) -> None:
        self._heading = json.dumps(heading)
        self._kept: deque[tuple[int, str]] = deque(maxlen=_KEPT)
        self._number = 0
        self._is_over = False

    def add(self, message: dict[str, Any], *, last: bool = False) -> None:
        self._number += 1
        self._kept.append((self._number, json.dumps(message)))
        self._is_over = last

    async def after(self, number: int) -> AsyncIterator[str]:
        """Yield the messages after the message with this number, up to the last message."""
        if not number:
            yield f"id: 0\ndata: {self._heading}\n\n"
        is_over = False
        while not is_over:
            is_over = self._is_over  # read before the last messages are sent below
            for each, text in self._kept.copy():
                if each > number:
                    number = each
                    yield f"id: {each}\ndata: {text}\n\n"
            await asyncio.sleep(_LOOK_S)  # moments come from another thread


class LivePage:
    """The page of one sweep, while it runs."""

    def __init__(self, address: Address, result: Result, runs: int) -> None:
        self._address = address
        self._messages = _Messages(_describe_sweep(result, runs))
        self._result = result

    def __enter__(self) -> Self:
        """Start listening; ConfigError if the address cannot be used."""
        place = self._address.listener()
        self._server = _make_server(self._messages, is_local=self._address.is_local)
        self._thread = threading.Thread(target=self._server.run, args=([place],), daemon=True)
        self._thread.start()
        say(f"live page: {self._address.url(place.getsockname()[1])}", err=True)
        return self

    def take(self, moment: SweepMoment) -> None:
        """Show a moment."""
        if message := _make_message(moment):
            self._messages.add(message)

    def __exit__(self, *_: object) -> None:
        self._messages.add({"kind": "over", "status": self._result.status}, last=True)
        self._server.should_exit = True
        self._thread.join(2 * _LAST_S)


def _make_server(messages: _Messages, *, is_local: bool) -> uvicorn.Server:
    def check_name(request: Request) -> None:
        # Another site may resolve its name to this machine, to read the page from a browser.
        if not is_local:
            return
        try:
            host = urlsplit(f"//{request.headers.get('Host', '')}").hostname or ""
        except ValueError:
            host = ""
        if not Address(host, 0).is_local:
            raise HTTPException(HTTPStatus.FORBIDDEN, "open the page by its printed address")

    async def page(request: Request) -> Response:
        check_name(request)
        nonce = secrets.token_urlsafe(16)
        headers = {
            "Content-Security-Policy": _POLICY.format(nonce=nonce),
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        }
        return HTMLResponse(_read_template().replace("NONCE", nonce), headers=headers)

    async def events(request: Request) -> Response:
        check_name(request)
        known = request.headers.get("Last-Event-ID", "")
        number = int(known) if known.isdecimal() else 0
        return StreamingResponse(
            messages.after(number),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store"},
        )

    config = uvicorn.Config(
        Starlette(routes=[Route("/", page), Route("/events", events)]),
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_LAST_S,
    )
    return uvicorn.Server(config)


@cache
def _read_template() -> str:
    page = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    colours = Path(__file__).parent.parent.joinpath("page", "page.css").read_text(encoding="utf-8")
    return page.replace("/* colours */", colours.partition("@media print")[0])


def _describe_sweep(result: Result, runs: int) -> dict[str, Any]:
    return {
        "kind": "sweep",
        "what": result.kind,
        "target": result.target,
        "module": result.module,
        "runner": result.runner,
        "id": result.sweep_id,
        "runs": runs,
    }


def _make_message(moment: SweepMoment) -> dict[str, Any] | None:
    """Return the message about a moment; None if the page does not show the event of the moment."""
    common = {
        "run": moment.number,
        "workers": moment.workers,
        "phase": moment.phase,
        "left_s": moment.left_s if moment.sweep_left_s is None else moment.sweep_left_s,
    }
    match moment.event:
        case PhaseEvent(detail=detail):
            return {"kind": "phase", **common, "detail": detail}
        case ProgressEvent(rows=rows, of=of):
            return {"kind": "progress", **common, "done": rows, "of": of}
        case SampleEvent() as sample:
            return {
                "kind": "sample",
                **common,
                "detail": moment.place,
                "at_s": sample.at_s,
                "unit": "queries/s" if sample.query else "rows/s",
                "per_s": sample.queries_per_s if sample.query else sample.rows_per_s,
                "p50_ms": sample.p50_ms,
                "p99_ms": sample.p99_ms,
                "errors": sample.errors,
                "uncertain_rows": sample.uncertain_rows,
                "count": sample.runs if sample.query else sample.rows,
                **({} if sample.active is None else {"active": sample.active}),
                **({} if sample.asked is None else _describe_asked(sample.asked)),
            }
        case Outcome() as outcome:
            text = describe_end(moment.planned, outcome)
            verdict = outcome.verdict.status.value if outcome.verdict else ""
            return {
                "kind": "ended",
                **common,
                "status": outcome.status,
                "verdict": verdict,
                "text": text,
            }
    return None


def _describe_asked(asked: AskedSample) -> dict[str, Any]:
    return {
        "asked_per_s": asked.queries_per_s,
        "asked_p50_ms": asked.p50_ms,
        "asked_p99_ms": asked.p99_ms,
        "asked_count": asked.runs,
    }
