"""Exceptions that end a call."""


class CallError(Exception):
    """Failed call. The message is one line with the reason."""


class StopRequest(BaseException):
    """Request to end the call (SIGTERM), which is no error. No `except Exception` may catch it."""
