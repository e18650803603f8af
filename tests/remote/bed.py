"""Two machines and the Internet between them, made of namespaces; the emulator's packet log is the ground truth.

    near --veth-- left --(dumbbell emulate: the path)-- right --veth-- far
      \\______________________ veth: ssh, unless `ssh_over_path` ______________/

`left` and `right` are routers; each can be a NAT, drop UDP, or keep the news that a packet is too big to itself. `near`
and `far` are machines: each has a home directory and may have a monotonic clock of its own; `far` has an sshd.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from dumbbell.machine.emulation import checks

NEAR, FAR, SSH_PORT = "10.1.0.2", "10.2.0.2", 2222
_ROUTERS = {"near": "left", "far": "right"}
_TOOLS = ("ip", "nft", "conntrack", "nsenter", "unshare", "mount", "ssh", "ssh-keygen", "sshd")
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TIMEOUT_S = 60.0
_COMMAND_S = 360.0
"""Time after which a command hangs, s: an installation takes a minute of CPU time, and other tests may use the CPUs
too."""

SSHD = """\
Port {port}
ListenAddress {address}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
MaxStartups 100
SetEnv {environment}
"""

SSH = """\
Host *
  IdentityFile {folder}/key
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile /dev/null
"""


def path_text(
    mbps: float = 20.0,
    there_ms: float = 10.0,
    back_ms: float = 10.0,
    *,
    queue_bytes: int = 250_000,
    loss: float = 0.0,
    reorder: float = 0.0,
    mtu: int = 1500,
) -> str:
    """Return a path as TOML; near sends in its data direction. Both directions lose packets, and hold some for 3 ms."""
    link = f'kind = "link"\nrate_mbps = {mbps}\nqueue = {{ kind = "droptail", bytes = {queue_bytes} }}\n'
    noise = [f'kind = "loss"\nprobability = {loss}\n'] if loss else []
    noise += [f'kind = "reorder"\nprobability = {reorder}\ndelay_ms = 3.0\n'] if reorder else []
    text = f'name = "internet"\nmtu_bytes = {mtu}\nfragment = false\n'
    for direction, delay_ms in (("data", there_ms), ("ack", back_ms)):
        for element in (link, f'kind = "delay"\ndelay_ms = {delay_ms}\n', *noise):
            text += f"[[{direction}]]\n{element}"
    return text


def why_not() -> str | None:
    """Return the reason why this machine cannot have a test bed, or None."""
    if os.geteuid() != 0:
        return "two machines need root: sshd changes users"
    missing = [tool for tool in _TOOLS if shutil.which(tool, path=_SYSTEM_PATH) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    bad = [check for check in checks() if not check["good"]]
    return f"{bad[0]['name']}: {bad[0]['found']}" if bad else None


def now_running() -> Iterator[int]:
    """Yield the process IDs of all processes."""
    return (int(folder.name) for folder in Path("/proc").glob("[0-9]*"))


@dataclass
class BedMachine:
    """A machine: the namespaces that the process `inside` holds, and the processes started there."""

    name: str
    folder: Path
    inside: int
    environment: dict[str, str]
    with_clock: bool = False
    own_processes: set[int] = field(default_factory=set)
    """Process IDs of the machine's own processes, which no test started."""
    started_processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def words(self, *words: object) -> list[str]:
        """Return the words that execute a command on the machine."""
        enter = ["nsenter", "-t", str(self.inside), "-m", "-n", *(["-T"] if self.with_clock else [])]
        return [*enter, "--", "env", "-C", str(self.folder), *map(str, words)]

    def start(self, *words: object, stdin: int = subprocess.DEVNULL, **more: str) -> subprocess.Popen[str]:
        """Start a command on the machine, in a session of its own; `more` is put into its environment."""
        process = subprocess.Popen(
            self.words(*words),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment | more,
            start_new_session=True,
        )
        self.started_processes.append(process)
        return process

    def run(self, *words: object, expect: int | None = 0, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command on the machine to its end."""
        process = self.start(*words, **more)
        try:
            out, errors = process.communicate(timeout=_COMMAND_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, errors = process.communicate()
            raise AssertionError(f"{words}: did not end: {out}{errors}") from None
        assert expect is None or process.returncode == expect, f"{words}: {process.returncode}\n{out}\n{errors}"
        return subprocess.CompletedProcess(process.args, process.returncode, out, errors)

    def dumbbell(self, *words: object, expect: int | None = 0, **more: str) -> subprocess.CompletedProcess[str]:
        """Run `dumbbell` on the machine."""
        result = self.run(sys.executable, "-P", "-m", "dumbbell", *words, expect=expect, **more)
        assert "Traceback" not in result.stderr, result.stderr
        return result

    def start_dumbbell(self, *words: object, **more: str) -> subprocess.Popen[str]:
        """Start `dumbbell` on the machine."""
        return self.start(sys.executable, "-P", "-m", "dumbbell", *words, **more)

    def running(self, mark: str = "") -> dict[int, str]:
        """Return the processes of tests on the machine that have `mark` in their command line.

        A process is on the machine if it has the machine's view of the file system, or was started by a process that
        has it. Its network does not matter.
        """
        place = Path(f"/proc/{self.inside}/ns/mnt").stat().st_ino
        parents: dict[int, int] = {}
        ancestors = set()
        for process in now_running():
            with contextlib.suppress(OSError):
                parents[process] = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
                if Path(f"/proc/{process}/ns/mnt").stat().st_ino == place:
                    ancestors.add(process)
        commands = {}
        for process in parents:
            above = process
            while above not in ancestors and above in parents:
                above = parents[above]
            if above in ancestors - self.own_processes and process not in self.own_processes:
                with contextlib.suppress(OSError):
                    line = Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    if line and mark in line:  # zombies have none
                        commands[process] = line.strip()
        return commands

    def empty(self, within_s: float = 20.0, mark: str = "") -> bool:
        """Return True if no process of a test is left on the machine within `within_s`."""
        return eventually(lambda: not self.running(mark), within_s)


def eventually(condition: Callable[[], object], within_s: float = TIMEOUT_S) -> bool:
    """Return True if the condition holds within `within_s`."""
    deadline, never = time.monotonic() + within_s, threading.Event()
    while not condition():
        if time.monotonic() > deadline:
            return False
        never.wait(0.05)
    return True


class Bed:
    """The two machines at work, for the time of the block."""

    def __init__(
        self,
        folder: Path,
        path: str | None = None,
        *,
        nat: tuple[str, ...] = (),
        ssh_over_path: bool = False,
        clocks_s: Mapping[str, float] | None = None,
        test_clocks: Mapping[str, str] | None = None,
    ) -> None:
        """Set the path's text, the machines behind a NAT (`nat`), and the clocks.

        By machine: `clocks_s` is the lead of its monotonic clock over this machine's, `test_clocks` is
        `DUMBBELL_TEST_CLOCK` of its peer processes.
        """
        self.folder = folder
        self.host = f"{FAR}:{SSH_PORT}"
        self._path = path if path is not None else path_text()
        self._nat = nat
        self._ssh_over_path = ssh_over_path
        self._clocks_s = dict(clocks_s or {})
        self._test_clocks = dict(test_clocks or {})
        self._closing = contextlib.ExitStack()
        self.near: BedMachine
        self.far: BedMachine
        self.sshd: subprocess.Popen[bytes]
        self._path_process: subprocess.Popen[bytes]
        self._path_ended = False
        self._routers: dict[str, int] = {}

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as starting:
            starting.callback(self._closing.close)
            self._start_path()
            self.near = self._start_side("near", NEAR)
            self.far = self._start_side("far", FAR)
            if not self._ssh_over_path:
                self._join_beside()
            self._write_keys()
            self.start_sshd()
            self._closing.callback(self._end_all)
            starting.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        died = self._path_process.poll() is not None and not self._path_ended
        self._closing.close()
        assert not died, f"the path ended by itself: {(self.folder / 'path.log').read_text()}"

    def dumbbell(self, *words: object, expect: int | None = 0, **more: str) -> subprocess.CompletedProcess[str]:
        """Run `dumbbell` on the near machine."""
        return self.near.dumbbell(*words, expect=expect, **more)

    def new_results(self) -> Path:
        """Return a new place for results on the near machine."""
        return self.near.folder / f"results{len(list(self.near.folder.glob('results*')))}"

    def truth(self) -> Path:
        """End the path and return its packet log, as `dumbbell emulate --log` writes it."""
        self._path_ended = True
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._routers["left"], signal.SIGKILL)
        self._path_process.wait(TIMEOUT_S)
        return self.folder / "truth.parquet"

    def block_udp(self) -> None:
        """Drop all UDP from now on."""
        self._filter("forward", "meta l4proto udp drop")

    def keep_sizes_secret(self) -> None:
        """Make the routers drop packets that are too big without reporting them: a black hole."""
        self._filter("output", "icmp type destination-unreachable drop")

    def rebind(self, side: str = "near") -> None:
        """Make the NAT before a machine forget its mappings, and use other ports from now on."""
        self._translate(side, first_port=30_000 + time.monotonic_ns() % 20_000)
        self._in_router(_ROUTERS[side], "conntrack", "-F")

    def answered(self, side: str = "near") -> int:
        """Return how many UDP conversations the NAT before a machine knows in both directions."""
        connections = self.in_router(side, "conntrack", "-L", "-p", "udp").splitlines()
        return sum("UNREPLIED" not in line for line in connections)

    def in_router(self, side: str, *words: str) -> str:
        """Run a command in the router before a machine, and return what it printed."""
        return self._in_router(_ROUTERS[side], *words)

    def sessions(self) -> list[int]:
        """Return the processes of the far sshd that serve connections."""
        return [process for process, line in self.far.running("sshd: ").items() if "listener" not in line]

    def start_sshd(self) -> None:
        """Start the far machine's sshd and wait until it answers."""
        program = shutil.which("sshd", path=_SYSTEM_PATH)
        with (self.folder / "sshd.log").open("ab") as log:
            self.sshd = subprocess.Popen(
                self.far.words(program, "-D", "-e", "-f", self.far.folder / "sshd_config"),
                stdin=subprocess.DEVNULL,
                stderr=log,
            )
        self.far.own_processes.add(self.sshd.pid)
        self._closing.callback(_end, self.sshd)
        listens = f":{SSH_PORT:04X} "
        assert eventually(lambda: listens in self.far.run("cat", "/proc/self/net/tcp").stdout), self.sshd_log()

    def stop_sshd(self) -> None:
        """Accept no new connections; existing ones go on."""
        _end(self.sshd)

    def sshd_log(self) -> str:
        """Return the log of the sshd."""
        return (self.folder / "sshd.log").read_text()

    def _start_path(self) -> None:
        (self.folder / "internet.toml").write_text(self._path)
        # The process ID is that of a PID namespace; the network's name is the same for all namespaces.
        stay = "readlink /proc/self/ns/net > {file}.part && mv {file}.part {file} && exec sleep infinity"
        files = {name: self.folder / f"{name}.network" for name in ("left", "right")}
        words = ["emulate", "--path", "internet.toml", "--quiet", "--log", "truth.parquet"]
        words += ["--server", f"sh -c '{stay.format(file=files['right'])}'"]
        words += ["--", "sh", "-c", stay.format(file=files["left"])]
        with (self.folder / "path.log").open("wb") as log:
            self._path_process = subprocess.Popen(
                [sys.executable, "-P", "-m", "dumbbell", *words], cwd=self.folder, stdin=subprocess.DEVNULL, stderr=log
            )
        self._closing.callback(_end, self._path_process)
        has_started = eventually(lambda: all(file.exists() for file in files.values()))
        assert has_started, (self.folder / "path.log").read_text()
        self._routers = {name: process_in(file.read_text().strip()) for name, file in files.items()}
        for side, router in _ROUTERS.items():
            self._in_router(router, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
            for table in ("nat", "filter"):
                self._in_router(router, "nft", "add", "table", "ip", table)
            hook = "{ type nat hook postrouting priority 100; }"
            self._in_router(router, "nft", f"add chain ip nat post {hook}")
            for chain in ("forward", "output"):
                self._in_router(
                    router, "nft", f"add chain ip filter {chain} {{ type filter hook {chain} priority 0; }}"
                )
            if side in self._nat:
                self._translate(side, first_port=20_000)
                rule = 'iifname "dumbbell0" ct state new drop'
                self._in_router(router, "nft", f"add rule ip filter forward {rule}")

    def _start_side(self, name: str, address: str) -> BedMachine:
        folder = self.folder / name
        for below in ("home", "bin", "tmp", "runtime"):
            (folder / below).mkdir(parents=True, mode=0o700)
        ahead = self._clocks_s.get(name)
        clock = (
            ["-T", "--monotonic", str(int(ahead)), "--boottime", str(int(ahead)), "--fork", "--kill-child"]
            if ahead
            else []
        )
        file = self.folder / f"{name}.pid"
        prepare = (
            "mount -t sysfs sysfs /sys && mount -t tmpfs tmpfs /run && mkdir /run/sshd && ip link set lo up"
            f" && echo $$ > {file}.part && mv {file}.part {file} && exec sleep infinity"
        )
        holder = subprocess.Popen(["unshare", "-m", "-n", *clock, "sh", "-c", prepare], stdin=subprocess.DEVNULL)
        self._closing.callback(_end, holder)
        assert eventually(file.exists), f"no namespaces for {name}"
        inside = int(file.read_text())
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("SSH_", "XDG_", "LC_"))}
        environment |= {"HOME": str(folder / "home"), "PATH": f"{folder / 'bin'}:{_SYSTEM_PATH}"}
        environment |= {"TMPDIR": str(folder / "tmp"), "XDG_RUNTIME_DIR": str(folder / "runtime")}
        if name in self._test_clocks:
            environment["DUMBBELL_TEST_CLOCK"] = self._test_clocks[name]
        side = BedMachine(name, folder, inside, environment, with_clock=bool(ahead), own_processes={holder.pid, inside})
        router, gateway = self._routers[_ROUTERS[name]], address.rpartition(".")[0] + ".1"
        _ip(f"link add eth0 netns {inside} type veth peer name machine netns {router}", None)
        _ip(f"address add {address}/24 dev eth0", inside)
        _ip("link set eth0 up", inside)
        _ip(f"address add {gateway}/24 dev machine", router)
        _ip("link set machine up", router)
        _ip(f"route add default via {gateway}", inside)
        return side

    def _join_beside(self) -> None:
        """Join the machines by a second link, for TCP from and to the port of the sshd."""
        near, far = self.near.inside, self.far.inside
        _ip(f"link add beside netns {near} type veth peer name beside netns {far}", None)
        ends = ((near, NEAR, "10.9.0.1", "10.9.0.2", "dport"), (far, FAR, "10.9.0.2", "10.9.0.1", "sport"))
        for inside, source, address, gateway, direction in ends:
            _ip(f"address add {address}/24 dev beside", inside)
            _ip("link set beside up", inside)
            _ip(f"route add default via {gateway} src {source} table 100", inside)
            _ip(f"rule add ipproto tcp {direction} {SSH_PORT} lookup 100", inside)

    def _write_keys(self) -> None:
        near, far = self.near.folder, self.far.folder
        for file in (near / "key", near / "other_key", far / "host_key", far / "other_host_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file], check=True)
        shutil.copy(near / "key.pub", far / "authorized")
        self.know_host()
        (near / "ssh_config").write_text(SSH.format(folder=near))
        wrapper = near / "bin" / "ssh"
        wrapper.write_text(f'#!/bin/sh\nexec {shutil.which("ssh", path=_SYSTEM_PATH)} -F {near}/ssh_config "$@"\n')
        wrapper.chmod(0o755)
        (far / "bin" / "dumbbell").symlink_to(Path(sys.executable).with_name("dumbbell"))
        kept_variables = {key: value for key, value in self.far.environment.items() if key in (*_OWN, *_PASSED)}
        environment = " ".join(f'"{key}={value}"' for key, value in kept_variables.items())
        (far / "sshd_config").write_text(SSHD.format(port=SSH_PORT, address=FAR, folder=far, environment=environment))

    def know_host(self, key: str = "host_key") -> None:
        """Let the near machine accept this key as the far machine's."""
        public = (self.far.folder / f"{key}.pub").read_text().split()
        (self.near.folder / "known_hosts").write_text(f"[{FAR}]:{SSH_PORT} {public[0]} {public[1]}\n")

    def _translate(self, side: str, first_port: int) -> None:
        router = _ROUTERS[side]
        self._in_router(router, "nft", "flush chain ip nat post")
        ports = f"{first_port}-{first_port + 999}"
        self._in_router(
            router, "nft", f'add rule ip nat post oifname "dumbbell0" meta l4proto {{tcp, udp}} masquerade to :{ports}'
        )
        self._in_router(router, "nft", 'add rule ip nat post oifname "dumbbell0" masquerade')

    def _filter(self, chain: str, rule: str) -> None:
        for router in self._routers:
            self._in_router(router, "nft", f"add rule ip filter {chain} {rule}")

    def _in_router(self, router: str, *words: str) -> str:
        command = ["nsenter", "-t", str(self._routers[router]), "-n", "--", *words]
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
        assert result.returncode == 0, f"{words}: {result.stderr}"
        return result.stdout

    def _end_all(self) -> None:
        """End the processes left on both machines; the test that left them fails on its own."""
        for side in (self.near, self.far):
            for process in side.running():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            for child in side.started_processes:
                with child:
                    child.kill()


_OWN = ("HOME", "PATH", "TMPDIR", "XDG_RUNTIME_DIR")
"""Variables that differ between the machines."""
_PASSED = ("DUMBBELL_TEST_CLOCK", "DUMBBELL_TURN", "LANG")
"""Variables of this process that the far machine's environment contains too."""


def process_in(network: str) -> int:
    """Return the process in a network namespace, which is given as its link in `/proc`."""
    for process in now_running():
        with contextlib.suppress(OSError):
            if str(Path(f"/proc/{process}/ns/net").readlink()) == network:
                return process
    raise AssertionError(f"no process is in {network}")


def _ip(words: str, inside: int | None) -> None:
    """Run `ip`, in the network namespace of a process."""
    enter = [] if inside is None else ["nsenter", "-t", str(inside), "-n", "--"]
    result = subprocess.run([*enter, "ip", *words.split()], capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"ip {words}: {result.stderr}"


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.kill()
    process.wait(TIMEOUT_S)
