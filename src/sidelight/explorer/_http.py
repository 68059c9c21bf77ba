"""The explorer over HTTP on this machine only: token, Host, Origin, sizes."""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable
from typing import Any

from sidelight.base.messages import require_extra

from ._answers import Message, RefusedError, refused, respond
from ._explorer import Explorer

__all__ = ["LARGEST", "asgi_app"]

LARGEST = 16_000_000
"""Bytes of the largest request."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def asgi_app(explorer: Explorer, token: str, hosts: frozenset[str]) -> Any:
    """The application: ``hosts`` are the values of Host that are answered (``127.0.0.1:PORT``, ``localhost:PORT``)."""
    require_extra("starlette", "explore", "explore")
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import Response

    async def application(scope: Any, receive: Callable[[], Awaitable[Any]], send: Any) -> None:
        if scope["type"] == "lifespan":  # uvicorn is told to do without
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        request = Request(scope, receive)
        try:
            name = _checked(request, token, hosts)
            said = await _body(request) if request.method == "POST" else {}
            found = await run_in_threadpool(respond, explorer, request.method, name, request.url.query, said)
        except RefusedError as refusal:
            found = refused(refusal.status, str(refusal))
        except Exception as error:  # what cannot be read (a connection that ended) is answered too
            found = refused(400, f"unexpected {type(error).__name__}: {error}")
        response = Response(found.content, status_code=found.status, media_type=found.kind, headers=_HEADERS)
        await response(scope, receive, send)

    return application


def _checked(request: Any, token: str, hosts: frozenset[str]) -> str:
    """The path behind the token, of a request that comes from the page itself."""
    if request.headers.get("host", "") not in hosts:
        raise RefusedError(421, "this address is not served here")
    origin = request.headers.get("origin")
    if origin is not None and origin not in {f"http://{host}" for host in hosts}:
        raise RefusedError(403, "other pages get no answer")
    first, _, name = request.url.path.removeprefix("/").partition("/")
    if not hmac.compare_digest(first.encode(), token.encode()):
        raise RefusedError(404, "there is nothing here")
    if request.method not in ("GET", "POST"):
        raise RefusedError(405, "GET and POST are answered")
    return str(name)


async def _body(request: Any) -> Message:
    """The JSON object of a POST, read no further than allowed."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise RefusedError(415, "send application/json")
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > LARGEST:
        raise RefusedError(413, f"at most {LARGEST:,} bytes are read")
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST:
            raise RefusedError(413, f"at most {LARGEST:,} bytes are read")
        parts.append(part)
    try:
        found = json.loads(b"".join(parts))
    except (ValueError, RecursionError):
        raise RefusedError(400, "this is no JSON") from None
    if not isinstance(found, dict):
        raise RefusedError(400, "send a JSON object")
    return found
