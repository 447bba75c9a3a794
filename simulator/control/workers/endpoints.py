"""The HTTP of the collector: endpoints pass the workers' messages to the gate; uvicorn serves them.

A body is kept only up to a limit, and never without the token of the run. The rest of a refused
body is read and dropped, for a limited time, so that the sender receives the reason. A thousand
workers hold two connections each, one of them waiting at a barrier; a connection without a request
is closed.
"""

import asyncio
import hmac
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager, suppress
from typing import ClassVar, NamedTuple

import uvicorn
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from simulator.clock import instant_s
from simulator.control.script import MOST_ANSWER_BYTES, Rejected
from simulator.control.workers.gate import Gate
from simulator.host import boot_id
from simulator.protocol.arrivals import FreshAnswers, SentBatches
from simulator.protocol.folding import FoldReply, FoldRequest
from simulator.protocol.messages import (
    TOKEN_HEADER,
    UID_HEADER,
    UID_PATTERN,
    AnswerQuestion,
    AnswerRows,
    Arrival,
    Heartbeat,
    Known,
    Message,
    Registration,
    Reply,
    WorkerReport,
)

_SMALL_BYTES = 16 << 10
_MOST_BYTES = MOST_ANSWER_BYTES
_BODY_S = 60.0
_DROP_S = 5.0
"""Time in which the body of a sender without the token is read and dropped."""
_LARGE_BODIES = 16
"""Maximum number of large bodies in memory at once; other bodies wait unread."""
_MOST_PROBLEMS = 20
_SHOWN_CHARACTERS = 500


class RequestKind(NamedTuple):
    """A kind of request: the message of the worker, and the reply."""

    message: type[Message]
    reply: type[Message]


KINDS: Mapping[str, RequestKind] = {
    "/register": RequestKind(Registration, Reply),
    "/barrier": RequestKind(Arrival, Reply),
    "/heartbeat": RequestKind(Heartbeat, Reply),
    "/report": RequestKind(WorkerReport, Reply),
    "/answers/known": RequestKind(AnswerQuestion, Known),
    "/answers": RequestKind(AnswerRows, Reply),
    "/sent": RequestKind(SentBatches, Reply),
    "/answers/fresh": RequestKind(FreshAnswers, Reply),
    "/fold": RequestKind(FoldRequest, FoldReply),
}


class _Refused(Exception):
    """Raised to refuse a request, with a status and a text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def application(gate: Gate, token: str) -> Starlette:
    """Return the ASGI application that connects workers to the gate of their run."""
    run = gate.run
    large_bodies = asyncio.Semaphore(_LARGE_BODIES)

    def reply(message: Message, *, go: bool) -> Reply:
        now_ns = time.perf_counter_ns()
        return Reply(
            go=go,
            begin_s=run.released_s.get(message.barrier) if isinstance(message, Arrival) else None,
            stop=run.cause if run.stopped.is_set() else None,
            over=run.over,
            measured_s=run.measured_s,
            newest_ms=run.newest_ms,
            now_ns=now_ns,
            now_s=instant_s(now_ns),
            boot_id=boot_id(),
        )

    async def answer(message: Message, uid: str) -> Message:
        go = True
        match message:
            case AnswerQuestion():
                return Known(known=gate.knows(message, uid))
            case FoldRequest():
                return await gate.fold_task(message, uid)
            case Registration():
                go = await gate.register(message, uid)
            case Arrival():
                go = await gate.arrive(message, uid)
            case _:
                gate.take(message, uid)
        return reply(message, go=go)

    async def serve(request: Request, path: str) -> Message:
        uid = await _sender(request, token)
        async with AsyncExitStack() as slot:
            content = await _body(
                request,
                _MOST_BYTES,
                _BODY_S,
                when_large=lambda: slot.enter_async_context(large_bodies),
            )
            message = _parse(KINDS[path].message, content)
            del content
            return await answer(message, uid)

    app = Starlette(
        routes=[Route(path, _endpoint(serve, path), methods=["POST"]) for path in KINDS],
        exception_handlers={HTTPException: _refuse_unknown},
    )
    app.router.redirect_slashes = False
    return app


def _endpoint(
    serve: Callable[[Request, str], Awaitable[Message]], path: str
) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of a path; a refused request receives the reason."""

    async def endpoint(request: Request) -> Response:
        try:
            reply = await serve(request, path)
        except _Refused as error:
            return _refusal(str(error), error.status)
        except Rejected as error:
            return _refusal(str(error), 409)
        except ClientDisconnect:
            return _refusal("the body is truncated", 400)
        return Response(reply.model_dump_json(), media_type="application/json")

    return endpoint


def _refusal(text: str, status: int) -> Response:
    """Return a response that closes the connection, even if more data arrives."""
    return PlainTextResponse(text, status, headers={"Connection": "close"})


def _refuse_unknown(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _refusal(error.detail, error.status_code)


async def _sender(request: Request, token: str) -> str:
    """Return the uid of a request's sender; the request must have the token of the run."""
    given = request.headers.get(TOKEN_HEADER, "").encode("latin-1")  # as Starlette decoded it
    if not hmac.compare_digest(given, token.encode()):
        with suppress(_Refused):
            await _body(request, 0, _DROP_S)
        raise _Refused(403, "the token is not that of this run")
    uid = request.headers.get(UID_HEADER, "")
    if not re.fullmatch(UID_PATTERN, uid):
        raise _Refused(400, f"expected a header {UID_HEADER} that matches {UID_PATTERN}")
    return uid


async def _body(
    request: Request,
    most_bytes: int,
    limit_s: float,
    when_large: Callable[[], Awaitable[object]] | None = None,
) -> bytearray:
    """Return the body of a request; a body that is too large is read and dropped.

    `when_large` is awaited before more than a small part of the body is kept.
    """
    body, size = bytearray(), 0
    try:
        async with asyncio.timeout(limit_s):
            async for part in request.stream():
                size += len(part)
                if when_large and _SMALL_BYTES < size <= most_bytes:
                    await when_large()
                    when_large = None
                if size <= most_bytes:
                    body += part
                else:
                    body.clear()
    except TimeoutError as error:
        raise _Refused(408, f"expected the whole body within {limit_s:g} s") from error
    if size > most_bytes:
        raise _Refused(413, f"expected a body of at most {most_bytes:,} bytes, got {size:,}")
    return body


def _parse(model: type[Message], body: bytearray) -> Message:
    try:
        return model.model_validate_json(body, strict=True)
    except ValidationError as error:
        raise _Refused(400, f"invalid {model.__name__}: {_problems(error)}") from None


def _problems(error: ValidationError) -> str:
    """List the problems of a message, or count them if they are too many."""
    if error.error_count() > _MOST_PROBLEMS:
        return f"{error.error_count():,} problems"
    found = error.errors(include_url=False, include_context=False, include_input=False)
    problems = [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in found]
    return "; ".join(problem.removeprefix(": ") for problem in problems)[:_SHOWN_CHARACTERS]


_REQUEST_S = 10.0
"""Time that a new connection may take until its first request."""
_KEPT_ALIVE_S = 3600
"""Time until an idle connection is closed: while a worker inserts, one of two is idle."""
_CONNECTIONS_PER_WORKER = 4
_SPARE_CONNECTIONS = 256
_HEADER_BYTES = 8 << 10


class _Connection(H11Protocol):
    """A connection that is closed unless its first request arrives soon."""

    most: ClassVar[int]
    """Maximum number of connections; further ones are closed, and their workers retry."""
    _deadline: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._deadline = self.loop.call_later(_REQUEST_S, self._end_unless_asked)
        if len(self.connections) > self.most:
            transport.abort()

    def _end_unless_asked(self) -> None:
        if self.cycle is None:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._deadline.cancel()
        super().connection_lost(exc)


class _Server(uvicorn.Server):
    """uvicorn without signal handlers: the collector handles signals."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def server_of(app: Starlette, workers: int) -> uvicorn.Server:
    """Return the server of an application for this many workers."""

    class Connection(_Connection):
        most = _CONNECTIONS_PER_WORKER * workers + _SPARE_CONNECTIONS

    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        lifespan="off",
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=_KEPT_ALIVE_S,
        h11_max_incomplete_event_size=_HEADER_BYTES,
    )
    return _Server(config)
