"""An internet made of namespaces: a machine, and a web server and a name server behind its router.

    machine 192.0.2.2 --veth-- 192.0.2.1 router, 198.51.100.80 (www.example)

With IPv6 they are 2001:db8::2, 2001:db8::1 and 2001:db8:1::80.
The router knows no way to private addresses: only what the machine translates is answered.
"""

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from support.waiting import TIMEOUT_S, wait_for

MACHINE, ROUTER, SERVER, NAME = "192.0.2.2", "192.0.2.1", "198.51.100.80", "www.example"
MACHINE6, SERVER6 = "2001:db8::2", "2001:db8:1::80"
PAGE = "<html><title>A page</title><body><p id=p>waits</p><script>p.textContent = 'arrived'</script></body></html>"
TOOLS = ("ip", "nft", "nsenter", "unshare", "mount")

_NAME_SERVER = """
import socket, sys
address, name, answer = sys.argv[1:]
def reply(query):
    end = query.index(0, 12) + 5
    asked, kind = query[12:end - 4], query[end - 4:end - 2]
    known = asked == b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\\0"
    answers = int(known and kind == b"\\0\\1")
    head = query[:2] + (b"\\x81\\x80" if known else b"\\x81\\x83") + b"\\0\\1" + bytes([0, answers]) + bytes(4)
    body = b"\\xc0\\x0c\\0\\1\\0\\1\\0\\0\\0\\x3c\\0\\4" + socket.inet_aton(answer)
    return head + query[12:end] + body * answers
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind((address, 53))
while True:
    query, asker = server.recvfrom(2000)
    server.sendto(reply(query), asker)
"""

_WEB_SERVER = """
import http.server, socket, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = sys.argv[1].encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words):
        print(self.client_address[0].removeprefix("::ffff:"), self.path, flush=True)
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
Server(("::", 80), Handler).serve_forever()
"""


@dataclass
class Internet:
    """The machine, and the network behind it while the block runs."""

    folder: Path
    name_server: str = ROUTER
    """Address of the name server; a server on loopback is on the machine itself."""
    forwards: bool = True
    forwards_ipv6: bool = False
    _machine: int = 0
    _router: int = 0
    _closing: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as starting:
            starting.callback(self._closing.close)
            self._machine, self._router = self._namespaces(), self._namespaces()
            for words in self._network():
                self._run(*words)
            resolver = self.folder / "resolv.conf"
            resolver.write_text(f"nameserver {self.name_server}\n")
            self.in_machine("mount", "--bind", str(resolver), "/etc/resolv.conf")
            place = self._machine if self.name_server.startswith("127.") else self._router
            self._serve(place, ":0035 ", "udp", _NAME_SERVER, self.name_server, NAME, SERVER)
            self._serve(self._router, ":0050 ", "tcp6", _WEB_SERVER, PAGE)
            starting.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def words(self, *words: str) -> list[str]:
        """Return the words that execute a command on the machine."""
        return ["nsenter", "-t", str(self._machine), "-m", "-n", "--", *words]

    def in_machine(self, *words: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command on the machine to its end."""
        return self._run(*self.words(*words), expect=expect)

    def emulate(self, *words: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
        """Run `dumbbell emulate` on the machine."""
        return self.in_machine(sys.executable, "-P", "-m", "dumbbell", "emulate", *words, expect=expect)

    def visitors(self) -> list[str]:
        """Return the addresses that the web server saw."""
        return [line.split()[0] for line in (self.folder / "tcp6.log").read_text().splitlines()]

    def left_behind(self) -> str:
        """Return the rules and devices that dumbbell has left on the machine."""
        rules = self.in_machine("nft", "list", "ruleset").stdout
        devices = self.in_machine("ip", "-o", "link").stdout
        return rules + "".join(line for line in devices.splitlines() if "dumbbell" in line)

    def _network(self) -> Iterator[tuple[str, ...]]:
        machine, router = (["nsenter", "-t", str(pid), "-n", "--"] for pid in (self._machine, self._router))
        yield (
            *machine,
            "ip",
            "link",
            "add",
            "up0",
            "type",
            "veth",
            "peer",
            "name",
            "down0",
            "netns",
            str(self._router),
        )
        for inside, device, address in ((machine, "up0", f"{MACHINE}/24"), (router, "down0", f"{ROUTER}/24")):
            yield (*inside, "ip", "link", "set", "lo", "up")
            yield (*inside, "ip", "addr", "add", address, "dev", device)
            yield (*inside, "ip", "link", "set", device, "up")
        for inside, device, address in ((machine, "up0", f"{MACHINE6}/64"), (router, "down0", "2001:db8::1/64")):
            yield (*inside, "ip", "addr", "add", address, "dev", device, "nodad")
        for address in (f"{SERVER}/32", f"{SERVER6}/128"):
            yield (*router, "ip", "addr", "add", address, "dev", "lo")
        yield (*machine, "ip", "route", "add", "default", "via", "2001:db8::1")
        yield (*machine, "ip", "route", "add", "default", "via", ROUTER)
        for file, forwards in (("ipv4/ip_forward", self.forwards), ("ipv6/conf/all/forwarding", self.forwards_ipv6)):
            yield (*machine, "sh", "-c", f"echo {int(forwards)} > /proc/sys/net/{file}")

    def _namespaces(self) -> int:
        process = subprocess.Popen(["unshare", "-n", "-m", "sleep", "infinity"])
        self._closing.callback(_end, process)
        own_namespace = Path("/proc/self/ns/net").readlink()
        wait_for(lambda: Path(f"/proc/{process.pid}/ns/net").readlink() != own_namespace)
        wait_for(lambda: Path(f"/proc/{process.pid}/comm").read_text() == "sleep\n")
        return process.pid

    def _serve(self, place: int, listens: str, table: str, *script: str) -> None:
        with (self.folder / f"{table}.log").open("wb") as log:
            words = ["nsenter", "-t", str(place), "-n", "--", sys.executable, "-c", *script]
            self._closing.callback(_end, subprocess.Popen(words, stdout=log))
        wait_for(lambda: listens in Path(f"/proc/{place}/net/{table}").read_text())

    def _run(self, *words: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
        result = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT_S)
        assert result.returncode == expect, f"{words}: {result.returncode}\n{result.stdout}\n{result.stderr}"
        return result


def why_not() -> str | None:
    """Return the reason why this machine cannot have such an internet, or None."""
    missing = [tool for tool in TOOLS if shutil.which(tool, path="/usr/sbin:/sbin:/usr/bin:/bin") is None]
    return f"not installed: {', '.join(missing)}" if missing else None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait(TIMEOUT_S)
