"""The name of another machine: `[user@]HOST[:PORT]`."""

import re
from dataclasses import dataclass

from dumbbell.base.errors import UserError

FORM = "[user@]HOST[:PORT], with an IPv6 address in brackets"
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@+-]*")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_IPV6 = re.compile(r"[0-9A-Fa-f:.]+(%[A-Za-z0-9._-]+)?")
_PORT = re.compile(r"[0-9]{1,5}")


@dataclass(frozen=True)
class Host:
    """A machine, perhaps from the ssh configuration. User and port are None if they were not given."""

    name: str
    user: str | None = None
    port: int | None = None

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        name = f"[{self.name}]" if ":" in self.name else self.name
        return f"{user}{name}{f':{self.port}' if self.port else ''}"

    def ssh_words(self) -> list[str]:
        """Return the arguments that name the machine to ssh, as the last options."""
        user = ["-l", self.user] if self.user else []
        port = ["-p", str(self.port)] if self.port else []
        return [*user, *port, "--", self.name]


def read_host(text: str) -> Host:
    """Return the host in a text.

    Raises:
        UserError: If the text is no name of a host. So ssh never receives an ambiguous argument.
    """
    user, at, rest = text.rpartition("@")
    if at and not _USER.fullmatch(user):
        raise _refused(text, f"the user `{user}`: allowed are letters, digits and `._@+-`, and no `-` at its beginning")
    bracket_match = re.fullmatch(r"\[([^\]]*)\](?::(.*))?", rest)
    if bracket_match is not None:
        name, port = bracket_match[1], bracket_match[2]
        if ":" not in name or not _IPV6.fullmatch(name):
            raise _refused(text, f"`{name}` is no IPv6 address")
    else:
        name, colon, after = rest.partition(":")
        port = after if colon else None
        if after.count(":"):
            raise _refused(text, f"an IPv6 address stands in brackets: [{rest}]")
        if not _NAME.fullmatch(name):
            raise _refused(text, "a name of a host has letters, digits and `._-`, and no `-` at its beginning")
    if port is not None and not (_PORT.fullmatch(port) and 1 <= int(port) <= 65535):
        raise _refused(text, f"port `{port}`: allowed is 1 to 65535")
    return Host(name, user or None, None if port is None else int(port))


def _refused(text: str, reason: str) -> UserError:
    return UserError(f"host `{text}`: {reason}; allowed is {FORM}")
