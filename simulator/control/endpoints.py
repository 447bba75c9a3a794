"""The HTTP endpoints of the collector: pass the workers' messages to the coordinator."""

import hmac
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from simulator import __version__
from simulator.control.coordinator import Coordinator, Rejected
from simulator.data.query import Answer
from simulator.host import boot_id
from simulator.protocol.messages import (
    TOKEN_HEADER,
    Arrival,
    Heartbeat,
    Registration,
    Reply,
    WorkerReport,
    dump,
)

_Body: TypeAlias = dict[str, Any]
_Handler: TypeAlias = Callable[[_Body], Awaitable[_Body]]


def application(run: Coordinator, token: str) -> Starlette:
    """Return the ASGI application that connects workers to the coordinator of their run."""

    def reply(*, go: bool = True) -> _Body:
        stop = run.cause if run.stopped.is_set() else None
        return dump(Reply(go=go, stop=stop, now_s=time.time(), boot_id=boot_id()))

    async def register(body: _Body) -> _Body:
        return reply(go=await run.register(Registration(**body), __version__))

    async def barrier(body: _Body) -> _Body:
        return reply(go=await run.arrive(Arrival(**body)))

    async def heartbeat(body: _Body) -> _Body:
        run.beat(Heartbeat(**body))
        return reply()

    async def report(body: _Body) -> _Body:
        run.report(WorkerReport(**body))
        return reply()

    async def answer_known(body: _Body) -> _Body:
        return {"known": body["digest"] in run.answers}

    async def answer(body: _Body) -> _Body:
        rows = tuple(tuple(row) for row in body["rows"])
        run.answers[body["digest"]] = Answer(tuple(body["names"]), rows)
        return {}

    handlers = {
        "/register": register,
        "/barrier": barrier,
        "/heartbeat": heartbeat,
        "/report": report,
        "/answer/known": answer_known,
        "/answer": answer,
    }
    return Starlette(
        routes=[
            Route(path, _guarded(handler, token), methods=["POST"])
            for path, handler in handlers.items()
        ]
    )


def _guarded(handler: _Handler, token: str) -> Callable[[Request], Awaitable[Response]]:
    """Check the token of the run; answer invalid messages with the reason."""

    async def endpoint(request: Request) -> Response:
        if not hmac.compare_digest(request.headers.get(TOKEN_HEADER, ""), token):
            return PlainTextResponse("the token is not that of this run", status_code=403)
        try:
            return JSONResponse(await handler(await request.json()))
        except (ValidationError, KeyError, TypeError, json.JSONDecodeError) as error:
            return PlainTextResponse(f"invalid message: {error}", status_code=400)
        except Rejected as error:
            return PlainTextResponse(str(error), status_code=409)

    return endpoint
