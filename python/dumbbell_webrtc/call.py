"""Both ends of a call, from the start of the browser to the verdict."""

import json
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell_webrtc import sdp
from dumbbell_webrtc.browser import BINARY, Browser, Setup
from dumbbell_webrtc.errors import CallError, StopRequest
from dumbbell_webrtc.page import Page
from dumbbell_webrtc.rendezvous import Host, Meeting, join
from dumbbell_webrtc.samples import Writer
from dumbbell_webrtc.trace import Trace
from dumbbell_webrtc.trials import Expectation, expected, parse, unknown
from dumbbell_webrtc.validity import Conduct

GATHER_WITHIN_S = 5.0
ANSWER_WITHIN_S = 30.0
"""Timeout for the peer's answer, s. The peer may still start its browser."""
CONNECT_WITHIN_S = 10.0
"""Timeout for the connection, s: 5 s and ten round trips of half a second."""
SEND_WITHIN_S = 3.0
RECEIVE_WITHIN_S = 10.0
SHOWN_WITHIN_S = 2.0
"""Time in which a controller must appear in the log after the first media packet, s."""
_LOOK_EVERY_S = 0.5
_CPU_EVERY_S = 1.0
_LAST_LOOK_S = 0.15
"""Timeout of the last look, s. The sender of SIGTERM waits for half a second."""
_PEER_ENDED_S = 2.0


@dataclass(frozen=True)
class Video:
    """Settings of the sent video."""

    width: int
    height: int
    fps: int
    noise: float
    seed: int
    codec: str
    max_mbps: float | None
    """Maximum rate, Mbit/s; None leaves the browser's own limit."""

    @property
    def max_bps(self) -> int | None:
        """Maximum rate, bit/s, or None."""
        return None if self.max_mbps is None else round(self.max_mbps * 1e6)


@dataclass(frozen=True)
class Place:
    """Files of one end."""

    rendezvous: Path
    """Socket of the rendezvous. Names of other files begin with its name."""
    side: str
    samples: Path | None
    trials: str

    def setup(self) -> Setup:
        """Return the settings of this end's browser."""
        base = f"{self.rendezvous}-{self.side}"
        return Setup(profile=Path(f"{base}.profile"), log=Path(f"{base}.log"), trials=self.trials)


def send(place: Place, video: Video) -> str | None:
    """Send until `StopRequest`. Return the reason if the run must not be used, else None."""
    trials = parse(place.trials)
    expectation = expected(trials)
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
        _check_description("offer", offer, expectation, browser)
        end = CallEnd(browser, page, place, expectation, Conduct(fps=video.fps))
        print("ready", flush=True)
        try:
            with closing(host.welcome()) as meeting:
                meeting.tell({"offer": offer})
                answer = meeting.hear("answer", within_s=ANSWER_WITHIN_S)
                if video.max_bps is not None:
                    answer = sdp.with_bandwidth(answer, video.max_bps // 1000)
                page.run("accept", answer)
                end.attend(meeting)
        except StopRequest:
            return end.finish()


def receive(place: Place) -> str | None:
    """Receive until `StopRequest`. Return the reason if the run must not be used, else None."""
    expectation = expected(parse(place.trials))
    with Browser(place.setup()) as browser:
        page = _page(browser, place)
        end = CallEnd(browser, page, place, expectation, Conduct())
        try:
            with closing(join(place.rendezvous, ANSWER_WITHIN_S)) as meeting:
                offer = meeting.hear("offer", within_s=ANSWER_WITHIN_S)
                answer = page.run("answer", offer, GATHER_WITHIN_S * 1e3, timeout_s=GATHER_WITHIN_S + 5.0)
                _check_description("answer", answer, expectation, browser)
                meeting.tell({"answer": answer})
                end.attend(meeting)
        except StopRequest:
            return end.finish()


def _page(browser: Browser, place: Place) -> Page:
    print(json.dumps({"browser": browser.version, "trials": place.trials}), flush=True)
    return Page(browser.devtools)


def _check_description(name: str, text: str, expectation: Expectation, browser: Browser) -> None:
    if not sdp.candidates(text):
        raise CallError(f"no candidate in the {name}: the network namespace has no address or no default route")
    if expectation.rfc8888 and not sdp.offers_rfc8888(text):
        raise CallError(f"no feedback after RFC 8888 in the {name}: {browser.version} ignores the field trial")


class CallEnd:
    """End of an active call."""

    def __init__(
        self,
        browser: Browser,
        page: Page,
        place: Place,
        expectation: Expectation,
        conduct: Conduct,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._browser, self._page, self._expectation, self._conduct = browser, page, expectation, conduct
        self._offset_ms = page.clock_offset_ms()
        self._writer = Writer(place.samples, self._offset_ms, clock)
        self._trace = Trace(place.setup().log, clock)
        self._began_at = self._clock.monotonic()
        self._cpu: list[tuple[float, float]] = []

    def attend(self, meeting: Meeting) -> NoReturn:
        """Watch the call until `StopRequest`, or until the peer has been gone for a while.

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
        """Return the verdict after a last look."""
        try:
            self._look(timeout_s=_LAST_LOOK_S)
            self._check_controller()
        except CallError as error:
            # The look may come too late, but a disobeyed field trial still counts.
            if "field trial" in str(error):
                return str(error)
        conduct = self._conduct
        meta = {
            "controller": self._trace.controller,
            "cpu_share": conduct.cpu_share,
            "encode_ms": conduct.encode_ms,
            "frames": conduct.frames_written,
            "skipped_frames": conduct.frames_skipped,
        }
        print(json.dumps({key: _round(value) for key, value in meta.items()}), flush=True)
        if self._expectation.scream and conduct.fps is not None and self._trace.controller != "ScreamV2":
            return conduct.objection() or "the call was over before the browser's log had shown ScreamV2"
        return conduct.objection()

    def _look(self, timeout_s: float) -> None:
        data = self._page.run("take", timeout_s=timeout_s)
        log_lines = list(self._trace.read())
        for _time, values in log_lines:
            self._conduct.heed(values)
        self._conduct.note(data["records"], data["states"])
        self._writer.records(data["records"])
        self._writer.log_values(log_lines)
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
        """Raise an error unless the browser follows the field trials."""
        conduct, expectation = self._conduct, self._expectation
        if conduct.fps is None or conduct.media_at is None or self._since(conduct.media_at) < SHOWN_WITHIN_S:
            return
        controller = self._trace.controller
        version = self._browser.version
        if expectation.scream and controller != "ScreamV2":
            raise CallError(
                f"{version} ignores the field trial: its log shows {controller or 'no controller'}, not ScreamV2"
            )
        if not expectation.scream and controller == "ScreamV2":
            raise CallError(f"{version} runs ScreamV2 although no field trial asks for it")
        if expectation.ect1 and conduct.sent_with_ect1 == 0:
            raise CallError(f"{version} ignores the field trial: no packet was sent with ECT(1)")

    def _since(self, page_ms: float) -> float:
        return self._clock.monotonic() - (page_ms + self._offset_ms) / 1e3


def _round(value: float | str | None) -> float | str | None:
    return round(value, 3) if isinstance(value, float) else value
