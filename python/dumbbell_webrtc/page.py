"""Page with the script: a secure context without a server, because this process answers its request."""

import base64
import json
from importlib.resources import files
from typing import Any

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell_webrtc.errors import CallError
from dumbbell_webrtc.pipe import DevTools, Message

_ORIGIN = "https://call.test/"
_LOAD_WITHIN_S = 10.0


class Page:
    """Page that runs the script."""

    def __init__(self, devtools: DevTools, clock: Clock = SYSTEM_CLOCK) -> None:
        """Open the page and wait until the script is loaded."""
        self._clock = clock
        self._devtools = devtools
        script = files("dumbbell_webrtc").joinpath("page.js").read_text(encoding="utf-8")
        html = f"<!doctype html><meta charset=utf-8><body><script>\n{script}\n</script>"
        self._body = base64.b64encode(html.encode()).decode()
        devtools.on("Fetch.requestPaused", self._answer)
        devtools.on("Inspector.targetCrashed", lambda _parameters, _session: devtools.fail("the page has crashed"))
        target = devtools.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = devtools.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        self._session: str = session["sessionId"]
        for domain in ("Page", "Runtime", "Inspector"):
            self._call(f"{domain}.enable")
        self._call("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})
        self._call("Page.navigate", {"url": _ORIGIN})
        end = self._clock.monotonic() + _LOAD_WITHIN_S
        while not self.evaluate("typeof peer === 'object' && window.isSecureContext"):
            if self._clock.monotonic() > end:
                raise CallError(f"the page is not loaded after {_LOAD_WITHIN_S:g} s")
            self._clock.sleep(0.01)

    def evaluate(self, expression: str, timeout_s: float = 5.0) -> Any:  # noqa: ANN401 - any JSON value
        """Return the value of an expression, or of the promise that it returns.

        Raises:
            CallError: the script failed, or did not end in time.
        """
        parameters = {"expression": expression, "awaitPromise": True, "returnByValue": True, "userGesture": True}
        answer = self._call("Runtime.evaluate", parameters, timeout_s)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            text = details.get("exception", {}).get("description") or details.get("text", "unknown error")
            raise CallError(f"the page's script failed: {str(text).splitlines()[0]}")
        return answer["result"].get("value")

    def run(self, function: str, *arguments: object, timeout_s: float = 5.0) -> Any:  # noqa: ANN401 - any JSON value
        """Return the result of a function of `peer` in page.js."""
        return self.evaluate(f"peer.{function}({', '.join(map(json.dumps, arguments))})", timeout_s)

    def clock_offset_ms(self) -> float:
        """Return the offset from the page's `performance.now()` to CLOCK_MONOTONIC, ms."""
        best = (float("inf"), 0.0)
        for _ in range(5):
            before = self._clock.monotonic()
            page_ms = float(self.evaluate("performance.now()"))
            after = self._clock.monotonic()
            best = min(best, (after - before, (before + after) / 2 * 1000 - page_ms))
        return best[1]

    def _call(self, method: str, parameters: Message | None = None, timeout_s: float = 10.0) -> Message:
        return self._devtools.call(method, parameters, self._session, timeout_s)

    def _answer(self, parameters: Message, session: str) -> None:
        response = {
            "requestId": parameters["requestId"],
            "responseCode": 200,
            "responseHeaders": [{"name": "Content-Type", "value": "text/html; charset=utf-8"}],
            "body": self._body,
        }
        self._devtools.post("Fetch.fulfillRequest", response, session)
