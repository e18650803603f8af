"""What goes wrong with a call."""


class CallError(Exception):
    """The call failed. The message is one line that says why."""


class Stopped(BaseException):
    """Somebody asked for the end of the call (SIGTERM): nothing went wrong. No `except Exception` may hold it up."""
