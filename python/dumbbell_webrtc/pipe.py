"""Client of a browser's DevTools over two pipes: JSON messages, each followed by one null byte."""

import json
import os
import threading
from collections.abc import Callable
from typing import Any

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell_webrtc.errors import CallError

Message = dict[str, Any]
Handler = Callable[[Message, str], None]
"""Gets an event's parameters and its session. It runs in the reading thread: it may `post`, not `call`."""


class DevTools:
    """Calls methods of a browser and hears its events."""

    def __init__(self, reading: int, writing: int, clock: Clock = SYSTEM_CLOCK) -> None:
        """`reading` and `writing` are descriptors, from now on ours."""
        self._clock = clock
        self._reading, self._writing = reading, writing
        self._handlers: dict[str, Handler] = {}
        self._changed = threading.Condition()
        self._write_lock = threading.Lock()
        self._last_id = 0
        self._waiting: set[int] = set()
        self._replies: dict[int, Message] = {}
        self._broken: str | None = None
        self._closing = False
        self._reader = threading.Thread(target=self._read, name="devtools", daemon=True)
        self._reader.start()

    def on(self, event: str, handler: Handler) -> None:
        """Calls `handler` for every such event from now on."""
        self._handlers[event] = handler

    def post(self, method: str, parameters: Message | None = None, session: str = "") -> None:
        """Calls a method without waiting for its result."""
        self._send(method, parameters, session, awaited=False)

    def call(
        self, method: str, parameters: Message | None = None, session: str = "", timeout_s: float = 10.0
    ) -> Message:
        """The result of a method.

        Raises:
            CallError: it failed, did not answer in time, or the browser is gone.
        """
        number = self._send(method, parameters, session, awaited=True)
        end = self._clock.monotonic() + timeout_s
        with self._changed:
            try:
                while number not in self._replies:
                    if self._broken:
                        raise CallError(self._broken)
                    left = end - self._clock.monotonic()
                    if left <= 0:
                        raise CallError(f"the browser does not answer {method} within {timeout_s:g} s")
                    self._clock.wait(self._changed.wait, left)
                reply = self._replies.pop(number)
            finally:
                self._waiting.discard(number)
        if "error" in reply:
            raise CallError(f"the browser refuses {method}: {reply['error'].get('message')}")
        result: Message = reply.get("result", {})
        return result

    def fail(self, reason: str) -> None:
        """Makes every call fail with this reason, those under way and later ones."""
        with self._changed:
            self._broken = self._broken or reason
            self._changed.notify_all()

    def close(self) -> None:
        """Closes both pipes; call it when the browser has ended."""
        self._closing = True
        with self._write_lock:
            os.close(self._writing)
        self._reader.join(timeout=1.0)
        if not self._reader.is_alive():
            os.close(self._reading)

    def _send(self, method: str, parameters: Message | None, session: str, awaited: bool) -> int:
        with self._changed:
            if self._broken:
                raise CallError(self._broken)
            self._last_id += 1
            number = self._last_id
            if awaited:
                self._waiting.add(number)
        message: Message = {"id": number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        left = memoryview(json.dumps(message).encode() + b"\0")
        with self._write_lock:
            try:
                while left:
                    left = left[os.write(self._writing, left) :]
            except OSError:
                self.fail("the browser has ended")
                raise CallError("the browser has ended") from None
        return number

    def _read(self) -> None:
        rest = b""
        while True:
            try:
                received = os.read(self._reading, 1 << 20)
            except OSError:
                received = b""
            if not received:
                self.fail("the browser has ended")
                return
            *texts, rest = (rest + received).split(b"\0")
            for text in texts:
                self._take(json.loads(text))

    def _take(self, message: Message) -> None:
        number = message.get("id")
        if number is None:
            handler = self._handlers.get(message.get("method", ""))
            if handler and not self._closing:
                try:
                    handler(message.get("params", {}), message.get("sessionId", ""))
                except CallError as error:
                    self.fail(str(error))
            return
        with self._changed:
            # what nobody waits for any more is not kept
            if number in self._waiting:
                self._replies[number] = message
                self._changed.notify_all()
