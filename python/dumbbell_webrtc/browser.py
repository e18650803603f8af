"""Browser process in the network namespace of this process. It dies with this process in any case."""

import contextlib
import fcntl
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell_webrtc.errors import CallError
from dumbbell_webrtc.pipe import DevTools

BINARY = Path("/usr/lib/chromium/chromium-headless-shell")
"""Executable of the browser. The script of this name in /usr/bin adds options of its own."""

START_WITHIN_S = 10.0
_KILL_WITHIN_S = 0.3
_FIRST_OWN_DESCRIPTOR = 50
"""Lowest descriptor of our pipes. The browser uses descriptors 3 and 4, so ours must be others."""

_FLAGS = (
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    # Only the call may use the path and the CPU.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--metrics-recording-only",
    "--password-store=basic",
    "--use-mock-keychain",
    "--mute-audio",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    # Do not slow down a page that nobody looks at.
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    "--autoplay-policy=no-user-gesture-required",
    # Candidates are plain addresses: multicast DNS would cross the path. A second flag of this name replaces the first.
    "--disable-features=WebRtcHideLocalIpsWithMdns,MediaRouter,OptimizationHints,Translate,DialMediaRouteProvider",
    # The log names the active controller and its decisions.
    "--enable-logging=stderr",
    "--vmodule=*/webrtc/modules/congestion_controller/*=2,*/webrtc/api/transport/*=2",
)


@dataclass(frozen=True)
class Setup:
    """Settings that start a browser."""

    profile: Path
    log: Path
    trials: str = ""

    def command(self) -> list[str]:
        """Return the command. It dies with the thread that starts it, and kills all of its own processes."""
        guard = ["setpriv", "--pdeathsig", "KILL"]
        guard += ["unshare", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"]
        trials = [f"--force-fieldtrials={self.trials}"] if self.trials else []
        return [*guard, str(BINARY), *_FLAGS, f"--user-data-dir={self.profile}", *trials, "about:blank"]

    def environment(self) -> dict[str, str]:
        """Return an environment without the user's variables."""
        # Times in the log have no zone, so it is set to UTC.
        return {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(self.profile), "TZ": "UTC"}


class Browser:
    """Running browser. Leaving the `with` block kills it."""

    def __init__(self, setup: Setup, clock: Clock = SYSTEM_CLOCK) -> None:
        """Start the browser and wait for its first response.

        Raises:
            CallError: it cannot be started or does not answer; with the last line of its log.
        """
        if not os.access(BINARY, os.X_OK):
            raise CallError(f"there is no {BINARY}: install Debian's package chromium-headless-shell")
        setup.profile.mkdir(parents=True, exist_ok=True)
        self._log = setup.log
        self._clock = clock
        self.pid, reading, writing = _spawn(setup)
        self.devtools = DevTools(reading, writing, clock)
        try:
            self.version = str(self.devtools.call("Browser.getVersion", timeout_s=START_WITHIN_S)["product"])
        except CallError as error:
            self.kill()
            raise CallError(f"{error}; its log ends with: {self._last_words()}") from None
        except BaseException:
            self.kill()
            raise

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def processes(self) -> dict[int, list[str]]:
        """Return the browser's processes by PID: the fields of `stat` after the name."""
        table = _process_table()
        pids = {self.pid} & table.keys()
        while True:
            more = {pid for pid, fields in table.items() if int(fields[1]) in pids} - pids
            if not more:
                return {pid: table[pid] for pid in pids}
            pids |= more

    def cpu_s(self) -> float:
        """CPU time used up to now, s."""
        # Own time and that of waited-for children, in user and system mode.
        ticks = sum(int(field) for fields in self.processes().values() for field in fields[11:15])
        return ticks / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """Kill the browser at once. Return when all of its processes are gone."""
        if self.pid == 0:
            return
        # The first process of its PID namespace: the kernel removes it only after all others in there.
        children = [pid for pid, fields in _process_table().items() if int(fields[1]) == self.pid]
        for pid in children or [self.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if not self._reaped(_KILL_WITHIN_S):
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            self._reaped(_KILL_WITHIN_S)
        self.pid = 0
        self.devtools.close()

    def _reaped(self, within_s: float) -> bool:
        end = self._clock.monotonic() + within_s
        while True:
            try:
                if os.waitpid(self.pid, os.WNOHANG)[0]:
                    return True
            except ChildProcessError:
                return True
            if self._clock.monotonic() > end:
                return False
            self._clock.sleep(0.005)

    def _last_words(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "nothing")


def _spawn(setup: Setup) -> tuple[int, int, int]:
    """Start the browser. Return its PID, the descriptor to read from, and the descriptor to write to."""
    commands, events = os.pipe(), os.pipe()
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _FIRST_OWN_DESCRIPTOR) for end in (*commands, *events)]
    for end in (*commands, *events):
        os.close(end)
    command_in, command_out, event_in, event_out = ends
    command = setup.command()
    try:
        pid = os.posix_spawnp(
            command[0],
            command,
            setup.environment(),
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(setup.log), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
                (os.POSIX_SPAWN_DUP2, command_in, 3),
                (os.POSIX_SPAWN_DUP2, event_out, 4),
            ],
            # SIGTERM is meant for this process, which then still fetches the last statistics.
            setpgroup=0,
        )
    except OSError as error:
        raise CallError(f"cannot start {command[0]}: {error.strerror}") from None
    finally:
        os.close(command_in)
        os.close(event_out)
    return pid, event_in, command_out


def _process_table() -> dict[int, list[str]]:
    """Return the fields of `stat` after the name (state first) of all processes, by PID."""
    table = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                table[int(entry.name)] = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
    return table
