"""The ssh command that starts a peer process on another machine, and the meanings of ssh's failures."""

import contextlib
import re
import subprocess
from collections import deque
from collections.abc import Mapping
from typing import IO, Any

from dumbbell.base.errors import printable
from dumbbell.machine.host import Host

OPTIONS = ("-T", "-a", "-x", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3")
"""Options of ssh: no terminal, prompt, agent or window; an end after 15 s of silence. Others are the user's."""

FOLDER = ".local/share/dumbbell/remote"
"""Folder of `dumbbell remote install`, below the remote home directory."""

SERVE = (
    "exec sh -c '"
    f'own="$HOME/{FOLDER}/bin/dumbbell"; '
    'if [ -x "$own" ]; then exec "$own" remote serve; fi; '
    "exec dumbbell remote serve'"
)
"""The constant command for the remote login shell. No part of it comes from a file or a user."""

NOT_FOUND = 127
"""Exit status of a shell that did not find the command."""
OF_SSH = 255
"""Exit status of ssh if ssh itself failed."""


def ssh_command(host: Host, command: str = SERVE) -> list[str]:
    """Return the arguments that execute a command, a constant of this package, on the other machine."""
    return ["ssh", *OPTIONS, *host.ssh_words(), command]


def keep_lines(stream: IO[bytes], lines: deque[str]) -> None:
    """Append the lines of a stream to `lines`, up to 4 KiB of a line at a time, until the stream ends."""
    with contextlib.suppress(OSError, ValueError):  # the command was interrupted, and closed it
        for line in iter(lambda: stream.readline(4096), b""):
            lines.append(line.decode(errors="replace"))


def addresses(host: Host, hello: Mapping[str, Any]) -> list[str]:
    """Return the addresses that may reach the other machine without ssh, the likeliest first.

    The first is the host name in ssh's configuration. The second is the address of the ssh server as the machine
    sees it, which its peer process reports in `hello`.
    """
    configuration = subprocess.run(["ssh", "-G", *host.ssh_words()], capture_output=True, text=True, check=False)
    names = [line.partition(" ")[2] for line in configuration.stdout.splitlines() if line.startswith("hostname ")]
    return list(dict.fromkeys([*(names or [host.name]), *filter(None, [(hello.get("ssh") or {}).get("server")])]))


_FAILURES: tuple[tuple[str, str], ...] = (
    (r"REMOTE HOST IDENTIFICATION HAS CHANGED", "its host key is not the one that is known here{where}: {changed}"),
    (r"Host key verification failed", "its host key is not known here: `ssh {words}` once shows it and asks"),
    (
        r"Permission denied \(([^)]*)\)",
        "it accepts no key of this user (it allows {1}): `ssh {words}` has to work without a password",
    ),
    (
        r"Too many authentication failures",
        "it refused after too many keys: name the right one in ~/.ssh/config (IdentityFile, IdentitiesOnly yes)",
    ),
    (r"Could not resolve hostname [^:]*: (.*)", "unknown host: {1}"),
    (r"connect to host .* port (\d+): Connection refused", "nothing listens on its port {1} (connection refused)"),
    (r"connect to host .* port (\d+): (.*)", "cannot be reached on port {1}: {2}"),
    (r"Unprotected private key|UNPROTECTED PRIVATE KEY", "the private key here can be read by others: `chmod 600` it"),
    (r"(kex_exchange_identification|banner exchange): (.*)", "what listens there is no ssh server: {2}"),
    (r"Timeout, server .* not responding", "it has not answered for 15 s: the connection was lost"),
    (
        r"Connection (?:to .* )?closed by (?:remote host|.* port \d+)",
        "ssh: the connection was closed by the other side",
    ),
)
_CHANGED = "if that is meant to be, `ssh-keygen -R {known}` forgets the old one; if not, somebody may be in between"


def why_ssh_failed(host: Host, status: int | None, stderr_text: str) -> str:
    """Return one line about a failed start, from the exit status of ssh and its stderr."""
    words = " ".join([*(("-p", str(host.port)) if host.port else ()), f"{host.user}@" * bool(host.user) + host.name])
    known_host = f"'[{host.name}]:{host.port}'" if host.port else host.name
    for pattern, meaning in _FAILURES:
        match = re.search(pattern, stderr_text)
        if match is not None and status == OF_SSH:
            place = re.search(r"Offending .* key in (\S+)", stderr_text)
            file_clause = f" ({printable(place[1])})" if place else ""
            groups = [printable((part or "").strip()) for part in (match[0], *match.groups())]
            advice = _CHANGED.format(known=known_host)
            return meaning.format(*groups, words=words, known=known_host, where=file_clause, changed=advice)
    if status == NOT_FOUND:
        return f"dumbbell is not installed there: `dumbbell remote install {host}`"
    if "unknown command `remote`" in stderr_text:
        return f"the dumbbell there is another version, without `remote`: `dumbbell remote install {host}`"
    last = (stderr_text.strip().splitlines() or [""])[-1]
    if status == OF_SSH and not last:
        return "its peer process was killed, or ssh failed without a word"
    ending = "ssh failed" if status == OF_SSH else f"its peer process ended with status {status}"
    return f"{ending}: {printable(last.strip())}" if last else ending
