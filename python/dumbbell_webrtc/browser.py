"""A browser of one's own: started in the network namespace of this process, dead with it, however it ends."""

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
"""The browser itself: the script of this name in /usr/bin adds options of its own."""

START_WITHIN_S = 10.0
_KILL_WITHIN_S = 0.3
_FIRST_OWN_DESCRIPTOR = 50
"""The browser talks over descriptors 3 and 4; ours must not be among them when they are put there."""

_FLAGS = (
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    # nothing but the call may be on the path, nothing but the call may take the processor
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
    # a page that nobody looks at must not be slowed down
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    "--autoplay-policy=no-user-gesture-required",
    # candidates are plain addresses: multicast DNS would cross the path (a second flag of this name replaces the first)
    "--disable-features=WebRtcHideLocalIpsWithMdns,MediaRouter,OptimizationHints,Translate,DialMediaRouteProvider",
    # the log tells which controller is at work, and what it decides
    "--enable-logging=stderr",
    "--vmodule=*/webrtc/modules/congestion_controller/*=2,*/webrtc/api/transport/*=2",
)


@dataclass(frozen=True)
class Setup:
    """How a browser is started."""

    profile: Path
    log: Path
    trials: str = ""

    def command(self) -> list[str]:
        """The command: it dies with the thread that starts it, and takes all of its own processes with it."""
        guard = ["setpriv", "--pdeathsig", "KILL"]
        guard += ["unshare", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"]
        trials = [f"--force-fieldtrials={self.trials}"] if self.trials else []
        return [*guard, str(BINARY), *_FLAGS, f"--user-data-dir={self.profile}", *trials, "about:blank"]

    def environment(self) -> dict[str, str]:
        """Nothing of the user's."""
        # the log's times name no zone
        return {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(self.profile), "TZ": "UTC"}


class Browser:
    """A running browser. Leaving the `with` block kills it."""

    def __init__(self, setup: Setup, clock: Clock = SYSTEM_CLOCK) -> None:
        """Starts it and waits for its first answer.

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
        """Its processes by number: the fields of their `stat` behind the name."""
        table = _process_table()
        found = {self.pid} & table.keys()
        while True:
            more = {pid for pid, fields in table.items() if int(fields[1]) in found} - found
            if not more:
                return {pid: table[pid] for pid in found}
            found |= more

    def cpu_s(self) -> float:
        """Processor time it has taken so far, s."""
        # own and waited-for children's time, in user and system mode
        ticks = sum(int(field) for fields in self.processes().values() for field in fields[11:15])
        return ticks / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """Ends it at once, and returns when no process of it is left."""
        if self.pid == 0:
            return
        # The first process of its PID namespace: the kernel lets it go only after all others in there.
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
    """Process number, descriptor to read from, descriptor to write to."""
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
            # SIGTERM is for us: the last statistics are still to be fetched then
            setpgroup=0,
        )
    except OSError as error:
        raise CallError(f"cannot start {command[0]}: {error.strerror}") from None
    finally:
        os.close(command_in)
        os.close(event_out)
    return pid, event_in, command_out


def _process_table() -> dict[int, list[str]]:
    """All processes: fields of `stat` behind the name, state first."""
    table = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                table[int(entry.name)] = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
    return table
