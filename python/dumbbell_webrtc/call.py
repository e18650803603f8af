"""The two sides of a call, from the browser's start to the verdict."""

import json
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell_webrtc import sdp
from dumbbell_webrtc.browser import BINARY, Browser, Setup
from dumbbell_webrtc.errors import CallError, Stopped
from dumbbell_webrtc.page import Page
from dumbbell_webrtc.rendezvous import Host, Meeting, join
from dumbbell_webrtc.samples import Writer
from dumbbell_webrtc.trace import Trace
from dumbbell_webrtc.trials import Expected, expected, parse, unknown
from dumbbell_webrtc.validity import Conduct

GATHER_WITHIN_S = 5.0
ANSWER_WITHIN_S = 30.0
"""The other side may still start its browser, and get ready."""
CONNECT_WITHIN_S = 10.0
"""5 s and ten round trips of half a second."""
SEND_WITHIN_S = 3.0
RECEIVE_WITHIN_S = 10.0
SHOWN_WITHIN_S = 2.0
"""Time for a controller to show itself after the first media packet."""
_LOOK_EVERY_S = 0.5
_CPU_EVERY_S = 1.0
_LAST_LOOK_S = 0.15
"""Whoever sent SIGTERM is patient for half a second."""
_PEER_ENDED_S = 2.0


@dataclass(frozen=True)
class Video:
    """What is sent."""

    width: int
    height: int
    fps: int
    noise: float
    seed: int
    codec: str
    max_mbps: float | None
    """The most that is sent; `None` leaves the browser's own limit."""

    @property
    def max_bps(self) -> int | None:
        """The same in bit/s."""
        return None if self.max_mbps is None else round(self.max_mbps * 1e6)


@dataclass(frozen=True)
class Place:
    """Where a side keeps its files."""

    rendezvous: Path
    """The socket at which the sides meet; names of other files begin with it."""
    side: str
    samples: Path | None
    trials: str

    def setup(self) -> Setup:
        """How this side's browser is started."""
        base = f"{self.rendezvous}-{self.side}"
        return Setup(profile=Path(f"{base}.profile"), log=Path(f"{base}.log"), trials=self.trials)


def send(place: Place, video: Video) -> str | None:
    """Sends until Stopped; why the run must not be used, if so."""
    trials = parse(place.trials)
    wanted = expected(trials)
    with closing(Host(place.rendezvous)) as host, Browser(place.setup()) as browser:
        for name in unknown(trials, BINARY):
            raise CallError(f"{browser.version} knows no field trial {name}")
        page = _page(browser, place)
        picture = {
            "width": video.width,
            "height": video.height,
            "fps": video.fps,
            "noise": video.noise,
            "seed": video.seed,
            "codec": video.codec,
            "maxBitrate": video.max_bps,
            "gather_ms": GATHER_WITHIN_S * 1e3,
        }
        offer = page.run("offer", picture, timeout_s=GATHER_WITHIN_S + 10.0)
        _check_description("offer", offer, wanted, browser)
        end = CallEnd(browser, page, place, wanted, Conduct(fps=video.fps))
        print("ready", flush=True)
        try:
            with closing(host.welcome()) as meeting:
                meeting.tell({"offer": offer})
                answer = meeting.hear("answer", within_s=ANSWER_WITHIN_S)
                if video.max_bps is not None:
                    answer = sdp.with_bandwidth(answer, video.max_bps // 1000)
                page.run("accept", answer)
                end.attend(meeting)
        except Stopped:
            return end.finish()


def receive(place: Place) -> str | None:
    """Receives until Stopped; why the run must not be used, if so."""
    wanted = expected(parse(place.trials))
    with Browser(place.setup()) as browser:
        page = _page(browser, place)
        end = CallEnd(browser, page, place, wanted, Conduct())
        try:
            with closing(join(place.rendezvous, ANSWER_WITHIN_S)) as meeting:
                offer = meeting.hear("offer", within_s=ANSWER_WITHIN_S)
                answer = page.run("answer", offer, GATHER_WITHIN_S * 1e3, timeout_s=GATHER_WITHIN_S + 5.0)
                _check_description("answer", answer, wanted, browser)
                meeting.tell({"answer": answer})
                end.attend(meeting)
        except Stopped:
            return end.finish()


def _page(browser: Browser, place: Place) -> Page:
    print(json.dumps({"browser": browser.version, "trials": place.trials}), flush=True)
    return Page(browser.devtools)


def _check_description(name: str, text: str, wanted: Expected, browser: Browser) -> None:
    if not sdp.candidates(text):
        raise CallError(f"no candidate in the {name}: the network namespace has no address or no default route")
    if wanted.rfc8888 and not sdp.offers_rfc8888(text):
        raise CallError(f"no feedback after RFC 8888 in the {name}: {browser.version} ignores the field trial")


class CallEnd:
    """One end of a call at work."""

    def __init__(
        self,
        browser: Browser,
        page: Page,
        place: Place,
        wanted: Expected,
        conduct: Conduct,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._browser, self._page, self._wanted, self._conduct = browser, page, wanted, conduct
        self._offset_ms = page.clock_offset_ms()
        self._writer = Writer(place.samples, self._offset_ms, clock)
        self._trace = Trace(place.setup().log, clock)
        self._began_at = self._clock.monotonic()
        self._cpu: list[tuple[float, float]] = []

    def attend(self, meeting: Meeting) -> NoReturn:
        """Looks after the call until Stopped, or until the other side has been gone for a while.

        Raises:
            CallError: the call has failed.
        """
        self._began_at = self._clock.monotonic()
        gone_since: float | None = None
        while True:
            self._clock.sleep(_LOOK_EVERY_S)
            self._look(timeout_s=5.0)
            self._check()
            if meeting.is_over():
                gone_since = gone_since or self._clock.monotonic()
                if self._clock.monotonic() - gone_since > _PEER_ENDED_S:
                    raise CallError("the other side has ended")

    def finish(self) -> str | None:
        """The verdict, after a last look."""
        try:
            self._look(timeout_s=_LAST_LOOK_S)
            self._check_controller()
        except CallError as error:
            # the look may come too late; that the browser disobeys stays true
            if "field trial" in str(error):
                return str(error)
        conduct = self._conduct
        told = {
            "controller": self._trace.controller,
            "cpu_share": conduct.cpu_share,
            "encode_ms": conduct.encode_ms,
            "frames": conduct.written,
            "skipped_frames": conduct.skipped,
        }
        print(json.dumps({key: _rounded(value) for key, value in told.items()}), flush=True)
        if self._wanted.scream and conduct.fps is not None and self._trace.controller != "ScreamV2":
            return conduct.objection() or "the call was over before the browser's log had shown ScreamV2"
        return conduct.objection()

    def _look(self, timeout_s: float) -> None:
        taken = self._page.run("take", timeout_s=timeout_s)
        logged = list(self._trace.read())
        for _time, values in logged:
            self._conduct.heed(values)
        self._conduct.note(taken["records"], taken["states"])
        self._writer.records(taken["records"])
        self._writer.logged(logged)
        now = self._clock.monotonic()
        if self._conduct.connected_at and (not self._cpu or now - self._cpu[-1][0] >= _CPU_EVERY_S):
            self._cpu.append((now, self._browser.cpu_s()))
            self._note_cpu()

    def _note_cpu(self) -> None:
        if len(self._cpu) < 2:
            return

        def share(first: tuple[float, float], last: tuple[float, float]) -> float:
            return (last[1] - first[1]) / (last[0] - first[0])

        self._conduct.cpu_share = share(self._cpu[0], self._cpu[-1])
        name = "receiver_cpu" if self._conduct.fps is None else "sender_cpu"
        self._writer.write(self._cpu[-1][0], [(name, "processors", share(self._cpu[-2], self._cpu[-1]))])

    def _check(self) -> None:
        conduct = self._conduct
        elapsed = self._clock.monotonic() - self._began_at
        if conduct.state in ("failed", "closed"):
            raise CallError(f"the call {conduct.state} {elapsed:.1f} s after it began")
        if conduct.connected_at is None:
            if elapsed > CONNECT_WITHIN_S:
                raise CallError(f"the call is not connected after {CONNECT_WITHIN_S:g} s")
            return
        within_s = RECEIVE_WITHIN_S if conduct.fps is None else SEND_WITHIN_S
        if conduct.media_at is None and self._since(conduct.connected_at) > within_s:
            raise CallError(f"no media {within_s:g} s after the call was connected")
        self._check_controller()

    def _check_controller(self) -> None:
        """Whether the browser does what the field trials ask for."""
        conduct, wanted = self._conduct, self._wanted
        if conduct.fps is None or conduct.media_at is None or self._since(conduct.media_at) < SHOWN_WITHIN_S:
            return
        found = self._trace.controller
        version = self._browser.version
        if wanted.scream and found != "ScreamV2":
            raise CallError(
                f"{version} ignores the field trial: its log shows {found or 'no controller'}, not ScreamV2"
            )
        if not wanted.scream and found == "ScreamV2":
            raise CallError(f"{version} runs ScreamV2 although no field trial asks for it")
        if wanted.ect1 and conduct.sent_with_ect1 == 0:
            raise CallError(f"{version} ignores the field trial: no packet was sent with ECT(1)")

    def _since(self, page_ms: float) -> float:
        return self._clock.monotonic() - (page_ms + self._offset_ms) / 1e3


def _rounded(value: float | str | None) -> float | str | None:
    return round(value, 3) if isinstance(value, float) else value
