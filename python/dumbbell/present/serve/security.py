"""Access control: only the browser of the person who started the server may send requests."""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.responses import PlainTextResponse, Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Filter that passes requests of the page itself.

    - The requested host must be this machine (other names that lead here are refused: DNS rebinding), and requests of
      other pages are refused.
    - The page needs the token in its address once, and gets a cookie for it; all other requests need the cookie.
    - Only GET and HEAD are allowed.
    """

    def __init__(self, application: ASGIApp, port: int, token: str) -> None:
        self.application = application
        self.token = token
        self.cookie = f"dumbbell-{port}"  # cookies of one host are shared by its ports
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        self.origins = {f"http://{host}" for host in self.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self.application(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refusal, brings_token = self._refusal(scope, headers)

        async def complete(message: Message) -> None:
            if message["type"] == "http.response.start":
                more = dict(_HEADERS)
                if brings_token:
                    more["Set-Cookie"] = f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"
                message["headers"] += [(name.lower().encode(), value.encode()) for name, value in more.items()]
            await send(message)

        if refusal is not None:
            refusal.headers["Connection"] = "close"  # a refused client gets one short answer for each connection
        await (refusal or self.application)(scope, receive, complete)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[Response | None, bool]:
        """Return the refusal of a request, or None, and True if the request brings the token."""
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("allowed are GET and HEAD", 405), False
        if headers.get("host") not in self.hosts:
            return PlainTextResponse("this host is not served here", 421), False
        query = parse_qs(scope["query_string"].decode("latin-1"))
        token = query.get("token", [""])[0]
        if scope["path"] == "/" and token:
            # a link in a terminal, a notebook or a mail may lead here: only the token proves the sender
            good = secrets.compare_digest(token.encode(), self.token.encode())
            return (None, True) if good else (PlainTextResponse("wrong token", 403), False)
        if headers.get("origin", next(iter(self.origins))) not in self.origins:
            return PlainTextResponse("requests of other pages are refused", 403), False
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return PlainTextResponse("requests of other pages are refused", 403), False
        if not secrets.compare_digest(self._cookie(headers).encode(), self.token.encode()):
            return PlainTextResponse("open the address that `dumbbell serve` printed: it has the token", 403), False
        return None, False

    def _cookie(self, headers: dict[str, str]) -> str:
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return ""
        return morsel.value if morsel else ""
